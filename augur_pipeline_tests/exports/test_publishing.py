"""Publishing: comments, order, digests, and what a crash or a meddler leaves behind."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline.errors import PublishError
from augur_pipeline.exports import publish as publication
from augur_pipeline.exports.catalog import BLOCKING_RULES, CONTENT_TABLES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.dictionary import dictionary_page
from augur_pipeline.exports.publish import publish
from augur_pipeline.store.digests import content_digest, parts_of
from augur_pipeline.store.resource import Store
from augur_pipeline.store.tables import Model, key_of, name_of
from augur_pipeline_tests.conftest import ROOT
from augur_pipeline_tests.nights import (
    GOOD_CALL,
    LATER,
    current_set,
    make_home,
    night,
    open_store,
    query,
    table,
    work_night,
    write_csv,
)

NEXT = "2024-06-02T00:00:00Z"
MAY_BE_EMPTY = ("late_prices", "flat_sells", "late_outcomes")
TABLES = [pytest.param(model, id=name_of(model)) for model in PUBLISHED_TABLES]


def small_home(root: Path) -> Path:
    """Two agents, every table but MAY_BE_EMPTY with rows in it."""
    calls = [
        {**GOOD_CALL, "call_id": f"c{n}", "agent_id": f"a{n % 2}", "confidence": f"0.{9 - n}"}
        for n in range(8)
    ]
    calls += [
        {**GOOD_CALL, "call_id": "h", "action": "hold"},
        {**GOOD_CALL, "call_id": "r", "confidence": "80"},
    ]
    home = make_home(root, calls, [("P", "2024-01-02T01:00:00Z", "101"), ("P", "never", "1")])
    term = {"season_id": "S1", "agent_id": "a0", "term": "pnl", "weight": "0.9", "value": "50"}
    write_csv(home / "inputs/score_terms.csv", [term])
    late = {"benchmark_id": "late", "kind": "constant", "probability": "0.6", "version": "1"}
    write_csv(home / "inputs/benchmarks.csv", [{**late, "locked_at": "2024-03-01"}])
    return home


def state_of(home: Path) -> dict[str, bytes]:
    """What readers see: the database and every file of the current export set."""
    latest = home / "exports/latest"
    return {
        "augur.duckdb": (home / "augur.duckdb").read_bytes(),
        "link": os.readlink(latest).encode(),
        **{str(p.relative_to(latest)): p.read_bytes() for p in latest.rglob("*") if p.is_file()},
    }


def exports_of(home: Path) -> dict[str, bytes]:
    return {name: bytes_ for name, bytes_ in state_of(home).items() if name != "augur.duckdb"}


def sets_of(home: Path) -> set[str]:
    exports = home / "exports"
    sets = {f"sets/{path.name}" for path in (exports / "sets").iterdir()}
    return {path.name for path in exports.iterdir() if path.name != "sets"} | sets


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home that no test changes."""
    home = small_home(tmp_path_factory.mktemp("publishing") / "home")
    night(home)
    return home


@pytest.fixture
def own(home: Path, tmp_path: Path) -> Path:
    """A copy of it, to change."""
    return Path(shutil.copytree(home, tmp_path / "home", symlinks=True))


# --- the database ---------------------------------------------------------------------------------


def test_tables_and_columns_carry_comments(home: Path) -> None:
    tables = dict(query(home, "SELECT table_name, comment FROM duckdb_tables()"))
    assert set(tables) == {name_of(model) for model in PUBLISHED_TABLES}
    assert [name for name, comment in tables.items() if not (comment or "").strip()] == []
    columns = query(
        home, "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
    )
    assert len(columns) > 100
    assert [row[:2] for row in columns if not (row[2] or "").strip()] == []


CONTRACT_COLUMNS = {
    "sealed_calls": "call_id agent_id pool_id action decider confidence horizon_hours "
    "reference_price decided_at recorded_at seal first_seen_as_of is_backfilled fate reason "
    "season_id source_file source_line",
    "rejected_rows": "kind source_file source_line call_id agent_id reason column_name value "
    "message",
    "excluded_calls": "call_id agent_id season_id reason",
    "eligible_calls": "call_id agent_id season_id pool_id question_id action decider order_status "
    "confidence horizon_hours reference_price decided_at due_at window_closes_at expires_at "
    "model_version mandate_id seal",
    "resolved_outcomes": "call_id agent_id season_id pool_id status outcome is_flat price "
    "price_recorded_at settled_at squared_error",
    "late_prices": "call_id price price_recorded_at outcome_it_would_give settled_status "
    "settled_outcome",
    "agent_season_brier": "season_id agent_id directional_calls eligible_calls rejected_calls "
    "missing_calls refused_calls backfilled_calls pending_calls open_calls resolved_calls "
    "expired_calls correct_calls flat_calls coverage hit_rate mean_confidence brier skill "
    "calibration calibration_status calls_needed is_final",
    "season_scores": "season_id agent_id score measured_terms waiting_terms effective_weights",
    "passports": "agent_id resolved_calls correct_calls",
    "funnel": "kind source_file fate reason rows",
    "run_info": "as_of run_id policy policy_version code_version duckdb_version dagster_version "
    "numpy_version input_digests content_digest",
}
"""Contract §7, by hand."""


@pytest.mark.parametrize("name", CONTRACT_COLUMNS)
def test_the_contracts_columns_are_there(home: Path, name: str) -> None:
    found = {column for column, *_ in query(home, f"DESCRIBE {name}")}
    assert set(CONTRACT_COLUMNS[name].split()) - found == set()


@pytest.mark.parametrize("model", TABLES)
def test_rows_are_sorted_by_a_key_that_is_one(home: Path, model: Model) -> None:
    key = ", ".join(key_of(model))
    name = name_of(model)
    if name not in MAY_BE_EMPTY:
        assert query(home, f"SELECT count(*) > 0 FROM {name}") == [(True,)]
    assert (
        query(
            home,
            f"SELECT place, n FROM (SELECT rowid AS place, row_number() OVER (ORDER BY {key}) - 1 "
            f"AS n FROM {name}) WHERE place <> n",
        )
        == []
    )
    assert query(home, f"SELECT {key} FROM {name} GROUP BY {key} HAVING count(*) > 1") == []


def test_the_dictionary_page_is_up_to_date() -> None:
    page = (ROOT / "data/README.md").read_text(encoding="utf-8")
    assert page == dictionary_page(), (
        "make it again: python -m augur_pipeline.exports.dictionary > data/README.md"
    )


# --- the content digest ---------------------------------------------------------------------------


def test_the_digest_does_not_depend_on_threads(tmp_path: Path) -> None:
    digests, files = [], []
    for threads in (1, 4):
        home = small_home(tmp_path / str(threads))
        with open_store(home) as store:
            store.connection.execute(f"SET threads = {threads}")
            honest = store._connect

            def connect(honest: Any = honest, threads: int = threads) -> Any:
                connection = honest()
                connection.execute(f"SET threads = {threads}")
                return connection

            # taking in inputs opens the work database afresh
            object.__setattr__(store, "_connect", connect)
            work_night(store)
            assert store.connection.execute("SELECT current_setting('threads')").fetchall() == [
                (threads,)
            ]
            digests.append(publish(store))
        files.append(exports_of(home))
    assert digests[0] == digests[1]
    assert files[0] == files[1]


def test_the_digest_is_published_and_names_the_export_set(own: Path) -> None:
    digest = night(own)
    assert query(own, "SELECT content_digest FROM run_info") == [(digest,)]
    assert len(digest) == 64
    assert os.readlink(own / "exports/latest") == current_set(own)
    assert sets_of(own) == {"latest", current_set(own)}


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A work database whose tables are altered and put back."""
    home = small_home(tmp_path_factory.mktemp("worked") / "home")
    with open_store(home) as store:
        work_night(store)
        yield store


CHANGES = [
    # one step of the last bit of a double
    ("sealed_calls", "confidence = confidence + 1.1102230246251565e-16", "call_id = 'c1'"),
    ("sealed_calls", "decided_at = decided_at + INTERVAL 1 MICROSECOND", "call_id = 'c1'"),
    ("settlements", "is_flat = NOT is_flat", "call_id = 'c1'"),
    ("agent_season_brier", "brier = brier + 1e-16", "agent_id = 'a0'"),
    ("season_scores", "score = NULL", "agent_id = 'a0'"),
    ("season_scores", "measured_terms = ['calibration, pnl']", "agent_id = 'a0'"),
    ("passports", "correct_calls = correct_calls + 1", "agent_id = 'a0'"),
    ("passports", "agent_id = 'A0'", "agent_id = 'a0'"),
    ("settlements", "price = -price", "call_id = 'c1'"),
    ("sealed_calls", "reason = 'hold '", "call_id = 'h'"),
    ("rejected_rows", "message = message || chr(10)", "call_id = 'r'"),
    ("rejected_rows", "value = NULL", "call_id = 'r'"),
    # no value and an empty one are two things
    ("sealed_calls", "model_version = ''", "call_id = 'c1'"),
    ("sealed_calls", "season_id = NULL", "call_id = 'c1'"),
    ("funnel", "rows = rows + 1", "fate = 'usable'"),
    ("input_files", "sha256 = upper(sha256)", "kind = 'prices'"),
    ("seasons", "ends_at = ends_at + INTERVAL 1 MICROSECOND", "true"),
    ("score_terms", "value = value + 1e-12", "true"),
]


def digest_of(store: Store) -> str:
    return content_digest(
        part for model in CONTENT_TABLES for part in parts_of(store.connection, model)
    )


@pytest.mark.parametrize(("name", "change", "where"), CHANGES, ids=lambda text: text)
def test_the_digest_changes_with_one_value(
    worked: Store, name: str, change: str, where: str
) -> None:
    before = digest_of(worked)
    worked.connection.execute(f"CREATE OR REPLACE TEMP TABLE kept AS FROM work.{name}")
    ((changed,),) = worked.connection.execute(
        f"UPDATE work.{name} SET {change} WHERE {where}"
    ).fetchall()
    assert changed == 1, "the test changed another number of rows than it meant to"
    after = digest_of(worked)
    worked.connection.execute(f"CREATE OR REPLACE TABLE work.{name} AS FROM kept")
    assert after != before
    # the order in which rows lie does not count
    worked.connection.execute(f"CREATE OR REPLACE TABLE work.{name} AS FROM kept ORDER BY ALL DESC")
    assert digest_of(worked) == before


def test_the_digest_covers_every_table_but_what_states_it() -> None:
    assert {name_of(m) for m in PUBLISHED_TABLES} - {name_of(m) for m in CONTENT_TABLES} == {
        "run_info", "content_digests"
    }  # fmt: skip
    assert set(CONTRACT_COLUMNS) <= {name_of(m) for m in (*PUBLISHED_TABLES, *VIEWS)}


# --- rules ----------------------------------------------------------------------------------------


def test_publishing_knows_every_blocking_rule() -> None:
    assert {rule.name for rule in BLOCKING_RULES} >= {
        "funnel_sums", "call_ids_unique", "seven_day_expiry", "five_call_threshold",
        "no_look_ahead", "finality", "scores_in_range", "calls_add_up", "every_call_has_a_status",
    }  # fmt: skip


def test_publishing_checks_the_rules_itself(own: Path) -> None:
    before = state_of(own)
    with open_store(own, NEXT) as store:
        work_night(store)
        store.connection.execute("UPDATE agent_season_brier SET brier = 1.5")
        # a0, a1, and `a` with nothing but a rejected call
        with pytest.raises(PublishError, match=r"nothing published.*scores_in_range: 3 row"):
            publish(store)
    assert state_of(own) == before
    assert sets_of(own) == {"latest", before["link"].decode()}


def test_a_work_database_that_does_not_follow_is_refused(own: Path) -> None:
    """Copy the work folder aside, publish a later night, put the old folder back, publish."""
    aside = own.parent / "aside"
    shutil.copytree(own / "work", aside)
    make_home(own, [GOOD_CALL], [("P", "2024-01-02T01:00:00Z", "101")])
    night(own, NEXT)
    before = state_of(own)
    shutil.rmtree(own / "work")
    aside.rename(own / "work")
    with (
        open_store(own) as store,
        pytest.raises(PublishError, match="does not know; materialise raw_calls and raw_prices"),
    ):
        publish(store)
    assert state_of(own) == before


def test_a_stale_work_database_of_the_same_clock_is_refused(own: Path) -> None:
    """The same as_of, but other calls were published since: they must not be forgotten."""
    aside = own.parent / "aside"
    shutil.copytree(own / "work", aside)
    write_csv(own / "inputs/calls/more.csv", [{**GOOD_CALL, "call_id": "more"}])
    night(own, LATER)
    before = state_of(own)
    shutil.rmtree(own / "work")
    aside.rename(own / "work")
    with open_store(own) as store, pytest.raises(PublishError):
        publish(store)
    assert state_of(own) == before
    assert query(own, "SELECT count(*) FROM sealed_calls WHERE call_id = 'more'") == [(1,)]


def test_publishing_twice_is_publishing_once(own: Path) -> None:
    with open_store(own, NEXT) as store:
        work_night(store)
        first = publish(store)
        before = exports_of(own)
        assert publish(store) == first
    assert exports_of(own) == before


def test_published_alone_without_a_work_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster import AssetKey

    home = small_home(tmp_path / "home")
    monkeypatch.setenv("AUGUR_HOME", str(home))
    monkeypatch.delitem(sys.modules, "augur_pipeline.definitions", raising=False)
    from augur_pipeline.definitions import defs

    monkeypatch.delitem(sys.modules, "augur_pipeline.definitions")
    result = defs.resolve_job_def("nightly").execute_in_process(
        asset_selection=[AssetKey("published")],
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        raise_on_error=False,
    )
    assert not result.success
    (failure,) = result.get_step_failure_events()
    data = failure.step_failure_data
    assert data.user_failure_data is not None
    said = data.user_failure_data.description or ""
    assert str(home / "work/work.duckdb") in said
    assert "materialise" in said
    assert "raw_calls" in said
    assert not (home / "augur.duckdb").exists()
    assert not (home / "exports").exists()


# --- what crashes and meddlers leave behind -------------------------------------------------------


def test_altered_exports_are_put_right_by_the_next_run(own: Path) -> None:
    before = exports_of(own)
    latest = own / "exports/latest"
    (latest / "passports/a0.json").write_text("{}")
    (latest / "passports/a1.json").unlink()
    (latest / "passports/stranger.json").write_text("{}")
    (latest / "tables/funnel.parquet").write_bytes(b"")
    night(own)
    assert exports_of(own) == before


def test_a_deleted_export_folder_comes_back(own: Path) -> None:
    before = exports_of(own)
    shutil.rmtree(own / "exports")
    night(own)
    assert exports_of(own) == before


def test_a_folder_in_the_links_place_is_put_right(own: Path) -> None:
    """A copy that follows links (`cp -rL`, a backup) turns the link into a folder."""
    before = exports_of(own)
    latest = own / "exports/latest"
    target = latest.resolve()
    latest.unlink()
    shutil.copytree(target, latest)
    night(own)
    assert exports_of(own) == before


WRITER = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1], config={"checkpoint_threshold": "1GB"})
connection.execute("CREATE TABLE scribble AS SELECT range AS i FROM range(1000)")
connection.execute("DELETE FROM funnel")
os._exit(0)
"""


def leave_a_wal(database: Path) -> Path:
    """What a program leaves that wrote into a database and was killed."""
    copy = database.parent / "copy.duckdb"
    shutil.copyfile(database, copy)
    subprocess.run([sys.executable, "-c", WRITER, str(copy)], check=True, timeout=60)
    wal = copy.with_suffix(".duckdb.wal")
    assert wal.stat().st_size > 0
    copy.unlink()
    return wal.rename(database.with_suffix(".duckdb.wal"))


def test_a_stale_wal_does_not_break_publishing_or_later_opens(own: Path, home: Path) -> None:
    wal = leave_a_wal(own / "augur.duckdb")
    expected = table(home, "sealed_calls")
    digest = night(own, NEXT)
    assert not wal.exists()
    assert query(own, "SELECT content_digest FROM run_info") == [(digest,)]
    assert query(own, "FROM duckdb_tables() WHERE table_name = 'scribble'") == []
    assert query(own, "SELECT sum(rows) FROM funnel WHERE kind = 'calls'") == [(10,)]
    assert table(own, "sealed_calls") == expected
    night(own, "2024-06-03T00:00:00Z")


def test_a_wal_of_an_older_database_does_not_break_the_next_run(own: Path) -> None:
    """A reader that had the old file open for writing leaves its log after the publication."""
    wal = leave_a_wal(own / "augur.duckdb")
    aside = wal.rename(own.parent / "aside.wal")
    night(own, NEXT)
    aside.rename(wal)
    night(own, "2024-06-03T00:00:00Z")
    assert not wal.exists()
    assert query(own, "SELECT sum(rows) FROM funnel WHERE kind = 'calls'") == [(10,)]


def _crash(*_: Any) -> None:
    raise KeyboardInterrupt


def test_the_link_is_repaired_after_a_crash_between_database_and_link(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = os.readlink(own / "exports/latest")
    make_home(own, [GOOD_CALL], [("P", "2024-01-02T01:00:00Z", "101")])
    with monkeypatch.context() as patched:
        patched.setattr(publication, "link_exports", _crash)
        with pytest.raises(KeyboardInterrupt):
            night(own, NEXT)
    ((digest,),) = query(own, "SELECT content_digest FROM run_info")
    # the new database, the old set: both whole
    assert os.readlink(own / "exports/latest") == old != current_set(own)
    assert (own / "exports/latest/tables/funnel.parquet").exists()
    assert night(own, NEXT) == digest
    assert os.readlink(own / "exports/latest") == current_set(own)
    assert sets_of(own) == {"latest", current_set(own)}


def test_a_crash_before_the_database_changes_nothing_for_readers(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state_of(own)
    make_home(own, [GOOD_CALL], [("P", "2024-01-02T01:00:00Z", "101")])
    with monkeypatch.context() as patched:
        patched.setattr(publication, "replace_database", _crash)
        with pytest.raises(KeyboardInterrupt):
            night(own, NEXT)
    assert state_of(own) == before
    night(own, "2024-06-03T00:00:00Z")
    assert sets_of(own) == {"latest", current_set(own)}


def test_a_crash_while_writing_exports_leaves_nothing_behind(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state_of(own)
    write_csv(own / "inputs/calls/more.csv", [{**GOOD_CALL, "call_id": "more"}])
    with monkeypatch.context() as patched:
        patched.setattr(publication, "write_passports", _crash)
        with pytest.raises(KeyboardInterrupt):
            night(own, NEXT)
    assert state_of(own) == before
    night(own, NEXT)
    assert sets_of(own) == {"latest", current_set(own)}
    assert len(list((own / "exports/latest/passports").iterdir())) == 3
