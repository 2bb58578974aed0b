-- late_prices: settled calls for which all prices now known would choose another price.
-- grain: one call    key: call_id    inputs: settlements, first_prices, sealed_calls
-- rule: contract §5; nothing settled changes; where no price is left, nothing is late
CREATE OR REPLACE TABLE late_prices AS
SELECT
    call_id,
    first_prices.price,
    first_prices.price_recorded_at,
    CAST(outcome_of(action, first_prices.price, reference_price) AS BIGINT) AS outcome_it_would_give,
    settlements.status AS settled_status,
    settlements.outcome AS settled_outcome
FROM settlements
JOIN first_prices USING (call_id)
JOIN sealed_calls USING (call_id)
WHERE (first_prices.price, first_prices.price_recorded_at)
    IS DISTINCT FROM (settlements.price, settlements.price_recorded_at)
ORDER BY call_id
