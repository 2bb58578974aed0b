-- What is wrong with a landing row of prices, repeats aside (contract §3): the first finding that
-- applies; NULL: the row can be used.
CREATE OR REPLACE TEMP MACRO price_finding(
    malformed_text, pool_number, recorded_at, price, sequence_text
) AS
    CASE
        WHEN malformed_text IS NOT NULL THEN 'malformed_row'
        WHEN recorded_at > (SELECT as_of FROM run_state) THEN 'not_yet'
        WHEN pool_number IS NULL THEN 'missing_pool_id'
        WHEN recorded_at IS NULL THEN 'bad_recorded_at'
        WHEN price IS NULL THEN 'bad_price'
        WHEN price <= 0 THEN 'price_not_positive'
        WHEN sequence_text IS NOT NULL THEN 'bad_sequence'
    END;
