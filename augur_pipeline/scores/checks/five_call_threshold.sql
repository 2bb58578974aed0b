-- five_call_threshold: agent-seasons whose calibration is not NULL exactly below five resolved.
SELECT
    season_id, agent_id, resolved_calls, calibration, calibration_status, calls_needed
FROM agent_season_brier
WHERE (calibration IS NULL) <> (resolved_calls < $min_resolved)
    OR (calibration_status = 'waiting') <> (resolved_calls < $min_resolved)
    OR calls_needed <> greatest(0, $min_resolved - resolved_calls)
ORDER BY season_id, agent_id
