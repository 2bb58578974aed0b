"""Reading the published database: what people query, and what a run must follow."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.errors import ClockError, InputError, LedgerError
from augur_pipeline.store.clock import iso
from augur_pipeline.store.sql import rows_as_dicts

LEDGER_VERSION = 3
"""Of what this augur publishes; it reads every version up to it (`store/upgrades.py`).

1: without `ledger_version` in run_info. 2: late_outcomes and due_after_final. 3: eligible_calls,
excluded_calls and resolved_outcomes are views; content_digests.
"""


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
        raise InputError(unreadable(database, error)) from error
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    except duckdb.Error as error:
        raise InputError(unreadable(database, error)) from error
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


def unreadable(database: Path, error: duckdb.Error) -> str:
    """What to say where DuckDB cannot read a published database."""
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


def refuse_backwards(as_of: datetime, published: Published | None) -> None:
    """Raise `ClockError` where the run's clock lies before the last published one."""
    if published is not None and as_of < published.as_of:
        raise ClockError(
            f"as_of {iso(as_of)} is before the last published as_of {iso(published.as_of)}"
        )
