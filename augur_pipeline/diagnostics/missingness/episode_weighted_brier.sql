-- episode_weighted_brier: the Brier score with every episode weighing the same.
-- grain: one forecaster in a cohort    key: cohort_id, forecaster_id
-- inputs: numbered_agents, numbered_forecasts, agent_episodes
-- rule: comparisons §2: hundreds of repeated prompts in one episode are one lesson. Mean over episodes
-- of the episode's mean loss; rows without an episode are in brier alone
CREATE OR REPLACE TABLE episode_weighted_brier AS
WITH by_row AS (
    SELECT
        agent_number,
        count(*) AS n,
        count(*) - count(episode_number) AS n_without_episode,
        CAST(sum(CAST(weight * loss AS DECIMAL(38, 18))) AS DOUBLE)
            / CAST(sum(CAST(weight AS DECIMAL(38, 18))) AS DOUBLE) AS brier
    FROM numbered_forecasts
    GROUP BY agent_number
),

by_episode AS (
    SELECT
        agent_number,
        count(*) AS episodes,
        CAST(sum(CAST(mean_loss AS DECIMAL(38, 18))) AS DOUBLE) / count(*) AS episode_weighted_brier
    FROM agent_episodes
    GROUP BY agent_number
)

SELECT
    cohort_id,
    forecaster_id,
    coalesce(n, 0) AS n,
    coalesce(n_without_episode, 0) AS n_without_episode,
    coalesce(episodes, 0) AS episodes,
    brier,
    episode_weighted_brier
FROM numbered_agents
LEFT JOIN by_row USING (agent_number)
LEFT JOIN by_episode USING (agent_number)
ORDER BY cohort_id, forecaster_id
