"""Assets `sealed_calls`, `eligible_calls` and `resolved_outcomes`."""

from dagster import MaterializeResult, asset

from augur_pipeline.ledger.steps import seal_calls, select_eligible, settle_calls
from augur_pipeline.ledger.tables import EligibleCalls, ResolvedOutcomes, SealedCalls
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe, table_metadata
from augur_pipeline.store.resource import Store


@asset(
    deps=["raw_calls", "raw_prices", "settings"],
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
        seal_calls(store)
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
        select_eligible(store)
        return MaterializeResult(metadata=describe(store, EligibleCalls))


@asset(
    deps=["sealed_calls", "eligible_calls", "raw_prices", "settings"],
    group_name="ledger",
    kinds={"duckdb", "sql"},
    owners=OWNERS,
    description="Where every eligible call stands: resolved by the first usable price in "
    "[due, due + 2 h], expired at due + 168 h without one, else pending or open; due_after_final "
    "where a call is due only after its season can be final (late_outcomes has its outcome). "
    "Settled calls are final; late_prices lists those that today's prices would settle otherwise.",
)
def resolved_outcomes(store: Store) -> MaterializeResult[None]:
    """Resolve, expire, and compare what is settled with all prices now known."""
    with shown_as_failures():
        settle_calls(store)
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
