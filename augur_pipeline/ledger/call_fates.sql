-- call_fates: every landing row of calls with its one fate.
-- grain: one landing row    key: file_number, source_line
-- inputs: screened_calls, sealed_calls
-- rule: contract §4; the first row that equals the seal carries the sealed call's fate
CREATE OR REPLACE TABLE call_fates AS
WITH compared AS (
    SELECT
        screened_calls.file_number,
        screened_calls.source_line,
        screened_calls.call_id,
        screened_calls.finding,
        screened_calls.seal = sealed_calls.seal AS equals_seal,
        sealed_calls.fate AS sealed_fate,
        sealed_calls.reason AS sealed_reason
    FROM screened_calls
    LEFT JOIN sealed_calls
        ON screened_calls.call_id = sealed_calls.call_id AND screened_calls.finding IS NULL
),

-- only where rows share a call_id can one repeat another
repeated AS (
    SELECT call_id FROM compared WHERE equals_seal GROUP BY call_id HAVING count(*) > 1
),

repeats AS (
    SELECT file_number, source_line
    FROM compared
    SEMI JOIN repeated USING (call_id)
    WHERE equals_seal
    QUALIFY row_number() OVER (PARTITION BY call_id ORDER BY file_number, source_line) > 1
)

SELECT
    compared.file_number,
    compared.source_line,
    CASE
        WHEN finding = 'not_yet' THEN 'not_yet'
        WHEN finding IS NOT NULL OR NOT equals_seal THEN 'rejected'
        WHEN repeats.source_line IS NOT NULL THEN 'duplicate'
        ELSE sealed_fate
    END AS fate,
    CASE
        WHEN finding IS NOT NULL THEN nullif(finding, 'not_yet')
        WHEN NOT equals_seal THEN 'restated'
        WHEN repeats.source_line IS NULL THEN sealed_reason
    END AS reason
FROM compared
LEFT JOIN repeats USING (file_number, source_line)
