-- receipt_sums: the exact sum of each agent's losses in a season, as text.
-- grain: one agent in a season with an eligible call    inputs: resolved_outcomes
-- rule: contract §6: DECIMAL sums
SELECT
    season_id,
    agent_id,
    CAST(coalesce(sum(CAST(squared_error AS DECIMAL(38, 18))), 0) AS VARCHAR) AS loss_sum
FROM resolved_outcomes
GROUP BY season_id, agent_id
