-- call_volatility: how much the pool's price moved in the day before a call.
-- grain: one eligible call    key: call_id    inputs: eligible_calls, hourly_ranges
-- rule: highest ÷ lowest usable price of the 24 whole hours (UTC) before the hour of decided_at;
-- NULL without a price there. Hours of prices and of calls stand on one line per pool, and a window
-- looks back from each. Thirds are of equal count with ties together: 3·(first + last rank − 1) ÷ 2N.
CREATE OR REPLACE TABLE call_volatility AS
WITH hours AS (
    SELECT pool_id, hour, high, low, FALSE AS is_asked
    FROM hourly_ranges
    UNION ALL
    SELECT DISTINCT
        pool_id,
        epoch_us(decided_at) // 3600000000 AS hour,
        CAST(NULL AS DOUBLE) AS high,
        CAST(NULL AS DOUBLE) AS low,
        TRUE AS is_asked
    FROM eligible_calls
),

looked_back AS (
    SELECT
        pool_id,
        hour,
        is_asked,
        max(high) OVER day_before / min(low) OVER day_before AS price_range
    FROM hours
    WINDOW day_before AS (
        PARTITION BY pool_id ORDER BY hour RANGE BETWEEN 24 PRECEDING AND 1 PRECEDING
    )
),

ranges AS (
    SELECT call_id, price_range
    FROM eligible_calls
    LEFT JOIN looked_back
        ON looked_back.pool_id = eligible_calls.pool_id
        AND looked_back.hour = epoch_us(decided_at) // 3600000000
        AND is_asked
),

ranked AS (
    SELECT
        call_id,
        price_range,
        rank() OVER (ORDER BY price_range) AS first_rank,
        count(*) OVER (PARTITION BY price_range) AS ties,
        count(*) OVER () AS calls
    FROM ranges
    WHERE price_range IS NOT NULL
)

SELECT
    call_id,
    ranges.price_range,
    3 * (first_rank + (first_rank + ties - 1) - 1) // (2 * calls) AS third
FROM ranges
LEFT JOIN ranked USING (call_id)
