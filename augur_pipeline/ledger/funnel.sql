-- funnel: how many landing rows of each file met which fate.
-- grain: kind, file, fate, reason    inputs: call_fates, price_fates, input_files
-- rule: contract §4: the funnel sums to the rows read
CREATE OR REPLACE TABLE funnel AS
WITH fates AS (
    SELECT 'calls' AS kind, file_number, fate, reason, count(*) AS rows
    FROM call_fates
    GROUP BY file_number, fate, reason

    UNION ALL

    SELECT 'prices' AS kind, file_number, fate, reason, rows
    FROM price_fates
)

SELECT fates.kind, source_file, fate, reason, fates.rows
FROM fates
JOIN input_files ON input_files.kind = fates.kind
    AND input_files.file_number = fates.file_number
ORDER BY fates.kind, source_file, fate, reason
