-- broken_seals: published calls whose sealed fields do not give their seal, first by id.
-- grain: one call    key: call_id
-- inputs: previous_sealed_calls
-- rule: contract §4; the ledger is believed only as far as its seals hold
SELECT call_id, seal
FROM previous_sealed_calls
WHERE seal IS DISTINCT FROM call_seal(
    call_id, agent_id, pool_id, action, decider, confidence, confidence_text,
    horizon_hours, horizon_hours_text, reference_price, reference_price_text, decided_at
)
ORDER BY call_id
LIMIT 1
