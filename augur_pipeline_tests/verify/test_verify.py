"""`augur verify`: passes on what was published, and finds any one value that is changed."""

import random
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main
from augur_pipeline.errors import LedgerError
from augur_pipeline.exports.catalog import CONTENT_TABLES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.file_names import file_name
from augur_pipeline.exports.passports import files as passports
from augur_pipeline.exports.receipts import files as receipts
from augur_pipeline.exports.receipts import layout
from augur_pipeline.exports.tables import RunInfo
from augur_pipeline.home import Home
from augur_pipeline.intake.tables import Benchmarks
from augur_pipeline.store.digests import content_digest, parts_of
from augur_pipeline.store.tables import Model, columns_of, name_of
from augur_pipeline.verify.home import verify_home
from augur_pipeline_tests.cli.processes import HOSTILE_AGENT, hand_home, last_line
from augur_pipeline_tests.nights import LATER, night, query
from augur_pipeline_tests.verify.tampering import (
    copy_of,
    falsify,
    falsify_in,
    forge,
    places,
    small_home,
)

COLUMNS = [(name_of(m), column) for m in PUBLISHED_TABLES for column in columns_of(m)]
NUMERIC = [(t, c.name) for t, c in COLUMNS if c.type in ("BIGINT", "DOUBLE")]


MAY_BE_EMPTY = {"benchmark_refusals", "flat_sells"}
"""Tables the small home has nothing for."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home that no test changes."""
    return small_home(tmp_path_factory.mktemp("verify") / "home")


@pytest.fixture
def copy(home: Path, tmp_path: Path) -> Path:
    """A copy of it, to change."""
    return copy_of(home, tmp_path / "copy")


def verify(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["verify", *map(str, arguments)])


# --- nothing to find ------------------------------------------------------------------------------


def test_a_published_home_passes(home: Path) -> None:
    result = verify("--home", home)
    assert result.exit_code == 0, result.output
    assert last_line(result.output) == (
        "verified: 33 tables, 24 calls, 4 agent-seasons, 12 export files, 4 receipts, "
        "22 receipt rows; no difference"
    )
    for name in {name_of(model) for model in (*PUBLISHED_TABLES, *VIEWS)} - MAY_BE_EMPTY:
        assert query(home, f"SELECT count(*) > 0 FROM {name}") == [(True,)], name


@pytest.mark.parametrize("as_of", ["2024-01-10T00:00:00Z", "2024-01-20T00:00:00Z"])
def test_the_sample_passes(sample_home: Path, as_of: str) -> None:
    night(sample_home, as_of)
    result = verify("--home", sample_home)
    assert result.exit_code == 0, result.output
    receipts = sorted((sample_home / "exports/latest/receipts").rglob("*.json"))
    assert len(receipts) > 20
    assert verify("--receipt", receipts[0]).exit_code == 0


def test_the_real_season_passes_and_changes_in_it_are_found(
    real_home: Path, tmp_path: Path
) -> None:
    night(real_home, "2026-09-01T00:00:00Z")
    findings = verify_home(Home.at(real_home))
    assert findings.differences == []
    assert findings.checked["calls"] > 5_000
    chosen = random.Random(3)
    for table, column in (
        ("resolved_outcomes", "squared_error"),
        ("sealed_calls", "reference_price"),
        ("agent_season_brier", "brier"),
    ):
        copy = copy_of(real_home, tmp_path / "copy")
        ((rows,),) = query(copy, f"SELECT count(*) FROM {table}")
        falsify(copy, table, column, at_least=chosen.randrange(rows // 2))
        assert table in places(copy), (table, column)


def test_with_backfilled_calls_excluded(home: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(home / "inputs", own / "inputs")
    (own / "inputs/policy.toml").write_text('backfill = "exclude"\n')
    night(own, LATER)
    assert query(own, "SELECT count(*) > 5 FROM sealed_calls WHERE reason = 'sealed_late'") == [
        (True,)
    ]
    assert verify_home(Home.at(own)).differences == []


# --- one changed value ----------------------------------------------------------------------------


def find(home: Path, table: str, column: str, tmp_path: Path) -> None:
    copy = copy_of(home, tmp_path / "copy")
    falsify(copy, table, column)
    assert table in places(copy)


FIRST_NUMBERS = {table: column for table, column in reversed(NUMERIC) if table != "run_info"}


@pytest.mark.parametrize(("table", "column"), FIRST_NUMBERS.items())
def test_a_changed_number_is_found(home: Path, table: str, column: str, tmp_path: Path) -> None:
    """One of each table, through the command; every column of all of them: the next test."""
    find(home, table, column, tmp_path)


@pytest.mark.parametrize("model", CONTENT_TABLES, ids=name_of)
def test_every_column_is_in_the_digest(home: Path, model: Model) -> None:
    """Through the command a digest that differs is a difference: see the tests around this one."""
    name = name_of(model)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{home / 'augur.duckdb'}' AS published (READ_ONLY)")
        connection.execute(f"CREATE TABLE {name} AS FROM published.{name}")
        before = content_digest(parts_of(connection, model))
        for column in columns_of(model):
            connection.begin()
            falsify_in(connection, name, column.name)
            assert content_digest(parts_of(connection, model)) != before, column.name
            connection.rollback()
        assert content_digest(parts_of(connection, model)) == before


@pytest.mark.parametrize("column", [c.name for c in columns_of(RunInfo) if c.name != "run_digest"])
def test_every_column_is_in_the_run_digest(home: Path, column: str, tmp_path: Path) -> None:
    if column in ("policy", "ledger_version"):
        pytest.skip("no policy, or no version, any more: see the tests of those")
    find(home, "run_info", column, tmp_path)


def test_a_later_version_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="published with ledger version 4"):
        find(home, "run_info", "ledger_version", tmp_path)


VIEW_COLUMNS = [(name_of(m), c.name) for m in VIEWS for c in columns_of(m)
                if (name_of(m), c.name) not in (("excluded_calls", "season_id"),)]  # fmt: skip
"""Of the one excluded call: it lies in no season."""


@pytest.mark.parametrize(("table", "column"), VIEW_COLUMNS)
def test_a_view_that_says_something_else_is_found(
    home: Path, table: str, column: str, tmp_path: Path
) -> None:
    find(home, table, column, tmp_path)


def test_a_view_that_says_it_at_another_time_is_found(copy: Path) -> None:
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW excluded_calls AS SELECT call_id, agent_id, season_id, reason "
            "FROM sealed_calls WHERE fate = 'excluded' AND current_date < DATE '2999-01-01'"
        )
    assert places(copy) == {"excluded_calls"}


def test_a_table_that_became_a_view_is_found(copy: Path) -> None:
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        rows = connection.execute("FROM benchmarks").fetchall()
        assert len(rows) == 1
        columns = [column.name for column in columns_of(Benchmarks)]
        values = ", ".join(
            f"{'NULL' if v is None else repr(v) if isinstance(v, (int, float)) else chr(39) + str(v) + chr(39)}::{c.type} AS {c.name}"
            for c, v in zip(columns_of(Benchmarks), rows[0], strict=True)
        )
        assert columns
        connection.execute("DROP TABLE benchmarks")
        connection.execute(f"CREATE VIEW benchmarks AS SELECT {values}")
    assert "benchmarks" in places(copy)


def test_every_row_of_a_table_is_looked_at(home: Path, tmp_path: Path) -> None:
    ((rows,),) = query(home, "SELECT count(*) FROM sealed_calls")
    for rowid in range(0, rows, 4):
        copy = copy_of(home, tmp_path / "copy")
        falsify(copy, "sealed_calls", "seal", at_least=rowid)
        assert {"sealed_calls", "run_info"} <= places(copy)


RECOMPUTED = [
    ("agent_season_brier", "brier"), ("agent_season_brier", "mean_confidence"),
    ("agent_season_brier", "flat_calls"), ("season_scores", "score"),
    ("passports", "backfilled_calls"), ("eligible_calls", "due_at"),
    ("resolved_outcomes", "squared_error"), ("scored_forecasts", "episode_id"),
    ("sealed_calls", "confidence"), ("settlements", "outcome"), ("funnel", "rows"),
    ("late_prices", "outcome_it_would_give"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column"), RECOMPUTED)
def test_it_is_found_where_every_digest_and_file_was_made_to_fit(
    copy: Path, table: str, column: str
) -> None:
    falsify(copy, table, column)
    forge(copy)
    assert table in places(copy)


def test_a_forged_but_unchanged_home_passes(copy: Path) -> None:
    """The forger of the test above makes no fault of his own."""
    forge(copy)
    assert verify_home(Home.at(copy)).differences == []


# --- export files ---------------------------------------------------------------------------------


def change_a_digit(path: Path, before: bytes) -> None:
    raw = path.read_bytes()
    place = raw.index(before) + len(before)
    while not 48 <= raw[place] < 58:
        place += 1
    path.write_bytes(raw[:place] + bytes([48 + (raw[place] - 47) % 10]) + raw[place + 1 :])


def test_changed_files_are_found(home: Path, tmp_path: Path) -> None:
    season = f"receipts/{file_name('S1')}"
    for name, before in (
        ("passports/a0.json", b"brier"),
        ("passport.schema.json", b"draft"),
        ("receipt.schema.json", b"draft"),
        (f"{season}/a0.json", b'"mean"'),
        (f"{season}/a0.json", b"numpy_version"),
        (f"{season}/a0.json", b'"starts_at"'),
        (f"{season}/a0.rows.csv", b"c2,"),
    ):
        copy = copy_of(home, tmp_path / "copy")
        change_a_digit(copy / "exports/latest" / name, before)
        assert f"exports/latest/{name}" in places(copy), name


def test_files_too_few_or_too_many_are_found(copy: Path) -> None:
    latest = copy / "exports/latest"
    season = latest / "receipts" / file_name("S1")
    (season / "a0.rows.csv").unlink()
    (season / "more.json").write_text("{}")
    (latest / "passports/a1.json").unlink()
    (latest / "passport.schema.json").unlink()
    (latest / "tables/funnel.parquet").unlink()
    (latest / "tables/seasons.parquet").write_bytes(b"PAR1")
    (latest / "tables/odd.parquet").write_bytes(b"PAR1")
    assert {place.removeprefix("exports/latest/") for place in places(copy)} >= {
        f"receipts/{file_name('S1')}/a0.rows.csv", f"receipts/{file_name('S1')}/more.json",
        "passports/a1.json", "passport.schema.json", "tables/funnel.parquet",
        "tables/seasons.parquet", "tables/odd.parquet",
    }  # fmt: skip


def test_exports_of_another_night_are_found(copy: Path) -> None:
    (copy / "exports/latest").unlink()
    (copy / "exports/latest").symlink_to("nowhere")
    assert "exports/latest" in places(copy)


# --- faults of the publisher itself ---------------------------------------------------------------


def without_the_last(function: Any) -> Any:
    return lambda *given: function(*given)[:-1]


def one_more(name: str, function: Any) -> Any:
    def faulty(*given: Any) -> Any:
        found = function(*given)
        return {**found, name: found[name] + 1}

    return faulty


def worst_first(function: Any) -> Any:
    def faulty(rows: Any) -> Any:
        found = function(rows)
        return {"favourable": found["unfavourable"], "unfavourable": found["favourable"]}

    return faulty


def all_expire(function: Any) -> Any:
    return lambda row: {**function(row), "reason": "no_price_in_window"}


FAULTS = [
    (layout, "_bin", lambda f: one_more("correct", f), "receipts"),
    (layout, "_benchmark", lambda f: one_more("n_common", f), "receipts"),
    (layout, "_episode_counts", without_the_last, "receipts"),
    (layout, "_left_out", all_expire, "receipts"),
    (layout, "worked_rows", worst_first, "receipts"),
    (layout, "block_days", lambda f: lambda *given: f(*given) + 1, "receipts"),
    (layout, "decimal_text", lambda f: lambda units: f(units + 1), "receipts"),
    (receipts, "_rows_and_lines", lambda f: lambda found, facts: f(found[:-1], facts), "receipts"),
    (passports, "_pick", lambda f: lambda row, names: f(row, names[:-1]), "passports"),
    (passports, "_pick", lambda _: lambda row, names: None, "passports"),
]
"""What the publisher could do wrong, in files it then would find as it writes them."""


@pytest.mark.parametrize(("module", "name", "fault", "folder"), FAULTS)
def test_a_fault_of_the_writer_is_found(
    home: Path, tmp_path: Path, module: Any, name: str, fault: Any, folder: str
) -> None:
    own = tmp_path / "own"
    shutil.copytree(home / "inputs", own / "inputs")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, name, fault(getattr(module, name)))
        night(own, LATER)
        assert any(f"/{folder}/" in place for place in places(own)), places(own)


# --- the command ----------------------------------------------------------------------------------


def test_it_says_where_and_what(copy: Path) -> None:
    old, new = falsify(copy, "settlements", "outcome")
    result = verify("--home", copy)
    assert result.exit_code == 1
    assert (
        f"settlements [call_id=c0] outcome: published {new!r}, recomputed {old!r}"
        in result.output.split("\n")
    )
    assert "run_info content_digest: published" in result.output
    assert "differences; checked 33 tables" in last_line(result.stderr)


def test_hostile_ids_are_printed_harmless(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    night(home)
    copy = copy_of(home, tmp_path / "copy")
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        connection.execute(
            "UPDATE agent_season_brier SET flat_calls = 9 WHERE agent_id = $1", [HOSTILE_AGENT]
        )
    result = verify("--home", copy)
    assert result.exit_code == 1
    assert "\\x1b[31mred" in result.output
    assert "\x1b" not in result.output


def test_tables_that_are_not_ours(copy: Path) -> None:
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        connection.execute("CREATE TABLE more AS SELECT 1 AS n")
        connection.execute("ALTER TABLE funnel DROP COLUMN reason")
    assert places(copy) == {"more", "funnel"}


@pytest.mark.parametrize("policy", ["{", "[]", '{"version": "1", "unknown": 1}'])
def test_a_policy_that_is_none(copy: Path, policy: str) -> None:
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        connection.execute("UPDATE run_info SET policy = $1", [policy])
    result = verify("--home", copy)
    assert result.exit_code == 1
    assert last_line(result.output).startswith("augur: run_info: policy cannot be read")


def test_a_number_of_the_policy(copy: Path) -> None:
    with duckdb.connect(str(copy / "augur.duckdb")) as connection:
        connection.execute("UPDATE run_info SET policy = replace(policy, '0.25', '0.26')")
    forge(copy)
    assert "run_info" in places(copy)


def test_databases_that_cannot_be_read(copy: Path, tmp_path: Path) -> None:
    result = verify("--home", tmp_path / "nothing")
    assert (result.exit_code, "nothing published yet" in result.output) == (1, True)
    raw = (copy / "augur.duckdb").read_bytes()
    for content in (b"", b"no database", raw[: len(raw) // 2]):
        (copy / "augur.duckdb").write_bytes(content)
        result = verify("--home", copy)
        assert result.exit_code == 1, content[:20]
        assert "cannot be read" in result.output or "differences" in result.output


def test_receipts_that_cannot_be_read(tmp_path: Path) -> None:
    result = verify("--receipt", tmp_path / "none.json")
    assert result.exit_code == 1
    assert last_line(result.output).startswith("augur: ")
    (tmp_path / "none.json").write_text("{}")
    assert verify("--receipt", tmp_path / "none.json").exit_code == 1


def test_wrong_usage() -> None:
    for arguments in (["--unknown"], ["one"], ["--receipt"]):
        assert verify(*arguments).exit_code == 2, arguments
