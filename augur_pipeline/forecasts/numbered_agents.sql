-- numbered_agents: every forecaster of every cohort, by number, so that big joins are of integers.
-- grain: one forecaster in a cohort    key: agent_number    inputs: scored_forecasts
-- rule: numbered by cohort and name, so a pair's first is also the first by name
CREATE OR REPLACE TABLE numbered_agents AS
SELECT
    row_number() OVER (ORDER BY cohort_id, forecaster_id) AS agent_number,
    cohort_id,
    forecaster_id,
    resolved_rows
FROM (
    SELECT cohort_id, forecaster_id, count(outcome) AS resolved_rows
    FROM scored_forecasts
    GROUP BY cohort_id, forecaster_id
)
ORDER BY agent_number
