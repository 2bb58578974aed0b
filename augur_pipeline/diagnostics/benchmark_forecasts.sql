-- benchmark_forecasts: what every benchmark says of every forecast's outcome.
-- grain: one benchmark on one forecast, of any status    key: benchmark_id, kind, forecast_id
-- inputs: benchmarks, benchmark_refusals, scored_forecasts
-- rule: comparisons §1. The rolling base rate of a forecast issued at t is the share of outcomes 1
-- among rows known in [t − window, t): forecasts and known outcomes stand on one line of whole
-- microseconds, and a window looks back from each. Counts are integers, so the rate is exact.
CREATE OR REPLACE TABLE benchmark_forecasts AS
WITH rolling AS (
    SELECT
        benchmark_id,
        scope,
        CAST(round_even(window_days * 86.4e9, 0) AS BIGINT) AS window_us
    FROM benchmarks
    WHERE kind = 'rolling_base_rate'
),

moments AS (
    SELECT
        benchmark_id,
        window_us,
        kind,
        CASE scope WHEN 'own' THEN forecaster_id END AS whose,
        epoch_us(resolved_at) AS at_us,
        CAST(NULL AS VARCHAR) AS forecast_id,
        1 AS known,
        outcome AS hit
    FROM scored_forecasts
    CROSS JOIN rolling
    WHERE outcome IS NOT NULL
    UNION ALL
    SELECT
        benchmark_id,
        window_us,
        kind,
        CASE scope WHEN 'own' THEN forecaster_id END AS whose,
        epoch_us(issued_at) AS at_us,
        forecast_id,
        0 AS known,
        0 AS hit
    FROM scored_forecasts
    CROSS JOIN rolling
),

looked_back AS (
    SELECT
        benchmark_id,
        kind,
        forecast_id,
        CAST(coalesce(sum(known) OVER earlier, 0) AS BIGINT) AS known_rows,
        CAST(coalesce(sum(hit) OVER earlier, 0) AS BIGINT) AS known_hits
    FROM moments
    WINDOW earlier AS (
        PARTITION BY benchmark_id, kind, whose
        ORDER BY at_us
        RANGE BETWEEN window_us PRECEDING AND 1 PRECEDING
    )
),

rates AS (
    SELECT * FROM looked_back WHERE forecast_id IS NOT NULL
)

SELECT
    benchmarks.benchmark_id,
    benchmarks.version,
    scored_forecasts.cohort_id,
    scored_forecasts.forecaster_id,
    scored_forecasts.kind,
    scored_forecasts.forecast_id,
    CASE
        WHEN benchmarks.kind = 'constant' THEN benchmarks.probability
        WHEN known_rows >= min_resolved THEN known_hits / known_rows
    END AS probability,
    known_rows,
    known_hits,
    CASE WHEN benchmarks.kind <> 'constant' AND known_rows < min_resolved THEN 'few_resolved' END
        AS undefined_reason
FROM scored_forecasts
CROSS JOIN benchmarks
ANTI JOIN benchmark_refusals
    ON benchmark_refusals.benchmark_id = benchmarks.benchmark_id
    AND benchmark_refusals.cohort_id = scored_forecasts.cohort_id
LEFT JOIN rates
    ON rates.benchmark_id = benchmarks.benchmark_id
    AND rates.kind = scored_forecasts.kind
    AND rates.forecast_id = scored_forecasts.forecast_id
