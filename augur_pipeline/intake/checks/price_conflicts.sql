-- price_conflicts: instants of a pool at which prices differ and sequence does not decide.
-- Two usable prices of equal sequence (or none) are ordered by file name and line only.
SELECT pool_id, recorded_at, count(*) AS prices, min(price) AS lowest, max(price) AS highest
FROM crowded_prices
JOIN pools USING (pool_number)
WHERE NOT is_duplicate
GROUP BY pool_id, recorded_at, sequence
HAVING count(*) > 1
ORDER BY pool_id, recorded_at
