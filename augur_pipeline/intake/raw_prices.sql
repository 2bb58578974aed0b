-- raw_prices: every landing row of prices with its one fate.
-- grain: one landing row    key: file_number, source_line
-- inputs: landed_prices     rule: contract §3, the first fate that applies
CREATE OR REPLACE TABLE raw_prices AS
WITH judged AS (
    SELECT
        *,
        CASE
            WHEN malformed_text IS NOT NULL THEN 'malformed_row'
            WHEN recorded_at > $as_of THEN 'not_yet'
            WHEN pool_id IS NULL THEN 'missing_pool_id'
            WHEN recorded_at IS NULL THEN 'bad_recorded_at'
            WHEN price IS NULL THEN 'bad_price'
            WHEN price <= 0 THEN 'price_not_positive'
            WHEN sequence_text IS NOT NULL THEN 'bad_sequence'
        END AS finding
    FROM landed_prices
),

-- only where an instant holds several rows can a row repeat another
crowded_instants AS (
    SELECT pool_id, recorded_at
    FROM judged
    WHERE finding IS NULL
    GROUP BY pool_id, recorded_at
    HAVING count(*) > 1
),

repeats AS (
    SELECT file_number, source_line
    FROM judged
    SEMI JOIN crowded_instants USING (pool_id, recorded_at)
    WHERE finding IS NULL
    QUALIFY row_number() OVER (
        PARTITION BY pool_id, recorded_at, price, sequence
        ORDER BY file_number, source_line
    ) > 1
)

SELECT
    judged.* EXCLUDE (finding),
    CASE
        WHEN finding = 'not_yet' THEN 'not_yet'
        WHEN finding IS NOT NULL THEN 'rejected'
        WHEN repeats.source_line IS NOT NULL THEN 'duplicate'
        ELSE 'usable'
    END AS fate,
    nullif(finding, 'not_yet') AS reason
FROM judged
LEFT JOIN repeats USING (file_number, source_line)
