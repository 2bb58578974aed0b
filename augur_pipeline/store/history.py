"""Dagster's history of a home, kept to the newest runs.

`DagsterInstance.delete_run` empties a run's database but leaves its file, its compute logs, its
check results and the index as large as before; so the parts are deleted here one by one. A run's
record goes last: a pruning that was killed finds the run again the next night.
"""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from dagster import DagsterInstance, RunsFilter
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from sqlalchemy.exc import SQLAlchemyError

logger = logging.getLogger(__name__)

VACUUM_SHARE = 0.25
"""The index is written anew when more of it is free: the next nights fill smaller gaps."""

LOCK_WAIT_SECONDS = 5.0
"""How long writing the index anew waits for Dagster's UI: there is a next night."""


def prune_history(instance: DagsterInstance, nights: int) -> None:
    """Delete all but the newest `nights` runs, the one in progress counted, and what is left of
    deleted ones. Runs that are queued or going are never touched.

    Never raises for a history that is locked or cannot be written: what is published is published,
    and the next night tries again; a warning says so.
    """
    try:
        finished = instance.get_run_ids(RunsFilter(statuses=FINISHED_STATUSES))
        old = finished[nights - 1 :]  # newest first
        storage = instance.event_log_storage
        for run_id in old:
            instance.compute_log_manager.delete_logs(prefix=[run_id])
            if isinstance(storage, SqliteEventLogStorage):
                _drop_shard(storage, run_id)
                _drop_from_index(storage, run_id)
            else:
                storage.delete_events(run_id)
            instance.run_storage.delete_run(run_id)
        if isinstance(storage, SqliteEventLogStorage):
            _drop_orphans(instance, storage)
            _vacuum(Path(storage.path_for_shard(INDEX_SHARD_NAME)))
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        first_line = str(error).strip().splitlines()[0]
        logger.warning(
            "old runs stay in Dagster's history until the next night: %s (what was published is "
            "not affected)",
            first_line,
        )
        return
    if old:
        logger.info("deleted %d old runs from Dagster's history", len(old))


def _drop_shard(storage: SqliteEventLogStorage, run_id: str) -> None:
    """A run's own database of events; one that a page of the UI has open lives until it closes."""
    for suffix in ("", "-wal", "-shm"):
        Path(storage.path_for_shard(run_id) + suffix).unlink(missing_ok=True)


def _drop_from_index(storage: SqliteEventLogStorage, run_id: str) -> None:
    checks = AssetCheckExecutionsTable
    with storage.index_connection() as connection:
        storage.delete_events_for_run(connection, run_id)
        connection.execute(checks.delete().where(checks.c.run_id == run_id))


def _drop_orphans(instance: DagsterInstance, storage: SqliteEventLogStorage) -> None:
    """Files of runs without a record: those deleted in the UI, or opened there after the fact."""
    # files first: a run that starts in between has its record before its file
    files: Sequence[str] = storage.get_all_run_ids()
    known = set(instance.get_run_ids())
    for run_id in files:
        if run_id not in known:
            instance.compute_log_manager.delete_logs(prefix=[run_id])
            _drop_shard(storage, run_id)
            _drop_from_index(storage, run_id)


def _vacuum(index: Path) -> None:
    """Give back what deleting has freed."""
    with closing(
        sqlite3.connect(index, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
    ) as connection:
        ((free,),) = connection.execute("PRAGMA freelist_count").fetchall()
        ((pages,),) = connection.execute("PRAGMA page_count").fetchall()
        if free > VACUUM_SHARE * pages:
            connection.execute("VACUUM")
            # the file shrinks when its log is written back
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
