-- hourly_ranges: the highest and the lowest usable price of every whole hour (UTC) that holds one.
-- grain: one hour of a pool    key: pool_id, hour    inputs: usable_prices, pools
CREATE OR REPLACE TABLE hourly_ranges AS
SELECT pool_id, hour, high, low
FROM (
    SELECT
        pool_number,
        epoch_us(recorded_at) // 3600000000 AS hour,
        max(price) AS high,
        min(price) AS low
    FROM usable_prices
    GROUP BY pool_number, epoch_us(recorded_at) // 3600000000
)
JOIN pools USING (pool_number)
