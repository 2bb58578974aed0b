"""Assets `raw_calls`, `raw_prices`, `settings`: one step that takes in all of inputs/."""

import json
from collections.abc import Iterator

from dagster import (
    AssetExecutionContext,
    AssetSpec,
    MaterializeResult,
    MetadataValue,
    TableMetadataValue,
    multi_asset,
)

from augur_pipeline.intake.steps import start_run, take_in
from augur_pipeline.intake.tables import RawCalls, Seasons
from augur_pipeline.policy import Policy
from augur_pipeline.prices.steps import prices_by_fate
from augur_pipeline.prices.tables import RawPrices
from augur_pipeline.store.clock import iso, refuse_lead
from augur_pipeline.store.continuity import (
    begins_new_ledger,
    refuse_lost_ledger,
    traces_of,
)
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe, table_metadata
from augur_pipeline.store.published import last_published, refuse_backwards
from augur_pipeline.store.resource import Store

SCHEDULE_TAG = "dagster/schedule_name"


@multi_asset(
    name="intake",
    specs=[
        AssetSpec(
            "raw_calls",
            description="Every row of inputs/calls as its file gives it, trimmed and typed.",
            group_name="intake",
            kinds={"duckdb", "sql"},
            owners=OWNERS,
            skippable=True,
        ),
        AssetSpec(
            "raw_prices",
            description="Every row of inputs/prices, typed, with its fate "
            "(usable, duplicate, rejected, not_yet).",
            group_name="intake",
            kinds={"duckdb", "sql"},
            owners=OWNERS,
            skippable=True,
        ),
        AssetSpec(
            "settings",
            description="The seasons, score terms and benchmarks that the run goes by, and its "
            "clock and policy.",
            group_name="intake",
            kinds={"duckdb", "sql"},
            owners=OWNERS,
            skippable=True,
        ),
    ],
    can_subset=False,
)
def intake(context: AssetExecutionContext, store: Store) -> Iterator[MaterializeResult[None]]:
    """Fix the run's clock, load the ledger, and read all landing files."""
    with shown_as_failures():
        store.paths.require_inputs()
        policy = Policy.from_toml(store.paths.inputs / "policy.toml")
        as_of = store.clock.reading()
        refuse_lead(as_of, policy)
        is_new = begins_new_ledger(store.run_id)
        if is_new:
            published = None
            context.log.warning("a new ledger begins: what was sealed and settled is left aside")
        else:
            published = last_published(store.paths.database)
            refuse_lost_ledger(store.paths, published, traces_of(store.paths, context.instance))
        if context.run.tags.get(SCHEDULE_TAG) and published and as_of < published.as_of:
            context.log.warning(
                f"tick {iso(as_of)} is behind the last published as_of {iso(published.as_of)}: "
                "nothing to do, nothing published"
            )
            return
        refuse_backwards(as_of, published)
        start_run(store, as_of, policy, published, is_new_ledger=is_new)
        take_in(store)
        yield MaterializeResult(
            asset_key="raw_calls",
            metadata={**describe(store, RawCalls), "as_of": iso(as_of), **_files(store, "calls")},
        )
        yield MaterializeResult(
            asset_key="raw_prices",
            metadata={
                **describe(store, RawPrices),
                "fates": table_metadata(*prices_by_fate(store)),
                **_files(store, "prices"),
            },
        )
        yield MaterializeResult(
            asset_key="settings",
            metadata={
                **describe(store, Seasons),
                "policy": MetadataValue.json(json.loads(policy.to_json())),
                "score_terms": store.count("score_terms"),
                "benchmarks": store.count("benchmarks"),
                **_files(store, "settings"),
            },
        )


def _files(store: Store, kind: str) -> dict[str, TableMetadataValue]:
    relation = store.connection.table("input_files").filter(f"kind = '{kind}'").order("file_number")
    shown = relation.select("source_file", "rows", "sha256", "ignored_columns")
    return {"files": table_metadata(shown.columns, shown.fetchall())} if len(shown) else {}
