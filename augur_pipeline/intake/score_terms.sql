-- score_terms: the terms of score_terms.csv that others measured.
-- grain: one term of an agent in a season    key: season_id, agent_id, term
-- inputs: landed_score_terms                 rule: contract §6
CREATE OR REPLACE TABLE score_terms AS
SELECT season_id, agent_id, term, weight, value
FROM landed_score_terms
ORDER BY season_id, agent_id, term
