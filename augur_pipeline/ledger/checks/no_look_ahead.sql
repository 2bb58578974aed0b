-- no_look_ahead: settlements by a price from before the due time or from after the settling run,
-- and calls that count though their claimed seal time is not before their due time.
WITH settled AS (
    SELECT call_id, status, price_recorded_at, settled_at FROM resolved_outcomes
    UNION ALL
    -- settlements of calls that have left their season, too
    SELECT call_id, status, price_recorded_at, settled_at FROM settlements
)

SELECT
    call_id, decided_at, recorded_at, sealed_calls.due_at, status, price_recorded_at, settled_at
FROM sealed_calls
LEFT JOIN settled USING (call_id)
LEFT JOIN (SELECT call_id, due_at FROM eligible_calls) AS eligible USING (call_id)
WHERE price_recorded_at < coalesce(eligible.due_at, sealed_calls.due_at)
    OR price_recorded_at > settled_at
    OR (settled_at IS NULL) <> (status IN ('pending', 'open', 'due_after_final'))
    OR coalesce(recorded_at, decided_at) >= eligible.due_at
ORDER BY call_id
