"""`augur query`: reads the published database, and nothing but."""

import csv
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main
from augur_pipeline_tests.cli.processes import HOSTILE_AGENT, augur, hand_home, last_line
from augur_pipeline_tests.nights import LATER, night, open_store, work_night


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = hand_home(tmp_path_factory.mktemp("query") / "home")
    night(home, LATER)
    return home


def ask(home: Path, sql: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["query", "--home", str(home), *options, sql])


BRIER = "SELECT agent_id, resolved_calls, brier, calibration FROM agent_season_brier"


def cells(result: Result) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]
        for line in result.stdout.splitlines()
        if line[:1] in "│┃"
    ]


def test_table(home: Path) -> None:
    result = ask(home, f"{BRIER} WHERE agent_id = 'five'")
    assert result.exit_code == 0, result.output
    assert cells(result) == [
        ["agent_id", "resolved_calls", "brier", "calibration"],
        ["five", "5", "0.17", "32"],
    ]


def test_csv(home: Path) -> None:
    sql = "SELECT 'a,\"b\"' AS quoted, NULL AS nothing, TIMESTAMP '2024-01-02 03:04:05.5' AS at"
    result = ask(home, sql, "--format", "csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "quoted,nothing,at"
    assert list(csv.reader(io.StringIO(result.stdout)))[1:] == [
        ['a,"b"', "", "2024-01-02T03:04:05.500000Z"]
    ]


def test_csv_numbers_keep_their_bits(home: Path) -> None:
    result = ask(home, f"{BRIER} WHERE agent_id = 'five'", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(result.stdout))
    # (4 · 0.3² + 0.7²) ÷ 5
    assert float(row["brier"]) == pytest.approx(0.17, abs=1e-12)
    assert row["resolved_calls"] == "5"


def test_json_is_one_object_a_line(home: Path) -> None:
    sql = "SELECT call_id, is_flat, squared_error FROM resolved_outcomes WHERE agent_id = 'five'"
    result = ask(home, sql + " ORDER BY call_id DESC LIMIT 2", "--format", "json")
    assert result.exit_code == 0, result.output
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    assert first == {
        "call_id": "f4",
        "is_flat": False,
        "squared_error": pytest.approx(0.49, abs=1e-12),
    }
    assert second["call_id"] == "f3"
    assert second["squared_error"] == pytest.approx(0.09, abs=1e-12)


def test_json_of_lists_times_and_nothing(home: Path) -> None:
    sql = "SELECT ['a', 'b'] AS l, TIMESTAMP '2024-01-02' AS t, NULL AS n, 'é' AS e"
    result = ask(home, sql, "--format", "json")
    assert json.loads(result.stdout) == {
        "l": ["a", "b"],
        "t": "2024-01-02T00:00:00Z",
        "n": None,
        "e": "é",
    }


def test_json_of_numbers_json_does_not_know(home: Path) -> None:
    """A reader of JSON refuses the bare words NaN and Infinity."""
    result = ask(home, "SELECT 'nan'::DOUBLE AS a, '-inf'::DOUBLE AS b", "--format", "json")

    def refuse(word: str) -> None:
        pytest.fail(f"{word} is no JSON")

    assert json.loads(result.stdout, parse_constant=refuse) == {"a": "nan", "b": "-inf"}


def test_json_of_equal_names_decimals_and_infinity(home: Path) -> None:
    sql = (
        "SELECT 1 AS x, 2 AS x, 3 AS x_2, 4 AS x, 1.10::DECIMAL(5, 2) AS d, 'inf'::DOUBLE AS i, "
        "12345678901234567890.12::DECIMAL(38, 2) AS big, [0.1::DECIMAL(2, 1)] AS l"
    )
    result = ask(home, sql, "--format", "json")
    values = json.loads(result.stdout, parse_float=Decimal)
    assert list(values) == ["x", "x_3", "x_2", "x_4", "d", "i", "big", "l"]
    assert list(values.values()) == [
        1, 2, 3, 4, Decimal("1.10"), "inf", Decimal("12345678901234567890.12"), [Decimal("0.1")],
    ]  # fmt: skip
    same = ask(home, sql, "--format", "csv")
    assert next(csv.reader(io.StringIO(same.stdout))) == list(values)
    assert same.stdout.splitlines()[1] == "1,2,3,4,1.10,inf,12345678901234567890.12,[0.1]"


SECRET = "secret of another file"


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO '{path}/out.csv'",
        "COPY sealed_calls TO '{path}/out.parquet' (FORMAT parquet)",
        "EXPORT DATABASE '{path}/out'",
        "FROM read_csv('{path}/secret.csv')",
        "FROM read_text('{path}/secret.csv')",
        "FROM '{path}/secret.csv'",
        "FROM glob('{path}/*')",
        "ATTACH '{path}/other.duckdb' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "INSTALL h3 FROM community",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET temp_directory = '{path}'",
        "FROM names",  # a Python variable of ours
        "SELECT 1; COPY (SELECT 1) TO '{path}/out.csv'",
    ],
)
def test_reads_the_published_database_and_nothing_else(
    home: Path, sql: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text(f"word\n{SECRET}\n")
    result = ask(home, sql.format(path=tmp_path), "--format", "csv")
    assert result.exit_code == 1
    assert SECRET not in result.output
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("augur: query: ")
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(("rows", "is_cut"), [(200, False), (201, True)])
def test_a_table_shows_200_rows_and_says_when_there_are_more(
    home: Path, rows: int, is_cut: bool
) -> None:
    result = ask(home, f"SELECT i FROM range({rows}) AS r(i)")
    assert len(cells(result)) == 1 + 200
    assert ("more rows" in result.stdout) == is_cut
    everything = ask(home, f"SELECT i FROM range({rows}) AS r(i)", "--format", "csv")
    assert len(everything.stdout.splitlines()) == 1 + rows


@pytest.mark.parametrize(
    "sql",
    ["SELEC 1", "SELECT x FROM agent_season_brier", "FROM no_such_table", "SELECT 1 // 0 FROM"],
)
def test_an_sql_error_is_one_line(home: Path, sql: str) -> None:
    result = ask(home, sql)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("augur: query: ")


def test_an_sql_error_names_hostile_text_without_escapes(home: Path) -> None:
    result = ask(home, "SELECT CAST(agent_id AS INT) FROM passports WHERE agent_id LIKE '%red%'")
    assert result.exit_code == 1
    assert "Could not convert" in result.stderr
    assert "\x1b" not in result.stderr


def test_nothing_published_yet(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    result = ask(home, "SELECT 1")
    assert result.exit_code == 1
    assert result.stderr == (
        f"augur: {home / 'augur.duckdb'}: nothing published yet; run `augur run` first\n"
    )
    assert {path.name for path in home.iterdir()} == {"inputs"}


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "augur.duckdb").write_bytes(b"no database" * 1000)
    result = ask(tmp_path, "SELECT 1")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert str(tmp_path / "augur.duckdb") in result.stderr


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM sealed_calls",
        "UPDATE agent_season_brier SET calibration = 100",
        "CREATE TABLE mine AS SELECT 1",
        "DROP TABLE sealed_calls",
        "SELECT 1; DELETE FROM sealed_calls",
    ],
)
def test_cannot_write(home: Path, sql: str) -> None:
    before = (home / "augur.duckdb").read_bytes()
    result = ask(home, sql)
    assert result.exit_code == 1
    assert "read-only" in result.stderr
    assert (home / "augur.duckdb").read_bytes() == before
    assert not (home / "augur.duckdb.wal").exists()


def test_usage(home: Path) -> None:
    assert ask(home, "SELECT 1", "--format", "xml").exit_code == 2
    assert CliRunner().invoke(main, ["query", "--home", str(home)]).exit_code == 2


def test_hostile_text_is_shown_without_escapes(home: Path) -> None:
    result = ask(
        home, "SELECT agent_id, '[bold]x[/bold]' AS markup, 'a' AS \"\x1b[2Jname\" FROM passports"
    )
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert r"\x1b[31mred\x1b[0m" in result.stdout
    assert "[bold]x[/bold]" in result.stdout


def test_json_shows_hostile_text_without_escapes(home: Path) -> None:
    result = ask(home, "SELECT agent_id FROM passports ORDER BY 1", "--format", "json")
    assert "\x1b" not in result.stdout
    assert json.loads(result.stdout.splitlines()[0]) == {"agent_id": HOSTILE_AGENT}


def test_works_while_a_run_holds_the_work_database(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    with open_store(home, "2024-06-02T00:00:00Z") as store:
        work_night(store)
        process = augur("query", "--home", home, "SELECT as_of FROM run_info", "--format", "csv")
        assert process.returncode == 0, process.stderr
        assert process.stdout == "as_of\n2024-06-01T00:00:00Z\n"


HOLDER = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=True)
print(connection.execute("SELECT count(*) FROM sealed_calls").fetchone()[0], flush=True)
sys.stdin.read()
"""


def test_works_while_another_process_reads_and_a_run_publishes(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home / "augur.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None
        # five, two and the hold; the restated row and the one of 2199 are no seals
        assert other.stdout.readline() == "8\n"
        assert "8" in augur("query", "--home", home, "SELECT count(*) FROM sealed_calls").stdout
        night(home, "2024-06-02T00:00:00Z")
        process = augur("query", "--home", home, "SELECT as_of FROM run_info", "--format", "csv")
        assert process.stdout == "as_of\n2024-06-02T00:00:00Z\n", last_line(process.stderr)
    finally:
        other.communicate("")
    assert other.returncode == 0
