-- leaderboard: agents of each season, best first (what `augur run` prints).
-- grain: one agent in a season    inputs: agent_season_brier
SELECT
    season_id AS season,
    agent_id AS agent,
    resolved_calls AS resolved,
    format('{:.4f}', brier) AS "Brier",
    CASE calibration_status
        WHEN 'measured' THEN format('{:.1f}', calibration)
        ELSE format('waiting, {} more', calls_needed)
    END AS calibration,
    format('{:.1f} %', coverage * 100) AS coverage,
    is_final AS final
FROM agent_season_brier
-- a large arena is not listed whole: query the table for the rest
QUALIFY row_number() OVER (
    PARTITION BY season_id
    ORDER BY agent_season_brier.calibration DESC NULLS LAST,
        agent_season_brier.brier NULLS LAST, agent_id
) <= 25
ORDER BY season_id, agent_season_brier.calibration DESC NULLS LAST,
    agent_season_brier.brier NULLS LAST, agent_id
