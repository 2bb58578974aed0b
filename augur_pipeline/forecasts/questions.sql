-- questions: what was asked, how often, and whether all calls on it agree on what was asked.
-- grain: one question in a cohort of a kind    key: kind, cohort_id, question_id
-- inputs: scored_forecasts, eligible_calls, resolved_outcomes
-- rule: comparisons §2: all calls of a question share pool, due_at and reference price and have one
-- outcome price, else question_mismatch: listed, not compared
CREATE OR REPLACE TABLE questions AS
WITH asked AS (
    SELECT
        scored_forecasts.kind,
        cohort_id,
        scored_forecasts.question_id,
        forecaster_id,
        eligible_calls.pool_id,
        eligible_calls.due_at,
        eligible_calls.reference_price,
        resolved_outcomes.price
    FROM scored_forecasts
    LEFT JOIN eligible_calls
        ON eligible_calls.call_id = scored_forecasts.forecast_id
        AND scored_forecasts.kind = 'call'
    LEFT JOIN resolved_outcomes USING (call_id)
),

by_agent AS (
    SELECT
        kind,
        cohort_id,
        question_id,
        forecaster_id,
        count(*) AS calls,
        min(pool_id) AS first_pool,
        max(pool_id) AS last_pool,
        min(due_at) AS first_due,
        max(due_at) AS last_due,
        min(reference_price) AS least_reference,
        max(reference_price) AS greatest_reference,
        min(price) AS least_price,
        max(price) AS greatest_price
    FROM asked
    GROUP BY kind, cohort_id, question_id, forecaster_id
),

counted AS (
    SELECT
        kind,
        cohort_id,
        question_id,
        CAST(sum(calls) AS BIGINT) AS calls,
        count(*) AS agents,
        CASE WHEN min(first_pool) <> max(last_pool) THEN 'pool_id' END AS pool,
        CASE WHEN min(first_due) <> max(last_due) THEN 'due_at' END AS due,
        CASE WHEN min(least_reference) <> max(greatest_reference) THEN 'reference_price' END
            AS reference,
        CASE WHEN min(least_price) <> max(greatest_price) THEN 'price' END AS outcome_price
    FROM by_agent
    GROUP BY kind, cohort_id, question_id
)

SELECT
    kind,
    cohort_id,
    question_id,
    calls,
    agents,
    CASE WHEN coalesce(pool, due, reference, outcome_price) IS NOT NULL
        THEN 'question_mismatch'
    END AS reason,
    nullif(concat_ws(', ', pool, due, reference, outcome_price), '') AS differs_in
FROM counted
