-- flat_sells: sells whose price ended at the reference, on which the two orientations disagree.
-- grain: one call    key: call_id    inputs: eligible_calls, resolved_outcomes
-- rule: comparisons §2: a sell states P(price < reference), so 1 − p is P(price ≥ reference)
CREATE OR REPLACE TABLE flat_sells AS
SELECT
    call_id,
    eligible_calls.season_id AS cohort_id,
    eligible_calls.agent_id,
    confidence,
    squared_error,
    (1 - confidence) * (1 - confidence) AS oriented_squared_error
FROM eligible_calls
JOIN resolved_outcomes USING (call_id)
WHERE action = 'sell' AND is_flat
