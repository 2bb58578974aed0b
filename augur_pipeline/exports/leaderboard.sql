-- leaderboard: agents of each season, best first (what `augur run` prints).
-- grain: one agent in a season
-- inputs: agent_season_brier, calibration_diagnostics, benchmark_skill, leaderboard_choices,
--         agent_comparisons, agent_comparisons_by_episode, run_info
-- rule: `next` compares with the agent one line below, on the same questions or else on the same days
WITH board AS (
    SELECT
        *,
        row_number() OVER best_first AS place,
        lead(agent_id) OVER best_first AS next_agent
    FROM agent_season_brier
    WINDOW best_first AS (
        PARTITION BY season_id ORDER BY calibration DESC NULLS LAST, brier NULLS LAST, agent_id
    )
),

neighbours AS (
    SELECT
        board.season_id,
        board.agent_id,
        coalesce(questions.p_value_adjusted, days.p_value_adjusted) AS p_value_adjusted
    FROM board
    LEFT JOIN agent_comparisons AS questions
        ON questions.cohort_id = board.season_id
        AND questions.agent_a = least(board.agent_id, next_agent)
        AND questions.agent_b = greatest(board.agent_id, next_agent)
    LEFT JOIN agent_comparisons_by_episode AS days
        ON days.cohort_id = board.season_id
        AND days.agent_a = least(board.agent_id, next_agent)
        AND days.agent_b = greatest(board.agent_id, next_agent)
)

SELECT
    board.season_id AS season,
    board.agent_id AS agent,
    resolved_calls AS n,
    coalesce(calibration_diagnostics.episodes, 0) AS episodes,
    format('{:.4f}', board.brier) AS "Brier",
    format('{:.3f}-{:.3f}', brier_low, brier_high) AS "95 %",
    CASE calibration_status
        WHEN 'measured' THEN format('{:.1f}', board.calibration)
        ELSE format('waiting, {} more', calls_needed)
    END AS calibration,
    format('{:.1f} %', coverage * 100) AS coverage,
    format('{:+.3f}', benchmark_skill.skill) AS skill,
    CASE
        WHEN next_agent IS NULL THEN ''
        WHEN p_value_adjusted IS NULL THEN '?'
        WHEN p_value_adjusted < (SELECT CAST(policy ->> 'significance' AS DOUBLE) FROM run_info)
            THEN '≠'
        ELSE '='
    END AS next,
    is_final AS final
FROM board
JOIN neighbours USING (season_id, agent_id)
LEFT JOIN leaderboard_choices USING (season_id)
LEFT JOIN benchmark_skill
    ON benchmark_skill.cohort_id = board.season_id
    AND benchmark_skill.forecaster_id = board.agent_id
    AND benchmark_skill.benchmark_id = leaderboard_choices.benchmark_id
LEFT JOIN calibration_diagnostics
    ON calibration_diagnostics.scope = 'forecaster'
    AND calibration_diagnostics.cohort_id = board.season_id
    AND calibration_diagnostics.forecaster_id = board.agent_id
-- a large arena is not listed whole: query the tables for the rest
WHERE place <= $shown
ORDER BY board.season_id, place
