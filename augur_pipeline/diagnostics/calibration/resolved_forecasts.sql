-- resolved_forecasts: what the diagnostics compute from, a forecaster's rows together.
-- grain: one resolved forecast    inputs: scored_forecasts
SELECT cohort_id, forecaster_id, probability, outcome,
    coalesce(TRY_CAST(episode_id AS BIGINT), -1) AS block_number
FROM scored_forecasts
WHERE status = 'resolved' AND kind = 'call'
ORDER BY cohort_id, forecaster_id, forecast_id
