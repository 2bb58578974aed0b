-- passports: the lifetime counts of every agent we know of.
-- grain: one agent    key: agent_id
-- inputs: agent_season_brier, season_scores, sealed_calls, rejected_rows
-- rule: contract §4 (rows of tests 1 and 2 count here, in no agent-season) and §7
CREATE OR REPLACE TABLE passports AS
WITH rejections AS (
    -- rejected calls, each once, also where their row has vanished
    SELECT agent_id, reason FROM sealed_calls WHERE fate = 'rejected'
    UNION ALL
    -- rows that never became a call of their own
    SELECT agent_id, reason
    FROM rejected_rows
    ANTI JOIN (SELECT call_id, reason FROM sealed_calls WHERE fate = 'rejected') AS calls
        USING (call_id, reason)
    WHERE kind = 'calls' AND agent_id IS NOT NULL
),

rejected AS (
    SELECT agent_id, to_json(map(list(reason ORDER BY reason), list(calls ORDER BY reason))) AS by_reason
    FROM (SELECT agent_id, reason, count(*) AS calls FROM rejections GROUP BY agent_id, reason)
    GROUP BY agent_id
),

excluded AS (
    SELECT agent_id, to_json(map(list(reason ORDER BY reason), list(calls ORDER BY reason))) AS by_reason
    FROM (
        SELECT agent_id, reason, count(*) AS calls
        FROM sealed_calls WHERE fate = 'excluded' GROUP BY agent_id, reason
    )
    GROUP BY agent_id
),

lifetime AS (
    SELECT
        agent_id,
        sum(directional_calls) AS directional_calls,
        sum(eligible_calls) AS eligible_calls,
        sum(resolved_calls) AS resolved_calls,
        sum(correct_calls) AS correct_calls,
        sum(expired_calls) AS expired_calls,
        sum(due_after_final) AS due_after_final,
        sum(open_calls) AS open_calls,
        sum(pending_calls) AS pending_calls,
        sum(refused_calls) AS refused_calls,
        sum(backfilled_calls) AS backfilled_calls
    FROM agent_season_brier
    GROUP BY agent_id
),

seasons_of AS (
    SELECT agent_id, list(season_id ORDER BY season_id) AS seasons
    FROM season_scores
    GROUP BY agent_id
),

agents AS (
    SELECT agent_id FROM sealed_calls
    UNION
    SELECT agent_id FROM rejections
    UNION
    SELECT agent_id FROM seasons_of
)

SELECT
    agent_id,
    coalesce(seasons, []) AS seasons,
    CAST(coalesce(directional_calls, 0) AS BIGINT) AS directional_calls,
    CAST(coalesce(eligible_calls, 0) AS BIGINT) AS eligible_calls,
    CAST(coalesce(resolved_calls, 0) AS BIGINT) AS resolved_calls,
    CAST(coalesce(correct_calls, 0) AS BIGINT) AS correct_calls,
    CAST(coalesce(expired_calls, 0) AS BIGINT) AS expired_calls,
    CAST(coalesce(due_after_final, 0) AS BIGINT) AS due_after_final,
    CAST(coalesce(open_calls, 0) AS BIGINT) AS open_calls,
    CAST(coalesce(pending_calls, 0) AS BIGINT) AS pending_calls,
    CAST(coalesce(refused_calls, 0) AS BIGINT) AS refused_calls,
    CAST(coalesce(backfilled_calls, 0) AS BIGINT) AS backfilled_calls,
    CAST(coalesce(rejected.by_reason, '{}') AS VARCHAR) AS rejected_by_reason,
    CAST(coalesce(excluded.by_reason, '{}') AS VARCHAR) AS excluded_by_reason
FROM agents
LEFT JOIN lifetime USING (agent_id)
LEFT JOIN seasons_of USING (agent_id)
LEFT JOIN rejected USING (agent_id)
LEFT JOIN excluded USING (agent_id)
ORDER BY agent_id
