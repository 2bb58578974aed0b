-- due_calls: the calls that a price is looked up for, and when their windows open.
-- grain: one call    key: call_id    inputs: sealed_calls, previous_settlements
-- rule: contract §5. Settled calls are looked up too: late_prices compares them with what was settled
CREATE OR REPLACE TABLE due_calls AS
SELECT call_id, pool_id, due_at
FROM sealed_calls
WHERE fate = 'eligible'
    OR call_id IN (SELECT call_id FROM previous_settlements)
