-- orientation_agrees: calls whose loss is another in the orientation P(price above reference),
-- flat sells aside: those are listed in flat_sells.
WITH oriented AS (
    SELECT
        call_id,
        action,
        confidence,
        squared_error,
        CASE action WHEN 'buy' THEN confidence ELSE 1 - confidence END AS above,
        CASE WHEN price > reference_price THEN 1 ELSE 0 END AS is_above
    FROM eligible_calls
    JOIN resolved_outcomes USING (call_id)
    WHERE status = 'resolved'
)

SELECT call_id, action, confidence, squared_error, above, is_above
FROM oriented
ANTI JOIN flat_sells USING (call_id)
WHERE (abs((above - is_above) * (above - is_above) - squared_error) <= 1e-12) IS NOT TRUE
ORDER BY call_id
