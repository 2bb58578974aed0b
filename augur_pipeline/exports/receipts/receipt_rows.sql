-- receipt_rows: every directional call of a season as receipts list it: what a receipt counts, and
-- the text of its row file's columns from call_id to loss.
-- grain: one directional call    key: agent_id, call_id
-- inputs: sealed_calls, eligible_calls, resolved_outcomes, scored_forecasts; the macros of receipt_cells
-- rule: contract §4: directional = eligible + rejected by test 4 + missing by test 5
WITH directional AS (
    SELECT
        sealed_calls.agent_id,
        sealed_calls.call_id,
        sealed_calls.pool_id,
        sealed_calls.action,
        sealed_calls.decider,
        sealed_calls.confidence,
        confidence_text,
        sealed_calls.horizon_hours,
        horizon_hours_text,
        sealed_calls.reference_price,
        reference_price_text,
        sealed_calls.decided_at,
        sealed_calls.seal,
        recorded_at,
        sealed_calls.order_status,
        first_seen_as_of,
        is_backfilled,
        CASE fate WHEN 'eligible' THEN 'eligible' WHEN 'rejected' THEN 'rejected' ELSE 'missing' END
            AS standing,
        reason,
        sealed_calls.due_at,
        window_closes_at,
        expires_at,
        outcomes.status,
        price,
        price_recorded_at,
        settled_at,
        outcomes.outcome,
        is_flat,
        squared_error AS loss,
        forecasts.episode_id,
        sealed_calls.source_file
    FROM sealed_calls
    LEFT JOIN eligible_calls AS eligible
        ON eligible.call_id = sealed_calls.call_id AND eligible.season_id = $season_id
    LEFT JOIN resolved_outcomes AS outcomes
        ON outcomes.call_id = sealed_calls.call_id AND outcomes.season_id = $season_id
    LEFT JOIN scored_forecasts AS forecasts
        ON forecasts.forecast_id = sealed_calls.call_id AND forecasts.cohort_id = $season_id
        AND forecasts.kind = 'call'
    WHERE sealed_calls.season_id = $season_id
        AND (
            fate IN ('eligible', 'rejected')
            OR reason IN ('missing_confidence', 'missing_horizon', 'missing_reference_price')
        )
)

SELECT
    agent_id,
    call_id,
    standing,
    reason,
    status,
    confidence,
    outcome,
    loss,
    episode_id,
    source_file,
    concat_ws(
        ',',
        text_cell(call_id), text_cell(agent_id), text_cell(pool_id), text_cell(action),
        text_cell(decider), number_cell(confidence), text_cell(confidence_text),
        number_cell(horizon_hours), text_cell(horizon_hours_text), number_cell(reference_price),
        text_cell(reference_price_text), time_cell(decided_at), text_cell(seal),
        time_cell(recorded_at), text_cell(order_status), time_cell(first_seen_as_of),
        number_cell(is_backfilled), text_cell(standing), text_cell(reason), time_cell(due_at),
        time_cell(window_closes_at), time_cell(expires_at), text_cell(status),
        number_cell(price), time_cell(price_recorded_at), time_cell(settled_at),
        number_cell(outcome), number_cell(is_flat), number_cell(loss)
    ) AS cells
FROM directional
ORDER BY agent_id, call_id
