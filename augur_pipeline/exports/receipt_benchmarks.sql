-- receipt_benchmarks: every published benchmark prediction, as receipts list them.
-- grain: one forecast and benchmark    key: cohort_id, forecaster_id, forecast_id, benchmark_id
-- inputs: benchmark_forecasts
SELECT
    cohort_id,
    forecaster_id,
    forecast_id,
    benchmark_id,
    version,
    probability,
    undefined_reason
FROM benchmark_forecasts
ORDER BY cohort_id, forecaster_id, forecast_id, benchmark_id, version
