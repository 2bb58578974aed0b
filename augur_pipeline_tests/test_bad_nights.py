"""Bad nights: killed at any step, crowded, on a full or read-only disk, behind a dead lock.

Each ends in a clear message or in the result of an undisturbed home (engineering §4). What a
crash leaves of single files is in `exports/test_publishing.py`, the run's clock in
`cli/test_run.py`.
"""

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from augur_pipeline.errors import LockError
from augur_pipeline_tests.bad_nights_support import BALLAST, Ended, Nights, reading
from augur_pipeline_tests.cli.processes import (
    COMMAND,
    HAND_PRICES,
    augur,
    environment,
    exported_files,
    hand_calls,
    hand_home,
    last_line,
)
from augur_pipeline_tests.cli.test_run import assert_one_line
from augur_pipeline_tests.nights import (
    CALL_COLUMNS,
    GOOD_CALL,
    LATER,
    PRICE_COLUMNS,
    SEASON,
    current_set,
    make_home,
    night,
    query,
    write_csv,
)

SECOND = "2024-06-06T00:00:00Z"
THIRD = "2024-06-07T00:00:00Z"
PENDING = {**GOOD_CALL, "call_id": "pending", "agent_id": "five", "horizon_hours": "3700"}
"""Due 2024-06-04T04:00Z: pending in the first night, resolved in the second."""


def add_second_inputs(home: Path) -> None:
    """New calls and prices; `w1` has vanished from the landing zone: the ledger alone holds it."""
    kept = [call for call in [*hand_calls(), PENDING] if call["call_id"] != "w1"]
    write_csv(home / "inputs/calls/calls.csv", kept, CALL_COLUMNS)
    new = [{**GOOD_CALL, "call_id": f"n{n}", "agent_id": "new"} for n in range(6)]
    write_csv(home / "inputs/calls/second.csv", [*new, {**PENDING, "confidence": "0.1"}])
    price = dict(zip(PRICE_COLUMNS, ("P", "2024-06-04T04:10:00Z", "99"), strict=True))
    write_csv(home / "inputs/prices/second.csv", [price])


def tables_of(home: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every published table, but for the run's id."""
    with duckdb.connect(str(home / "augur.duckdb"), read_only=True) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        return {
            name: connection.execute(
                f"SELECT {'* EXCLUDE (run_id, run_digest)' if name == 'run_info' else '*'} FROM {name}"
            ).fetchall()
            for (name,) in names
        }


def digest_of(home: Path) -> str:
    ((digest,),) = query(home, "SELECT content_digest FROM run_info")
    return str(digest)


@dataclass(frozen=True)
class Result:
    """What readers see after a night that nothing disturbed."""

    digest: str
    tables: dict[str, list[tuple[Any, ...]]]
    exports: dict[str, bytes]

    @classmethod
    def of(cls, home: Path) -> "Result":
        return cls(digest_of(home), tables_of(home), undrawn_exports(home))


@dataclass(frozen=True)
class Undisturbed:
    """A home after its first night, with the second's inputs in place; and what each gives."""

    home: Path
    first: Result
    second: Result
    steps: list[str]
    """Every step of the second night."""

    def copy(self, to: Path) -> Path:
        return Path(shutil.copytree(self.home, to, symlinks=True))


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    forks = Nights(tmp_path_factory.mktemp("forks"))
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, nights: Nights) -> Undisturbed:
    root = tmp_path_factory.mktemp("undisturbed")
    # a bound on horizons that lets PENDING count in its season
    season = {**SEASON, "max_horizon_hours": PENDING["horizon_hours"]}
    home = make_home(root / "home", [*hand_calls(), PENDING], HAND_PRICES, [season])
    night(home, LATER)
    first = Result.of(home)
    add_second_inputs(home)
    other = Path(shutil.copytree(home, root / "other", symlinks=True))
    ended = nights.night(other, SECOND)
    assert ended.status == 0, ended.stderr
    second = Result.of(other)
    assert first.digest != second.digest
    assert ("w1",) in query(other, "SELECT call_id FROM sealed_calls"), "the ledger forgot a call"
    assert query(other, "SELECT status FROM resolved_outcomes WHERE call_id = 'pending'") == [
        ("resolved",)
    ]
    return Undisturbed(home, first, second, ended.steps)


def undrawn_exports(home: Path) -> dict[str, bytes]:
    """The export set without the pictures, which only whole runs draw."""
    return {
        name: content
        for name, content in exported_files(home).items()
        if not name.startswith("diagrams/")
    }


def assert_whole(home: Path, *allowed: Result) -> Result:
    """Readers see one of the results, whole: in the database, and (maybe another) in exports."""
    digest = digest_of(home)
    (result,) = [result for result in allowed if result.digest == digest]
    assert tables_of(home) == result.tables
    assert undrawn_exports(home) in [result.exports for result in allowed]
    return result


def assert_clean(home: Path, result: Result) -> None:
    """This result and nothing of what died before it."""
    assert assert_whole(home, result) is result
    current = current_set(home)
    assert result.digest in current
    assert os.readlink(home / "exports/latest") == current
    assert {path.name for path in (home / "exports").iterdir()} == {"latest", "sets"}
    assert [f"sets/{path.name}" for path in (home / "exports/sets").iterdir()] == [current]
    assert {path.name for path in home.iterdir()} - {"dagster"} == {
        "inputs", "augur.duckdb", "exports", "work",
    }  # fmt: skip
    # the next run needs none of it, but it must not pile up either
    assert {path.name for path in (home / "work").iterdir()} <= {
        "run.lock", "work.duckdb", "pictures",
    }  # fmt: skip


def killed(ended: Ended, step: str) -> None:
    assert ended.was_killed, f"not killed before {step!r}: {ended.status} {ended.stderr}"
    assert ended.steps[-1] == step


# --- kill -9 --------------------------------------------------------------------------------------

REPLACE = "replace work/new.duckdb augur.duckdb"
"""The step that publishes: before it readers see the first night, after it the second."""


def before_publication(undisturbed: Undisturbed) -> list[str]:
    return undisturbed.steps[: undisturbed.steps.index(REPLACE) + 1]


def after_publication(undisturbed: Undisturbed) -> list[str]:
    steps = undisturbed.steps[undisturbed.steps.index(REPLACE) + 1 :]
    return [step for step in steps if step != "end"]


def kill_one_after_another(
    nights: Nights, undisturbed: Undisturbed, home: Path, steps: list[str]
) -> None:
    """Each run finds what the one before left; the last one is left alone."""
    for step in steps:
        killed(nights.night(home, SECOND, at=step), step)
        assert assert_whole(home, undisturbed.first) is undisturbed.first
    ended = nights.night(home, SECOND)
    assert ended.status == 0, ended.stderr
    assert_clean(home, undisturbed.second)


def test_killed_at_steps_of_intake_and_sql(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    steps = before_publication(undisturbed)
    steps = [
        step
        for step in steps[: steps.index("build database")]
        if step.startswith(("start", "copy", "land", "sql"))
    ]
    # a killed statement leaves half a work database, whichever it was: some of each room here, all
    # of them in the slow test
    some = {"crowded_prices", "raw_prices", "sealed_calls", "settlements", "agent_season_brier",
            "scored_forecasts", "benchmark_skill", "passports"}  # fmt: skip
    assert {f"sql {name}" for name in some} <= set(steps)
    steps = [s for s in steps if not s.startswith("sql") or s.removeprefix("sql ") in some]
    assert "land calls/second.csv" in steps
    kill_one_after_another(nights, undisturbed, undisturbed.copy(tmp_path / "home"), steps)


def test_killed_while_publishing(nights: Nights, undisturbed: Undisturbed, tmp_path: Path) -> None:
    current = set_name(undisturbed.second.digest, SECOND)
    steps = [
        "build database", "fill agent_season_brier", "fill score_terms", "digest sealed_calls",
        "make views", "add parts", "add run info", "check rules", "check follows", "export agent_season_brier",
        "export run_info", "write index", "write passports", "write receipts",
        f"rename exports/{current}.new exports/{current}",
        "sync_file work/new.duckdb", "chmod work/new.duckdb", REPLACE,
    ]  # fmt: skip
    assert set(steps) <= set(before_publication(undisturbed))
    kill_one_after_another(nights, undisturbed, undisturbed.copy(tmp_path / "home"), steps)


@pytest.mark.slow
def test_killed_at_every_step_before_the_publication(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    steps = before_publication(undisturbed)
    kill_one_after_another(nights, undisturbed, undisturbed.copy(tmp_path / "home"), steps)


def killed_after(
    nights: Nights, undisturbed: Undisturbed, home: Path, step: str, next_as_of: str
) -> None:
    killed(nights.night(home, SECOND, at=step), step)
    assert assert_whole(home, undisturbed.first, undisturbed.second) is undisturbed.second
    ended = nights.night(home, next_as_of)
    assert ended.status == 0, ended.stderr


def set_name(digest: str, as_of: str) -> str:
    return f"sets/{digest}-{re.sub('[-:Z]', '', as_of)}000000"


def link_steps(digest: str) -> list[str]:
    return [
        "link exports",
        f"symlink {set_name(digest, SECOND)} exports/.latest.new",
        "replace exports/.latest.new exports/latest",
    ]


def test_killed_between_database_and_link(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The start of the next run puts the link right, also where that run is killed in turn."""
    for number, step in enumerate(link_steps(undisturbed.second.digest)):
        home = undisturbed.copy(tmp_path / str(number))
        killed(nights.night(home, SECOND, at=step), step)
        assert assert_whole(home, undisturbed.first, undisturbed.second) is undisturbed.second
        assert undrawn_exports(home) == undisturbed.first.exports
        killed(nights.night(home, SECOND, at="land settings"), "land settings")
        assert assert_whole(home, undisturbed.second) is undisturbed.second
    ended = nights.night(home, SECOND)
    assert ended.status == 0, ended.stderr
    assert_clean(home, undisturbed.second)


def test_killed_while_dropping_the_old_exports(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    home = undisturbed.copy(tmp_path / "home")
    step = f"rmdir exports/{set_name(undisturbed.first.digest, LATER)}"
    assert step in after_publication(undisturbed)
    killed_after(nights, undisturbed, home, step, SECOND)
    assert_clean(home, undisturbed.second)


@pytest.mark.slow
def test_killed_at_every_step_after_the_publication(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    steps = after_publication(undisturbed)
    assert set(link_steps(undisturbed.second.digest)) <= set(steps)
    for number, step in enumerate(steps):
        home = undisturbed.copy(tmp_path / str(number))
        killed_after(nights, undisturbed, home, step, SECOND)
        assert_clean(home, undisturbed.second)


@pytest.mark.parametrize("at", ["rename", "rmdir"])
def test_killed_in_a_quiet_night_leaves_exports_whole(
    at: str, nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Nothing new came in: same content, a later as_of, so a set of its own."""
    home = undisturbed.copy(tmp_path / "home")
    night(home, SECOND)
    digest = undisturbed.second.digest
    third = f"exports/{set_name(digest, THIRD)}"
    step = {
        "rename": f"rename {third}.new {third}",
        "rmdir": f"rmdir exports/{set_name(digest, SECOND)}",
    }[at]
    killed(nights.night(home, THIRD, at=step), step)
    left = undrawn_exports(home)
    assert night(home, THIRD) == digest
    after = undrawn_exports(home)
    assert after["tables/run_info.parquet"] != undisturbed.second.exports["tables/run_info.parquet"]
    assert left in [undisturbed.second.exports, after], "exports/latest was not whole"


def test_an_augur_run_killed_before_the_link(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """With Dagster around it: the instance keeps the dead run, and the next one runs."""
    home = undisturbed.copy(tmp_path / "home")
    ended = nights.run(home, SECOND, at="link exports")
    assert ended.was_killed, ended.stderr
    ended = nights.run(home, SECOND)
    assert ended.status == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert undisturbed.second.digest in ended.stdout
    assert_clean(home, undisturbed.second)


def start(home: Path, as_of: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "run", "--home", str(home), "--as-of", as_of],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


@pytest.mark.slow
def test_killed_at_random_moments(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """Real runs, each killed a moment after some line of its progress: load shifts no moment."""
    whole = augur("run", "--home", undisturbed.copy(tmp_path / "whole"), "--as-of", SECOND)
    assert whole.returncode == 0, whole.stderr
    lines = len(whole.stderr.splitlines())
    chance = random.Random(20240606)
    home = undisturbed.copy(tmp_path / "home")
    died = 0
    for number in range(15):
        process = start(home, SECOND)
        assert process.stderr is not None
        # every third dies after the last line, which publishing writes: all its file work follows
        for _ in range(lines if number % 3 == 0 else chance.randrange(lines)):
            process.stderr.readline()
        time.sleep(chance.uniform(0, 0.2))
        process.kill()
        process.communicate(timeout=60)
        died += process.returncode < 0
        assert_whole(home, undisturbed.first, undisturbed.second)
    assert died >= 10, "hardly a run was killed"
    last = augur("run", "--home", home, "--as-of", SECOND)
    assert last.returncode == 0, last.stderr
    assert_clean(home, undisturbed.second)


# --- many at once ---------------------------------------------------------------------------------


def counts_of(result: Result) -> tuple[str, int, int]:
    """What a reader recounts."""
    rows = sum(row[-1] for row in result.tables["funnel"])
    return result.digest, len(result.tables["sealed_calls"]), rows


def test_four_runs_at_once_and_a_reader_in_a_loop(undisturbed: Undisturbed, tmp_path: Path) -> None:
    home = undisturbed.copy(tmp_path / "home")
    with reading(home) as (reader,):
        processes = [start(home, SECOND) for _ in range(4)]
        ended = [process.communicate(timeout=200) for process in processes]
        reads, seen = reader.finish()
    assert [process.returncode for process in processes] == [0] * 4, ended
    for stdout, stderr in ended:
        assert f"digest    {undisturbed.second.digest}" in stdout
        assert "Traceback" not in stderr
    assert reads > 20
    # the reader met both nights, and never rows of the one under the digest of the other
    assert seen == {counts_of(undisturbed.first), counts_of(undisturbed.second)}
    assert_clean(home, undisturbed.second)


def test_readers_in_a_loop_over_many_publications(undisturbed: Undisturbed, tmp_path: Path) -> None:
    home = undisturbed.copy(tmp_path / "home")
    published = {counts_of(undisturbed.first)}
    with reading(home, count=2) as readers:
        for day in range(6, 11):
            call = {**GOOD_CALL, "call_id": f"day{day}", "agent_id": "daily"}
            write_csv(home / f"inputs/calls/day{day:02}.csv", [call])
            night(home, f"2024-06-{day:02}T00:00:00Z")
            published.add(counts_of(Result.of(home)))
        said = [reader.finish() for reader in readers]
    assert len(published) == 6
    for reads, seen in said:
        assert reads > 20
        assert len(seen) > 2, "this reader met hardly any publication"
        assert seen <= published


# --- the lock -------------------------------------------------------------------------------------


def test_a_lock_of_a_living_process_and_then_of_a_dead_one(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    home = undisturbed.copy(tmp_path / "home")
    holder = nights.night(home, SECOND, at="sql raw_prices", action="halt")
    assert holder.status is None, holder.stderr
    try:
        with pytest.raises(LockError) as refused:
            night(home, SECOND, lock_wait=0.3)
    finally:
        nights.end(holder.pid)
    assert str(home / "work/run.lock") in str(refused.value)
    assert f"of process {holder.pid}" in str(refused.value)
    assert "stop it" in str(refused.value)
    # it left its lock file and its note, and may not even wait for a moment
    assert (home / "work/run.lock").exists()
    assert str(holder.pid) in (home / "work/run.holder.json").read_text()
    assert night(home, SECOND, lock_wait=0.0) == undisturbed.second.digest
    assert_clean(home, undisturbed.second)


# --- disks ----------------------------------------------------------------------------------------


def mount(*arguments: str | Path) -> None:
    """Mount, or skip the test: it takes root, and a container may forbid it."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    if shutil.which("mount") is None:
        pytest.skip("no mount command")
    done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mount {' '.join(map(str, arguments))}: {done.stderr.strip()}")


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    mount("--bind", folder, folder)
    try:
        mount("-o", "remount,bind,ro", folder)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


FULL_AT = [
    pytest.param("mkdir work", id="from the start"),
    pytest.param("sql first_prices", id="SQL", marks=pytest.mark.slow),
    pytest.param("build database", id="new database"),
    pytest.param("export agent_season_brier", id="exports", marks=pytest.mark.slow),
    pytest.param("write passports", id="passports", marks=pytest.mark.slow),
    pytest.param("replace database", id="before the replacement", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("step", FULL_AT)
def test_a_full_disk(step: str, nights: Nights, undisturbed: Undisturbed, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        home = undisturbed.copy(disk / "home")
        ended = nights.run(home, SECOND, at=step, action="fill")
        assert step in ended.steps
        if step != "replace database":
            assert ended.status == 1, ended.stderr
            assert assert_whole(home, undisturbed.first) is undisturbed.first
        else:
            # the database is whole by then; a rename may or may not find room
            assert ended.status in (0, 1)
            assert_whole(home, undisturbed.first, undisturbed.second)
        if ended.status == 1:
            assert_one_line(ended.stderr)
            said = last_line(ended.stderr)
            assert said.startswith("augur: ")
            assert any(word in said.lower() for word in ("space", "full", "disk")), said
        (home / BALLAST).unlink()
        after = nights.night(home, SECOND)
        assert after.status == 0, after.stderr
        assert_clean(home, undisturbed.second)


def test_no_room_for_the_link_after_the_database(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The night is published by then: exit 0, a warning says what is missing."""
    home = undisturbed.copy(tmp_path / "home")
    step = f"symlink {set_name(undisturbed.second.digest, SECOND)} exports/.latest.new"
    ended = nights.run(home, SECOND, at=step, action="deny")
    assert ended.status == 0, ended.stderr
    assert assert_whole(home, undisturbed.first, undisturbed.second) is undisturbed.second
    (warning,) = [line for line in ended.stderr.splitlines() if "warning: " in line]
    assert "the database is published, but its exports are not linked" in warning
    assert undisturbed.second.digest in ended.stdout
    after = nights.night(home, SECOND)
    assert after.status == 0, after.stderr
    assert_clean(home, undisturbed.second)


@pytest.mark.parametrize("is_fresh", [False, True], ids=["published", "fresh"])
def test_a_run_on_a_read_only_home(
    is_fresh: bool, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    if is_fresh:
        hand_home(home)
    else:
        undisturbed.copy(home)
    with read_only(home):
        process = augur("run", "--home", home, "--as-of", SECOND)
    assert process.returncode == 1
    assert_one_line(process.stderr, str(home))
    assert last_line(process.stderr).startswith("augur: ")
    assert process.stdout == ""
    if not is_fresh:
        assert assert_whole(home, undisturbed.first) is undisturbed.first


def test_reading_a_read_only_home(undisturbed: Undisturbed, tmp_path: Path) -> None:
    home = undisturbed.copy(tmp_path / "home")
    with read_only(home):
        asked = augur(
            "query", "--home", home, "SELECT content_digest FROM run_info", "--format", "csv"
        )
        explained = augur("explain", "--home", home, "pending")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout == f"content_digest\n{undisturbed.first.digest}\n"
    assert (explained.returncode, explained.stderr) == (0, "")
    assert "pending" in explained.stdout


# --- meddlers, and clocks -------------------------------------------------------------------------

HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], config={"checkpoint_threshold": "1GB"})
connection.execute("CREATE TABLE scribble AS SELECT range AS i FROM range(1000)")
connection.execute("DELETE FROM sealed_calls")
print("open", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held_for_writing(database: Path) -> Iterator[None]:
    """Another process has written into the published database, and is then killed."""
    database.chmod(0o644)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        yield
    finally:
        holder.kill()
        holder.communicate(timeout=60)


def test_a_program_that_holds_the_database_open_for_writing(
    nights: Nights, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    home = undisturbed.copy(tmp_path / "home")
    with held_for_writing(home / "augur.duckdb"):
        process = augur("run", "--home", home, "--as-of", SECOND)
    assert process.returncode == 1
    assert_one_line(process.stderr, str(home / "augur.duckdb"), "opened it for writing")
    ended = nights.night(home, SECOND)
    assert ended.status == 0, ended.stderr
    assert_clean(home, undisturbed.second)


def test_reading_beside_the_log_of_a_dead_writer(undisturbed: Undisturbed, tmp_path: Path) -> None:
    """A clear message or what was published; never what the writer scribbled."""
    home = undisturbed.copy(tmp_path / "home")
    with held_for_writing(home / "augur.duckdb"):
        pass
    assert (home / "augur.duckdb.wal").stat().st_size > 0
    process = augur(
        "query", "--home", home, "SELECT count(*) AS n FROM sealed_calls", "--format", "csv"
    )
    if process.returncode == 0:
        assert process.stdout == f"n\n{len(undisturbed.first.tables['sealed_calls'])}\n"
    else:
        assert process.returncode == 1
        assert_one_line(process.stderr, ".wal")


def test_a_machine_whose_clock_ran_backwards(tmp_path: Path) -> None:
    """Without --as-of the clock is the machine's: here it lies before the last published one."""
    home = hand_home(tmp_path / "home")
    ahead = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    night(home, ahead)
    digest = digest_of(home)
    process = augur("run", "--home", home)
    assert process.returncode == 1
    assert_one_line(process.stderr, f"is before the last published as_of {ahead}")
    assert digest_of(home) == digest


# --- work/ ----------------------------------------------------------------------------------------


def test_deleting_work_between_nights_changes_nothing(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    kept, deleted = (undisturbed.copy(tmp_path / name) for name in ("kept", "deleted"))
    digests: dict[Path, list[str]] = {kept: [], deleted: []}
    for day, resolved in ((6, "101"), (7, "102"), (7, "103")):
        for home in (kept, deleted):
            if home is deleted:
                shutil.rmtree(home / "work")
            price = dict(zip(PRICE_COLUMNS, ("P", "2024-06-04T04:20:00Z", resolved), strict=True))
            write_csv(home / f"inputs/prices/late{resolved}.csv", [price])
            digests[home].append(night(home, f"2024-06-{day:02}T00:00:00Z"))
        assert tables_of(kept) == tables_of(deleted)
        assert exported_files(kept) == exported_files(deleted)
    assert digests[kept] == digests[deleted]
    assert len(set(digests[kept])) == 3
