-- calls_expiring_soon: open calls that expire within the policy's hours unless a price arrives.
SELECT call_id, agent_id, pool_id, due_at, window_closes_at, expires_at
FROM resolved_outcomes
JOIN (
    SELECT call_id, due_at, window_closes_at, expires_at FROM eligible_calls
) AS times USING (call_id)
WHERE status = 'open' AND epoch_us(expires_at) - epoch_us($as_of) <= $warn_expiring_us
ORDER BY expires_at, call_id
