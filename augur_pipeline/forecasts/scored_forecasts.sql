-- scored_forecasts: every eligible call as a forecast of being right, resolved or not.
-- grain: one forecast    key: kind, forecast_id
-- inputs: eligible_calls, resolved_outcomes, seasons
-- rule: the cohort is the season, the forecaster the agent, the probability the confidence.
-- The episode is a block of days counted from the season's first midnight, all pools together,
-- twice as long as a call can take (horizon bound + window), so that blocks two apart share
-- nothing. A call with a longer horizon has no episode: it is scored, but is left out of
-- intervals and tests.
CREATE OR REPLACE TABLE scored_forecasts AS
WITH season_blocks AS (
    SELECT
        season_id,
        max_horizon_hours,
        epoch_us(date_trunc('day', starts_at)) AS first_midnight_us,
        CAST(ceil(2 * (max_horizon_hours * 3.6e9 + $window_us) / 86.4e9) AS BIGINT) * 86400000000
            AS block_us
    FROM seasons
)

SELECT
    'call' AS kind,
    calls.season_id AS cohort_id,
    calls.agent_id AS forecaster_id,
    calls.call_id AS forecast_id,
    question.question_id AS event_id,
    question.question_id,
    CASE WHEN calls.horizon_hours <= max_horizon_hours
        THEN CAST((epoch_us(calls.decided_at) - first_midnight_us) // block_us AS VARCHAR)
    END AS episode_id,
    outcomes.status,
    calls.confidence AS probability,
    outcomes.outcome,
    1.0::DOUBLE AS weight,
    calls.decided_at AS issued_at,
    outcomes.price_recorded_at AS resolved_at,
    calls.model_version
FROM eligible_calls AS calls
JOIN resolved_outcomes AS outcomes USING (call_id)
JOIN season_blocks ON season_blocks.season_id = calls.season_id
JOIN (
    SELECT
        call_id,
        -- several agents asked at one moment about one price answer one question
        coalesce(question_id, CAST(to_json([
            pool_id, CAST(epoch_us(due_at) AS VARCHAR), CAST(horizon_hours AS VARCHAR),
            CAST(reference_price AS VARCHAR), CAST(epoch_us(decided_at) AS VARCHAR)
        ]) AS VARCHAR)) AS question_id
    FROM eligible_calls
) AS question USING (call_id)
