"""Assets `passports` and `published`."""

from dagster import AssetExecutionContext, MaterializeResult, MetadataValue, asset

from augur_pipeline.exports.passports.files import STATEMENT
from augur_pipeline.exports.publish import publish
from augur_pipeline.exports.tables import Passports
from augur_pipeline.policy import Operations
from augur_pipeline.store.clock import iso
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.history import prune_history
from augur_pipeline.store.metadata import OWNERS, describe
from augur_pipeline.store.resource import Store


@asset(
    deps=["sealed_calls", "agent_season_brier", "season_scores"],
    group_name="exports",
    kinds={"duckdb", "sql", "json"},
    owners=OWNERS,
    description="Per agent, over its lifetime: what became of its calls, by reason. "
    "exports/latest/passports holds one JSON file per agent, with a block per season.",
)
def passports(store: Store) -> MaterializeResult[None]:
    """Count every agent's lifetime."""
    with shown_as_failures():
        store.require("season_scores", "agent_season_brier", "rejected_rows")
        store.run("augur_pipeline.exports.passports", "passports")
        return MaterializeResult(metadata=describe(store, Passports))


@asset(
    deps=[
        "raw_calls",
        "settings",
        "sealed_calls",
        "eligible_calls",
        "resolved_outcomes",
        "scored_forecasts",
        "questions",
        "agent_season_brier",
        "season_scores",
        "calibration_diagnostics",
        "benchmark_forecasts",
        "benchmark_skill",
        "agent_comparisons",
        "agent_comparisons_by_episode",
        "orientation_audit",
        "missingness",
        "brier_bounds",
        "episode_weighted_brier",
        "passports",
    ],
    group_name="exports",
    kinds={"duckdb", "parquet"},
    owners=OWNERS,
    description="The published database augur.duckdb and the export set exports/latest, replaced "
    "as a whole after the blocking rules were checked once more.",
)
def published(context: AssetExecutionContext, store: Store) -> MaterializeResult[None]:
    """Check, publish, then delete the runs that Dagster's history no longer keeps."""
    with shown_as_failures():
        operations = Operations.from_toml(store.paths.inputs / "policy.toml")
        digest = publish(store)
        prune_history(context.instance, operations.history_nights)
        as_of, _ = store.state()
        return MaterializeResult(
            metadata={
                "as_of": iso(as_of),
                "content_digest": digest,
                "database": MetadataValue.path(str(store.paths.database)),
                "exports": MetadataValue.path(str(store.paths.latest)),
                "statement": STATEMENT,
            }
        )
