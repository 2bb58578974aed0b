-- rejected_prices: every landing row of prices that was rejected, as its file gives it.
-- grain: one landing row    key: file_number, source_line
-- inputs: unusable_prices, pools
CREATE OR REPLACE TABLE rejected_prices AS
SELECT
    file_number,
    source_line,
    malformed_text,
    pool_id,
    coalesce(recorded_at_text, CAST(recorded_at AS VARCHAR)) AS recorded_at_given,
    coalesce(price_text, CAST(price AS VARCHAR)) AS price_given,
    sequence_text AS sequence_given,
    finding AS reason
FROM unusable_prices
LEFT JOIN pools USING (pool_number)
WHERE finding <> 'not_yet'
