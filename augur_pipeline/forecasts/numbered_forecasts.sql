-- numbered_forecasts: every resolved forecast with its loss, its names replaced by numbers.
-- grain: one resolved forecast    key: kind, forecast_id
-- inputs: scored_forecasts, numbered_agents, questions
-- rule: the loss is the contract's. A call's episode number is its block; events overlap with
-- nothing, so their numbers are two apart. question_number is NULL where no other agent was asked,
-- or where the question's calls do not agree on what is asked.
CREATE OR REPLACE TABLE numbered_forecasts AS
WITH numbered_events AS (
    SELECT episode_id, 2 * row_number() OVER (ORDER BY episode_id) AS episode_number
    FROM (SELECT DISTINCT episode_id FROM scored_forecasts WHERE kind <> 'call')
    WHERE episode_id IS NOT NULL
),

shared_questions AS (
    SELECT cohort_id, question_id, row_number() OVER () AS question_number
    FROM questions
    WHERE agents > 1 AND reason IS NULL
)

SELECT
    scored_forecasts.kind,
    forecast_id,
    agent_number,
    question_number,
    CASE scored_forecasts.kind
        WHEN 'call' THEN CAST(scored_forecasts.episode_id AS BIGINT)
        ELSE numbered_events.episode_number
    END AS episode_number,
    probability,
    outcome,
    weight,
    (probability - outcome) * (probability - outcome) AS loss,
    (outcome = 1) <> (probability >= 0.5) AS is_wrong
FROM scored_forecasts
JOIN numbered_agents USING (cohort_id, forecaster_id)
LEFT JOIN shared_questions USING (cohort_id, question_id)
LEFT JOIN numbered_events
    ON scored_forecasts.kind <> 'call'
    AND scored_forecasts.episode_id = numbered_events.episode_id
WHERE outcome IS NOT NULL AND weight > 0
