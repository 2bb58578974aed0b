-- agent_season_brier: how good each agent's stated confidence was in a season.
-- grain: one agent in a season with a directional call    key: season_id, agent_id
-- inputs: sealed_calls, resolved_outcomes, seasons
-- rule: contract §4 (counts), §6 (scores). Sums are of DECIMAL(38,18), so the same bits come out
-- for any order of rows and any number of threads.
CREATE OR REPLACE TABLE agent_season_brier AS
WITH directional AS (
    SELECT
        sealed_calls.call_id,
        sealed_calls.season_id,
        sealed_calls.agent_id,
        sealed_calls.order_status,
        sealed_calls.confidence,
        sealed_calls.is_backfilled,
        CASE
            WHEN fate = 'eligible' THEN 'eligible'
            WHEN fate = 'rejected' THEN 'rejected'
            WHEN reason IN ('missing_confidence', 'missing_horizon', 'missing_reference_price')
                THEN 'missing'
        END AS standing,
        resolved_outcomes.status,
        resolved_outcomes.outcome,
        resolved_outcomes.is_flat,
        resolved_outcomes.squared_error
    FROM sealed_calls
    LEFT JOIN resolved_outcomes USING (call_id)
    WHERE sealed_calls.season_id IS NOT NULL
),

counted AS (
    SELECT
        season_id,
        agent_id,
        count(*) AS directional_calls,
        count(*) FILTER (standing = 'eligible') AS eligible_calls,
        count(*) FILTER (standing = 'rejected') AS rejected_calls,
        count(*) FILTER (standing = 'missing') AS missing_calls,
        count(*) FILTER (standing = 'eligible' AND order_status = 'refused') AS refused_calls,
        count(*) FILTER (standing = 'eligible' AND is_backfilled) AS backfilled_calls,
        count(*) FILTER (status = 'pending') AS pending_calls,
        count(*) FILTER (status = 'open') AS open_calls,
        count(*) FILTER (status = 'resolved') AS resolved_calls,
        count(*) FILTER (status = 'expired') AS expired_calls,
        count(*) FILTER (status = 'due_after_final') AS due_after_final,
        count(*) FILTER (outcome = 1) AS correct_calls,
        count(*) FILTER (is_flat) AS flat_calls,
        CAST(sum(CAST(squared_error AS DECIMAL(38, 18))) AS DOUBLE) AS loss_sum,
        CAST(sum(CASE WHEN status = 'resolved'
            THEN CAST(confidence AS DECIMAL(38, 18)) END) AS DOUBLE) AS confidence_sum
    FROM directional
    WHERE standing IS NOT NULL
    GROUP BY season_id, agent_id
),

scored AS (
    SELECT
        *,
        loss_sum / nullif(resolved_calls, 0) AS brier,
        1 - loss_sum / nullif(resolved_calls, 0) / $brier_reference AS skill
    FROM counted
)

SELECT
    season_id,
    agent_id,
    directional_calls,
    eligible_calls,
    rejected_calls,
    missing_calls,
    refused_calls,
    backfilled_calls,
    pending_calls,
    open_calls,
    resolved_calls,
    expired_calls,
    due_after_final,
    correct_calls,
    flat_calls,
    eligible_calls / directional_calls AS coverage,
    correct_calls / nullif(resolved_calls, 0) AS hit_rate,
    confidence_sum / nullif(resolved_calls, 0) AS mean_confidence,
    brier,
    skill,
    CASE WHEN resolved_calls >= $min_resolved
        THEN greatest(0.0::DOUBLE, least(1.0::DOUBLE, skill)) * 100
    END AS calibration,
    CASE WHEN resolved_calls >= $min_resolved THEN 'measured' ELSE 'waiting' END
        AS calibration_status,
    greatest(0, $min_resolved - resolved_calls) AS calls_needed,
    $as_of >= ends_at AND pending_calls + open_calls = 0 AS is_final
FROM scored
JOIN seasons USING (season_id)
ORDER BY season_id, agent_id
