-- rejected_rows: every landing row that was rejected, with its reason, for whoever sent it.
-- grain: one landing row    key: kind, source_file, source_line
-- inputs: call_fates, raw_calls, sealed_calls, rejected_prices, input_files
CREATE OR REPLACE TABLE rejected_rows AS
WITH rejected AS (
    SELECT
        'calls' AS kind, raw_calls.file_number, raw_calls.source_line, raw_calls.call_id,
        raw_calls.agent_id, call_fates.reason,
        CASE call_fates.reason
            WHEN 'malformed_row' THEN NULL
            WHEN 'missing_call_id' THEN 'call_id'
            WHEN 'missing_agent_id' THEN 'agent_id'
            WHEN 'missing_pool_id' THEN 'pool_id'
            WHEN 'bad_decided_at' THEN 'decided_at'
            WHEN 'bad_recorded_at' THEN 'recorded_at'
            WHEN 'unknown_action' THEN 'action'
            WHEN 'unknown_decider' THEN 'decider'
            WHEN 'unknown_order_status' THEN 'order_status'
            -- what it states otherwise: the first sealed field that differs
            WHEN 'restated' THEN CASE
                WHEN raw_calls.agent_id <> sealed_calls.agent_id THEN 'agent_id'
                WHEN raw_calls.pool_id <> sealed_calls.pool_id THEN 'pool_id'
                WHEN raw_calls.action <> sealed_calls.action THEN 'action'
                WHEN raw_calls.decider <> sealed_calls.decider THEN 'decider'
                WHEN canonical_number(raw_calls.confidence, raw_calls.confidence_text)
                    <> canonical_number(sealed_calls.confidence, sealed_calls.confidence_text)
                    THEN 'confidence'
                WHEN canonical_number(raw_calls.horizon_hours, raw_calls.horizon_hours_text)
                    <> canonical_number(
                        sealed_calls.horizon_hours, sealed_calls.horizon_hours_text)
                    THEN 'horizon_hours'
                WHEN canonical_number(raw_calls.reference_price, raw_calls.reference_price_text)
                    <> canonical_number(
                        sealed_calls.reference_price, sealed_calls.reference_price_text)
                    THEN 'reference_price'
                ELSE 'decided_at'
            END
            WHEN 'confidence_out_of_range' THEN 'confidence'
            WHEN 'horizon_not_positive' THEN 'horizon_hours'
            WHEN 'horizon_too_long' THEN 'horizon_hours'
            WHEN 'reference_price_not_positive' THEN 'reference_price'
            WHEN 'recorded_before_decided' THEN 'recorded_at'
            WHEN 'sealed_late' THEN
                CASE WHEN raw_calls.recorded_at IS NULL THEN 'decided_at' ELSE 'recorded_at' END
        END AS column_name,
        malformed_text, raw_calls.pool_id, raw_calls.action, raw_calls.decider,
        raw_calls.order_status,
        coalesce(raw_calls.confidence_text, CAST(raw_calls.confidence AS VARCHAR))
            AS confidence_given,
        coalesce(raw_calls.horizon_hours_text, CAST(raw_calls.horizon_hours AS VARCHAR))
            AS horizon_hours_given,
        coalesce(raw_calls.reference_price_text, CAST(raw_calls.reference_price AS VARCHAR))
            AS reference_price_given,
        coalesce(raw_calls.decided_at_text, CAST(raw_calls.decided_at AS VARCHAR))
            AS decided_at_given,
        coalesce(raw_calls.recorded_at_text, CAST(raw_calls.recorded_at AS VARCHAR))
            AS recorded_at_given,
        NULL::VARCHAR AS price_given,
        NULL::VARCHAR AS sequence_given,
        coalesce(raw_calls.confidence > 1 AND raw_calls.confidence <= 100, FALSE)
            AS is_like_percent
    FROM call_fates
    JOIN raw_calls USING (file_number, source_line)
    LEFT JOIN sealed_calls ON sealed_calls.call_id = raw_calls.call_id
    WHERE call_fates.fate = 'rejected'

    UNION ALL BY NAME

    SELECT
        'prices' AS kind, file_number, source_line, NULL::VARCHAR AS call_id,
        NULL::VARCHAR AS agent_id, reason,
        CASE reason
            WHEN 'missing_pool_id' THEN 'pool_id'
            WHEN 'bad_recorded_at' THEN 'recorded_at'
            WHEN 'bad_price' THEN 'price'
            WHEN 'price_not_positive' THEN 'price'
            WHEN 'bad_sequence' THEN 'sequence'
        END AS column_name,
        malformed_text, pool_id, recorded_at_given, price_given, sequence_given,
        FALSE AS is_like_percent
    FROM rejected_prices
)

SELECT
    rejected.kind,
    source_file,
    source_line,
    call_id,
    agent_id,
    reason,
    column_name,
    CASE
        WHEN reason = 'malformed_row' THEN malformed_text
        ELSE CASE column_name
            WHEN 'call_id' THEN call_id
            WHEN 'agent_id' THEN agent_id
            WHEN 'pool_id' THEN pool_id
            WHEN 'action' THEN action
            WHEN 'decider' THEN decider
            WHEN 'order_status' THEN order_status
            WHEN 'confidence' THEN confidence_given
            WHEN 'horizon_hours' THEN horizon_hours_given
            WHEN 'reference_price' THEN reference_price_given
            WHEN 'decided_at' THEN decided_at_given
            WHEN 'recorded_at' THEN recorded_at_given
            WHEN 'price' THEN price_given
            WHEN 'sequence' THEN sequence_given
        END
    END AS value,
    CASE reason
        WHEN 'malformed_row' THEN 'not as many fields as the header, no JSON object, bad quoting, or not UTF-8'
        WHEN 'missing_call_id' THEN 'a call needs an id'
        WHEN 'missing_agent_id' THEN 'a call needs the agent that made it'
        WHEN 'missing_pool_id' THEN 'no pool is named'
        WHEN 'bad_decided_at' THEN 'no UTC time between 1970 and 2200 of the form YYYY-MM-DDTHH:MM:SSZ'
        WHEN 'bad_recorded_at' THEN 'no UTC time between 1970 and 2200 of the form YYYY-MM-DDTHH:MM:SSZ'
        WHEN 'unknown_action' THEN 'use buy, sell or hold'
        WHEN 'unknown_decider' THEN 'use llm, deterministic, protective_exit or system'
        WHEN 'unknown_order_status' THEN 'use accepted or refused, or leave it empty'
        WHEN 'restated' THEN 'the call_id was sealed before with another value here; the sealed call stands'
        WHEN 'confidence_out_of_range' THEN
            CASE WHEN is_like_percent
                THEN 'must be a number from 0 to 1; this looks like a percentage (80 for 0.80) and is never rescaled'
                ELSE 'must be a number from 0 to 1'
            END
        WHEN 'horizon_not_positive' THEN 'must be a number of hours above 0'
        WHEN 'horizon_too_long' THEN 'longer than ten years (87600 hours)'
        WHEN 'reference_price_not_positive' THEN 'must be a number above 0'
        WHEN 'sealed_late' THEN 'sealed at or after the due time: the outcome could be known'
        WHEN 'recorded_before_decided' THEN 'recorded before it was decided'
        WHEN 'bad_price' THEN 'must be a finite number'
        WHEN 'price_not_positive' THEN 'must be above 0'
        WHEN 'bad_sequence' THEN 'must be a whole number or empty'
    END AS message
FROM rejected
JOIN input_files ON input_files.kind = rejected.kind
    AND input_files.file_number = rejected.file_number
ORDER BY rejected.kind, source_file, source_line
