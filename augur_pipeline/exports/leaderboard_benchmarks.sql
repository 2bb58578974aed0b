-- leaderboard_benchmarks: which benchmark the leaderboard's skill is against, and in which seasons.
-- grain: one benchmark    inputs: leaderboard_choices
SELECT benchmark_id, string_agg(season_id, ', ' ORDER BY season_id) AS seasons
FROM leaderboard_choices
GROUP BY benchmark_id
ORDER BY min(season_id)
