-- outcomes_follow_settlements: outcomes that are not the settled ones, that contradict price and
-- reference, or whose loss is not (confidence − outcome)²; and calls due after their season can be
-- final that have an outcome in it, or others that are said to be due so late.
WITH gated AS (
    SELECT
        eligible_calls.*,
        epoch_us(due_at) - epoch_us(ends_at)
            > CAST(round_even(seasons.max_horizon_hours * 3.6e9, 0) AS BIGINT) AS is_after_final
    FROM eligible_calls
    JOIN seasons USING (season_id)
),

stated AS (
    SELECT call_id, status, outcome, is_flat, price, price_recorded_at, settled_at, squared_error,
        FALSE AS is_late
    FROM resolved_outcomes
    UNION ALL
    SELECT call_id, status, outcome, is_flat, price, price_recorded_at, settled_at, squared_error,
        TRUE AS is_late
    FROM late_outcomes
),

compared AS (
    SELECT
        call_id,
        is_late,
        stated.status,
        settlements.status AS settled_status,
        CASE
            WHEN is_after_final AND NOT is_late
                THEN stated.status = 'due_after_final'
                    AND (stated.outcome, stated.is_flat, stated.price, stated.price_recorded_at,
                         stated.settled_at) IS NOT DISTINCT FROM (NULL, NULL, NULL, NULL, NULL)
            WHEN is_late AND NOT is_after_final THEN FALSE
            ELSE
                (stated.status, stated.outcome, stated.is_flat, stated.price,
                 stated.price_recorded_at, stated.settled_at)
                    IS NOT DISTINCT FROM
                (coalesce(settlements.status,
                          CASE WHEN $as_of < due_at THEN 'pending' ELSE 'open' END),
                 settlements.outcome, settlements.is_flat, settlements.price,
                 settlements.price_recorded_at, settlements.settled_at)
        END AS is_the_settled_one,
        stated.outcome,
        CASE
            WHEN stated.price IS NULL THEN NULL
            WHEN action = 'buy' THEN CAST(stated.price > reference_price AS BIGINT)
            ELSE CAST(stated.price < reference_price AS BIGINT)
        END AS outcome_of_price,
        stated.squared_error,
        (confidence - stated.outcome) * (confidence - stated.outcome) AS loss
    FROM stated
    JOIN gated USING (call_id)
    LEFT JOIN settlements USING (call_id)
)

SELECT *
FROM compared
WHERE NOT is_the_settled_one
    OR outcome IS DISTINCT FROM outcome_of_price
    OR squared_error IS DISTINCT FROM loss
ORDER BY call_id, is_late
