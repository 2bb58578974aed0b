-- starved_pools: pools in which too many closed windows hold no price.
WITH closed_windows AS (
    SELECT pool_id, status, price
    FROM resolved_outcomes
    JOIN (SELECT call_id, window_closes_at FROM eligible_calls) AS windows USING (call_id)
    WHERE window_closes_at <= $as_of AND status <> 'due_after_final'
)

SELECT
    pool_id,
    count(*) AS closed_windows,
    count(*) - count(price) AS without_price,
    round((count(*) - count(price)) / count(*), 6) AS share
FROM closed_windows
GROUP BY pool_id
HAVING count(*) >= $warn_starved_windows
    AND count(*) - count(price) > $warn_starved_share * count(*)
ORDER BY pool_id
