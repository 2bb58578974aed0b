-- screened_calls: every landing row of calls with what tests 0 and 1 find, and its seal.
-- grain: one landing row    key: file_number, source_line
-- inputs: raw_calls         rule: contract §4, tests 0 and 1; what passes has a seal
CREATE OR REPLACE TABLE screened_calls AS
WITH judged AS (
    SELECT
        *,
        CASE
            WHEN malformed_text IS NOT NULL THEN 'malformed_row'
            WHEN decided_at > $as_of OR recorded_at > $as_of THEN 'not_yet'
            WHEN call_id IS NULL THEN 'missing_call_id'
            WHEN agent_id IS NULL THEN 'missing_agent_id'
            WHEN pool_id IS NULL THEN 'missing_pool_id'
            WHEN decided_at IS NULL THEN 'bad_decided_at'
            WHEN recorded_at_text IS NOT NULL THEN 'bad_recorded_at'
            WHEN action IS NULL OR action NOT IN ('buy', 'sell', 'hold') THEN 'unknown_action'
            WHEN decider IS NULL
                OR decider NOT IN ('llm', 'deterministic', 'protective_exit', 'system')
                THEN 'unknown_decider'
            WHEN order_status NOT IN ('accepted', 'refused') THEN 'unknown_order_status'
        END AS finding
    FROM raw_calls
)

SELECT
    file_number,
    source_line,
    call_id,
    finding,
    CASE WHEN finding IS NULL THEN call_seal(
        call_id, agent_id, pool_id, action, decider, confidence, confidence_text,
        horizon_hours, horizon_hours_text, reference_price, reference_price_text, decided_at
    ) END AS seal
FROM judged
