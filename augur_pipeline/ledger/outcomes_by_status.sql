-- outcomes_by_status: where the eligible calls stand (for the asset's page).
-- grain: status    inputs: resolved_outcomes
SELECT
    status,
    count(*) AS calls,
    count(*) FILTER (outcome = 1) AS right_calls,
    count(*) FILTER (outcome = 0) AS wrong_calls,
    count(*) FILTER (is_flat) AS flat_calls
FROM resolved_outcomes
GROUP BY status
ORDER BY status
