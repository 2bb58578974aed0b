"""Receipts: one JSON and one row file per agent-season, enough to recompute the score.

Every number is copied from the published tables; `verify_receipt` recomputes them in plain Python.
"""

import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.exports.file_names import file_name
from augur_pipeline.exports.receipt_layout import (
    COLUMNS,
    Benchmark,
    Facts,
    columns_with,
    document,
    receipt_bytes,
    rows_bytes,
    rows_name,
)
from augur_pipeline.scores.tables import AgentSeasonBrier
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.tables import columns_of

VERSIONS = ("code_version", "duckdb_version", "dagster_version", "numpy_version")
_NO_LOSS = f"0.{'0' * 18}"
_AT_ONCE = 20_000
_NAMES = [name for name, _ in COLUMNS]
_BIN, _CONFIDENCE = _NAMES.index("bin"), _NAMES.index("confidence")
_LAST_OF_ROW = len(COLUMNS)  # season_id + the columns without the bin


def write_receipts(connection: duckdb.DuckDBPyConnection, folder: Path) -> int:
    """Write all receipts below `folder` and their schema beside it; returns how many.

    `connection` resolves the published table names (and `run_info`).
    """
    folder.mkdir(parents=True)
    count = 0
    for path, content in receipt_files(connection):
        target = folder / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
        count += path.endswith(".json")
    (folder.parent / "receipt.schema.json").write_text(receipt_schema(), encoding="utf-8")
    return count


def receipt_files(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, bytes]]:
    """Path below `receipts/` and bytes of every file: per agent-season the receipt, its rows."""
    seasons, scores, sums, run = _tables(connection)
    _view_benchmarks(connection)
    connection.execute(load_sql(__package__, "receipt_rows"))
    for (season, agent), group in groupby(_fetched(connection), key=lambda row: (row[0], row[2])):
        published = list(group)
        benchmarks = _benchmarks_of(published)
        rows = [_row(row, benchmarks) for row in published]
        columns = columns_with(len(benchmarks))
        names = [name for name, _ in columns]
        content = rows_bytes(columns, rows)
        facts = Facts(season, agent, benchmarks=benchmarks, **seasons[season], **run)
        receipt = document(
            facts,
            [dict(zip(names, row, strict=True)) for row in rows],
            hashlib.sha256(content).hexdigest(),
            sums.get((season, agent), _NO_LOSS),
            scores[season, agent],
        )
        place = file_name(season)
        yield f"{place}/{file_name(agent)}.json", receipt_bytes(receipt)
        yield f"{place}/{rows_name(agent)}", content


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
        "inputs": json.loads(inputs),
        "versions": dict(zip(VERSIONS, versions, strict=True)),
    }
    return seasons, scores, sums, run


def _view_benchmarks(connection: duckdb.DuckDBPyConnection) -> None:
    """Make `receipt_benchmarks`: the published predictions, else the built-in coin flip's."""
    ((is_published,),) = connection.execute(
        "SELECT count(*) > 0 FROM duckdb_tables() "
        "WHERE table_name = 'benchmark_forecasts' AND database_name = current_database()"
    ).fetchall()
    name = "receipt_benchmarks" if is_published else "coin_flip"
    connection.execute(load_sql(__package__, name))


def _fetched(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := connection.fetchmany(_AT_ONCE):
        yield from rows


def _benchmarks_of(published: list[tuple[Any, ...]]) -> list[Benchmark]:
    """The benchmarks that say something of these rows, sorted."""
    pairs = {
        pair
        for *_, ids, versions, _, _ in published
        if ids is not None
        for pair in zip(ids, versions, strict=True)
    }
    return sorted(pairs)


def _row(row: tuple[Any, ...], benchmarks: list[Benchmark]) -> list[Any]:
    """A row of the query as the row file has it: with its bin and a pair per benchmark."""
    ids, versions, probabilities, reasons = row[_LAST_OF_ROW:]
    values = [*row[1:_LAST_OF_ROW]]
    is_eligible = row[1 + _NAMES.index("standing")] == "eligible"
    values.insert(_BIN, _bin(values[_CONFIDENCE]) if is_eligible else None)
    found = {}
    if ids is not None:
        found = {
            (i, v): (p, r) for i, v, p, r in zip(ids, versions, probabilities, reasons, strict=True)
        }
    for benchmark in benchmarks:
        values += found.get(benchmark, (None, None))
    return values


def _bin(probability: float) -> int:
    """Equal-width bins opened by the correctly rounded quotients k/10; the last is closed."""
    return max(sum(probability >= k / 10 for k in range(10)) - 1, 0)
