-- price_conflicts: instants of a pool at which prices differ and sequence does not decide.
-- grain: one instant of a pool    key: pool_id, recorded_at    inputs: crowded_prices, pools
-- rule: two usable prices of equal sequence, or of none, are ordered by file name and line only; and
-- where a price with a sequence stands beside another one without, nothing says which came first
CREATE OR REPLACE TABLE price_conflicts AS
SELECT pool_id, recorded_at, count(*) AS prices, min(price) AS lowest, max(price) AS highest
FROM crowded_prices
JOIN pools USING (pool_number)
WHERE NOT is_duplicate
GROUP BY pool_id, recorded_at
HAVING min(price) < max(price)
    AND (
        count(DISTINCT sequence) < count(sequence)
        OR count(*) - count(sequence) > 1
        OR count(sequence) BETWEEN 1 AND count(*) - 1
    )
