-- running_seasons: seasons whose pictures and tables a night shows on Dagster's pages.
-- grain: one season    key: season_id    inputs: agent_season_brier, resolved_outcomes, seasons
-- rule: some agent-season is not final, or a call was settled this very night (so the night that
-- ends a season shows it once more). The latest four: a first night settles a whole old log.
CREATE OR REPLACE TABLE running_seasons AS
WITH unfinished AS (
    SELECT season_id FROM agent_season_brier WHERE NOT is_final
    UNION
    SELECT season_id FROM resolved_outcomes WHERE settled_at = $as_of
)

SELECT season_id, starts_at
FROM seasons
SEMI JOIN unfinished USING (season_id)
ORDER BY starts_at DESC
LIMIT 4
