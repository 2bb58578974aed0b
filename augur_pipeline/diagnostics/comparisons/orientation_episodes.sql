-- orientation_episodes: an agent's losses as stated and with the side turned round, by episode.
-- grain: one agent and side in one episode (NULL: beyond the horizon bound)
-- key: agent_number, side_number, episode_number
-- inputs: numbered_forecasts, eligible_calls, resolved_outcomes
-- rule: comparisons §2: 1 − p on unflat rows; sides 0 all, 1 buys, 2 sells
CREATE OR REPLACE TABLE orientation_episodes AS
WITH turned AS (
    SELECT
        agent_number,
        episode_number,
        action,
        outcome,
        loss,
        CASE WHEN is_flat THEN probability ELSE 1 - probability END AS flipped,
        is_wrong
    FROM numbered_forecasts
    JOIN (SELECT call_id AS forecast_id, action FROM eligible_calls) AS calls USING (forecast_id)
    JOIN (SELECT call_id AS forecast_id, is_flat FROM resolved_outcomes) AS outcomes
        USING (forecast_id)
    WHERE kind = 'call'
),

side_by_side AS (
    SELECT
        *,
        (flipped - outcome) * (flipped - outcome) AS flipped_loss,
        (outcome = 1) <> (flipped >= 0.5) AS is_flipped_wrong,
        unnest([0, CASE action WHEN 'buy' THEN 1 ELSE 2 END]) AS side_number
    FROM turned
)

SELECT
    agent_number,
    side_number,
    episode_number,
    count(*) AS size,
    sum(CAST(loss AS DECIMAL(38, 18))) AS own_loss,
    sum(CAST(flipped_loss AS DECIMAL(38, 18))) AS flipped_loss,
    sum(CAST(loss - flipped_loss AS DECIMAL(38, 18))) AS difference,
    sum(CAST(loss + flipped_loss AS DECIMAL(38, 18))) AS loss,
    bool_and(loss = flipped_loss) AS is_same,
    bool_or(is_wrong) AS holds_wrong_a,
    bool_or(NOT is_wrong) AS holds_right_a,
    bool_or(is_flipped_wrong) AS holds_wrong_b,
    bool_or(NOT is_flipped_wrong) AS holds_right_b
FROM side_by_side
GROUP BY agent_number, side_number, episode_number
