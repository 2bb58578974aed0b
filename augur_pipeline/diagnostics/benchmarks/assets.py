"""Assets `benchmark_forecasts` and `benchmark_skill`."""

from dagster import MaterializeResult, asset

from augur_pipeline.diagnostics.benchmarks.steps import forecast_benchmarks, measure_skill
from augur_pipeline.diagnostics.benchmarks.tables import BenchmarkForecasts, BenchmarkSkill
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe
from augur_pipeline.store.resource import Store


@asset(
    deps=["scored_forecasts", "settings"],
    group_name="diagnostics",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="What every locked benchmark says of every forecast, from what was known when the "
    "forecast was issued. Also makes benchmark_refusals: benchmarks that were fixed after a "
    "season's first forecast are not used for it.",
)
def benchmark_forecasts(store: Store) -> MaterializeResult[None]:
    """Let every benchmark predict."""
    with shown_as_failures():
        forecast_benchmarks(store)
        return MaterializeResult(
            metadata={
                **describe(store, BenchmarkForecasts),
                "benchmarks": store.count("benchmarks"),
                "refusals": store.count("benchmark_refusals"),
            }
        )


@asset(
    deps=["benchmark_forecasts", "questions", "settings"],
    group_name="diagnostics",
    kinds={"numpy", "duckdb", "sql"},
    owners=OWNERS,
    description="Each forecaster against each benchmark on the same rows: Brier of both, skill "
    "(1 − ratio) with its interval by episode, and the p-value of no difference.",
)
def benchmark_skill(store: Store) -> MaterializeResult[None]:
    """Hold every forecaster against every benchmark."""
    with shown_as_failures():
        measure_skill(store)
        return MaterializeResult(metadata=describe(store, BenchmarkSkill))
