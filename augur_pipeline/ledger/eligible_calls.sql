-- eligible_calls: the calls that count, with the times that decide them.
-- grain: one call    key: call_id    inputs: sealed_calls
-- rule: contract §5: window [due_at, due_at + 2 h], expiry at due_at + 168 h
CREATE OR REPLACE TABLE eligible_calls AS
SELECT
    call_id,
    agent_id,
    season_id,
    pool_id,
    question_id,
    action,
    decider,
    order_status,
    confidence,
    horizon_hours,
    reference_price,
    decided_at,
    due_at,
    make_timestamp(epoch_us(due_at) + $window_us) AS window_closes_at,
    make_timestamp(epoch_us(due_at) + $expiry_us) AS expires_at,
    model_version,
    mandate_id,
    seal
FROM sealed_calls
WHERE fate = 'eligible'
