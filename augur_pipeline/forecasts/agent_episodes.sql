-- agent_episodes: an agent's resolved forecasts of one episode.
-- grain: one agent in one episode    key: agent_number, episode_number
-- inputs: numbered_forecasts    rule: the mean loss is of exact sums
CREATE OR REPLACE TABLE agent_episodes AS
SELECT
    agent_number,
    episode_number,
    count(*) AS rows,
    CAST(sum(CAST(weight * loss AS DECIMAL(38, 18))) AS DOUBLE)
        / CAST(sum(CAST(weight AS DECIMAL(38, 18))) AS DOUBLE) AS mean_loss,
    bool_or(is_wrong) AS holds_wrong,
    bool_or(NOT is_wrong) AS holds_right
FROM numbered_forecasts
WHERE episode_number IS NOT NULL
GROUP BY agent_number, episode_number
