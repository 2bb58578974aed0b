-- benchmark_refusals: benchmarks that were fixed only after a cohort's first forecast.
-- grain: one benchmark in one cohort    key: benchmark_id, cohort_id
-- inputs: benchmarks, scored_forecasts
-- rule: comparisons §1: locked_at must not lie after the first row it would be used on
CREATE OR REPLACE TABLE benchmark_refusals AS
WITH cohorts AS (
    SELECT cohort_id, min(issued_at) AS first_issued_at
    FROM scored_forecasts
    GROUP BY cohort_id
)

SELECT benchmark_id, cohort_id, 'locked_late' AS reason, locked_at, first_issued_at
FROM benchmarks
JOIN cohorts ON locked_at > first_issued_at
ORDER BY benchmark_id, cohort_id
