-- vanished_rows: sealed calls whose row is no longer in the landing zone; they keep counting.
SELECT call_id, agent_id, fate, source_file, source_line
FROM sealed_calls
ANTI JOIN (
    SELECT call_id, seal FROM screened_calls WHERE finding IS NULL
) AS present USING (call_id, seal)
ORDER BY call_id
