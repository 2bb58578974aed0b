-- rejected_rows: every landing row that was rejected, with its reason, for whoever sent it.
-- grain: one landing row    key: kind, source_file, source_line
-- inputs: call_fates, raw_calls, raw_prices, input_files
CREATE OR REPLACE TABLE rejected_rows AS
WITH rejected AS (
    SELECT
        'calls' AS kind, fates.file_number, fates.source_line, fates.call_id, fates.agent_id,
        reason,
        CASE reason
            WHEN 'malformed_row' THEN NULL
            WHEN 'missing_call_id' THEN 'call_id'
            WHEN 'missing_agent_id' THEN 'agent_id'
            WHEN 'missing_pool_id' THEN 'pool_id'
            WHEN 'bad_decided_at' THEN 'decided_at'
            WHEN 'bad_recorded_at' THEN 'recorded_at'
            WHEN 'unknown_action' THEN 'action'
            WHEN 'unknown_decider' THEN 'decider'
            WHEN 'unknown_order_status' THEN 'order_status'
            WHEN 'restated' THEN restated_column
            WHEN 'confidence_out_of_range' THEN 'confidence'
            WHEN 'horizon_not_positive' THEN 'horizon_hours'
            WHEN 'horizon_too_long' THEN 'horizon_hours'
            WHEN 'reference_price_not_positive' THEN 'reference_price'
            WHEN 'recorded_before_decided' THEN 'recorded_at'
            WHEN 'sealed_late' THEN
                CASE WHEN recorded_at IS NULL THEN 'decided_at' ELSE 'recorded_at' END
        END AS column_name,
        malformed_text, pool_id, action, decider, order_status,
        coalesce(confidence_text, CAST(confidence AS VARCHAR)) AS confidence_given,
        coalesce(horizon_hours_text, CAST(horizon_hours AS VARCHAR)) AS horizon_hours_given,
        coalesce(reference_price_text, CAST(reference_price AS VARCHAR)) AS reference_price_given,
        coalesce(decided_at_text, CAST(decided_at AS VARCHAR)) AS decided_at_given,
        coalesce(recorded_at_text, CAST(recorded_at AS VARCHAR)) AS recorded_at_given,
        NULL::VARCHAR AS price_given,
        NULL::VARCHAR AS sequence_given,
        coalesce(confidence > 1 AND confidence <= 100, FALSE) AS is_like_percent
    FROM call_fates AS fates
    JOIN raw_calls USING (file_number, source_line)
    WHERE fate = 'rejected'

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
        malformed_text, pool_id,
        coalesce(recorded_at_text, CAST(recorded_at AS VARCHAR)) AS recorded_at_given,
        coalesce(price_text, CAST(price AS VARCHAR)) AS price_given,
        sequence_text AS sequence_given,
        FALSE AS is_like_percent
    FROM raw_prices
    WHERE fate = 'rejected'
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
