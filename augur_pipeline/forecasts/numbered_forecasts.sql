-- numbered_forecasts: every resolved forecast with its loss, its names replaced by numbers.
-- grain: one resolved forecast    key: kind, forecast_id
-- inputs: scored_forecasts, numbered_agents, episode_numbers, questions
-- rule: the loss is the contract's. question_number is NULL where no other agent was asked, or where
-- the question's calls do not agree on what is asked.
CREATE OR REPLACE TABLE numbered_forecasts AS
WITH shared_questions AS (
    SELECT kind, cohort_id, question_id, row_number() OVER () AS question_number
    FROM questions
    WHERE agents > 1 AND reason IS NULL
)

SELECT
    kind,
    forecast_id,
    agent_number,
    question_number,
    episode_number,
    probability,
    outcome,
    weight,
    (probability - outcome) * (probability - outcome) AS loss,
    (outcome = 1) <> (probability >= 0.5) AS is_wrong
FROM scored_forecasts
JOIN numbered_agents USING (kind, cohort_id, forecaster_id)
LEFT JOIN episode_numbers USING (kind, episode_id)
LEFT JOIN shared_questions USING (kind, cohort_id, question_id)
WHERE outcome IS NOT NULL AND weight > 0
