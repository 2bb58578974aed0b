-- first_prices: the first usable price in each call's window, by all prices now known.
-- grain: one call that has such a price    key: call_id
-- inputs: due_calls, usable_prices, pools, price_spacing
-- rule: contract §5; ties at one instant go by sequence (missing last), file name, line
--
-- Candidates in two passes, so that millions of prices stream past a hash table of calls and are never
-- sorted: time is cut into steps of each pool's mean price spacing, and most calls find their price in
-- the step of their due time or the next one. The few that do not (nights, gaps) take the first later
-- instant by ASOF join, over their pools' prices only.
CREATE OR REPLACE TABLE first_prices AS
WITH asked AS (
    SELECT
        due_calls.rowid AS call_number,
        call_id,
        pool_number,
        due_at,
        make_timestamp(epoch_us(due_at) + $window_us) AS closes_at,
        epoch_us(due_at) // spacing_us AS due_step
    FROM due_calls
    JOIN pools USING (pool_id)
    JOIN price_spacing USING (pool_number)
),

-- read where it is asked for: a copy of millions of prices would only fill the memory
usable AS NOT MATERIALIZED (
    SELECT usable_prices.*, epoch_us(recorded_at) // spacing_us AS step
    FROM usable_prices
    JOIN price_spacing USING (pool_number)
),

near AS (
    SELECT call_number, recorded_at, sequence, file_number, source_line, price
    FROM usable
    JOIN (SELECT *, unnest([due_step, due_step + 1]) AS step FROM asked) AS probes
        USING (pool_number, step)
    WHERE recorded_at BETWEEN due_at AND closes_at
),

-- a price found within two steps is the first one: nothing lies between the due time and it
missed AS (
    SELECT * FROM asked ANTI JOIN near USING (call_number)
),

later AS NOT MATERIALIZED (
    SELECT * FROM usable SEMI JOIN missed USING (pool_number)
),

first_instants AS (
    SELECT call_number, missed.pool_number, later.recorded_at
    FROM missed
    ASOF JOIN later
        ON missed.pool_number = later.pool_number AND missed.due_at <= later.recorded_at
    WHERE later.recorded_at <= closes_at
),

far AS (
    SELECT call_number, recorded_at, sequence, file_number, source_line, price
    FROM later
    JOIN first_instants USING (pool_number, recorded_at)
),

candidates AS (
    SELECT * FROM near
    UNION ALL
    SELECT * FROM far
),

chosen AS (
    SELECT call_number, price, recorded_at
    FROM candidates
    QUALIFY row_number() OVER (
        PARTITION BY call_number
        ORDER BY recorded_at, sequence NULLS LAST, file_number, source_line
    ) = 1
)

SELECT call_id, price, recorded_at AS price_recorded_at
FROM chosen
JOIN asked USING (call_number)
