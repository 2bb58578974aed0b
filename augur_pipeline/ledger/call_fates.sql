-- call_fates: every landing row of calls with its one fate.
-- grain: one landing row    key: file_number, source_line
-- inputs: screened_calls, sealed_calls
-- rule: contract §4; the first row that equals the seal carries the sealed call's fate
CREATE OR REPLACE TABLE call_fates AS
WITH compared AS (
    SELECT
        screened_calls.* EXCLUDE (malformed_text),
        screened_calls.malformed_text,
        sealed_calls.fate AS sealed_fate,
        sealed_calls.reason AS sealed_reason,
        screened_calls.seal = sealed_calls.seal AS equals_seal,
        -- what a restated call states otherwise: the first sealed field that differs
        CASE
            WHEN screened_calls.agent_id <> sealed_calls.agent_id THEN 'agent_id'
            WHEN screened_calls.pool_id <> sealed_calls.pool_id THEN 'pool_id'
            WHEN screened_calls.action <> sealed_calls.action THEN 'action'
            WHEN screened_calls.decider <> sealed_calls.decider THEN 'decider'
            WHEN canonical_number(screened_calls.confidence, screened_calls.confidence_text)
                <> canonical_number(sealed_calls.confidence, sealed_calls.confidence_text)
                THEN 'confidence'
            WHEN canonical_number(screened_calls.horizon_hours, screened_calls.horizon_hours_text)
                <> canonical_number(sealed_calls.horizon_hours, sealed_calls.horizon_hours_text)
                THEN 'horizon_hours'
            WHEN canonical_number(
                    screened_calls.reference_price, screened_calls.reference_price_text)
                <> canonical_number(sealed_calls.reference_price, sealed_calls.reference_price_text)
                THEN 'reference_price'
            ELSE 'decided_at'
        END AS restated_column
    FROM screened_calls
    LEFT JOIN sealed_calls
        ON screened_calls.call_id = sealed_calls.call_id AND screened_calls.finding IS NULL
),

numbered AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY call_id, finding IS NULL, equals_seal ORDER BY file_number, source_line
        ) AS place
    FROM compared
)

SELECT
    file_number,
    source_line,
    call_id,
    agent_id,
    CASE
        WHEN finding = 'not_yet' THEN 'not_yet'
        WHEN finding IS NOT NULL THEN 'rejected'
        WHEN NOT equals_seal THEN 'rejected'
        WHEN place > 1 THEN 'duplicate'
        ELSE sealed_fate
    END AS fate,
    CASE
        WHEN finding IS NOT NULL THEN nullif(finding, 'not_yet')
        WHEN NOT equals_seal THEN 'restated'
        WHEN place = 1 THEN sealed_reason
    END AS reason,
    restated_column
FROM numbered
