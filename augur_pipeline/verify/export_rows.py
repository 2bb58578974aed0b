"""Passports and row files against the published tables, read by the auditor's own eyes.

What wrote them also writes them anew for the comparison of bytes; here each value is looked up in
the table that it must come from, so that a fault of the writer shows.
"""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.arithmetic import iso, standing_of
from augur_pipeline.store.sql import rows_as_dicts
from augur_pipeline.verify.findings import ABSENT, Findings

_SEALED = (
    "agent_id", "pool_id", "action", "decider", "confidence", "confidence_text", "horizon_hours",
    "horizon_hours_text", "reference_price", "reference_price_text", "decided_at", "seal",
    "recorded_at", "order_status", "first_seen_as_of",
)  # fmt: skip
_SETTLED = ("price", "price_recorded_at", "settled_at")


def check_passports(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    names: Mapping[str, str],
    findings: Findings,
) -> None:
    """Every number of every passport stands in the tables, and every row of those in a passport."""
    scores: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_as_dicts(connection, "FROM season_scores ORDER BY season_id"):
        row["effective_weights"] = json.loads(row["effective_weights"])
        scores[row.pop("agent_id")].append(row)
    calls: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows_as_dicts(connection, "FROM agent_season_brier"):
        calls[row.pop("agent_id"), row.pop("season_id")] = row
    for row in rows_as_dicts(connection, "FROM passports"):
        agent = row.pop("agent_id")
        del row["seasons"]
        for column in ("rejected_by_reason", "excluded_by_reason"):
            row[column] = json.loads(row[column])
        expected = {
            "agent_id": agent,
            "lifetime": row,
            "seasons": [
                {
                    "season_id": score["season_id"],
                    "calls": calls.get((agent, score["season_id"])),
                    "score": {n: v for n, v in score.items() if n != "season_id"},
                }
                for score in scores[agent]
            ],
        }
        path = folder / f"{names[agent]}.json"
        place = f"exports/latest/passports/{path.name}"
        try:
            given = json.loads(path.read_bytes())
            stated = {name: given[name] for name in expected}
        except (OSError, ValueError, KeyError, TypeError) as error:
            findings.add(place, "", "", f"no passport ({error})", f"that of {agent!r}")
            continue
        findings.compare_trees(place, "", stated, expected)


def check_row_files(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    agents: Mapping[str, str],
    seasons: Mapping[str, str],
    findings: Findings,
) -> None:
    """Every directional call of a season stands in its agent's row file, as sealed and settled."""
    for season, season_folder in seasons.items():
        predicted = _predictions(connection, season)
        directional = (row for row in _calls(connection, season) if standing_of(row["reason"]))
        for agent, group in groupby(directional, key=itemgetter("agent_id")):
            path = folder / season_folder / f"{agents[agent]}.rows.csv"
            place = f"exports/latest/receipts/{season_folder}/{path.name}"
            try:
                text = io.StringIO(path.read_bytes().decode("utf-8"), newline="")
                given = {row["call_id"]: row for row in csv.DictReader(text, strict=True)}
                receipt = json.loads(path.with_name(f"{agents[agent]}.json").read_bytes())
                columns = {
                    (one["benchmark_id"], one["version"]): one["column"]
                    for one in receipt["benchmarks"]
                }
            except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
                findings.add(place, "", "", f"no row file ({error})", f"that of {agent!r}")
                continue
            for row in group:
                key = f"call_id={row['call_id']}"
                stated = given.pop(row["call_id"], None)
                if stated is None:
                    findings.add(place, key, "", ABSENT, "a row")
                    continue
                wanted = {name: _cell(row[name]) for name in (*_SEALED, *_SETTLED)}
                if stated["status"] in ("", "due_after_final"):
                    wanted |= dict.fromkeys(_SETTLED, "")
                for benchmark, column in columns.items():
                    probability, reason = predicted.get((row["call_id"], *benchmark), (None, None))
                    wanted[column] = _cell(probability)
                    wanted[f"{column}_undefined_reason"] = _cell(reason)
                findings.compare(place, key, {n: stated.get(n, ABSENT) for n in wanted}, wanted)
            for call_id in given:
                findings.add(place, f"call_id={call_id}", "", "a row", "no directional call")


def _calls(connection: duckdb.DuckDBPyConnection, season: str) -> Iterator[dict[str, Any]]:
    """The season's sealed calls with what settled them, agent by agent."""
    return _streamed(
        connection,
        "SELECT sealed_calls.*, price, price_recorded_at, settled_at FROM sealed_calls "
        "LEFT JOIN settlements USING (call_id) WHERE season_id = $season ORDER BY agent_id",
        season,
    )


def _predictions(
    connection: duckdb.DuckDBPyConnection, season: str
) -> dict[tuple[str, str, str], tuple[float | None, str | None]]:
    """What each benchmark said of each call of a season, and why it said nothing."""
    rows = _streamed(
        connection,
        "SELECT forecast_id, benchmark_id, version, probability, undefined_reason "
        "FROM benchmark_forecasts WHERE cohort_id = $season AND kind = 'call'",
        season,
    )
    return {
        (row["forecast_id"], row["benchmark_id"], row["version"]): (
            row["probability"],
            row["undefined_reason"],
        )
        for row in rows
    }


def _streamed(
    connection: duckdb.DuckDBPyConnection, query: str, season: str
) -> Iterator[dict[str, Any]]:
    cursor = connection.cursor()
    cursor.execute(query, {"season": season})
    columns = [column[0] for column in cursor.description or []]
    while rows := cursor.fetchmany(10_000):
        for row in rows:
            yield dict(zip(columns, row, strict=True))


def _cell(value: Any) -> str:
    """A value as a row file writes it: a double's shortest exact text, a time in ISO 8601."""
    if value is None:
        return ""
    return iso(value) if isinstance(value, datetime) else str(value)
