"""Assets `missingness`, `brier_bounds` and `episode_weighted_brier`."""

from dagster import MaterializeResult, asset

from augur_pipeline.diagnostics.missingness.steps import bound_brier, count_missing, weigh_episodes
from augur_pipeline.diagnostics.missingness.tables import (
    BrierBounds,
    EpisodeWeightedBrier,
    Missingness,
)
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe
from augur_pipeline.store.resource import Store


@asset(
    deps=["eligible_calls", "resolved_outcomes", "raw_prices"],
    group_name="diagnostics",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="The share of eligible calls that expired for want of a price: overall, per agent "
    "and per pool, against confidence, horizon, hour of the week and the pool's price range over "
    "the day before the call.",
)
def missingness(store: Store) -> MaterializeResult[None]:
    """Count what expired."""
    with shown_as_failures():
        count_missing(store)
        return MaterializeResult(metadata=describe(store, Missingness))


@asset(
    deps=["scored_forecasts"],
    group_name="diagnostics",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Bounds on every Brier score: each expired call at its best and at its worst loss.",
)
def brier_bounds(store: Store) -> MaterializeResult[None]:
    """Bound the scores."""
    with shown_as_failures():
        bound_brier(store)
        return MaterializeResult(metadata=describe(store, BrierBounds))


@asset(
    deps=["questions"],
    group_name="diagnostics",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="The Brier score beside one in which every episode weighs the same: hundreds of "
    "repeated prompts in one episode are one lesson.",
)
def episode_weighted_brier(store: Store) -> MaterializeResult[None]:
    """Weigh episodes equally."""
    with shown_as_failures():
        weigh_episodes(store)
        return MaterializeResult(metadata=describe(store, EpisodeWeightedBrier))
