-- call_ids_unique: call ids that stand more than once among sealed or eligible calls.
SELECT 'sealed_calls' AS in_table, call_id, count(*) AS times
FROM sealed_calls
GROUP BY call_id
HAVING count(*) > 1
UNION ALL
SELECT 'eligible_calls' AS in_table, call_id, count(*) AS times
FROM eligible_calls
GROUP BY call_id
HAVING count(*) > 1
ORDER BY in_table, call_id
