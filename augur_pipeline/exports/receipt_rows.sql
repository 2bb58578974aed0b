-- receipt_rows: what is published of every directional call, as receipts list it.
-- grain: one directional call    key: season_id, agent_id, call_id
-- inputs: sealed_calls, resolved_outcomes, scored_forecasts
-- rule: contract §4: directional = eligible + rejected by test 4 + missing by test 5
SELECT
    sealed_calls.season_id,
    sealed_calls.agent_id,
    sealed_calls.call_id,
    sealed_calls.pool_id,
    action,
    decider,
    confidence,
    confidence_text,
    horizon_hours,
    horizon_hours_text,
    reference_price,
    reference_price_text,
    decided_at,
    seal,
    recorded_at,
    order_status,
    first_seen_as_of,
    is_backfilled,
    CASE fate WHEN 'eligible' THEN 'eligible' WHEN 'rejected' THEN 'rejected' ELSE 'missing' END
        AS standing,
    reason,
    due_at,
    outcomes.status,
    price,
    price_recorded_at,
    settled_at,
    outcomes.outcome,
    is_flat,
    squared_error AS loss,
    forecasts.episode_id
FROM sealed_calls
LEFT JOIN resolved_outcomes AS outcomes ON outcomes.call_id = sealed_calls.call_id
LEFT JOIN scored_forecasts AS forecasts
    ON forecasts.forecast_id = sealed_calls.call_id AND forecasts.kind = 'call'
WHERE sealed_calls.season_id IS NOT NULL
    AND (
        fate IN ('eligible', 'rejected')
        OR reason IN ('missing_confidence', 'missing_horizon', 'missing_reference_price')
    )
ORDER BY sealed_calls.season_id, sealed_calls.agent_id, sealed_calls.call_id
