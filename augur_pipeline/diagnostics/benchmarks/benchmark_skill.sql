-- benchmark_skill: each forecaster against each benchmark, on the same rows.
-- grain: one forecaster and one benchmark in a cohort
-- key: cohort_id, forecaster_id, benchmark_id
-- inputs: numbered_agents, numbered_forecasts, benchmarks, benchmark_forecasts,
--         benchmark_refusals, skill_intervals
-- rule: comparisons §1: ratio of means over common rows, exact sums; interval and p-value over those
-- of them that have an episode
CREATE OR REPLACE TABLE benchmark_skill AS
WITH common AS (
    SELECT
        agent_number,
        benchmark_id,
        count(*) AS n_common,
        CAST(sum(CAST(weight AS DECIMAL(38, 18))) AS DOUBLE) AS weights,
        CAST(sum(CAST(weight * loss AS DECIMAL(38, 18))) AS DOUBLE) AS losses,
        CAST(sum(CAST(
            weight
            * (benchmark_forecasts.probability - outcome)
            * (benchmark_forecasts.probability - outcome) AS DECIMAL(38, 18)
        )) AS DOUBLE) AS benchmark_losses
    FROM numbered_forecasts
    JOIN benchmark_forecasts USING (kind, forecast_id)
    WHERE benchmark_forecasts.probability IS NOT NULL
    GROUP BY agent_number, benchmark_id
)

SELECT
    cohort_id,
    forecaster_id,
    benchmark_id,
    coalesce(n_common, 0) AS n_common,
    coalesce(n_episodes, 0) AS n_episodes,
    coalesce(n_common, 0) / nullif(resolved_rows, 0) AS share_of_rows,
    losses / weights AS brier,
    benchmark_losses / weights AS benchmark_brier,
    1 - losses / nullif(benchmark_losses, 0) AS skill,
    CASE WHEN benchmark_losses > 0 THEN low END AS skill_low,
    CASE WHEN benchmark_losses > 0 THEN high END AS skill_high,
    p_value,
    CASE
        WHEN benchmark_refusals.reason IS NOT NULL THEN benchmark_refusals.reason
        WHEN n_common IS NULL THEN 'no_rows'
        WHEN benchmark_losses = 0 THEN 'zero_reference_loss'
        WHEN n_episodes IS NULL THEN 'no_episodes'
        ELSE skill_intervals.undefined_reason
    END AS undefined_reason
FROM numbered_agents
CROSS JOIN benchmarks
LEFT JOIN common USING (agent_number, benchmark_id)
LEFT JOIN skill_intervals USING (agent_number, place)
LEFT JOIN benchmark_refusals USING (cohort_id, benchmark_id)
ORDER BY cohort_id, forecaster_id, benchmark_id
