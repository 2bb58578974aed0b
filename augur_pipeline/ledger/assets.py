"""Assets `sealed_calls`, `eligible_calls` and `resolved_outcomes`."""

import pandera.errors
from dagster import Failure, MaterializeResult, MetadataValue, asset

from augur_pipeline.ledger.tables import (
    EligibleCalls,
    ResolvedOutcomes,
    SealedCalls,
    Settlements,
)
from augur_pipeline.store.display import describe, table_metadata
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.tables import Model, columns_of, name_of

OWNERS = ["team:augur"]


def _ensure_previous(store: Store, model: Model) -> None:
    """The table as last published, empty where nothing was published yet."""
    shape = ", ".join(f"{column.name} {column.type}" for column in columns_of(model))
    store.connection.execute(f"CREATE TABLE IF NOT EXISTS previous_{name_of(model)} ({shape})")


@asset(
    deps=["raw_calls", "raw_prices"],
    group_name="ledger",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Every call ever sealed: the first statement under a call_id stands, later ones "
    "are duplicates or rejected as restated. Also makes the funnel, rejected_rows and "
    "excluded_calls: every landing row has exactly one fate.",
)
def sealed_calls(store: Store) -> MaterializeResult[None]:
    """Seal new calls and give every row its fate."""
    with shown_as_failures():
        store.require("raw_calls", "raw_prices", "seasons", "input_files")
        _ensure_previous(store, SealedCalls)
        store.connection.execute(load_sql(__package__, "seal"))
        for name in (
            "screened_calls",
            "sealed_calls",
            "call_fates",
            "rejected_rows",
            "excluded_calls",
            "funnel",
        ):
            store.run(__package__, name)
        return MaterializeResult(
            metadata={
                **describe(store, SealedCalls),
                "fates_by_reason": table_metadata(*store.rows(__package__, "fates_by_reason")),
                "rejected_rows": store.count("rejected_rows"),
            }
        )


@asset(
    deps=["sealed_calls"],
    group_name="ledger",
    kinds={"duckdb", "sql", "pandera"},
    owners=OWNERS,
    description="The calls that count, with due time, window and expiry; validated by pandera "
    "(a failure there is a defect of the pipeline, not of the data).",
)
def eligible_calls(store: Store) -> MaterializeResult[None]:
    """Select the eligible calls and validate them."""
    with shown_as_failures():
        store.require("sealed_calls")
        store.run(__package__, "eligible_calls")
        try:
            EligibleCalls.validate(store.connection.table("eligible_calls").pl(), lazy=True)
        except pandera.errors.SchemaErrors as errors:
            raise Failure(
                "eligible_calls breaks its model: a defect of the pipeline; please report it",
                metadata={"cases": MetadataValue.md(str(errors.failure_cases.head(20)))},
                allow_retries=False,
            ) from errors
        return MaterializeResult(metadata=describe(store, EligibleCalls))


@asset(
    deps=["eligible_calls"],
    group_name="ledger",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Where every eligible call stands: resolved by the first usable price in "
    "[due, due + 2 h], expired at due + 168 h without one, else pending or open. Settled calls "
    "are final; late_prices lists those that today's prices would settle otherwise.",
)
def resolved_outcomes(store: Store) -> MaterializeResult[None]:
    """Resolve, expire, and compare what is settled with all prices now known."""
    with shown_as_failures():
        store.require("eligible_calls", "raw_prices")
        _ensure_previous(store, Settlements)
        for name in ("first_prices", "settlements", "resolved_outcomes", "late_prices"):
            store.run(__package__, name)
        columns, rows = store.rows(__package__, "outcomes_by_status")
        totals = {status: int(calls) for status, calls, *_ in rows}
        everything = sum(totals.values())
        return MaterializeResult(
            metadata={
                **describe(store, ResolvedOutcomes),
                "outcomes_by_status": table_metadata(columns, rows),
                "resolved_calls": totals.get("resolved", 0),
                "expired_share": totals.get("expired", 0) / everything if everything else 0.0,
                "late_prices": store.count("late_prices"),
            }
        )
