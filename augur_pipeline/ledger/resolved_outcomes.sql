-- resolved_outcomes: where every eligible call stands.
-- grain: one eligible call    key: call_id    inputs: eligible_calls, seasons, settlements
-- rule: contract §5 (status) and §6 (squared error, an IEEE product). A call due after its season can
-- be final has no outcome here, whatever became of it: see late_outcomes. The gate is its due time.
CREATE OR REPLACE TABLE resolved_outcomes AS
WITH gated AS (
    SELECT
        eligible_calls.*,
        epoch_us(due_at)
            > epoch_us(ends_at)
            + CAST(round_even(seasons.max_horizon_hours * 3.6e9, 0) AS BIGINT) AS is_after_final
    FROM eligible_calls
    JOIN seasons USING (season_id)
)

SELECT
    gated.call_id,
    agent_id,
    season_id,
    pool_id,
    CASE
        WHEN is_after_final THEN 'due_after_final'
        WHEN settlements.status IS NOT NULL THEN settlements.status
        WHEN $as_of < due_at THEN 'pending'
        ELSE 'open'
    END AS status,
    outcome,
    is_flat,
    price,
    price_recorded_at,
    settled_at,
    (confidence - outcome) * (confidence - outcome) AS squared_error
FROM gated
LEFT JOIN settlements ON settlements.call_id = gated.call_id AND NOT is_after_final
