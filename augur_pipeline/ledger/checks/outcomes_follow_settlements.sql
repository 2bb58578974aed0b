-- outcomes_follow_settlements: outcomes that are not the settled ones, that contradict price and
-- reference, or whose loss is not (confidence − outcome)².
WITH compared AS (
    SELECT
        call_id,
        outcomes.status,
        settlements.status AS settled_status,
        (outcomes.status, outcomes.outcome, outcomes.is_flat, outcomes.price,
         outcomes.price_recorded_at, outcomes.settled_at)
            IS NOT DISTINCT FROM
        (coalesce(settlements.status, CASE WHEN $as_of < due_at THEN 'pending' ELSE 'open' END),
         settlements.outcome, settlements.is_flat, settlements.price,
         settlements.price_recorded_at, settlements.settled_at) AS is_the_settled_one,
        outcomes.outcome,
        CASE
            WHEN outcomes.price IS NULL THEN NULL
            WHEN action = 'buy' THEN CAST(outcomes.price > reference_price AS BIGINT)
            ELSE CAST(outcomes.price < reference_price AS BIGINT)
        END AS outcome_of_price,
        outcomes.squared_error,
        (confidence - outcomes.outcome) * (confidence - outcomes.outcome) AS loss
    FROM resolved_outcomes AS outcomes
    JOIN eligible_calls USING (call_id)
    LEFT JOIN settlements USING (call_id)
)

SELECT *
FROM compared
WHERE NOT is_the_settled_one
    OR outcome IS DISTINCT FROM outcome_of_price
    OR squared_error IS DISTINCT FROM loss
ORDER BY call_id
