-- raw_prices: every landing row of prices with its one fate.
-- grain: one landing row    key: file_number, source_line
-- inputs: usable_prices, unusable_prices, crowded_prices, pools
-- rule: contract §3, the first fate that applies
CREATE OR REPLACE VIEW raw_prices AS
WITH every_price AS (
    SELECT
        usable_prices.*,
        NULL AS malformed_text,
        NULL AS recorded_at_text,
        NULL AS price_text,
        NULL AS sequence_text,
        CASE WHEN is_duplicate THEN 'duplicate' ELSE 'usable' END AS fate,
        NULL AS reason
    FROM usable_prices
    LEFT JOIN (SELECT file_number, source_line, is_duplicate FROM crowded_prices) AS crowded
        USING (file_number, source_line)

    UNION ALL BY NAME

    SELECT
        * EXCLUDE finding,
        CASE WHEN finding = 'not_yet' THEN 'not_yet' ELSE 'rejected' END AS fate,
        nullif(finding, 'not_yet') AS reason
    FROM unusable_prices
)

SELECT
    file_number, source_line, malformed_text, pool_id, recorded_at, recorded_at_text, price,
    price_text, sequence, sequence_text, fate, reason
FROM every_price
LEFT JOIN pools USING (pool_number)
