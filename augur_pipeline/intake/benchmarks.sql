-- benchmarks: the coin flip that is always there, and the benchmarks of benchmarks.csv.
-- grain: one benchmark         key: benchmark_id
-- inputs: landed_benchmarks    rule: comparisons §1; the coin needs no lock
CREATE OR REPLACE TABLE benchmarks AS
SELECT
    'coin_flip' AS benchmark_id,
    0 AS place,
    'constant' AS kind,
    CAST(0.5 AS DOUBLE) AS probability,
    CAST(NULL AS VARCHAR) AS scope,
    CAST(NULL AS DOUBLE) AS window_days,
    CAST(NULL AS BIGINT) AS min_resolved,
    CAST(NULL AS TIMESTAMP) AS locked_at,
    '1' AS version,
    'Always one half.' AS description
UNION ALL
SELECT
    benchmark_id,
    row_number() OVER (ORDER BY source_line) AS place,
    kind,
    probability,
    scope,
    window_days,
    min_resolved,
    locked_at,
    version,
    description
FROM landed_benchmarks
ORDER BY benchmark_id
