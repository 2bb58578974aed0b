"""Dagster's history of a home: what a night writes into it, and what it deletes (history_nights)."""

import json
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetKey,
    DagsterInstance,
    DagsterRunStatus,
    MaterializeResult,
    TableMetadataValue,
    asset,
    materialize,
)
from dagster._core.remote_origin import (
    InProcessCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from augur_pipeline.definitions import defs
from augur_pipeline.errors import PolicyError
from augur_pipeline.exports.file_names import file_name
from augur_pipeline.home import Home
from augur_pipeline.pictures import diagram_files
from augur_pipeline.policy import Operations, Policy
from augur_pipeline.store.history import prune_history
from augur_pipeline.store.metadata import table_metadata
from augur_pipeline_tests.nights import (
    GOOD_CALL,
    LATER,
    SEASON,
    make_home,
    query,
)

PRICES = [("P", "2024-01-02T01:00:00Z", "101"), ("P", "2024-02-02T01:00:00Z", "101")]
NEXT = {
    "season_id": "S2",
    "starts_at": "2024-02-01T00:00:00Z",
    "ends_at": "2024-03-01T00:00:00Z",
}

ORIGIN = RemoteJobOrigin(
    RemoteRepositoryOrigin(
        InProcessCodeLocationOrigin(LoadableTargetOrigin(module_name="augur_pipeline")), "all"
    ),
    "nightly",
)
"""What Dagster asks of a queued run."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One call in each of two seasons; two runs are kept."""
    second = {**GOOD_CALL, "call_id": "c2", "decided_at": "2024-02-02T00:00:00Z"}
    root = make_home(tmp_path / "home", [GOOD_CALL, second], PRICES, [SEASON, NEXT])
    (root / "inputs/policy.toml").write_text("history_nights = 2\n")
    monkeypatch.setenv("AUGUR_HOME", str(root))
    return root


@pytest.fixture
def instance(home: Path) -> Iterator[DagsterInstance]:
    with DagsterInstance.from_config(str(Home.at(home).prepare_instance())) as opened:
        yield opened


@asset(check_specs=[AssetCheckSpec("fine", asset="small")])
def small():  # type: ignore[no-untyped-def]  # Dagster wants a tuple, or nothing
    print("to the compute logs")
    return MaterializeResult(check_results=[AssetCheckResult(check_name="fine", passed=True)])


def small_run(instance: DagsterInstance) -> str:
    """A run with an event, a check and logs, in a fraction of a night's time."""
    return materialize([small], instance=instance).run_id


def run_night(instance: DagsterInstance, as_of: str = LATER) -> str:
    """The nightly job as `augur run` executes it; returns the run's id."""
    result = defs.resolve_job_def("nightly").execute_in_process(
        instance=instance,
        raise_on_error=False,
        run_config={
            "resources": {"clock": {"config": {"as_of": as_of}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )
    assert result.success
    return result.run_id


def shards(home: Path) -> set[str]:
    """Runs that have a database of their own."""
    return {path.stem for path in (home / "dagster/history/runs").glob("*.db")} - {"index"}


def logs(home: Path) -> set[str]:
    """Runs that have compute logs."""
    return {path.name for path in (home / "dagster/storage").iterdir()}


def rows(home: Path, sql: str) -> list[tuple[object, ...]]:
    index = home / "dagster/history/runs/index.db"
    with closing(sqlite3.connect(index)) as connection:
        return connection.execute(sql).fetchall()


def indexed(home: Path) -> set[object]:
    """Runs that the index holds events or check results of."""
    found = rows(
        home, "SELECT run_id FROM event_logs UNION SELECT run_id FROM asset_check_executions"
    )
    return {run_id for (run_id,) in found}


def everywhere(home: Path, instance: DagsterInstance) -> list[set[object]]:
    """The runs that each part of the history knows: records, databases, logs, index."""
    return [set(instance.get_run_ids()), set(shards(home)), set(logs(home)), indexed(home)]


# --- what is kept ---------------------------------------------------------------------------------


def test_runs_beyond_the_newest_are_gone_from_every_part(
    home: Path, instance: DagsterInstance
) -> None:
    runs = [run_night(instance) for _ in range(3)]
    assert everywhere(home, instance) == [set(runs[1:])] * 4
    assert instance.get_run_ids() == [runs[2], runs[1]]
    event = instance.get_latest_materialization_event(AssetKey("published"))
    assert event is not None
    assert event.run_id == runs[2]
    # a third of the index was freed: given back, not kept as a gap
    ((free,),) = rows(home, "PRAGMA freelist_count")
    ((pages,),) = rows(home, "PRAGMA page_count")
    assert isinstance(free, int)
    assert isinstance(pages, int)
    assert free <= pages / 4
    assert (home / "dagster/history/runs/index.db").stat().st_size == pages * 4096


def test_a_run_that_is_queued_or_going_stays(home: Path, instance: DagsterInstance) -> None:
    ended = {DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED}
    by_status: dict[DagsterRunStatus, str] = {}
    for status in DagsterRunStatus:
        run_id = by_status[status] = small_run(instance)
        run = instance.get_run_by_id(run_id)
        assert run is not None
        instance.delete_run(run_id)
        instance.run_storage.add_run(run._replace(status=status, remote_job_origin=ORIGIN))
    prune_history(instance, 1)
    kept = {run_id for status, run_id in by_status.items() if status not in ended}
    assert len(kept) == len(DagsterRunStatus) - 3
    assert set(instance.get_run_ids()) == kept
    assert shards(home) == logs(home) == kept


def test_the_newest_stay(home: Path, instance: DagsterInstance) -> None:
    runs = [small_run(instance) for _ in range(5)]
    for nights, kept in ((6, runs), (4, runs[2:]), (10**30, runs[2:]), (1, [])):
        # the run in progress, not among these, is one of the nights
        prune_history(instance, nights)
        assert everywhere(home, instance) == [set(kept)] * 4
        assert instance.get_run_ids() == kept[::-1]


def test_what_deleting_in_the_ui_leaves_behind_goes_too(
    home: Path, instance: DagsterInstance
) -> None:
    first, second = small_run(instance), small_run(instance)
    instance.delete_run(first)
    assert first in shards(home) & logs(home) & indexed(home), "check results stay in the index"
    prune_history(instance, 2)
    assert everywhere(home, instance) == [{second}] * 4


@pytest.mark.parametrize("step", ["_drop_shard", "_drop_from_index", "_vacuum"])
def test_a_killed_pruning_is_finished_by_the_next(
    home: Path, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*arguments: object) -> None:
        raise Killed

    for _ in range(2):
        small_run(instance)
    with monkeypatch.context() as patched:
        patched.setattr(f"augur_pipeline.store.history.{step}", die)
        with pytest.raises(Killed):
            prune_history(instance, 1)
    with DagsterInstance.from_config(str(home / "dagster")) as later:
        prune_history(later, 1)
        assert everywhere(home, later) == [set()] * 4


# --- a history that cannot be pruned --------------------------------------------------------------


def test_a_locked_index_is_a_warning_and_the_night_is_published(
    home: Path, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process holds the index while the night prunes."""
    (home / "inputs/policy.toml").write_text("history_nights = 1\n")
    first = small_run(instance)
    monkeypatch.setattr(sqlite_event_log, "SQLITE_BUSY_TIMEOUT_SECONDS", 0.05)
    holder = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )

    def prune_while_locked(instance: DagsterInstance, nights: int) -> None:
        index = str(home / "dagster/history/runs/index.db")
        with subprocess.Popen(
            [sys.executable, "-c", holder, index], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            prune_history(instance, nights)
            process.communicate()

    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("augur_pipeline.store.history")
    with monkeypatch.context() as patched:
        patched.setattr("augur_pipeline.exports.assets.prune_history", prune_while_locked)
        logger.addHandler(handler)
        try:
            second = run_night(instance)
        finally:
            logger.removeHandler(handler)
    assert query(home, "SELECT run_id FROM run_info") == [(second,)]
    (line,) = said
    assert "database is locked" in line
    assert "\n" not in line
    assert set(instance.get_run_ids()) == {first, second}
    prune_history(instance, 2)
    assert everywhere(home, instance) == [{second}] * 4


# --- what a night shows ---------------------------------------------------------------------------


def seasons_shown(instance: DagsterInstance, as_of: str) -> list[set[object]]:
    """A night's seasons with a picture, in the overview, in the leaderboard; it is published."""
    run_night(instance, as_of)
    scores, report = (
        event.asset_materialization.metadata
        for name in ("agent_season_brier", "calibration_diagnostics")
        if (event := instance.get_latest_materialization_event(AssetKey(name)))
        and event.asset_materialization
    )
    assert isinstance(report["overview"], TableMetadataValue)
    assert isinstance(scores["leaderboard"], TableMetadataValue)
    mark = "reliability of "
    return [
        {name.removeprefix(mark) for name in report if name.startswith(mark)},
        {record.data["cohort_id"] for record in report["overview"].records},
        {record.data["season_id"] for record in scores["leaderboard"].records},
    ]


def test_pictures_and_tables_are_of_running_seasons(
    home: Path, instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augur_pipeline.diagnostics.calibration.assets.MOST_A_SEASON", 1)
    monkeypatch.setattr(diagram_files, "MOST_A_SEASON", 1)
    assert seasons_shown(instance, "2024-01-03T00:00:00Z") == [{"S1"}] * 3
    # S1 has ended, its call is settled since January; the call of S2 is pending
    # (no diagnostics yet, for nothing is resolved in S2)
    assert seasons_shown(instance, "2024-02-02T00:30:00Z") == [{"S2"}, set(), {"S2"}]
    # S2 has ended; the night that settles its last call shows it
    assert seasons_shown(instance, "2024-03-02T00:00:00Z") == [{"S2"}] * 3
    assert seasons_shown(instance, "2024-03-03T00:00:00Z") == [set()] * 3
    # published pictures are of all seasons
    files = (home / "exports/latest/diagrams").rglob("~season.png")
    assert {path.parent.name for path in files} == {file_name("S1"), file_name("S2")}


def test_a_first_night_on_a_long_log_shows_its_latest_seasons(
    home: Path, instance: DagsterInstance
) -> None:
    months = range(1, 7)
    seasons = [
        {
            "season_id": f"S{month}",
            "starts_at": f"2024-0{month}-01T00:00:00Z",
            "ends_at": f"2024-0{month + 1}-01T00:00:00Z",
        }
        for month in months
    ]
    calls = [
        {**GOOD_CALL, "call_id": f"c{month}", "decided_at": f"2024-0{month}-02T00:00:00Z"}
        for month in months
    ]
    prices = [("P", f"2024-0{month}-02T01:00:00Z", "101") for month in months]
    make_home(home, calls, prices, seasons)
    latest = {"S3", "S4", "S5", "S6"}
    assert seasons_shown(instance, "2024-08-01T00:00:00Z")[1:] == [latest] * 2


def test_a_table_on_a_page_cuts_long_texts() -> None:
    table = table_metadata(["id", "same"], [("x" * 5000, "y" * 200)])
    assert table.records[0].data == {"id": "x" * 199 + "…", "same": "y" * 200}


# --- the choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "true", '"90"', "[90]"])
def test_an_impossible_number_of_nights_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f"history_nights = {value}\n")
    for choices in (Policy, Operations):
        with pytest.raises(PolicyError) as caught:
            choices.from_toml(path)
        message = str(caught.value)
        assert message.startswith(f"{path}: history_nights is ")
        assert message.endswith("; use a whole number of at least 1")


def test_it_is_ninety_and_no_part_of_the_scoring_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    assert Operations.from_toml(path) == Operations(history_nights=90)
    path.write_text('history_nights = 7\nbackfill = "exclude"\n')
    assert Operations.from_toml(path) == Operations(history_nights=7)
    policy = Policy.from_toml(path)
    assert policy.backfill == "exclude"
    assert "history_nights" not in json.loads(policy.to_json())


# --- sixty nights ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_sixty_nights_stop_growing(real_home: Path) -> None:
    """The real log, night after night: ten runs are kept, so the disk is that of ten runs."""
    from augur_pipeline_tests.benchmarks.nights import nights

    (real_home / "inputs/policy.toml").write_text("history_nights = 10\n")
    os.environ.pop("DAGSTER_HOME", None)
    measured = list(nights(real_home, "2026-04-10T00:00:00Z", 60))
    assert len(shards(real_home)) == len(logs(real_home)) == 10
    most = max(night.bytes["dagster"] for night in measured[:15])
    # a run's own size varies with its seasons' pictures
    assert max(night.bytes["dagster"] for night in measured[15:]) < 1.5 * most
