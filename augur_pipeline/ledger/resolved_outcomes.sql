-- resolved_outcomes: where every eligible call stands.
-- grain: one eligible call    key: call_id    inputs: eligible_calls, settlements
-- rule: contract §5 (status) and §6 (squared error, an IEEE product)
CREATE OR REPLACE TABLE resolved_outcomes AS
SELECT
    call_id,
    agent_id,
    season_id,
    pool_id,
    CASE
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
FROM eligible_calls
LEFT JOIN settlements USING (call_id)
