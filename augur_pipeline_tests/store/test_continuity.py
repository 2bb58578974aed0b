"""A lost or older ledger is not begun anew in silence; beginning anew is deliberate and whole."""

import os
import shutil
from pathlib import Path

import pytest
from dagster import DagsterInstance

from augur_pipeline.errors import LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.continuity import NEW_LEDGER_RUN
from augur_pipeline.verify.home import verify_home
from augur_pipeline_tests.cli.processes import augur, hand_home, last_line
from augur_pipeline_tests.cli.test_run import assert_one_line
from augur_pipeline_tests.nights import (
    CALL_COLUMNS,
    GOOD_CALL,
    current_set,
    make_home,
    night,
    query,
    write_csv,
)

FIRST, SECOND, THIRD = (f"2024-06-0{day}T00:00:00Z" for day in (1, 2, 3))
PRICES = [("P", "2024-01-02T01:00:00Z", "101")]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two published nights; the first one's database is kept beside."""
    home = make_home(tmp_path / "home", [{**GOOD_CALL, "action": "sell"}], PRICES)
    night(home, FIRST)
    shutil.copy(home / "augur.duckdb", tmp_path / "first.duckdb")
    write_csv(home / "inputs/calls/second.csv", [{**GOOD_CALL, "call_id": "c2"}], CALL_COLUMNS)
    night(home, SECOND)
    return home


def restate(home: Path) -> None:
    """The loss becomes a win, where no ledger remembers it."""
    write_csv(home / "inputs/calls/calls.csv", [GOOD_CALL], CALL_COLUMNS)


def test_a_lost_ledger_is_not_begun_anew(home: Path) -> None:
    (home / "augur.duckdb").unlink()
    restate(home)
    with pytest.raises(LedgerError, match=r"knows a publication as_of 2024-06-02.* there is none"):
        night(home, THIRD)
    assert not (home / "augur.duckdb").exists()


def test_an_older_ledger_is_refused(home: Path, tmp_path: Path) -> None:
    (home / "augur.duckdb").unlink()
    shutil.copy(tmp_path / "first.duckdb", home / "augur.duckdb")
    with pytest.raises(LedgerError, match="this one is of as_of 2024-06-01"):
        night(home, THIRD)


def test_another_ledger_of_the_same_clock_is_refused(home: Path, tmp_path: Path) -> None:
    other = make_home(tmp_path / "other", [GOOD_CALL], PRICES)
    night(other, SECOND)
    (home / "augur.duckdb").unlink()
    shutil.copy(other / "augur.duckdb", home / "augur.duckdb")
    with pytest.raises(LedgerError, match="this one has digest"):
        night(home, THIRD)


def test_a_run_that_died_before_its_link_is_followed(home: Path) -> None:
    """The database is later than the link, or of its clock with its own exports: no loss."""
    link = home / "exports/latest"
    old = os.readlink(link)
    write_csv(home / "inputs/calls/third.csv", [{**GOOD_CALL, "call_id": "c3"}], CALL_COLUMNS)
    night(home, SECOND)
    link.unlink()
    link.symlink_to(old)
    night(home, THIRD)
    assert query(home, "SELECT count(*) FROM sealed_calls") == [(3,)]
    assert os.readlink(link) == current_set(home)


def test_exports_placed_without_a_database_are_no_publication(tmp_path: Path) -> None:
    """The run died after its exports were placed and before anything was published."""
    home = make_home(tmp_path / "home", [GOOD_CALL], PRICES)
    (home / "exports/sets" / f"{'0' * 64}-20240603T000000000000").mkdir(parents=True)
    night(home, FIRST)


def test_dagsters_history_knows_what_was_published(tmp_path: Path) -> None:
    """Without database and exports the history alone remembers; `--new-ledger` begins anew."""
    home = hand_home(tmp_path / "home")
    assert augur("run", "--home", home, "--as-of", FIRST).returncode == 0
    old = (home / "augur.duckdb").read_bytes()
    shutil.rmtree(home / "exports")
    (home / "augur.duckdb").rename(tmp_path / "kept.duckdb")
    refused = augur("run", "--home", home, "--as-of", SECOND)
    assert refused.returncode == 1
    assert_one_line(refused.stderr, "augur run --new-ledger")
    assert "knows a publication as_of 2024-06-01" in last_line(refused.stderr)
    assert not (home / "augur.duckdb").exists()

    shutil.copy(tmp_path / "kept.duckdb", home / "augur.duckdb")
    begun = augur("run", "--home", home, "--as-of", FIRST, "--new-ledger")
    assert begun.returncode == 0, begun.stderr
    (retired,) = home.glob("augur.duckdb.retired-*")
    assert retired.read_bytes() == old
    assert verify_home(Home.at(home)).differences == []
    # and the next night goes on from the new one
    after = augur("run", "--home", home, "--as-of", SECOND)
    assert after.returncode == 0, after.stderr
    assert len(list(home.glob("augur.duckdb.retired-*"))) == 1


def test_a_new_ledger_takes_the_place_of_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    (home / "augur.duckdb").write_bytes(b"no database")
    refused = augur("run", "--home", home, "--as-of", FIRST)
    assert refused.returncode == 1
    assert_one_line(refused.stderr, str(home / "augur.duckdb"))
    begun = augur("run", "--home", home, "--as-of", FIRST, "--new-ledger")
    assert begun.returncode == 0, begun.stderr
    (retired,) = home.glob("augur.duckdb.retired-*")
    assert retired.read_bytes() == b"no database"


def test_a_new_ledger_that_fails_leaves_the_old_one(home: Path) -> None:
    (home / "inputs/calls/bad.csv").write_text("call_id\n1\n")
    before = (home / "augur.duckdb").read_bytes()
    failed = augur("run", "--home", home, "--as-of", THIRD, "--new-ledger")
    assert failed.returncode == 1
    assert (home / "augur.duckdb").read_bytes() == before
    assert list(home.glob("augur.duckdb.retired-*")) == []


def test_a_schedules_environment_begins_no_new_ledger(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the run that the variable names begins one, and `augur run` names its own."""
    (home / "augur.duckdb").unlink()
    for value in ("1", "true", "no-run-of-mine"):
        monkeypatch.setenv(NEW_LEDGER_RUN, value)
        refused = augur("run", "--home", home, "--as-of", THIRD)
        assert refused.returncode == 1
        assert "augur run --new-ledger" in last_line(refused.stderr)
    with DagsterInstance.from_config(str(Home.at(home).dagster)) as instance:
        assert len(instance.get_run_ids()) == 3
