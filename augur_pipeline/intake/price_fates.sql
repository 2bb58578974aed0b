-- price_fates: how many price rows met which fate (for the asset's page).
-- grain: fate and reason    inputs: raw_prices
SELECT fate, reason, count(*) AS rows
FROM raw_prices
GROUP BY fate, reason
ORDER BY fate, reason
