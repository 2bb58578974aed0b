"""Reliability diagrams of the published forecasts: files of each season, pictures for the UI.

Seasons of calls only. A season's forecasters stand in order of their resolved calls, most first,
then by id; those without any come last. Rows are read in sorted order and no picture holds a date,
so the same tables give the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import duckdb
import numpy as np
from numpy.typing import NDArray

from augur_pipeline.pictures.diagram_data import DiagramData
from augur_pipeline.pictures.drawn import Drawn
from augur_pipeline.store.sql import load_sql

SEASON_PICTURE = "~season.png"
"""All forecasters of a season: no agent's file, whose name has hexadecimal digits after a `~`."""

MOST_PANELS = 24
"""Forecasters on a season's picture: more would be unreadable, and too large for a page."""


class Names(Protocol):
    """What names files: by the ids of agents and of seasons."""

    agents: dict[str, str]
    seasons: dict[str, str]


@dataclass(frozen=True)
class _Forecaster:
    season_id: str
    agent_id: str
    data: DiagramData


MOST_A_SEASON = 24
"""Diagrams drawn per season, of the agents with most resolved calls; 0 draws none."""


def write_diagrams(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    most: int,
    names: Names,
    pictures: Mapping[str, bytes],
    drawn: Drawn,
) -> int:
    """Write `<season>/<agent>.png` and `<season>/~season.png` under `folder`.

    connection: holds `scored_forecasts`
    most:       forecasters per season that get a file
    names:      file names without suffix (exports' own)
    pictures:   the seasons' own, as `season_pictures` draws them
    drawn:      those of the night before
    Returns:    the number of files written
    """
    written = 0
    for season_id, forecasters in _seasons(connection, most):
        season_folder = folder / names.seasons[season_id]
        season_folder.mkdir(parents=True, exist_ok=True)
        for forecaster in forecasters:
            data = _titled(forecaster, with_season=True)
            picture = drawn.picture("", [data], partial(_draw_one, data))
            (season_folder / f"{names.agents[forecaster.agent_id]}.png").write_bytes(picture)
        (season_folder / SEASON_PICTURE).write_bytes(pictures[season_id])
        written += len(forecasters) + 1
    drawn.forget_others()
    return written


def season_pictures(
    connection: duckdb.DuckDBPyConnection, most: int, drawn: Drawn
) -> dict[str, bytes]:
    """Small multiples of each season, by season id, for up to `most` (and 24) forecasters."""
    pictures = {}
    for season_id, forecasters in _seasons(connection, min(most, MOST_PANELS)):
        panels = [_titled(forecaster, with_season=False) for forecaster in forecasters]
        pictures[season_id] = drawn.picture(
            season_id, panels, partial(_draw_season, season_id, panels)
        )
    drawn.forget_others()
    return pictures


# matplotlib takes as long to load as a small season to draw: only where something is drawn


def _draw_one(data: DiagramData) -> bytes:
    from augur_pipeline.pictures.diagrams import reliability_diagram

    return reliability_diagram(data)


def _draw_season(season_id: str, panels: Sequence[DiagramData]) -> bytes:
    from augur_pipeline.pictures.diagrams import small_multiples

    return small_multiples(season_id, panels)


def _titled(forecaster: _Forecaster, *, with_season: bool) -> DiagramData:
    title = forecaster.agent_id
    if with_season:
        title = f"{title} · {forecaster.season_id}"
    data = forecaster.data
    return DiagramData(title, data.p, data.y, data.episodes)


def _seasons(
    connection: duckdb.DuckDBPyConnection, most: int
) -> Iterator[tuple[str, list[_Forecaster]]]:
    """Each season, in order of ids, with its forecasters: one season's rows at a time."""
    chosen = connection.execute(load_sql(__package__, "diagram_forecasters"), {"most": most})
    by_season: dict[str, list[str]] = {}
    for season_id, agent_id in chosen.fetchall():
        by_season.setdefault(season_id, []).append(agent_id)
    statement = load_sql(__package__, "diagram_rows")
    for season_id, agent_ids in by_season.items():
        columns = connection.execute(
            statement, {"season_id": season_id, "agent_ids": agent_ids}
        ).fetchnumpy()
        rows_of = _rows_of_each(np.asarray(columns["agent_rank"]), len(agent_ids))
        episodes = np.ma.asarray(columns["block"])
        yield (
            season_id,
            [
                _Forecaster(
                    season_id,
                    agent_id,
                    DiagramData(
                        agent_id,
                        np.asarray(columns["probability"])[rows],
                        np.asarray(columns["outcome"])[rows],
                        episodes[rows].tolist(),
                    ),
                )
                for agent_id, rows in zip(agent_ids, rows_of, strict=True)
            ],
        )


def _rows_of_each(rank: NDArray[np.int64], forecasters: int) -> list[slice]:
    """The rows of each forecaster: they come sorted by its rank, 1 … forecasters."""
    ends = np.searchsorted(rank, np.arange(1, forecasters + 2))
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
