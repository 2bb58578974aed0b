-- The outcome of a call by a price (contract §5): 1 right, 0 wrong; equal is wrong both ways.
CREATE OR REPLACE TEMP MACRO outcome_of(action, price, reference_price) AS
    CASE
        WHEN price IS NULL THEN NULL
        WHEN action = 'buy' AND price > reference_price THEN 1
        WHEN action = 'sell' AND price < reference_price THEN 1
        ELSE 0
    END;

-- Whether a call is due only after its season can be final (contract §6): later than the season's end
-- plus its bound on horizons. It stays out of the season's scores, whatever becomes of it.
CREATE OR REPLACE TEMP MACRO is_due_after_final(due_at, ends_at, max_horizon_hours) AS
    epoch_us(due_at)
        > epoch_us(ends_at) + CAST(round_even(max_horizon_hours * 3.6e9, 0) AS BIGINT);
