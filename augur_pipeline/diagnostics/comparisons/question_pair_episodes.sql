-- question_pair_episodes: two agents on the questions that both answered, summed by episode.
-- grain: one pair of agents in one episode (NULL: a call beyond the horizon bound)
-- key: agent_number_a, agent_number_b, episode_number    inputs: numbered_forecasts
-- rule: comparisons §2: an agent's loss on a question is the mean over its calls on it. A question
-- belongs to the episode of the earlier of the two agents' first calls on it.
CREATE OR REPLACE TABLE question_pair_episodes AS
WITH answers AS (
    SELECT
        question_number,
        agent_number,
        CAST(sum(CAST(weight * loss AS DECIMAL(38, 18))) AS DOUBLE)
            / CAST(sum(CAST(weight AS DECIMAL(38, 18))) AS DOUBLE) AS loss,
        CASE WHEN count(*) = count(episode_number) THEN min(episode_number) END AS episode_number,
        bool_or(is_wrong) AS holds_wrong,
        bool_or(NOT is_wrong) AS holds_right
    FROM numbered_forecasts
    WHERE question_number IS NOT NULL
    GROUP BY question_number, agent_number
),

met AS (
    SELECT
        a.agent_number AS agent_number_a,
        b.agent_number AS agent_number_b,
        CASE WHEN a.episode_number IS NOT NULL AND b.episode_number IS NOT NULL
            THEN least(a.episode_number, b.episode_number)
        END AS episode_number,
        a.loss AS loss_a,
        b.loss AS loss_b,
        a.holds_wrong AS holds_wrong_a,
        a.holds_right AS holds_right_a,
        b.holds_wrong AS holds_wrong_b,
        b.holds_right AS holds_right_b
    FROM answers AS a
    JOIN answers AS b
        ON a.question_number = b.question_number
        AND a.agent_number < b.agent_number
)

SELECT
    agent_number_a,
    agent_number_b,
    episode_number,
    count(*) AS size,
    sum(CAST(loss_a - loss_b AS DECIMAL(38, 18))) AS difference,
    sum(CAST(loss_a + loss_b AS DECIMAL(38, 18))) AS loss,
    bool_and(loss_a = loss_b) AS is_same,
    bool_or(holds_wrong_a) AS holds_wrong_a,
    bool_or(holds_right_a) AS holds_right_a,
    bool_or(holds_wrong_b) AS holds_wrong_b,
    bool_or(holds_right_b) AS holds_right_b
FROM met
GROUP BY agent_number_a, agent_number_b, episode_number
