-- numbered_agents: every forecaster of every cohort of a kind, by number, so that big joins are of integers.
-- grain: one forecaster in a cohort    key: agent_number    inputs: scored_forecasts
-- rule: numbered by kind, cohort and name (a season and a cohort of events may share an id), so a pair's first is also the first by name
CREATE OR REPLACE TABLE numbered_agents AS
SELECT
    row_number() OVER (ORDER BY kind, cohort_id, forecaster_id) AS agent_number,
    kind,
    cohort_id,
    forecaster_id,
    resolved_rows
FROM (
    SELECT kind, cohort_id, forecaster_id, count(outcome) AS resolved_rows
    FROM scored_forecasts
    GROUP BY kind, cohort_id, forecaster_id
)
ORDER BY agent_number
