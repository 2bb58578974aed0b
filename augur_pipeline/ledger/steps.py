"""The ledger's steps over the work database: seal, select, settle."""

import pandera.errors
from dagster import Failure, MetadataValue

from augur_pipeline.ledger.tables import EligibleCalls, SealedCalls, Settlements
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.tables import Model, columns_of, name_of


def seal_calls(store: Store) -> None:
    """Seal new calls and give every landing row its one fate (contract §4)."""
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
    store.require("eligible_calls", "seasons", "usable_prices", "crowded_prices", "price_spacing")
    _ensure_previous(store, Settlements)
    store.connection.execute(load_sql(__package__, "outcome"))
    for name in (
        "first_prices",
        "settlements",
        "resolved_outcomes",
        "late_outcomes",
        "late_prices",
    ):
        store.run(__package__, name)


def _ensure_previous(store: Store, model: Model) -> None:
    """The table as last published, empty where nothing was published yet."""
    shape = ", ".join(f"{column.name} {column.type}" for column in columns_of(model))
    store.connection.execute(f"CREATE TABLE IF NOT EXISTS previous_{name_of(model)} ({shape})")
