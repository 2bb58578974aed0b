"""Reading the published database: the ledger a run starts from, and what people query."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from augur_pipeline.errors import InputError
from augur_pipeline.store.resource import Store


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
    finally:
        connection.close()


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
        (row,) = connection.execute("SELECT as_of, content_digest FROM run_info").fetchall()
    return Published(*row)


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


def copy_ledger(store: Store, tables: Sequence[str]) -> None:
    """Copy tables of the published database into the work database as `previous_<table>`."""
    database = store.paths.database
    if not database.exists():
        return
    connection = store.connection
    try:
        connection.execute("ATTACH $path AS published (READ_ONLY)", {"path": str(database)})
    except duckdb.Error as error:
        raise InputError(_unreadable(database, error)) from error
    try:
        for table in tables:
            connection.execute(
                f"CREATE OR REPLACE TABLE previous_{table} AS FROM published.{table}"
            )
    finally:
        connection.execute("DETACH published")
