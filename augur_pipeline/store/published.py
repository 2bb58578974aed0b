"""Reading the published database: the ledger a run starts from, and what people query."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.errors import ClockError, InputError, LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.clock import iso
from augur_pipeline.store.digests import run_digest, stored_content_digest
from augur_pipeline.store.export_sets import export_set
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import rows_as_dicts
from augur_pipeline.store.upgrades import LEDGER_VERSION

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Published:
    """What `run_info` of the published database says of the last published run."""

    as_of: datetime
    content_digest: str


@contextlib.contextmanager
def open_published(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection: it never blocks a run, and no run blocks it."""
    if not database.exists():
        raise InputError(f"{database}: nothing published yet; run `augur run` first")
    log = _log_of(database)
    if log.exists():
        raise InputError(
            f"{log}: a program opened the published database for writing, and what it wrote is no "
            "published result; close it, then run again or remove this file"
        )
    try:
        connection = duckdb.connect(str(database), read_only=True)
    except duckdb.Error as error:
        raise InputError(_unreadable(database, error)) from error
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    except duckdb.Error as error:
        raise InputError(_unreadable(database, error)) from error
    finally:
        connection.close()


def read_run_info(connection: duckdb.DuckDBPyConnection, database: Path) -> dict[str, Any]:
    """The one row of run_info; raises `LedgerError` where it is incomplete, or of a version of the
    ledger that is newer than ours."""
    try:
        rows = rows_as_dicts(connection, "FROM run_info")
    except duckdb.CatalogException:
        rows = []
    info = rows[0] if len(rows) == 1 else {}
    if not isinstance(info.get("as_of"), datetime) or not isinstance(
        info.get("content_digest"), str
    ):
        raise LedgerError(
            f"{database}: run_info does not say what was published (one row with as_of and "
            "content_digest); restore the file from a backup"
        )
    version = info.get("ledger_version", 1)
    if not isinstance(version, int) or version > LEDGER_VERSION:
        raise LedgerError(
            f"{database}: published with ledger version {version}, and this augur knows versions "
            f"up to {LEDGER_VERSION}; use the augur that published it, or a later one"
        )
    return info


def _unreadable(database: Path, error: duckdb.Error) -> str:
    first_line = str(error).strip().splitlines()[0]
    return (
        f"{database}: cannot be read ({first_line}); close programs that opened it for writing "
        "and remove a .wal file beside it, or restore it from a backup: it is the ledger"
    )


def last_published(database: Path) -> Published | None:
    """The last published run, or None where nothing was published yet (for runs, not readers)."""
    drop_foreign_log(database)
    if not database.exists():
        return None
    with open_published(database) as connection:
        info = read_run_info(connection, database)
    return Published(info["as_of"], info["content_digest"])


def _log_of(database: Path) -> Path:
    return database.with_suffix(".duckdb.wal")


def drop_foreign_log(database: Path) -> None:
    """Remove a log beside the published database.

    We publish none, so it is a program's that opened a published file for writing: of an older
    file it makes every later open fail, of this one it would change the ledger when read.
    """
    log = _log_of(database)
    if log.exists():
        log.unlink()


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
        raise InputError(_unreadable(database, error)) from error
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


def refuse_backwards(as_of: datetime, published: Published | None) -> None:
    """Raise `ClockError` where the run's clock lies before the last published one."""
    if published is not None and as_of < published.as_of:
        raise ClockError(
            f"as_of {iso(as_of)} is before the last published as_of {iso(published.as_of)}"
        )
