"""Assets `scored_forecasts` and `questions`."""

from dagster import MaterializeResult, asset

from augur_pipeline.forecasts.steps import number_forecasts, state_forecasts
from augur_pipeline.forecasts.tables import Questions, ScoredForecasts
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe
from augur_pipeline.store.resource import Store


@asset(
    deps=["eligible_calls", "resolved_outcomes", "settings"],
    group_name="forecasts",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Every eligible call as a forecast of being right: the one table that scores, "
    "tests and intervals read. Its episode is the block of days it was decided in.",
)
def scored_forecasts(store: Store) -> MaterializeResult[None]:
    """State every call as a forecast."""
    with shown_as_failures():
        state_forecasts(store)
        return MaterializeResult(metadata=describe(store, ScoredForecasts))


@asset(
    deps=["scored_forecasts", "eligible_calls", "resolved_outcomes"],
    group_name="forecasts",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Every question: how many agents were asked, and whether its calls share pool, due "
    "time, reference and outcome price. Those that do not are listed as question_mismatch and not "
    "compared.",
)
def questions(store: Store) -> MaterializeResult[None]:
    """List the questions and number the forecasts on them."""
    with shown_as_failures():
        number_forecasts(store)
        ((shared,),) = store.connection.execute(
            "SELECT count(*) FROM questions WHERE agents > 1"
        ).fetchall()
        return MaterializeResult(
            metadata={**describe(store, Questions), "shared_questions": int(shared)}
        )
