-- excluded_calls: sealed calls that are good rows but do not count.
-- grain: one call    key: call_id    inputs: sealed_calls
CREATE OR REPLACE TABLE excluded_calls AS
SELECT call_id, agent_id, season_id, reason
FROM sealed_calls
WHERE fate = 'excluded'
ORDER BY call_id
