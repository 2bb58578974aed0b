-- seven_day_expiry: calls expired early, left open past expiry, expired with an outcome or a
-- loss, or resolved by a price outside their window; those due after their season is final, too.
WITH standings AS (
    SELECT call_id, status, settled_at, price_recorded_at, outcome, squared_error
    FROM resolved_outcomes
    WHERE status <> 'due_after_final'
    UNION ALL
    SELECT
        call_id,
        coalesce(late.status, 'open') AS status,
        late.settled_at,
        late.price_recorded_at,
        late.outcome,
        late.squared_error
    FROM resolved_outcomes AS outcomes
    LEFT JOIN late_outcomes AS late USING (call_id)
    WHERE outcomes.status = 'due_after_final'
)

SELECT
    call_id, status, due_at, expires_at, settled_at, price_recorded_at, outcome, squared_error
FROM standings
JOIN eligible_calls USING (call_id)
WHERE (status = 'expired' AND settled_at < expires_at)
    OR (status IN ('pending', 'open') AND $as_of >= expires_at)
    OR (status = 'expired' AND (outcome IS NOT NULL OR squared_error IS NOT NULL))
    OR (status = 'resolved'
        AND (price_recorded_at IS NULL
            OR price_recorded_at NOT BETWEEN due_at AND window_closes_at))
ORDER BY call_id
