-- diagram_rows: the resolved calls of a season's forecasters, as their diagrams read them.
-- grain: one resolved call    key: forecast_id
-- inputs: scored_forecasts
-- rule: agent_rank is the place in $agent_ids; block is the number of the episode, NULL without one.
SELECT
    list_position($agent_ids, forecaster_id)::BIGINT AS agent_rank,
    probability,
    outcome,
    CAST(episode_id AS BIGINT) AS block
FROM scored_forecasts
WHERE kind = 'call'
    AND cohort_id = $season_id
    AND status = 'resolved'
    AND list_contains($agent_ids, forecaster_id)
ORDER BY agent_rank, forecast_id
