-- price_fates: how many price rows of each file met which fate.
-- grain: file, fate and reason    key: file_number, fate, reason    inputs: raw_prices
CREATE OR REPLACE TABLE price_fates AS
SELECT file_number, fate, reason, count(*) AS rows
FROM raw_prices
GROUP BY file_number, fate, reason
