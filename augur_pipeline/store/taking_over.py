"""Taking over the published ledger: believed only after all of it was recomputed."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.errors import InputError, LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.digests import run_digest, stored_content_digest
from augur_pipeline.store.export_sets import export_set
from augur_pipeline.store.published import open_published, read_run_info, unreadable
from augur_pipeline.store.resource import Store

logger = logging.getLogger(__name__)


def take_ledger(store: Store, tables: Sequence[str]) -> None:
    """Copy tables of the published database into the work database as `published_<table>`.

    The database is believed only after it was recomputed (`refuse_altered`). A table that its
    version of the ledger does not have is left out.
    """
    database = store.paths.database
    if not database.exists():
        return
    logger.info("checking the published ledger against its digests")
    with open_published(database) as published:
        refuse_altered(published, store.paths)
        stored = set(_tables_of(published))
    connection = store.connection
    try:
        connection.execute("ATTACH $path AS published (READ_ONLY)", {"path": str(database)})
    except duckdb.Error as error:
        raise InputError(unreadable(database, error)) from error
    try:
        for table in tables:
            if table in stored:
                connection.execute(
                    f"CREATE OR REPLACE TABLE published_{table} AS FROM published.{table}"
                )
    finally:
        connection.execute("DETACH published")


def refuse_altered(connection: duckdb.DuckDBPyConnection, home: Home) -> None:
    """Recompute the digests of a published database; raise `LedgerError` where they differ."""
    info = read_run_info(connection, home.database)
    others = {name: value for name, value in info.items() if name != "run_digest"}
    if info.get("run_digest") != run_digest(others):
        raise _altered(home, "run_info does not agree with its run_digest")
    tables = [table for table in _tables_of(connection) if table != "run_info"]
    try:
        digest = stored_content_digest(connection, tables)
    except ValueError as error:
        raise _altered(home, str(error)) from error
    if digest != info["content_digest"]:
        exports = export_set(home, info["content_digest"], info["as_of"]) / "tables"
        raise _altered(
            home,
            f"its tables do not agree with its content_digest: "
            f"{_first_difference(connection, tables, exports)}",
        )


def _altered(home: Home, what: str) -> LedgerError:
    return LedgerError(
        f"{home.database}: altered after it was published; {what}; restore the file from a backup "
        "(`augur verify` recomputes what is in it), or begin a new ledger with `augur run "
        "--new-ledger`"
    )


def _tables_of(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() "
        "WHERE database_name = current_database() AND schema_name = 'main' AND NOT internal "
        "ORDER BY table_name"
    ).fetchall()
    return [table for (table,) in rows]


def _first_difference(
    connection: duckdb.DuckDBPyConnection, tables: Sequence[str], exports: Path
) -> str:
    """Table and key of the first row that the exports of the same publication have otherwise."""
    if not exports.is_dir():
        return "which row cannot be told, for the exports of that publication are gone"
    for table in tables:
        path = exports / f"{table}.parquet"
        if not path.is_file():
            return f"table {table} was not published"
        connection.execute("SET VARIABLE exported = $path", {"path": str(path)})
        stored, exported = f'FROM "{table}"', "FROM read_parquet(getvariable('exported'))"
        try:
            for left, right, fate in (
                (stored, exported, "is not as published"),
                (exported, stored, "is missing or not as published"),
            ):
                rows = connection.sql(f"{left} EXCEPT ALL {right} ORDER BY ALL LIMIT 1")
                for row in rows.fetchall():
                    return f"table {table}, {_key_shown(rows.columns, row)} {fate}"
        except duckdb.Error:
            return f"table {table} has other columns than were published"
    missing = sorted({path.stem for path in exports.glob("*.parquet")} - {*tables, "run_info"})
    if missing:
        return f"table {missing[0]} is missing"
    return "the rows of a table lie in another order"


def _key_shown(columns: Sequence[str], row: Sequence[Any]) -> str:
    """What names a row to its reader: its ids, else its first value."""
    values = dict(zip(columns, row, strict=True))
    names = [name for name in columns if name.endswith("_id")] or columns[:1]
    return ", ".join(f"{name} {values[name]!r}" for name in names)
