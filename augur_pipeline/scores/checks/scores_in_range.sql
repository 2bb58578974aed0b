-- scores_in_range: Brier scores outside [0, 1] or not a number, calibrations outside [0, 100],
-- scores missing where calls resolved.
SELECT season_id, agent_id, resolved_calls, brier, skill, calibration
FROM agent_season_brier
WHERE NOT coalesce(brier BETWEEN 0 AND 1, TRUE)
    OR NOT coalesce(calibration BETWEEN 0 AND 100, TRUE)
    OR (brier IS NULL) <> (resolved_calls = 0)
ORDER BY season_id, agent_id
