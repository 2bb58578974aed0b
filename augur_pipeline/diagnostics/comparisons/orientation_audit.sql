-- orientation_audit: would an agent score better with buys and sells turned round?
-- grain: one agent and side in a cohort    key: cohort_id, agent_id, side
-- inputs: orientation_episodes, orientation_tests, numbered_agents
-- rule: comparisons §2: suspect where the flipped loss is lower and Holm's p-value, over agents ×
-- {all, buys, sells} of the cohort, significant; nothing is corrected
CREATE OR REPLACE TABLE orientation_audit AS
WITH sides AS (
    SELECT
        agent_number,
        side_number,
        CAST(sum(size) AS BIGINT) AS n,
        CAST(sum(own_loss) AS DOUBLE) AS own_loss,
        CAST(sum(flipped_loss) AS DOUBLE) AS flipped_loss,
        CAST(sum(difference) AS DOUBLE) AS differences
    FROM orientation_episodes
    GROUP BY agent_number, side_number
)

SELECT
    cohort_id,
    forecaster_id AS agent_id,
    CASE side_number WHEN 0 THEN 'all' WHEN 1 THEN 'buys' ELSE 'sells' END AS side,
    n,
    coalesce(n_episodes, 0) AS n_episodes,
    own_loss / n AS mean_loss,
    flipped_loss / n AS flipped_mean_loss,
    differences / n AS difference,
    low,
    high,
    p_value,
    p_value_adjusted,
    coalesce(differences > 0 AND p_value_adjusted < $significance, FALSE) AS is_suspect,
    CASE WHEN n_episodes IS NULL THEN 'no_episodes' ELSE undefined_reason END AS undefined_reason
FROM sides
JOIN numbered_agents USING (agent_number)
LEFT JOIN orientation_tests USING (agent_number, side_number)
ORDER BY cohort_id, agent_id, side
