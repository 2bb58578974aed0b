-- low_confidence: agents with confidences below one half: legal, but often a log that states
-- the probability of a rise rather than of being right.
SELECT season_id, agent_id, count(*) AS calls, min(confidence) AS lowest
FROM eligible_calls
WHERE confidence < 0.5
GROUP BY season_id, agent_id
ORDER BY season_id, agent_id
