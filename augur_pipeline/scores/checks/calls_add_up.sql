-- calls_add_up: agent-seasons in which eligible is not pending + open + resolved + expired +
-- due_after_final, or directional is not eligible + rejected + missing.
SELECT
    season_id, agent_id, directional_calls, eligible_calls, rejected_calls, missing_calls,
    pending_calls, open_calls, resolved_calls, expired_calls, due_after_final
FROM agent_season_brier
WHERE eligible_calls
    <> pending_calls + open_calls + resolved_calls + expired_calls + due_after_final
    OR directional_calls <> eligible_calls + rejected_calls + missing_calls
ORDER BY season_id, agent_id
