-- seasons: the seasons of seasons.csv.
-- grain: one season         key: season_id
-- inputs: landed_seasons    rule: contract §2; the horizon bound defaults to the policy's
CREATE OR REPLACE TABLE seasons AS
SELECT
    season_id,
    starts_at,
    ends_at,
    coalesce(max_horizon_hours, $default_season_max_horizon_hours) AS max_horizon_hours
FROM landed_seasons
ORDER BY season_id
