-- The outcome of a call by a price (contract §5): 1 right, 0 wrong; equal is wrong both ways.
CREATE OR REPLACE TEMP MACRO outcome_of(action, price, reference_price) AS
    CASE
        WHEN price IS NULL THEN NULL
        WHEN action = 'buy' AND price > reference_price THEN 1
        WHEN action = 'sell' AND price < reference_price THEN 1
        ELSE 0
    END;
