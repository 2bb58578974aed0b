-- day_pair_episodes: two agents of a cohort in the episodes in which both resolved a forecast.
-- grain: one pair of agents in one episode    key: agent_number_a, agent_number_b, episode_number
-- inputs: agent_episodes, numbered_agents
-- rule: comparisons §2: difference of episode means, every episode with the same weight
CREATE OR REPLACE TABLE day_pair_episodes AS
WITH episodes AS (
    SELECT agent_episodes.*, kind, cohort_id
    FROM agent_episodes
    JOIN numbered_agents USING (agent_number)
)

SELECT
    a.agent_number AS agent_number_a,
    b.agent_number AS agent_number_b,
    episode_number,
    1 AS size,
    a.rows AS rows_a,
    b.rows AS rows_b,
    CAST(a.mean_loss - b.mean_loss AS DECIMAL(38, 18)) AS difference,
    CAST(a.mean_loss + b.mean_loss AS DECIMAL(38, 18)) AS loss,
    a.mean_loss = b.mean_loss AS is_same,
    a.holds_wrong AS holds_wrong_a,
    a.holds_right AS holds_right_a,
    b.holds_wrong AS holds_wrong_b,
    b.holds_right AS holds_right_b
FROM episodes AS a
JOIN episodes AS b USING (kind, cohort_id, episode_number)
WHERE a.agent_number < b.agent_number
