-- brier_bounds: how far the forecasts that expired without an outcome could move a Brier score.
-- grain: one forecaster in a cohort    key: cohort_id, forecaster_id    inputs: scored_forecasts
-- rule: comparisons §2: every expired forecast at its best loss, and every one at its worst
CREATE OR REPLACE TABLE brier_bounds AS
WITH losses AS (
    SELECT
        cohort_id,
        forecaster_id,
        status,
        weight,
        (probability - outcome) * (probability - outcome) AS loss,
        least(probability * probability, (1 - probability) * (1 - probability)) AS least_loss,
        greatest(probability * probability, (1 - probability) * (1 - probability)) AS greatest_loss
    FROM scored_forecasts
    WHERE status IN ('resolved', 'expired')
),

summed AS (
    SELECT
        cohort_id,
        forecaster_id,
        count(*) FILTER (status = 'resolved') AS resolved,
        count(*) FILTER (status = 'expired') AS expired,
        CAST(sum(CAST(weight AS DECIMAL(38, 18))) FILTER (status = 'resolved') AS DOUBLE)
            AS resolved_weight,
        CAST(sum(CAST(weight AS DECIMAL(38, 18))) AS DOUBLE) AS whole_weight,
        CAST(sum(CAST(weight * loss AS DECIMAL(38, 18))) AS DOUBLE) AS loss_sum,
        CAST(sum(CAST(weight * coalesce(loss, least_loss) AS DECIMAL(38, 18))) AS DOUBLE)
            AS least_sum,
        CAST(sum(CAST(weight * coalesce(loss, greatest_loss) AS DECIMAL(38, 18))) AS DOUBLE)
            AS greatest_sum
    FROM losses
    GROUP BY cohort_id, forecaster_id
)

SELECT
    cohort_id,
    forecaster_id,
    resolved,
    expired,
    loss_sum / nullif(resolved_weight, 0) AS brier,
    least_sum / nullif(whole_weight, 0) AS brier_low,
    greatest_sum / nullif(whole_weight, 0) AS brier_high
FROM summed
ORDER BY cohort_id, forecaster_id
