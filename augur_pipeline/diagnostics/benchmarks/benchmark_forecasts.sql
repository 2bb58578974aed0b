-- benchmark_forecasts: what every benchmark says of every forecast's outcome.
-- grain: one benchmark on one forecast, of any status    key: benchmark_id, kind, forecast_id
-- inputs: benchmarks, benchmark_refusals, scored_forecasts
-- rule: comparisons §1. The rolling base rate of a forecast issued at t is the share of outcomes 1
-- among rows known in [t − window, t), in whole microseconds, over all cohorts: what was known before
-- t less what was known before t − window, each the last running count of integers before it.
CREATE OR REPLACE TABLE benchmark_forecasts AS
WITH numbered_forecasters AS MATERIALIZED (
    SELECT
        kind,
        forecaster_id,
        row_number() OVER (ORDER BY kind, forecaster_id) AS own_number,
        -- everyone's rows of a kind together, under a number that no forecaster has
        -dense_rank() OVER (ORDER BY kind) AS pool_number
    FROM (SELECT DISTINCT kind, forecaster_id FROM scored_forecasts)
),

outcomes AS (
    SELECT own_number, pool_number, epoch_us(resolved_at) AS known_us, outcome
    FROM scored_forecasts
    JOIN numbered_forecasters USING (kind, forecaster_id)
    WHERE outcome IS NOT NULL AND EXISTS (FROM benchmarks WHERE kind = 'rolling_base_rate')
),

-- one row per set of forecasters and instant: all that is known then
known AS MATERIALIZED (
    SELECT whose, known_us, max(rows_so_far) AS known_rows, max(hits_so_far) AS known_hits
    FROM (
        SELECT
            whose,
            known_us,
            count(*) OVER so_far AS rows_so_far,
            CAST(sum(outcome) OVER so_far AS BIGINT) AS hits_so_far
        FROM (
            SELECT own_number AS whose, known_us, outcome FROM outcomes
            UNION ALL
            SELECT pool_number AS whose, known_us, outcome FROM outcomes
        )
        WINDOW so_far AS (PARTITION BY whose ORDER BY known_us ROWS UNBOUNDED PRECEDING)
    )
    GROUP BY whose, known_us
),

asked AS (
    SELECT
        benchmarks.benchmark_id,
        benchmarks.version,
        benchmarks.kind = 'constant' AS is_constant,
        benchmarks.probability AS constant,
        benchmarks.min_resolved,
        scored_forecasts.cohort_id,
        scored_forecasts.forecaster_id,
        scored_forecasts.kind,
        scored_forecasts.forecast_id,
        CASE benchmarks.scope WHEN 'own' THEN own_number WHEN 'pool' THEN pool_number END AS whose,
        epoch_us(issued_at) AS issued_us,
        epoch_us(issued_at) - CAST(round_even(benchmarks.window_days * 86.4e9, 0) AS BIGINT)
            AS from_us
    FROM scored_forecasts
    JOIN numbered_forecasters USING (kind, forecaster_id)
    CROSS JOIN benchmarks
    ANTI JOIN benchmark_refusals
        ON benchmark_refusals.benchmark_id = benchmarks.benchmark_id
        AND benchmark_refusals.cohort_id = scored_forecasts.cohort_id
),

counted AS (
    SELECT
        asked.*,
        CASE WHEN NOT is_constant
            THEN coalesce(until_issue.known_rows, 0) - coalesce(until_window.known_rows, 0)
        END AS known_rows,
        CASE WHEN NOT is_constant
            THEN coalesce(until_issue.known_hits, 0) - coalesce(until_window.known_hits, 0)
        END AS known_hits
    FROM asked
    ASOF LEFT JOIN known AS until_issue
        ON asked.whose = until_issue.whose AND asked.issued_us > until_issue.known_us
    ASOF LEFT JOIN known AS until_window
        ON asked.whose = until_window.whose AND asked.from_us > until_window.known_us
)

SELECT
    benchmark_id,
    version,
    cohort_id,
    forecaster_id,
    kind,
    forecast_id,
    CASE WHEN is_constant THEN constant
        WHEN known_rows >= min_resolved THEN known_hits / known_rows
    END AS probability,
    known_rows,
    known_hits,
    CASE WHEN known_rows < min_resolved THEN 'few_resolved' END AS undefined_reason
FROM counted
