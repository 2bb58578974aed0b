-- late_outcomes: what became of the calls that were due only after their season could be final.
-- grain: one settled call    key: call_id    inputs: resolved_outcomes, eligible_calls, settlements
-- rule: contract §6: listed, and in no score
CREATE OR REPLACE TABLE late_outcomes AS
SELECT
    call_id,
    eligible_calls.agent_id,
    eligible_calls.season_id,
    due_at,
    settlements.status,
    settlements.outcome,
    settlements.is_flat,
    settlements.price,
    settlements.price_recorded_at,
    settlements.settled_at,
    (confidence - settlements.outcome) * (confidence - settlements.outcome) AS squared_error
FROM resolved_outcomes
JOIN eligible_calls USING (call_id)
JOIN settlements USING (call_id)
WHERE resolved_outcomes.status = 'due_after_final'
ORDER BY call_id
