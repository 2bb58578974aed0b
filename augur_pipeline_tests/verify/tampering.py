"""A small home with a row in every table, and how to falsify one value of what it published."""

import math
import shutil
from dataclasses import astuple
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.exports.catalog import CONTENT_TABLES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.index import names_of, write_index
from augur_pipeline.exports.passports.files import write_passports
from augur_pipeline.exports.receipts.files import write_receipts
from augur_pipeline.home import Home
from augur_pipeline.store.digests import content_digest, parts_of, run_digest
from augur_pipeline.store.replacing import export_table
from augur_pipeline.store.tables import name_of
from augur_pipeline.verify.home import verify_home
from augur_pipeline_tests.nights import GOOD_CALL, SEASON, current_set, make_home, night, write_csv

FIRST, SECOND = "2024-01-10T00:00:00Z", "2024-01-20T00:00:00Z"
IN_JANUARY = "2024-01-{:02}T{:02}:00:00Z"


def calls() -> list[dict[str, Any]]:
    """Two agents: resolved (one flat), expired, open, pending, rejected, missing, excluded."""
    resolved = [
        {
            **GOOD_CALL,
            "call_id": f"c{n}",
            "agent_id": f"a{n % 2}",
            "confidence": f"0.{9 - n // 2}3",
            "action": ("buy", "sell")[n % 3 == 2],
            "reference_price": ("100", "101")[n == 7],
            "recorded_at": "2024-01-02T00:10:00Z",
            "order_status": ("accepted", "refused")[n == 1],
            "model_version": "m1",
            "mandate_id": "d1",
            "question_id": "" if n else "q,1",
        }
        for n in range(12)
    ]
    return [
        *resolved,
        {**GOOD_CALL, "call_id": "x1", "pool_id": "unpriced"},
        {**GOOD_CALL, "call_id": "o1", "pool_id": "unpriced", "decided_at": IN_JANUARY.format(19, 1)},
        {**GOOD_CALL, "call_id": "p1", "horizon_hours": "48.5", "decided_at": IN_JANUARY.format(19, 2)},
        # due only after its season can be final
        {
            **GOOD_CALL,
            "call_id": "l1",
            "decided_at": "2023-12-05T00:00:00Z",
            "horizon_hours": str(28 * 24 + 1),
        },
        {**GOOD_CALL, "call_id": "r1", "confidence": "80"},
        {**GOOD_CALL, "call_id": "r2", "agent_id": "a1", "reference_price": "cheap"},
        {**GOOD_CALL, "call_id": "r3", "agent_id": "a1", "horizon_hours": "soon"},
        {**GOOD_CALL, "call_id": "r4", "agent_id": "a1", "confidence": "high, 9"},
        {**GOOD_CALL, "call_id": "m1", "confidence": ""},
        {**GOOD_CALL, "call_id": "h1", "action": "hold"},
        {**GOOD_CALL, "call_id": "s1", "decided_at": "2023-01-01T00:00:00Z"},
        {**GOOD_CALL, "call_id": "c3", "agent_id": "a1", "confidence": "0.99"},
        {**GOOD_CALL, "call_id": 'odd "id"\r\n, one'},
    ]  # fmt: skip


EARLIER = {
    "season_id": "S0",
    "starts_at": "2023-12-01T00:00:00Z",
    "ends_at": "2023-12-10T00:00:00Z",
}

PRICES = [
    ("P", "2024-01-02T01:30:00Z", "101"),
    ("P", "never", "1"),
    ("P", "2024-01-02T04:00:00Z", "9"),
]


def small_home(root: Path) -> Path:
    """Two nights: the second brings a late price."""
    home = make_home(root, calls(), PRICES, [EARLIER, SEASON])
    terms = [
        {"season_id": "S1", "agent_id": "a0", "term": "pnl", "weight": "0.6", "value": "50.3"},
        {"season_id": "S1", "agent_id": "a0", "term": "depth", "weight": "0.3", "value": ""},
        {"season_id": "S1", "agent_id": "a1", "term": "pnl", "weight": "0.6", "value": "20.1"},
        {"season_id": "S1", "agent_id": "termed", "term": "depth", "weight": "0.3", "value": "7"},
    ]
    write_csv(home / "inputs/score_terms.csv", terms)
    night(home, FIRST)
    late = [{"pool_id": "P", "recorded_at": "2024-01-02T01:10:00Z", "price": "99"}]
    write_csv(home / "inputs/prices/late.csv", late)
    night(home, SECOND)
    return home


def copy_of(home: Path, target: Path) -> Path:
    """A copy whose database can be written."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    shutil.copy(home / "augur.duckdb", target / "augur.duckdb")
    (target / "augur.duckdb").chmod(0o644)
    shutil.copytree(home / "exports", target / "exports", symlinks=True)
    return target


def changed(value: Any) -> Any:
    """The value with its last digit, letter or bit changed."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return math.nextafter(value, -1.0)
    if isinstance(value, datetime):
        return value + timedelta(microseconds=1)
    if isinstance(value, list):
        return [*value[:-1], changed(value[-1])]
    assert isinstance(value, str)
    assert value
    return changed_text(value, len(value) - 1)


def changed_text(text: str, place: int) -> str:
    """The text with the character there changed, a digit to another digit."""
    old = text[place]
    new = str((int(old) + 1) % 10) if old in "0123456789" else ("a" if old != "a" else "b")
    return text[:place] + new + text[place + 1 :]


def falsify(home: Path, table: str, column: str, at_least: int = 0) -> tuple[Any, Any]:
    """Change one value in the published database: the first of its column from a row on.

    Returns the old and the new one.
    """
    if table in map(name_of, VIEWS):
        return _falsify_view(home, table, column, at_least)
    with duckdb.connect(str(home / "augur.duckdb")) as connection:
        return falsify_in(connection, table, column, at_least)


def falsify_in(
    connection: duckdb.DuckDBPyConnection, table: str, column: str, at_least: int = 0
) -> tuple[Any, Any]:
    """The same in a database that is open."""
    rows = connection.execute(
        f"SELECT rowid, {column} FROM {table} WHERE rowid >= $1 AND {column} IS NOT NULL "
        f"AND CAST({column} AS VARCHAR) NOT IN ('', '[]', '{{}}') ORDER BY rowid LIMIT 1",
        [at_least],
    ).fetchall()
    if not rows:
        # nothing stands there in this home: put a number where there is none
        _invent(connection, table, column)
        return None, 1
    (found,) = rows
    new = changed(found[1])
    connection.execute(f"UPDATE {table} SET {column} = $1 WHERE rowid = $2", [new, found[0]])
    return found[1], new


def _falsify_view(home: Path, view: str, column: str, at_least: int) -> tuple[Any, Any]:
    """The same of a view: it is defined anew, with another value in that row."""
    with duckdb.connect(str(home / "augur.duckdb")) as connection:
        ((call_id, old),) = connection.execute(
            f"SELECT call_id, {column} FROM {view} WHERE {column} IS NOT NULL ORDER BY call_id "
            "LIMIT 1 OFFSET $1",
            [at_least],
        ).fetchall()
        new = changed(old)
        ((query,),) = connection.execute(
            "SELECT sql FROM duckdb_views() WHERE view_name = $1", [view]
        ).fetchall()
        query = query.partition(" AS ")[2].removesuffix(";")
        shown, call = (str(value).replace("'", "''") for value in (new, call_id))
        types = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {view}").fetchall()}
        value = f"CAST('{shown}' AS {types[column]})"
        connection.execute(
            f"CREATE OR REPLACE VIEW {view} AS SELECT * REPLACE (CASE WHEN call_id = '{call}' THEN "
            f"{value} ELSE {column} END AS {column}) FROM ({query})"
        )
    return old, new


def _invent(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> None:
    """A value in a column that holds NULL only, or a made-up row in an empty table."""
    made = {"VARCHAR": "'x'", "TIMESTAMP": "TIMESTAMP '2024-01-01'", "BOOLEAN": "TRUE"}
    made["VARCHAR[]"] = "['x']"
    shape = {name: kind for name, kind, *_ in connection.execute(f"DESCRIBE {table}").fetchall()}
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    if rows:
        value = made.get(shape[column], "1")
        connection.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = 0")
        return
    values = ", ".join(made.get(kind, "1") for kind in shape.values())
    connection.execute(f"INSERT INTO {table} VALUES ({values})")


def forge(home: Path) -> None:
    """Make digests and export files follow what the database now says."""
    latest = (home / "exports/latest").resolve()
    with duckdb.connect(str(home / "augur.duckdb")) as connection:
        parts = [part for model in CONTENT_TABLES for part in parts_of(connection, model)]
        digest = content_digest(parts)
        connection.execute("DELETE FROM content_digests")
        connection.executemany(
            "INSERT INTO content_digests VALUES (?, ?, ?, ?, ?)",
            [
                astuple(part)
                for part in sorted(parts, key=lambda p: (p.table_name, p.season_id or ""))
            ],
        )
        connection.execute("UPDATE run_info SET content_digest = $1", [digest])
        cursor = connection.execute("SELECT * EXCLUDE run_digest FROM run_info")
        names = [column[0] for column in cursor.description or []]
        columns = dict(zip(names, cursor.fetchall()[0], strict=True))
        connection.execute("UPDATE run_info SET run_digest = $1", [run_digest(columns)])
        shutil.rmtree(latest)
        (latest / "tables").mkdir(parents=True)
        for model in PUBLISHED_TABLES:
            export_table(connection, model, latest / "tables")
        names = names_of(connection)
        write_index(names, latest)
        write_passports(connection, latest / "passports", names)
        write_receipts(connection, latest / "receipts", names)
    (home / "exports/latest").unlink()
    current = current_set(home)
    latest.rename(home / "exports" / current)
    (home / "exports/latest").symlink_to(current)


def places(home: Path) -> set[str]:
    """Tables and files in which `augur verify` finds a difference."""
    return {difference.place for difference in verify_home(Home.at(home)).differences}
