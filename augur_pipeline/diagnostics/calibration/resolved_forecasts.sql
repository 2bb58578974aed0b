-- resolved_forecasts: what the diagnostics compute from, a forecaster's rows together.
-- grain: one resolved forecast of a kind    inputs: scored_forecasts, episode_numbers
-- rule: a row beyond the horizon bound has no episode: -1
SELECT cohort_id, forecaster_id, probability, outcome, coalesce(episode_number, -1) AS block_number
FROM scored_forecasts
LEFT JOIN episode_numbers USING (kind, episode_id)
WHERE status = 'resolved' AND kind = $kind
ORDER BY cohort_id, forecaster_id, forecast_id
