"""The ledger's steps over the work database: seal, select, settle."""

import pandera.errors
from dagster import Failure, MetadataValue

from augur_pipeline.errors import LedgerError
from augur_pipeline.ledger.lookalikes import make_id_skeletons
from augur_pipeline.ledger.tables import EligibleCalls, SealedCalls, Settlements
from augur_pipeline.prices.steps import find_first_prices
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.upgrades import make_previous


def seal_calls(store: Store) -> None:
    """Seal new calls and give every landing row its one fate (contract §4)."""
    store.require("raw_calls", "price_fates", "rejected_prices", "seasons", "input_files")
    make_previous(store, SealedCalls)
    store.connection.execute(load_sql(__package__, "seal"))
    _refuse_broken_seals(store)
    for name in (
        "screened_calls",
        "sealed_calls",
        "call_fates",
        "rejected_rows",
        "excluded_calls",
        "funnel",
    ):
        store.run(__package__, name)
    make_id_skeletons(store)


def select_eligible(store: Store) -> None:
    """Select the calls that count; raise `Failure` with the cases where they break their model."""
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


def settle_calls(store: Store) -> None:
    """Resolve, expire, and compare what is settled with all prices now known (contract §5)."""
    store.require("sealed_calls", "eligible_calls", "seasons")
    make_previous(store, Settlements)
    store.connection.execute(load_sql(__package__, "outcome"))
    store.run(__package__, "due_calls")
    find_first_prices(store)
    for name in (
        "settlements",
        "resolved_outcomes",
        "late_outcomes",
        "late_prices",
    ):
        store.run(__package__, name)


def _refuse_broken_seals(store: Store) -> None:
    """Raise `LedgerError` where a sealed call is not what its seal says."""
    _, rows = store.rows(__package__, "broken_seals")
    for call_id, seal in rows:
        raise LedgerError(
            f"{store.paths.database}: altered after it was published; table sealed_calls, call_id "
            f"{call_id!r}: its seal is {seal}, and its sealed fields give another; restore the "
            "file from a backup, or begin a new ledger with `augur run --new-ledger`"
        )
