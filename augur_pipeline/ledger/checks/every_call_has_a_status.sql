-- every_call_has_a_status: eligible calls without exactly one known status.
SELECT call_id, count(status) AS statuses, min(status) AS status
FROM eligible_calls
LEFT JOIN resolved_outcomes USING (call_id)
GROUP BY call_id
HAVING count(status) <> 1
    OR min(status) NOT IN ('pending', 'open', 'resolved', 'expired', 'due_after_final')
ORDER BY call_id
