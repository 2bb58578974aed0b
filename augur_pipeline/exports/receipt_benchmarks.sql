-- receipt_benchmarks: the published benchmark predictions, as receipts list them.
-- grain: one forecast and benchmark    inputs: benchmark_forecasts
CREATE OR REPLACE TEMP VIEW receipt_benchmarks AS
FROM benchmark_forecasts
