"""The board that a run prints: agents of each season, best first, from the published tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from augur_pipeline.store.sql import load_sql, parameters_of

SHOWN_AGENTS = 25
"""Of a season: a large arena is not listed whole."""


@dataclass(frozen=True)
class Leaderboard:
    """The board's columns and rows, how to read them, and how many agents are not on it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    legend: Sequence[str]
    left_out: int


def read_leaderboard(connection: duckdb.DuckDBPyConnection) -> Leaderboard:
    """The board of a published database."""
    connection.execute(load_sql(__package__, "leaderboard_choices"))
    columns, rows = _rows(connection, "leaderboard")
    _, used = _rows(connection, "leaderboard_benchmarks")
    ((left_out,),) = connection.execute(
        "SELECT coalesce(sum(greatest(agents - $shown, 0)), 0) FROM "
        "(SELECT count(*) AS agents FROM agent_season_brier GROUP BY season_id)",
        {"shown": SHOWN_AGENTS},
    ).fetchall()
    title = "Leaderboard (Brier: 0 best, 1 worst; calibration: 0-100)"
    return Leaderboard(title, columns, rows, _legend(used), int(left_out))


def read_funnel(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows of all rows read by fate."""
    return _rows(connection, "funnel")


def _rows(
    connection: duckdb.DuckDBPyConnection, name: str
) -> tuple[list[str], list[tuple[Any, ...]]]:
    statement = load_sql(__package__, name)
    cursor = connection.execute(statement, parameters_of(statement, {"shown": SHOWN_AGENTS}))
    return [column[0] for column in cursor.description or []], cursor.fetchall()


def _legend(benchmarks: Sequence[tuple[str, str]]) -> list[str]:
    """How to read the leaderboard; `benchmarks` with the seasons that they are used in."""
    if not benchmarks:
        return []
    against = "; ".join(
        benchmark if len(benchmarks) == 1 else f"{benchmark} ({seasons})"
        for benchmark, seasons in benchmarks
    )
    return [
        "95 %: interval of the Brier score, by episode (episodes, not n, say how much is known)",
        f"skill: 1 - Brier / benchmark's Brier on the same rows, above 0 better; against {against}",
        "next: ≠ losses differ from the next agent's, = not distinguishable, ? too little to say",
    ]
