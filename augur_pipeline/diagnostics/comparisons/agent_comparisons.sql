-- agent_comparisons: mean loss difference of two agents on the questions that both answered.
-- grain: one pair of agents that share a question in a cohort    key: cohort_id, agent_a, agent_b
-- inputs: question_pair_episodes, question_pair_tests, numbered_agents, scored_forecasts
-- rule: comparisons §2; a share is of the questions on which the agent has a resolved forecast
CREATE OR REPLACE TABLE agent_comparisons AS
WITH answered AS (
    SELECT agent_number, count(*) AS questions
    FROM (
        SELECT DISTINCT kind, cohort_id, forecaster_id, question_id
        FROM scored_forecasts
        WHERE outcome IS NOT NULL AND weight > 0
    )
    JOIN numbered_agents USING (kind, cohort_id, forecaster_id)
    GROUP BY agent_number
),

pairs AS (
    SELECT
        agent_number_a,
        agent_number_b,
        CAST(sum(size) AS BIGINT) AS n_common,
        CAST(sum(difference) AS DOUBLE) AS differences
    FROM question_pair_episodes
    GROUP BY agent_number_a, agent_number_b
)

SELECT
    a.cohort_id,
    a.forecaster_id AS agent_a,
    b.forecaster_id AS agent_b,
    n_common,
    n_common / answered_a.questions AS share_a,
    n_common / answered_b.questions AS share_b,
    differences / n_common AS mean_difference,
    low,
    high,
    coalesce(n_episodes, 0) AS n_episodes,
    p_value,
    p_value_adjusted,
    CASE WHEN n_episodes IS NULL THEN 'no_episodes' ELSE undefined_reason END AS undefined_reason
FROM pairs
JOIN numbered_agents AS a ON a.agent_number = agent_number_a
JOIN numbered_agents AS b ON b.agent_number = agent_number_b
JOIN answered AS answered_a ON answered_a.agent_number = agent_number_a
JOIN answered AS answered_b ON answered_b.agent_number = agent_number_b
LEFT JOIN question_pair_tests USING (agent_number_a, agent_number_b)
ORDER BY a.cohort_id, agent_a, agent_b
