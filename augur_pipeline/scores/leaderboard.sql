-- leaderboard: agents of each running season, best calibration first (for the asset's page).
-- grain: one agent in a season    inputs: agent_season_brier, running_seasons
SELECT
    season_id,
    agent_id,
    resolved_calls,
    round(brier, 4) AS brier,
    round(calibration, 1) AS calibration,
    calibration_status,
    calls_needed,
    round(hit_rate, 4) AS hit_rate,
    round(mean_confidence, 4) AS mean_confidence
FROM agent_season_brier
SEMI JOIN running_seasons USING (season_id)
ORDER BY season_id, agent_season_brier.calibration DESC NULLS LAST,
    agent_season_brier.brier NULLS LAST, agent_id
LIMIT 100
