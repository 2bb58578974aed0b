-- receipt_rows: what is published of every directional call, as receipts list it.
-- grain: one directional call with its benchmark predictions    key: season_id, agent_id, call_id
-- inputs: sealed_calls, eligible_calls, resolved_outcomes, scored_forecasts, receipt_benchmarks
-- rule: contract §4: directional = eligible + rejected by test 4 + missing by test 5
WITH predictions AS (
    SELECT
        cohort_id,
        forecaster_id,
        forecast_id,
        list(benchmark_id ORDER BY benchmark_id, version) AS benchmark_ids,
        list(version ORDER BY benchmark_id, version) AS versions,
        list(probability ORDER BY benchmark_id, version) AS probabilities,
        list(undefined_reason ORDER BY benchmark_id, version) AS undefined_reasons
    FROM receipt_benchmarks
    GROUP BY cohort_id, forecaster_id, forecast_id
)

SELECT
    sealed_calls.season_id,
    sealed_calls.call_id,
    sealed_calls.agent_id,
    sealed_calls.pool_id,
    sealed_calls.action,
    sealed_calls.decider,
    sealed_calls.confidence,
    sealed_calls.confidence_text,
    sealed_calls.horizon_hours,
    sealed_calls.horizon_hours_text,
    sealed_calls.reference_price,
    sealed_calls.reference_price_text,
    sealed_calls.decided_at,
    sealed_calls.seal,
    sealed_calls.recorded_at,
    sealed_calls.order_status,
    sealed_calls.first_seen_as_of,
    sealed_calls.is_backfilled,
    CASE fate WHEN 'eligible' THEN 'eligible' WHEN 'rejected' THEN 'rejected' ELSE 'missing' END
        AS standing,
    reason,
    sealed_calls.due_at,
    window_closes_at,
    expires_at,
    resolved_outcomes.status,
    price,
    price_recorded_at,
    settled_at,
    resolved_outcomes.outcome,
    is_flat,
    squared_error AS loss,
    scored_forecasts.episode_id,
    benchmark_ids,
    versions,
    probabilities,
    undefined_reasons
FROM sealed_calls
LEFT JOIN eligible_calls ON eligible_calls.call_id = sealed_calls.call_id
LEFT JOIN resolved_outcomes ON resolved_outcomes.call_id = sealed_calls.call_id
LEFT JOIN scored_forecasts
    ON scored_forecasts.forecast_id = sealed_calls.call_id AND scored_forecasts.kind = 'call'
LEFT JOIN predictions
    ON predictions.forecast_id = sealed_calls.call_id
    AND predictions.cohort_id = sealed_calls.season_id
    AND predictions.forecaster_id = sealed_calls.agent_id
WHERE sealed_calls.season_id IS NOT NULL
    AND (
        fate IN ('eligible', 'rejected')
        OR reason IN ('missing_confidence', 'missing_horizon', 'missing_reference_price')
    )
ORDER BY sealed_calls.season_id, sealed_calls.agent_id, sealed_calls.call_id
