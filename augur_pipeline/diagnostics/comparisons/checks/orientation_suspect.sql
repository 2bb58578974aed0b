-- orientation_suspect: agents that would score significantly better with a side turned round.
SELECT cohort_id, agent_id, side, n, mean_loss, flipped_mean_loss, p_value_adjusted
FROM orientation_audit
WHERE is_suspect
ORDER BY cohort_id, agent_id, side
