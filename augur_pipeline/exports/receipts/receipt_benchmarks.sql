-- receipt_benchmarks: every published benchmark prediction on calls of a season, as receipts list them.
-- grain: one call and benchmark    key: forecaster_id, forecast_id, benchmark_id
-- inputs: benchmark_forecasts
SELECT
    forecaster_id,
    forecast_id,
    benchmark_id,
    version,
    probability,
    undefined_reason
FROM benchmark_forecasts
WHERE kind = 'call' AND cohort_id = $season_id
ORDER BY forecaster_id, forecast_id, benchmark_id, version
