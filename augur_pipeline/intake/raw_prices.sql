-- raw_prices: every landing row of prices with its one fate.
-- grain: one landing row    key: file_number, source_line
-- inputs: judged_prices, crowded_prices, pools
-- rule: contract §3, the first fate that applies
CREATE OR REPLACE VIEW raw_prices AS
SELECT
    judged_prices.file_number,
    judged_prices.source_line,
    malformed_text,
    pool_id,
    judged_prices.recorded_at,
    recorded_at_text,
    judged_prices.price,
    price_text,
    judged_prices.sequence,
    sequence_text,
    CASE
        WHEN finding = 'not_yet' THEN 'not_yet'
        WHEN finding IS NOT NULL THEN 'rejected'
        WHEN is_duplicate THEN 'duplicate'
        ELSE 'usable'
    END AS fate,
    nullif(finding, 'not_yet') AS reason
FROM judged_prices
LEFT JOIN pools USING (pool_number)
LEFT JOIN crowded_prices
    ON crowded_prices.file_number = judged_prices.file_number
    AND crowded_prices.source_line = judged_prices.source_line
