"""Assets `agent_season_brier` and `season_scores`."""

from dagster import MaterializeResult, asset

from augur_pipeline.scores.tables import AgentSeasonBrier, SeasonScores
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe, table_metadata
from augur_pipeline.store.resource import Store


@asset(
    deps=["sealed_calls", "resolved_outcomes", "settings"],
    group_name="scores",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Per agent and season: counts of calls, Brier score (0 best, 1 worst), skill "
    "against always saying 0.5, and the 0–100 calibration term (NULL below five resolved calls). "
    "Says how good the probabilities were, nothing about profit or execution.",
)
def agent_season_brier(store: Store) -> MaterializeResult[None]:
    """Score every agent-season."""
    with shown_as_failures():
        store.require("sealed_calls", "resolved_outcomes", "seasons")
        store.run(__package__, "agent_season_brier")
        store.run(__package__, "running_seasons")
        ((median_brier, resolved_calls),) = store.connection.execute(
            "SELECT median(brier), coalesce(sum(resolved_calls), 0) FROM agent_season_brier"
        ).fetchall()
        return MaterializeResult(
            metadata={
                **describe(store, AgentSeasonBrier),
                "leaderboard": table_metadata(*store.rows(__package__, "leaderboard")),
                "resolved_calls": int(resolved_calls),
                **({"median_brier": median_brier} if median_brier is not None else {}),
            }
        )


@asset(
    deps=["agent_season_brier", "settings"],
    group_name="scores",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Per agent and season: the weighted score over measured terms; the weight of a "
    "term that is not measured spreads over the others in proportion.",
)
def season_scores(store: Store) -> MaterializeResult[None]:
    """Weigh the terms of every agent-season."""
    with shown_as_failures():
        store.require("agent_season_brier", "score_terms")
        store.run(__package__, "season_scores")
        return MaterializeResult(metadata=describe(store, SeasonScores))
