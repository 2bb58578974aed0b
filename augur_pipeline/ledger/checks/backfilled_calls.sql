-- backfilled_calls: agents with calls first seen at or after their due time: we cannot vouch
-- that these were sealed before their outcome could be known.
SELECT season_id, agent_id, count(*) AS backfilled_calls
FROM sealed_calls
WHERE is_backfilled AND fate = 'eligible'
GROUP BY season_id, agent_id
ORDER BY season_id, agent_id
