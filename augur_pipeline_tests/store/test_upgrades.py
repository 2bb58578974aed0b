"""A night on every released version of the ledger; versions and files that cannot be taken in."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from augur_pipeline.cli import main
from augur_pipeline.errors import LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.digests import run_digest
from augur_pipeline.store.published import LEDGER_VERSION
from augur_pipeline.store.sql import rows_as_dicts
from augur_pipeline.verify.home import verify_home
from augur_pipeline_tests.cli.processes import last_line
from augur_pipeline_tests.nights import PRICE_COLUMNS, night, query, write_csv
from augur_pipeline_tests.store.ledgers import LEDGERS, unpack

VERSIONS = sorted(int(path.name[1:].split(".")[0]) for path in LEDGERS.glob("v*.tar.xz"))
NEXT_NIGHT = "2024-02-11T00:00:00Z"

SETTLED = "SELECT call_id, status, outcome, price, settled_at FROM settlements ORDER BY call_id"
SEALED = "SELECT call_id, seal, first_seen_as_of FROM sealed_calls ORDER BY call_id"


def altered(home: Path, statement: str) -> Path:
    """The home after somebody has written to its published database."""
    database = home / "augur.duckdb"
    database.chmod(0o644)
    with duckdb.connect(str(database)) as connection:
        connection.execute(statement)
    return home


def with_run_digest(home: Path) -> None:
    """Make run_info agree with itself again: what a forger would do too."""
    with duckdb.connect(str(home / "augur.duckdb")) as connection:
        (info,) = rows_as_dicts(connection, "SELECT * EXCLUDE (run_digest) FROM run_info")
        connection.execute("UPDATE run_info SET run_digest = $1", [run_digest(info)])


def test_every_version_but_todays_is_kept() -> None:
    assert list(range(1, LEDGER_VERSION)) == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_night_on_an_older_ledger(version: int, tmp_path: Path) -> None:
    home = unpack(version, tmp_path)
    sealed, settled = query(home, SEALED), query(home, SETTLED)
    assert {status for _, status, *_ in settled} == {"resolved", "expired"}
    # the open call gets its price too late, the pending one in time; S1's calls never change
    prices = [("P", "2024-02-10T18:05:00Z", "90"), ("P", "2024-01-02T01:00:00Z", "1")]
    write_csv(
        home / "inputs/prices/second.csv",
        [dict(zip(PRICE_COLUMNS, row, strict=True)) for row in prices],
    )
    night(home, NEXT_NIGHT)
    assert query(home, SEALED) == sealed
    after = query(home, SETTLED)
    assert [row for row in after if row[0] != "pending"] == settled
    assert [row[1:3] for row in after if row[0] == "pending"] == [("resolved", 0)]
    assert query(home, "SELECT ledger_version FROM run_info") == [(LEDGER_VERSION,)]
    findings = verify_home(Home.at(home))
    assert findings.differences == []


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_ledger_that_was_altered_is_refused(version: int, tmp_path: Path) -> None:
    home = altered(
        unpack(version, tmp_path), "UPDATE settlements SET price = 50 WHERE call_id = 'c1'"
    )
    before = (home / "augur.duckdb").read_bytes()
    with pytest.raises(LedgerError, match="table settlements, call_id 'c1'"):
        night(home, NEXT_NIGHT)
    assert (home / "augur.duckdb").read_bytes() == before


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_ledger_is_verified_by_the_version_that_made_it(
    version: int, tmp_path: Path
) -> None:
    home = unpack(version, tmp_path)
    result = CliRunner().invoke(main, ["verify", "--home", str(home)])
    assert result.exit_code == 1
    assert f"published with ledger version {version}" in last_line(result.stderr)


def raise_version(home: Path) -> None:
    altered(home, f"UPDATE run_info SET ledger_version = {LEDGER_VERSION + 1}")
    with_run_digest(home)


def drop_run_info(home: Path) -> None:
    altered(home, "DROP TABLE run_info")


def empty_run_info(home: Path) -> None:
    altered(home, "DELETE FROM run_info")


def lose_the_clock(home: Path) -> None:
    altered(home, "ALTER TABLE run_info DROP COLUMN as_of")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (raise_version, f"published with ledger version {LEDGER_VERSION + 1}"),
        (drop_run_info, "run_info does not say what was published"),
        (empty_run_info, "run_info does not say what was published"),
        (lose_the_clock, "run_info does not say what was published"),
    ],
)
@pytest.mark.parametrize(
    "command", [("run", "--as-of", NEXT_NIGHT), ("verify",), ("explain", "c1")]
)
def test_what_cannot_be_taken_in_is_one_line(
    command: tuple[str, ...], spoil: Callable[[Path], None], words: str, tmp_path: Path
) -> None:
    home = unpack(1, tmp_path)
    night(home, "2024-02-10T12:00:00Z")
    spoil(home)
    result = CliRunner().invoke(main, [*command, "--home", str(home)])
    assert result.exit_code == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert last_line(result.stderr).startswith("augur: ")
    assert words in last_line(result.stderr)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE settlements SET price = 50, outcome = 1 - outcome WHERE call_id = 'c1'",
         "table settlements, call_id 'c1' is not as published"),
        ("DELETE FROM settlements WHERE call_id = 'expired'",
         "table settlements, call_id 'expired' is missing"),
        ("UPDATE sealed_calls SET confidence = 0.99 WHERE call_id = 'c3'",
         "table sealed_calls, call_id 'c3'"),
        ("UPDATE passports SET correct_calls = correct_calls + 1", "table passports, agent_id 'a"),
        ("ALTER TABLE settlements ADD COLUMN note VARCHAR", "table settlements has other columns"),
        ("ALTER TABLE settlements ADD COLUMN huge HUGEINT", "settlements.huge is a HUGEINT"),
        ("DROP TABLE settlements", "table settlements is missing"),
        ("DELETE FROM content_digests", "content_digests does not agree with run_info"),
        ("DROP TABLE content_digests", "content_digests"),
        ("ALTER TABLE content_digests ADD COLUMN x BIGINT", "content_digests has other columns"),
        ("CREATE TABLE kept AS FROM settlements; DROP TABLE settlements; "
         "CREATE VIEW settlements AS FROM kept", "table settlements is missing"),
        ("CREATE TABLE mine (x BIGINT)", "table mine was not published"),
        ("UPDATE run_info SET run_id = 'x'", "run_info does not agree with its run_digest"),
        ("UPDATE run_info SET as_of = '2020-01-01'", "this one is of as_of 2020-01-01"),
    ],
)  # fmt: skip
def test_an_altered_ledger_is_refused(statement: str, words: str, tmp_path: Path) -> None:
    home = unpack(1, tmp_path)
    night(home, "2024-02-10T12:00:00Z")
    altered(home, statement)
    before = (home / "augur.duckdb").read_bytes()
    with pytest.raises(LedgerError) as refused:
        night(home, NEXT_NIGHT)
    assert words in str(refused.value)
    assert str(home / "augur.duckdb") in str(refused.value)
    assert (home / "augur.duckdb").read_bytes() == before


def test_without_exports_the_row_cannot_be_told(tmp_path: Path) -> None:
    home = altered(unpack(1, tmp_path), "UPDATE settlements SET price = 50 WHERE call_id = 'c1'")
    for path in (home / "exports").iterdir():
        path.rename(tmp_path / path.name)
    with pytest.raises(LedgerError, match="the exports of that publication are gone"):
        night(home, NEXT_NIGHT)


def test_a_forger_of_digests_meets_the_seals(tmp_path: Path) -> None:
    """Who recomputes both digests has still the seals against him."""
    from augur_pipeline.store.digests import first_content_digest
    from augur_pipeline.store.taking_over import _tables_of

    home = altered(
        unpack(1, tmp_path), "UPDATE sealed_calls SET confidence = 0.99 WHERE call_id = 'c3'"
    )
    with duckdb.connect(str(home / "augur.duckdb")) as connection:
        tables = [table for table in _tables_of(connection) if table != "run_info"]
        digest = first_content_digest(connection, tables)
        connection.execute("UPDATE run_info SET content_digest = $1", [digest])
    with_run_digest(home)
    (home / "exports/latest").unlink()
    with pytest.raises(LedgerError, match="table sealed_calls, call_id 'c3': its seal is"):
        night(home, NEXT_NIGHT)
