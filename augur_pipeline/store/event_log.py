"""Dagster's event log during a run: one SQLite engine a database, where Dagster opens one an event.

A night stores some 300 events, and Dagster makes an engine, a connection and its pages' cache for
each: two fifths of a small night. The connection stays open between events, outside any
transaction, so a UI reads beside it; each event is still a commit of its own in SQLite's
write-ahead log, so a killed run leaves all events up to its last.
"""

import contextlib
from collections.abc import Iterator

from dagster import DagsterInstance
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

BUSY_TIMEOUT_SECONDS = 60
"""How long an event waits for another writer, like Dagster's own UI."""


@contextlib.contextmanager
def engines_kept_open(instance: DagsterInstance) -> Iterator[None]:
    """Let a home's event log use one engine a database until the end of the block."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        yield
        return
    engines: dict[str, Engine] = {}
    original = storage._connect

    @contextlib.contextmanager
    def connect(shard: str) -> Iterator[Connection]:
        if shard not in storage._initialized_dbs:
            with original(shard):
                pass  # Dagster makes its tables, and is never asked again
        with storage._db_lock:
            if shard not in engines:
                engines[shard] = _engine(storage.conn_string_for_shard(shard))
            with engines[shard].begin() as connection:
                yield connection

    storage._connect = connect  # type: ignore[method-assign]
    try:
        yield
    finally:
        storage._connect = original  # type: ignore[method-assign]
        for engine in engines.values():
            engine.dispose()


def _engine(url: str) -> Engine:
    engine = create_engine(
        url,
        poolclass=StaticPool,
        # Dagster lets one thread in at a time, but not always the same
        connect_args={"timeout": BUSY_TIMEOUT_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _(connection: object, record: object) -> None:
        # no wait for the disk at each event: the log survives a killed run, not a power cut
        connection.execute("PRAGMA synchronous = NORMAL")  # type: ignore[attr-defined]

    return engine
