-- ids: every agent and every pool ever sealed, for the check of ids that look alike.
-- grain: one id of a kind    key: kind, id
-- inputs: sealed_calls
-- rule: contract §4 (ids are compared byte for byte)
SELECT DISTINCT 'agent' AS kind, agent_id AS id FROM sealed_calls
UNION ALL
SELECT DISTINCT 'pool' AS kind, pool_id AS id FROM sealed_calls
ORDER BY kind, id
