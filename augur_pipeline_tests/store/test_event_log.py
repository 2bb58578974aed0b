"""Dagster's event log while its engines are kept open: nothing lost, nobody shut out."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dagster import DagsterEventType, DagsterInstance, EventLogEntry
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from sqlalchemy import Engine

from augur_pipeline.home import Home
from augur_pipeline.store.event_log import engines_kept_open
from augur_pipeline.store.instance import open_instance
from augur_pipeline_tests.cli.processes import environment
from augur_pipeline_tests.conftest import ROOT

EVENTS = 40


def entry(run_id: str, number: int) -> EventLogEntry:
    return EventLogEntry(
        error_info=None,
        level=10,
        user_message=f"event {number}",
        run_id=run_id,
        timestamp=float(number),
    )


def messages(instance: DagsterInstance, run_id: str) -> list[str]:
    return [record.user_message for record in instance.all_logs(run_id)]


@contextmanager
def instance_of(home: Path) -> Iterator[DagsterInstance]:
    instance = open_instance(Home(home))
    try:
        yield instance
    finally:
        instance.dispose()


def test_one_engine_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    create = sqlite_event_log.create_engine

    def counted(url: str, **options: object) -> Engine:
        made.append(url)
        return create(url, **options)

    monkeypatch.setattr("augur_pipeline.store.event_log.create_engine", counted)
    monkeypatch.setattr(sqlite_event_log, "create_engine", counted)
    with instance_of(tmp_path) as instance:
        made.clear()
        with engines_kept_open(instance):
            for number in range(EVENTS):
                instance.event_log_storage.store_event(entry("run", number))
            assert len(made) == 2, "Dagster's own once, to make its tables, and ours"
            assert messages(instance, "run") == [f"event {n}" for n in range(EVENTS)]
        made.clear()
        instance.event_log_storage.store_event(entry("run", EVENTS))
        assert len(made) == 1, "after the block Dagster opens its own again"
        assert messages(instance, "run") == [f"event {n}" for n in range(EVENTS + 1)]


def test_the_engines_are_closed_after_a_failure(tmp_path: Path) -> None:
    with instance_of(tmp_path) as instance:
        original = instance.event_log_storage._connect  # type: ignore[attr-defined]
        with contextlib.suppress(RuntimeError), engines_kept_open(instance):
            instance.event_log_storage.store_event(entry("run", 1))
            raise RuntimeError
        assert instance.event_log_storage._connect == original  # type: ignore[attr-defined]
        shard = Path(instance.event_log_storage.path_for_shard("run"))  # type: ignore[attr-defined]
        with sqlite3.connect(shard, timeout=0) as connection:
            connection.execute("BEGIN EXCLUSIVE")


WRITER = """
import sys
from pathlib import Path
from augur_pipeline_tests.store.test_event_log import EVENTS, engines_kept_open, entry, instance_of
with instance_of(Path(sys.argv[1])) as instance, engines_kept_open(instance):
    for number in range(EVENTS):
        instance.event_log_storage.store_event(entry("run", number))
    print("stored", flush=True)
    sys.stdin.readline()
    instance.event_log_storage.store_event(entry("run", EVENTS))
    print("one more", flush=True)
    sys.stdin.readline()
"""


def test_others_read_and_write_beside_it_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(PYTHONPATH=str(ROOT)),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, instance_of(tmp_path) as beside:
        try:
            assert process.stdout.readline() == "stored\n"
            # as a page of the UI reads, and as another run writes
            assert messages(beside, "run") == [f"event {n}" for n in range(EVENTS)]
            beside.event_log_storage.store_event(entry("another", 1))
            beside.event_log_storage.store_event(entry("run", -1))
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "one more\n"
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        stored = messages(beside, "run")
        assert sorted(stored) == sorted(f"event {n}" for n in range(-1, EVENTS + 1))
    for database in (tmp_path / "dagster").rglob("*.db"):
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_an_instance_in_memory_is_left_as_it_is() -> None:
    with DagsterInstance.ephemeral() as instance, engines_kept_open(instance):
        assert instance.get_run_ids() == []
        assert DagsterEventType.RUN_SUCCESS.value == "PIPELINE_SUCCESS"
