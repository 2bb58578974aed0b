"""Reading a file of forecasts with outcomes, for `augur score`: any names, any of three formats."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from augur_pipeline.diagnostics.calibration.report import ForecastRows
from augur_pipeline.errors import InputError
from augur_pipeline.landing.text_files import (
    READERS,
    columns_there,
    refuse_header,
    text_batches,
)
from augur_pipeline.store.grammar import install_grammar

OUTCOMES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}

ANNULLED = ("void", "annulled", "ambiguous", "cancelled", "canceled", "tie")
"""Outcomes that are none: of questions that were not decided. So is a number between 0 and 1."""


@dataclass(frozen=True)
class ScoreColumns:
    """The columns of the user's file that matter."""

    probability: str
    outcome: str
    episode: str | None = None
    weight: str | None = None
    by: str | None = None

    @property
    def named(self) -> dict[str, str]:
        """Role to column name, for the roles that are used."""
        roles = {
            "probability": self.probability,
            "outcome": self.outcome,
            "episode": self.episode,
            "weight": self.weight,
            "by": self.by,
        }
        return {role: name for role, name in roles.items() if name is not None}


@dataclass(frozen=True)
class Fault:
    """A row that cannot be scored."""

    line: int
    what: str


@dataclass(frozen=True)
class ScoredFile:
    """The usable rows by group (None: one group for all), the faults, and how many rows have an
    annulled outcome: no fault, and nothing to score."""

    groups: dict[str | None, ForecastRows]
    faults: list[Fault]
    annulled: int


def read_forecasts(path: Path, columns: ScoreColumns) -> ScoredFile:
    """Read every row; raises `InputError` where the file as a whole is unusable.

    Without an episode column every row is an episode of its own. Episodes are events: texts,
    without neighbours, also where they look like numbers.
    """
    faults: list[Fault] = []
    annulled = 0
    kept: dict[str | None, list[tuple[float, int, str, float]]] = {}
    for line, values in _records(path, columns):
        try:
            row = _row(line, values, columns)
        except ValueError as error:
            faults.append(Fault(line, str(error)))
            continue
        if row is None:
            annulled += 1
            continue
        group = values["by"] if values is not None and columns.by else None
        kept.setdefault(group, []).append(row)
    return ScoredFile(
        {group: _rows(kept[group], columns) for group in sorted(kept, key=lambda g: g or "")},
        faults,
        annulled,
    )


def _row(
    line: int, values: dict[str, Any] | None, columns: ScoreColumns
) -> tuple[float, int, str, float] | None:
    """A row's probability, outcome, episode and weight; None where its outcome is annulled."""
    if values is None:
        raise ValueError("not as many fields as the header, no JSON object, or not UTF-8")
    probability = values["probability"]
    if probability is None or not 0 <= probability <= 1:
        given = values["probability_text"]
        raise ValueError(f"{columns.probability} {given!r} is no probability from 0 to 1")
    given = (values["outcome"] or "").lower()
    outcome = OUTCOMES.get(given)
    is_annulled = given in ANNULLED or 0 < (values["outcome_number"] or 0.0) < 1
    if outcome is None and not is_annulled:
        raise ValueError(f"{columns.outcome} {values['outcome']!r} is no outcome (0 or 1)")
    weight = values.get("weight", 1.0)
    if weight is None or weight < 0:
        raise ValueError(f"{columns.weight} {values['weight_text']!r} is no weight of 0 or more")
    for role in ("episode", "by"):
        if role in values and values[role] is None:
            raise ValueError(f"{columns.named[role]} is missing")
    if outcome is None:
        return None
    return probability, outcome, values.get("episode", str(line)), weight


def _rows(rows: list[tuple[float, int, str, float]], columns: ScoreColumns) -> ForecastRows:
    probability, outcome, episode, weight = zip(*rows, strict=True)
    return ForecastRows(
        np.array(probability, dtype=np.float64),
        np.array(outcome, dtype=np.int64),
        np.array(episode, dtype=np.str_),
        np.ones(len(rows), dtype=np.bool_),
        np.array(weight, dtype=np.float64) if columns.weight else None,
    )


def _records(path: Path, columns: ScoreColumns) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Line (or row number) and the value of each role, None for a malformed record.

    Numbers follow the contract's grammar (`<role>_text` keeps what was given).
    """
    named = columns.named
    if path.suffix not in (*READERS, ".parquet"):
        raise InputError(f"{path}: cannot tell the format; name it .csv, .jsonl or .parquet")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        install_grammar(connection)
        places = {name: f"given_{at}" for at, name in enumerate(dict.fromkeys(named.values()))}
        if path.suffix == ".parquet":
            tables: Iterator[pa.Table] = iter([_parquet(path, list(places))])
        else:
            tables = text_batches(path, list(places), list(places), set())
        values_of = dict(_values(named, places))
        for table in tables:
            # names of our own: the file's may differ in case only, or be ours
            table = table.rename_columns(["source_line", "malformed_text", *places.values()])
            connection.register("given", table)
            cursor = connection.execute(
                f"SELECT source_line, malformed_text IS NOT NULL, {', '.join(values_of.values())} "
                "FROM given ORDER BY source_line"
            )
            for line, is_malformed, *values in cursor.fetchall():
                yield line, None if is_malformed else dict(zip(values_of, values, strict=True))
            connection.unregister("given")


def _values(named: dict[str, str], places: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What to select, by role: trimmed texts, and numbers beside their texts."""
    for role, name in named.items():
        text = f"trimmed(CAST({places[name]} AS VARCHAR))"
        if role in ("probability", "weight"):
            yield role, f"number_of({text})"
            yield f"{role}_text", text
        else:
            yield role, text
    yield "outcome_number", f"number_of(trimmed(CAST({places[named['outcome']]} AS VARCHAR)))"


def _parquet(path: Path, names: list[str]) -> pa.Table:
    """The columns as a text file's batches have them: line, malformed text, then the named ones."""
    try:
        file = pq.ParquetFile(path)
        there = file.schema_arrow.names
        refuse_header(path, there)
        missing = [name for name in names if name not in there]
        if missing:
            raise InputError(
                f"{path}: no column {', '.join(missing)}; name one that is there: "
                f"{columns_there(there)}"
            )
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        first_line = str(error).strip().splitlines()[0]
        raise InputError(
            f"{path}: cannot be read as Parquet ({first_line}); write it anew"
        ) from error
    return pa.table(
        [
            pa.array(range(1, len(table) + 1), pa.int64()),
            pa.nulls(len(table), pa.string()),
            *(table.column(name) for name in names),
        ],
        ["source_line", "malformed_text", *names],
    )
