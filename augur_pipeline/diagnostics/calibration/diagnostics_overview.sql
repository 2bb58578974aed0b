-- diagnostics_overview: the figures people look at first, of running seasons (for the asset's page).
-- grain: forecaster and cohort    inputs: calibration_diagnostics, running_seasons
SELECT
    cohort_id, scope, forecaster_id, n, episodes,
    round(brier, 4) AS brier, round(brier_low, 4) AS brier_low, round(brier_high, 4) AS brier_high,
    round(mcb, 4) AS mcb, round(mcb_null_mean, 4) AS mcb_null_mean, round(dsc, 4) AS dsc,
    round(ece, 4) AS ece, round(ece_null_mean, 4) AS ece_null_mean, round(p_worse, 4) AS p_worse,
    round(slope, 3) AS slope, array_to_string(flags, ', ') AS flags
FROM calibration_diagnostics
SEMI JOIN running_seasons ON running_seasons.season_id = calibration_diagnostics.cohort_id
ORDER BY cohort_id, scope, calibration_diagnostics.brier NULLS LAST, forecaster_id
LIMIT 100
