"""The steps on prices: judge every row, and find each call its first price."""

from typing import TYPE_CHECKING, Any

import duckdb

from augur_pipeline.store.sql import load_sql, rows_as_dicts

if TYPE_CHECKING:
    from augur_pipeline.store.resource import Store


def install_price_finding(connection: duckdb.DuckDBPyConnection) -> None:
    """Define what is wrong with a landing row: landing parts usable rows from the others by it."""
    connection.execute(load_sql(__package__, "price_finding"))


def judge_prices(store: "Store") -> None:
    """Give every landed row its one fate; make what other rooms may read of prices."""
    store.require("usable_prices", "unusable_prices", "pools")
    for name in (
        "crowded_prices",
        "price_spacing",
        "raw_prices",
        "price_fates",
        "rejected_prices",
        "price_conflicts",
        "hourly_ranges",
    ):
        store.run(__package__, name)


def find_first_prices(store: "Store") -> None:
    """Make `first_prices`: the first usable price in the window of each of `due_calls`."""
    store.require("due_calls", "usable_prices", "price_spacing")
    store.run(__package__, "first_prices")


def prices_by_fate(store: "Store") -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows: how many price rows met which fate."""
    return store.rows(__package__, "prices_by_fate")


def judged_prices(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """The landed prices of a connection with their fates, in the order that counts."""
    for name in ("crowded_prices", "raw_prices"):
        connection.execute(load_sql(__package__, name))
    return rows_as_dicts(
        connection,
        """
        SELECT recorded_at, price, sequence, fate, reason FROM raw_prices
        ORDER BY recorded_at, sequence NULLS LAST, file_number, source_line
        """,
    )
