-- benchmark_rows: forecasts and benchmarks side by side, for the intervals of skill.
-- grain: one benchmark on one resolved forecast that has an episode
-- inputs: numbered_forecasts, benchmark_forecasts, benchmarks
SELECT
    place,
    agent_number,
    episode_number,
    numbered_forecasts.probability,
    benchmark_forecasts.probability AS benchmark_probability,
    CAST(outcome AS BIGINT) AS outcome,
    weight
FROM numbered_forecasts
JOIN benchmark_forecasts USING (kind, forecast_id)
JOIN benchmarks USING (benchmark_id)
WHERE benchmark_forecasts.probability IS NOT NULL AND episode_number IS NOT NULL
ORDER BY place, agent_number
