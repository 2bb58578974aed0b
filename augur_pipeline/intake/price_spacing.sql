-- price_spacing: the mean time between a pool's usable prices.
-- grain: one pool    key: pool_number    inputs: judged_prices
CREATE OR REPLACE TABLE price_spacing AS
SELECT
    pool_number,
    greatest(1, (epoch_us(max(recorded_at)) - epoch_us(min(recorded_at))) // count(*))
        AS spacing_us
FROM judged_prices
WHERE finding IS NULL
GROUP BY pool_number
