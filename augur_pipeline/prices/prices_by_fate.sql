-- prices_by_fate: how many price rows met which fate (for the asset's page).
-- grain: fate and reason    inputs: price_fates
SELECT fate, reason, CAST(sum(rows) AS BIGINT) AS rows
FROM price_fates
GROUP BY fate, reason
ORDER BY fate, reason
