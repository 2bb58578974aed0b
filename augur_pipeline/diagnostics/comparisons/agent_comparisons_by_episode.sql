-- agent_comparisons_by_episode: same days, different questions: difference of episode means.
-- grain: one pair of agents that share an episode in a cohort    key: cohort_id, agent_a, agent_b
-- inputs: day_pair_episodes, day_pair_tests, numbered_agents    rule: comparisons §2
CREATE OR REPLACE TABLE agent_comparisons_by_episode AS
WITH pairs AS (
    SELECT
        agent_number_a,
        agent_number_b,
        count(*) AS n_episodes,
        CAST(sum(rows_a) AS BIGINT) AS rows_a,
        CAST(sum(rows_b) AS BIGINT) AS rows_b,
        CAST(sum(difference) AS DOUBLE) AS differences
    FROM day_pair_episodes
    GROUP BY agent_number_a, agent_number_b
)

SELECT
    a.cohort_id,
    a.forecaster_id AS agent_a,
    b.forecaster_id AS agent_b,
    'same days, different questions' AS label,
    rows_a,
    rows_b,
    rows_a / a.resolved_rows AS share_a,
    rows_b / b.resolved_rows AS share_b,
    differences / pairs.n_episodes AS mean_difference,
    low,
    high,
    pairs.n_episodes,
    p_value,
    p_value_adjusted,
    undefined_reason
FROM pairs
JOIN numbered_agents AS a ON a.agent_number = agent_number_a
JOIN numbered_agents AS b ON b.agent_number = agent_number_b
JOIN day_pair_tests USING (agent_number_a, agent_number_b)
ORDER BY a.cohort_id, agent_a, agent_b
