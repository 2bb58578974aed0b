-- settlements: every call ever settled, resolved or expired; final once published.
-- grain: one call    key: call_id
-- inputs: previous_settlements, eligible_calls, first_prices
-- rule: contract §5; expiry is decided only after trying to resolve in the same run
CREATE OR REPLACE TABLE settlements AS
WITH unsettled AS (
    SELECT eligible_calls.*, first_prices.price, first_prices.price_recorded_at
    FROM eligible_calls
    LEFT JOIN first_prices USING (call_id)
    ANTI JOIN previous_settlements USING (call_id)
),

settled_now AS (
    SELECT
        call_id,
        CASE WHEN price IS NOT NULL THEN 'resolved' ELSE 'expired' END AS status,
        outcome_of(action, price, reference_price) AS outcome,
        price = reference_price AS is_flat,
        price,
        price_recorded_at,
        $as_of AS settled_at
    FROM unsettled
    WHERE price IS NOT NULL OR $as_of >= expires_at
)

SELECT call_id, status, outcome, is_flat, price, price_recorded_at, settled_at
FROM previous_settlements
UNION ALL BY NAME
SELECT call_id, status, outcome, is_flat, price, price_recorded_at, settled_at
FROM settled_now
