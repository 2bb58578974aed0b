-- funnel: all rows read by fate (what `augur run` prints).
-- grain: kind, fate, reason    inputs: funnel
SELECT kind, fate, coalesce(reason, '') AS reason, CAST(sum(rows) AS BIGINT) AS rows
FROM funnel
GROUP BY kind, fate, reason
ORDER BY kind, fate, rows DESC, reason
