-- coin_flip: the benchmark that always exists: 0.5 for every call (where none are published).
-- grain: one eligible call    inputs: resolved_outcomes
CREATE OR REPLACE TEMP VIEW receipt_benchmarks AS
SELECT
    'coin_flip' AS benchmark_id,
    '1' AS version,
    season_id AS cohort_id,
    agent_id AS forecaster_id,
    call_id AS forecast_id,
    0.5::DOUBLE AS probability,
    NULL::VARCHAR AS undefined_reason
FROM resolved_outcomes
