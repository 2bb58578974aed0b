"""Receipts: one JSON and one row file per agent-season, enough to recompute the score.

Every number is copied from the published tables; `augur_pipeline.verify` recomputes them in plain
Python.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator
from importlib import resources
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.arithmetic import BINS
from augur_pipeline.exports.index import Names
from augur_pipeline.exports.receipts.layout import (
    Benchmark,
    Facts,
    Row,
    benchmark_columns,
    document,
    field_text,
    read_rows,
    receipt_bytes,
    rows_bytes,
    rows_name,
    worked_rows,
)
from augur_pipeline.scores.tables import AgentSeasonBrier
from augur_pipeline.store.sql import load_sql, parameters_of
from augur_pipeline.store.tables import columns_of

VERSIONS = ("code_version", "duckdb_version", "dagster_version", "numpy_version")
Predictions = dict[Benchmark, tuple[float | None, str | None]]
"""Each benchmark's probability for a call, and why it has none."""

COUNTED = (
    "call_id", "standing", "reason", "status", "confidence", "outcome", "loss", "episode_id",
    "source_file",
)  # fmt: skip
"""What `receipt_rows` gives of a call between its agent and its line's `cells`."""

_EDGES = [k / BINS for k in range(1, BINS)]
"""What opens the bins after the first: correctly rounded quotients."""

_NO_LOSS = f"0.{'0' * 18}"
_AT_ONCE = 10_000


def write_receipts(connection: duckdb.DuckDBPyConnection, folder: Path, names: Names) -> int:
    """Write all receipts below `folder` and their schema beside it; returns how many.

    `connection` resolves the published table names (and `run_info`).
    """
    folder.mkdir(parents=True)
    count = 0
    for path, content in receipt_files(connection, names):
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
        count += path.endswith(".json")
    (folder.parent / "receipt.schema.json").write_text(receipt_schema(), encoding="utf-8")
    return count


def receipt_files(
    connection: duckdb.DuckDBPyConnection, names: Names
) -> Iterator[tuple[str, bytes]]:
    """Path below `receipts/` and bytes of every file: per agent-season the receipt, its rows."""
    seasons, scores, sums, run = _tables(connection)
    for season, bounds in sorted(seasons.items()):
        yield from _receipts_of(connection, season, bounds, scores, sums, run, names)


def _receipts_of(
    connection: duckdb.DuckDBPyConnection,
    season: str,
    bounds: dict[str, Any],
    scores: dict[Any, dict[str, Any]],
    sums: dict[Any, str],
    run: dict[str, Any],
    names: Names,
) -> Iterator[tuple[str, bytes]]:
    """The files of one season: seasons one by one bound the memory this takes."""
    calls = _with_predictions(connection, season)
    place = names.seasons[season]
    digests = run["digests"]
    for agent, group in groupby(calls, key=lambda call: call[0][0]):
        found = list(group)
        benchmarks = sorted({benchmark for _, predictions in found for benchmark in predictions})
        files = sorted({f"calls/{call[COUNTED.index('source_file') + 1]}" for call, _ in found})
        facts = Facts(
            season,
            agent,
            rows_file=rows_name(names.agents[agent]),
            inputs={name: digests.get(name) for name in files},
            benchmarks=benchmarks,
            **bounds,
            **{name: value for name, value in run.items() if name != "digests"},
        )
        rows, lines = _rows_and_lines(found, facts)
        content = rows_bytes(len(benchmarks), lines)
        receipt = document(
            facts,
            rows,
            hashlib.sha256(content).hexdigest(),
            sums.get((season, agent), _NO_LOSS),
            scores[season, agent],
        )
        yield f"{place}/{names.agents[agent]}.json", receipt_bytes(receipt)
        yield f"{place}/{facts.rows_file}", content


def receipt_schema() -> str:
    """The JSON Schema of a receipt, as shipped."""
    return resources.files(__package__).joinpath("receipt.schema.json").read_text("utf-8")


def _tables(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[dict[str, Any], dict[Any, dict[str, Any]], dict[Any, str], dict[str, Any]]:
    """Season bounds, score rows and exact sums by their keys, and what the run states."""
    seasons = {
        season: {"starts_at": starts, "ends_at": ends, "max_horizon_hours": bound}
        for season, starts, ends, bound in connection.execute(
            "SELECT season_id, starts_at, ends_at, max_horizon_hours FROM seasons"
        ).fetchall()
    }
    names = [column.name for column in columns_of(AgentSeasonBrier)]
    scores = {
        row[:2]: dict(zip(names[2:], row[2:], strict=True))
        for row in connection.execute(
            f"SELECT {', '.join(names)} FROM agent_season_brier"
        ).fetchall()
    }
    sums = {
        (season, agent): total
        for season, agent, total in connection.execute(
            load_sql(__package__, "receipt_sums")
        ).fetchall()
    }
    ((as_of, policy, inputs, *versions),) = connection.execute(
        f"SELECT as_of, policy, input_digests, {', '.join(VERSIONS)} FROM run_info"
    ).fetchall()
    run = {
        "as_of": as_of,
        "policy": json.loads(policy),
        "digests": json.loads(inputs),
        "versions": dict(zip(VERSIONS, versions, strict=True)),
    }
    return seasons, scores, sums, run


def _streamed(
    connection: duckdb.DuckDBPyConnection, season: str, *names: str
) -> Iterator[tuple[Any, ...]]:
    """A season's rows of the last of some statements; the first two columns say agent and call.

    On a cursor of its own, so that two can be read side by side.
    """
    ((path,),) = connection.execute("SELECT current_setting('search_path')").fetchall()
    cursor = connection.cursor()
    cursor.execute("SET search_path = $path", {"path": path})
    cursor.execute("SET enable_progress_bar = false")
    for name in names:
        statement = load_sql(__package__, name)
        cursor.execute(statement, parameters_of(statement, {"season_id": season}))
    while rows := cursor.fetchmany(_AT_ONCE):
        yield from rows


def _with_predictions(
    connection: duckdb.DuckDBPyConnection, season: str
) -> Iterator[tuple[tuple[Any, ...], Predictions]]:
    """Every call of a season with what benchmarks said of it."""
    calls = _streamed(connection, season, "receipt_cells", "receipt_rows")
    published = groupby(_streamed(connection, season, "receipt_benchmarks"), key=itemgetter(0, 1))
    head = next(published, None)
    for call in calls:
        key = call[:2]
        # the table also holds forecasts that are no calls
        while head is not None and head[0] < key:
            head = next(published, None)
        predictions: Predictions = {}
        if head is not None and head[0] == key:
            predictions = {
                (benchmark_id, version): (probability, reason)
                for *_, benchmark_id, version, probability, reason in head[1]
            }
        yield call, predictions


def _rows_and_lines(
    found: list[tuple[tuple[Any, ...], Predictions]], facts: Facts
) -> tuple[list[Row], list[str]]:
    """Each call's line of the row file, and of its values those that a receipt counts."""
    benchmarks = []
    for number, benchmark in enumerate(facts.benchmarks, start=1):
        (probability, _), (reason, _) = benchmark_columns(number)
        benchmarks.append((benchmark, probability, reason))
    rows, lines = [], []
    for (_, *counted, cells), predictions in found:
        row = dict(zip(COUNTED, counted, strict=True))
        is_eligible = row["standing"] == "eligible"
        row["bin"] = bisect_right(_EDGES, row["confidence"]) if is_eligible else None
        fields = [cells, field_text(row["bin"]), field_text(row["episode_id"])]
        for benchmark, probability, reason in benchmarks:
            row[probability], row[reason] = predictions.get(benchmark, (None, None))
            fields += field_text(row[probability]), field_text(row[reason])
        rows.append(row)
        lines.append(",".join(fields))
    for row in filter(None, worked_rows(rows).values()):
        # a worked row needs every column: read back what is written of it
        line = lines[rows.index(row)]
        (whole,) = read_rows(rows_bytes(len(benchmarks), [line]), len(benchmarks))
        row.update(whole)
    return rows, lines
