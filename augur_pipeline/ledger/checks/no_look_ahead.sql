-- no_look_ahead: settlements by a price from before the due time or from after the settling run,
-- and calls whose claimed seal time is not before their due time.
SELECT
    call_id, decided_at, recorded_at, eligible_calls.due_at, price_recorded_at, settled_at
FROM eligible_calls
JOIN resolved_outcomes USING (call_id)
JOIN (SELECT call_id, recorded_at FROM sealed_calls) AS seals USING (call_id)
WHERE price_recorded_at < due_at
    OR price_recorded_at > settled_at
    OR (settled_at IS NULL) <> (status IN ('pending', 'open'))
    OR coalesce(recorded_at, decided_at) >= due_at
ORDER BY call_id
