-- leaderboard_choices: the benchmark that the leaderboard's skill is against, of each season.
-- grain: one season    key: season_id
-- inputs: agent_season_brier, benchmarks, benchmark_refusals
-- rule: the first declared one that was locked in time, else the coin
CREATE OR REPLACE TEMP VIEW leaderboard_choices AS
SELECT season_id, benchmark_id
FROM (SELECT DISTINCT season_id FROM agent_season_brier) AS seasons
CROSS JOIN benchmarks
ANTI JOIN benchmark_refusals
    ON benchmark_refusals.benchmark_id = benchmarks.benchmark_id
    AND benchmark_refusals.cohort_id = season_id
QUALIFY row_number() OVER (
    PARTITION BY season_id ORDER BY benchmarks.place = 0, benchmarks.place
) = 1
