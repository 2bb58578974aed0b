-- season_scores: the weighted score of each agent over the terms that are measured for it.
-- grain: one agent in a season    key: season_id, agent_id
-- inputs: agent_season_brier, score_terms
-- rule: contract §6: Σ w·v ÷ Σ w over measured terms; sums are DECIMAL, so exact in any order
CREATE OR REPLACE TABLE season_scores AS
WITH agents AS (
    SELECT season_id, agent_id FROM agent_season_brier
    UNION
    SELECT season_id, agent_id FROM score_terms
),

season_terms AS (
    SELECT DISTINCT season_id, term, weight FROM score_terms
    UNION ALL
    SELECT DISTINCT season_id, 'calibration' AS term, $calibration_weight AS weight FROM agents
),

agent_terms AS (
    SELECT
        agents.season_id,
        agents.agent_id,
        season_terms.term,
        season_terms.weight,
        CASE WHEN season_terms.term = 'calibration'
            THEN agent_season_brier.calibration ELSE score_terms.value
        END AS value
    FROM agents
    JOIN season_terms USING (season_id)
    LEFT JOIN agent_season_brier USING (season_id, agent_id)
    LEFT JOIN score_terms
        ON score_terms.season_id = agents.season_id
        AND score_terms.agent_id = agents.agent_id
        AND score_terms.term = season_terms.term
),

summed AS (
    SELECT
        season_id,
        agent_id,
        count(value) AS measured,
        min(value) AS lowest,
        max(value) AS highest,
        CAST(sum(CAST(weight * value AS DECIMAL(38, 18))) AS DOUBLE) AS weighted_sum,
        CAST(sum(CASE WHEN value IS NOT NULL
            THEN CAST(weight AS DECIMAL(38, 18)) END) AS DOUBLE) AS weight_sum
    FROM agent_terms
    GROUP BY season_id, agent_id
)

SELECT
    season_id,
    agent_id,
    -- a weighted mean lies between its values, to the bit: a single measured term is the score
    CASE WHEN any_value(measured) > 0 THEN greatest(
        any_value(lowest),
        least(any_value(highest), any_value(weighted_sum) / any_value(weight_sum))
    ) END AS score,
    coalesce(list(term ORDER BY term) FILTER (value IS NOT NULL), []) AS measured_terms,
    coalesce(list(term ORDER BY term) FILTER (value IS NULL), []) AS waiting_terms,
    CAST(coalesce(to_json(map(
        list(term ORDER BY term) FILTER (value IS NOT NULL),
        list(weight / weight_sum ORDER BY term) FILTER (value IS NOT NULL)
    )), '{}') AS VARCHAR) AS effective_weights
FROM agent_terms
JOIN summed USING (season_id, agent_id)
GROUP BY season_id, agent_id
ORDER BY season_id, agent_id
