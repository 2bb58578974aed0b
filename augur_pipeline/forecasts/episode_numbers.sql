-- episode_numbers: every episode by number, so that big joins are of integers.
-- grain: one episode of a kind    key: kind, episode_id    inputs: scored_forecasts
-- rule: a call's episode is numbered by its block of days, as its id says: neighbours overlap. Events
-- overlap with nothing: their numbers are two apart. Numbers of two kinds say nothing of each other.
CREATE OR REPLACE TABLE episode_numbers AS
SELECT
    kind,
    episode_id,
    CASE kind
        WHEN 'call' THEN CAST(episode_id AS BIGINT)
        ELSE 2 * row_number() OVER (PARTITION BY kind ORDER BY episode_id)
    END AS episode_number
FROM (SELECT DISTINCT kind, episode_id FROM scored_forecasts WHERE episode_id IS NOT NULL)
