-- fates_by_reason: what became of all landing rows of calls (for the asset's page).
-- grain: fate and reason    inputs: funnel
SELECT fate, reason, CAST(sum(rows) AS BIGINT) AS rows
FROM funnel
WHERE kind = 'calls'
GROUP BY fate, reason
ORDER BY fate, rows DESC, reason
