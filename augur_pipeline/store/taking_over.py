"""Taking over the published ledger: believed only after all of it was recomputed."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.errors import InputError, LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.digests import (
    PARTS_TABLE,
    content_digest,
    first_content_digest,
    recomputed_parts,
    run_digest,
    stored_parts,
)
from augur_pipeline.store.export_sets import existing_export_set
from augur_pipeline.store.exported_tables import EXPORTED_ROWS, exported_files
from augur_pipeline.store.published import open_published, read_run_info, unreadable
from augur_pipeline.store.resource import Store

logger = logging.getLogger(__name__)

LAST_WITHOUT_PARTS = 2
"""The last version of the ledger whose content digest had no tree."""


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
    tables = [table for table in _tables_of(connection) if table not in ("run_info", PARTS_TABLE)]
    try:
        if info.get("ledger_version", 1) <= LAST_WITHOUT_PARTS:
            digest = first_content_digest(connection, tables)
        else:
            parts = stored_parts(connection)
            if content_digest(parts) != info["content_digest"]:
                raise _altered(home, f"{PARTS_TABLE} does not agree with run_info.content_digest")
            parting = {part.table_name: part.season_column for part in parts}
            missing = sorted(set(parting) - set(tables))
            if missing:
                raise _altered(home, f"table {missing[0]} is missing")
            digest = content_digest(
                recomputed_parts(connection, {table: parting.get(table) for table in tables})
            )
    except (ValueError, duckdb.CatalogException) as error:
        raise _altered(home, str(error).splitlines()[0]) from error
    if digest != info["content_digest"]:
        exports = existing_export_set(home, info["content_digest"], info["as_of"]) / "tables"
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
        paths = exported_files(exports, table)
        if not paths:
            return f"table {table} was not published"
        connection.execute("SET VARIABLE exported = $paths", {"paths": [str(p) for p in paths]})
        stored, exported = f'FROM "{table}"', f"FROM {EXPORTED_ROWS}"
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
    missing = sorted({path.stem for path in exports.iterdir()} - {*tables, "run_info", PARTS_TABLE})
    if missing:
        return f"table {missing[0]} is missing"
    return "the rows of a table lie in another order"


def _key_shown(columns: Sequence[str], row: Sequence[Any]) -> str:
    """What names a row to its reader: its ids, else its first value."""
    values = dict(zip(columns, row, strict=True))
    names = [name for name in columns if name.endswith("_id")] or columns[:1]
    return ", ".join(f"{name} {values[name]!r}" for name in names)
