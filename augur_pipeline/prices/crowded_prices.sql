-- crowded_prices: the usable rows at instants of a pool that hold several, and which repeat another.
-- grain: one landing row    key: file_number, source_line
-- inputs: usable_prices     rule: contract §3; a row that repeats another is a duplicate
-- Elsewhere a row is alone at its instant: it repeats nothing, and it conflicts with none.
CREATE OR REPLACE TABLE crowded_prices AS
WITH crowded_instants AS (
    SELECT pool_number, recorded_at
    FROM usable_prices
    GROUP BY pool_number, recorded_at
    HAVING count(*) > 1
)

SELECT
    *,
    row_number() OVER (
        PARTITION BY pool_number, recorded_at, price, sequence ORDER BY file_number, source_line
    ) > 1 AS is_duplicate
FROM usable_prices
SEMI JOIN crowded_instants USING (pool_number, recorded_at)
