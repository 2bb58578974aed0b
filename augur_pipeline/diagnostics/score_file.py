"""Reading a file of forecasts with outcomes, for `augur score`: any names, any of three formats."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from augur_pipeline.diagnostics.report import ForecastRows
from augur_pipeline.errors import InputError
from augur_pipeline.intake.text_files import READERS, text_batches
from augur_pipeline.store.grammar import install_grammar
from augur_pipeline.store.sql import quoted_identifier

OUTCOMES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1, "no": 0, "yes": 1}


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
    """The usable rows by group (None: one group for all), and the faults."""

    groups: dict[str | None, ForecastRows]
    faults: list[Fault]


def read_forecasts(path: Path, columns: ScoreColumns) -> ScoredFile:
    """Read every row; raises `InputError` where the file as a whole is unusable.

    Without an episode column every row is an episode of its own. Episodes are events: texts,
    without neighbours, also where they look like numbers.
    """
    faults: list[Fault] = []
    kept: dict[str | None, list[tuple[float, int, str, float]]] = {}
    for line, values in _records(path, columns):
        try:
            row = _row(line, values, columns)
        except ValueError as error:
            faults.append(Fault(line, str(error)))
            continue
        group = values["by"] if values is not None and columns.by else None
        kept.setdefault(group, []).append(row)
    return ScoredFile(
        {group: _rows(kept[group], columns) for group in sorted(kept, key=lambda g: g or "")},
        faults,
    )


def _row(
    line: int, values: dict[str, Any] | None, columns: ScoreColumns
) -> tuple[float, int, str, float]:
    if values is None:
        raise ValueError("not as many fields as the header, no JSON object, or not UTF-8")
    probability = values["probability"]
    if probability is None or not 0 <= probability <= 1:
        given = values["probability_text"]
        raise ValueError(f"{columns.probability} {given!r} is no probability from 0 to 1")
    outcome = OUTCOMES.get((values["outcome"] or "").lower())
    if outcome is None:
        raise ValueError(f"{columns.outcome} {values['outcome']!r} is no outcome (0 or 1)")
    weight = values.get("weight", 1.0)
    if weight is None or weight < 0:
        raise ValueError(f"{columns.weight} {values['weight_text']!r} is no weight of 0 or more")
    for role in ("episode", "by"):
        if role in values and values[role] is None:
            raise ValueError(f"{columns.named[role]} is missing")
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
        if path.suffix == ".parquet":
            tables: Iterator[Any] = iter([_parquet(path, named)])
        else:
            names = list(dict.fromkeys(named.values()))
            tables = text_batches(path, names, names, set())
        values_of = dict(_values(named))
        for table in tables:
            connection.register("given", table)
            cursor = connection.execute(
                f"SELECT source_line, malformed_text IS NOT NULL, {', '.join(values_of.values())} "
                "FROM given ORDER BY source_line"
            )
            for line, is_malformed, *values in cursor.fetchall():
                yield line, None if is_malformed else dict(zip(values_of, values, strict=True))
            connection.unregister("given")


def _values(named: dict[str, str]) -> Iterator[tuple[str, str]]:
    """What to select, by name: trimmed texts, and numbers beside their texts."""
    for role, name in named.items():
        text = f"trimmed(CAST({quoted_identifier(name)} AS VARCHAR))"
        if role in ("probability", "weight"):
            yield role, f"number_of({text})"
            yield f"{role}_text", text
        else:
            yield role, text


def _parquet(path: Path, named: dict[str, str]) -> pa.Table:
    try:
        table = pq.read_table(path, columns=list(dict.fromkeys(named.values())))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({error})") from error
    missing = [name for name in named.values() if name not in table.column_names]
    if missing:
        raise InputError(f"{path}: no column {', '.join(missing)}; name one that is there")
    rows = pa.array(range(1, len(table) + 1), pa.int64())
    return table.append_column("source_line", rows).append_column(
        "malformed_text", pa.nulls(len(table), pa.string())
    )
