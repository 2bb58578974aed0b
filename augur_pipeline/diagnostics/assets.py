"""Assets `scored_forecasts` and the diagnostics made of it."""

from dagster import MaterializeResult, asset

from augur_pipeline.diagnostics.tables import ScoredForecasts
from augur_pipeline.store.display import OWNERS, describe
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.resource import Store


@asset(
    deps=["resolved_outcomes"],
    group_name="diagnostics",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Every eligible call as a forecast of being right: the one table that scores, "
    "tests and intervals read. Its episode is the block of days it was decided in.",
)
def scored_forecasts(store: Store) -> MaterializeResult[None]:
    """State every call as a forecast."""
    with shown_as_failures():
        store.require("eligible_calls", "resolved_outcomes", "seasons")
        store.run(__package__, "scored_forecasts")
        return MaterializeResult(metadata=describe(store, ScoredForecasts))
