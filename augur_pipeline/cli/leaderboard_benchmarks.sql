-- leaderboard_benchmarks: which benchmark the leaderboard's skill is against, and in which seasons.
-- grain: one benchmark    inputs: agent_season_brier, benchmarks, benchmark_refusals
-- rule: of each season the first declared one that was locked in time, else the coin
WITH chosen AS (
    SELECT season_id, benchmark_id
    FROM (SELECT DISTINCT season_id FROM agent_season_brier) AS seasons
    CROSS JOIN benchmarks
    ANTI JOIN benchmark_refusals
        ON benchmark_refusals.benchmark_id = benchmarks.benchmark_id
        AND benchmark_refusals.cohort_id = season_id
    QUALIFY row_number() OVER (
        PARTITION BY season_id ORDER BY benchmarks.place = 0, benchmarks.place
    ) = 1
)

SELECT benchmark_id, string_agg(season_id, ', ' ORDER BY season_id) AS seasons
FROM chosen
GROUP BY benchmark_id
ORDER BY min(season_id)
