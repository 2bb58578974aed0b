-- finality: settlements that are missing or differ from the last published ones.
SELECT
    call_id,
    previous.status AS published_status,
    settlements.status,
    previous.outcome AS published_outcome,
    settlements.outcome,
    previous.price AS published_price,
    settlements.price
FROM previous_settlements AS previous
LEFT JOIN settlements USING (call_id)
WHERE (previous.status, previous.outcome, previous.is_flat, previous.price,
       previous.price_recorded_at, previous.settled_at)
    IS DISTINCT FROM
      (settlements.status, settlements.outcome, settlements.is_flat, settlements.price,
       settlements.price_recorded_at, settlements.settled_at)
ORDER BY call_id
