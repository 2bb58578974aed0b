-- diagram_forecasters: the forecasters of each season that get a reliability diagram.
-- grain: one agent-season    key: cohort_id, forecaster_id
-- inputs: scored_forecasts
-- rule: most resolved calls first, then by id, up to $most of a season; those without a resolved
-- call have an (empty) diagram too.
WITH forecasters AS (
    SELECT cohort_id, forecaster_id, count(*) FILTER (status = 'resolved') AS resolved
    FROM scored_forecasts
    WHERE kind = 'call'
    GROUP BY cohort_id, forecaster_id
),

ranked AS (
    SELECT
        cohort_id,
        forecaster_id,
        row_number() OVER (
            PARTITION BY cohort_id ORDER BY resolved DESC, forecaster_id
        ) AS place
    FROM forecasters
)

SELECT cohort_id, forecaster_id
FROM ranked
WHERE place <= $most
ORDER BY cohort_id, place
