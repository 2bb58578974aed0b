-- price_spacing: the mean time between a pool's usable prices, at most a window: one price of
-- another decade must not make the steps useless.
-- grain: one pool    key: pool_number    inputs: usable_prices
CREATE OR REPLACE TABLE price_spacing AS
SELECT
    pool_number,
    least($window_us, greatest(
        1, (epoch_us(max(recorded_at)) - epoch_us(min(recorded_at))) // count(*)
    )) AS spacing_us
FROM usable_prices
GROUP BY pool_number
