-- first_prices: the first usable price in each call's window, by all prices now known.
-- grain: one call that has such a price    key: call_id
-- inputs: sealed_calls, previous_settlements, raw_prices
-- rule: contract §5; ties at one instant go by sequence (missing last), file name, line.
-- Settled calls are looked up too: late_prices compares them with what was settled.
CREATE OR REPLACE TABLE first_prices AS
WITH asked AS (
    SELECT call_id, pool_id, due_at, make_timestamp(epoch_us(due_at) + $window_us) AS closes_at
    FROM sealed_calls
    WHERE fate = 'eligible'
        OR call_id IN (SELECT call_id FROM previous_settlements)
),

usable AS (
    SELECT pool_id, recorded_at, price, sequence, file_number, source_line
    FROM raw_prices
    WHERE fate = 'usable'
),

first_instants AS (
    SELECT asked.call_id, asked.pool_id, asked.closes_at, usable.recorded_at
    FROM asked
    ASOF JOIN (SELECT DISTINCT pool_id, recorded_at FROM usable) AS usable
        ON asked.pool_id = usable.pool_id AND asked.due_at <= usable.recorded_at
)

SELECT first_instants.call_id, usable.price, usable.recorded_at AS price_recorded_at
FROM first_instants
JOIN usable USING (pool_id, recorded_at)
WHERE usable.recorded_at <= first_instants.closes_at
QUALIFY row_number() OVER (
    PARTITION BY first_instants.call_id
    ORDER BY usable.sequence NULLS LAST, usable.file_number, usable.source_line
) = 1
