"""An independent, plain reference of the scoring contract (contract.md §2 to §7).

Slow but clear, standard library only (pyarrow reads Parquet, nothing else). It shares no code with
the pipeline: property tests hold the SQL against it.

Units: every time is whole microseconds since 1970-01-01 UTC (``*_us`` in Python names; in tables
the contract's own column names). Errors of the inputs as a whole raise :class:`InputError`.
"""

import csv
import hashlib
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
WINDOW_US = 2 * HOUR_US
EXPIRY_US = 168 * HOUR_US
MAX_HORIZON_HOURS = 87_600.0
NEEDED_CALLS = 5
CALIBRATION_WEIGHT = 0.10
TERM_WEIGHT_SUM = 0.90
UNITS = 10**18
EPOCH_DAY = date(1970, 1, 1).toordinal()
TIME_MAX_US = (date(2200, 1, 1).toordinal() - EPOCH_DAY) * DAY_US  # inclusive
BLANKS = " \t\r\n\x0b\x0c"

CALL_REQUIRED = (
    "call_id",
    "agent_id",
    "pool_id",
    "action",
    "decider",
    "confidence",
    "horizon_hours",
    "reference_price",
    "decided_at",
)
CALL_OPTIONAL = ("recorded_at", "order_status", "mandate_id", "model_version", "question_id")
PRICE_REQUIRED = ("pool_id", "recorded_at", "price")
PRICE_OPTIONAL = ("sequence",)
ACTIONS = ("buy", "sell", "hold")
DECIDERS = ("llm", "deterministic", "protective_exit", "system")
ORDER_STATUSES = ("accepted", "refused")


class InputError(Exception):
    """The inputs as a whole cannot be used: the run stops and nothing is published."""


# ---------------------------------------------------------------------------------------------
# Cells: what a landing file holds in one field, before the contract looks at it
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instant:
    """A typed Parquet timestamp or date, cut to whole microseconds since the epoch UTC."""

    us: int


Cell = str | int | float | Decimal | Instant | None


@dataclass(frozen=True)
class RawRow:
    """One row of a landing file. ``cells`` is None when the row is malformed."""

    source_file: str
    source_line: int
    cells: dict[str, Cell] | None

    def cell(self, column: str) -> Cell:
        return None if self.cells is None else self.cells.get(column)


def trim(text: str) -> str:
    return text.strip(BLANKS)


def parse_text(cell: Cell) -> str | None:
    """Trimmed text; None when missing or blank."""
    if cell is None:
        return None
    if isinstance(cell, float):
        text = number_text(cell) if math.isfinite(cell) else nonfinite_text(cell)
    elif isinstance(cell, Instant):
        text = str(datetime(1970, 1, 1) + timedelta(microseconds=cell.us))
    else:
        text = trim(str(cell))
    return text or None


_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?)?"
)


def parse_time_text(text: str) -> int | None:
    """Microseconds since the epoch of a trimmed text, None when it is no time of the contract."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, digits, sign, off_hour, off_minute = match.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal() - EPOCH_DAY
    except ValueError:
        return None
    h, m, s = int(hour or 0), int(minute or 0), int(second or 0)
    oh, om = int(off_hour or 0), int(off_minute or 0)
    if h > 23 or m > 59 or s > 59 or oh > 23 or om > 59:
        return None
    micros = int((digits or "")[:6].ljust(6, "0"))  # digits beyond microseconds are cut
    offset_us = (oh * 60 + om) * 60_000_000
    us = days * DAY_US + ((h * 60 + m) * 60 + s) * 1_000_000 + micros
    us += offset_us if sign == "-" else -offset_us
    return us if 0 <= us <= TIME_MAX_US else None


def parse_time(cell: Cell) -> int | None:
    if isinstance(cell, Instant):
        return cell.us if 0 <= cell.us <= TIME_MAX_US else None
    if isinstance(cell, str):
        return parse_time_text(trim(cell))
    return None


_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True)
class Number:
    """A stated number: ``text`` is its canonical text, ``value`` None when it is no number."""

    value: float | None
    text: str


def number_text(value: float) -> str:
    """``%.17g`` of the double, minus zero as zero."""
    return "%.17g" % (0.0 if value == 0 else value)


def nonfinite_text(value: float) -> str:
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def parse_number(cell: Cell) -> Number | None:
    """None when missing; else a finite double, or the trimmed text of what is no number."""
    if cell is None:
        return None
    if isinstance(cell, Instant):
        text = parse_text(cell)
        assert text is not None
        return Number(None, text)
    if isinstance(cell, str):
        text = trim(cell)
        if not text:
            return None
        if _NUMBER.fullmatch(text) is None:
            return Number(None, text)
        value = float(text)
        return Number(value, number_text(value)) if math.isfinite(value) else Number(None, text)
    try:
        value = float(cell)
    except OverflowError:
        return Number(None, str(cell))
    if not math.isfinite(value):
        return Number(None, nonfinite_text(value))
    return Number(value, number_text(value))


@dataclass(frozen=True)
class Sequence:
    """A price's sequence: ``value`` None with ``is_bad`` False means missing."""

    value: int | None
    is_bad: bool = False


def parse_sequence(cell: Cell) -> Sequence:
    """An integer literal of 64 bits, or a number of integral value and magnitude <= 2**53."""
    exact: int | None = None
    if isinstance(cell, int):
        exact = cell
    elif isinstance(cell, str) and _INTEGER.fullmatch(trim(cell)):
        text = trim(cell)
        digits = text.lstrip("+-").lstrip("0") or "0"
        if len(digits) <= 19:  # a longer one does not fit, and int() refuses very long ones
            exact = -int(digits) if text[0] == "-" else int(digits)
    if exact is not None and -(2**63) <= exact < 2**63:
        return Sequence(exact)
    number = parse_number(cell)
    if number is None:
        return Sequence(None)
    value = number.value
    if value is not None and value.is_integer() and abs(value) <= 2**53:
        return Sequence(int(value))
    return Sequence(None, is_bad=True)


def parse_enumeration(cell: Cell) -> str | None:
    text = parse_text(cell)
    return None if text is None else text.lower()


# ---------------------------------------------------------------------------------------------
# Landing files
# ---------------------------------------------------------------------------------------------


class _Lines:
    """Physical lines of a file, split at LF only; counts them and notes undecodable ones."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.split(b"\n")
        if self._lines[-1] == b"":
            self._lines.pop()
        self.taken = 0
        self.is_exhausted = False
        self.is_undecodable = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.taken == len(self._lines):
            self.is_exhausted = True
            raise StopIteration
        line = self._lines[self.taken]
        self.taken += 1
        try:
            return line.decode("utf-8") + "\n"
        except UnicodeDecodeError:
            self.is_undecodable = True
            return line.decode("utf-8", "surrogateescape") + "\n"


def csv_records(path: Path) -> Iterator[tuple[int, list[str] | None]]:
    """(physical line where the record starts, fields or None when malformed), header included."""
    lines = _Lines(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(lines, strict=True)
    while True:
        start = lines.taken + 1
        lines.is_undecodable = False
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if lines.is_exhausted:
                raise InputError(
                    f"{path.name}: a quote opened in line {start} never closes"
                ) from error
            # Text after a closing quote, or a lone CR: go on at the next physical line.
            yield start, None
            continue
        if lines.is_undecodable:
            yield start, None
        elif fields:  # the csv module gives [] for a blank line
            yield start, fields


def check_columns(
    path: Path, names: list[str], required: Iterable[str], optional: Iterable[str]
) -> None:
    for column in (*required, *optional):
        if names.count(column) > 1:
            raise InputError(f"{path.name}: the column {column} is named twice")
    missing = [column for column in required if column not in names]
    if missing:
        raise InputError(f"{path.name}: missing columns {', '.join(missing)}")


def read_csv(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> list[RawRow]:
    records = csv_records(path)
    header = next(records, (1, None))[1]
    if header is None:
        raise InputError(f"{path.name}: no readable header")
    names = [trim(name) for name in header]
    check_columns(path, names, required, optional)
    rows: list[RawRow] = []
    for line, fields in records:
        if fields is None or len(fields) != len(names):
            rows.append(RawRow(path.name, line, None))
            continue
        cells: dict[str, Cell] = dict(zip(names, fields, strict=True))
        rows.append(RawRow(path.name, line, cells))
    return rows


_JSON_BLANKS = " \t\n\r"


def _check_surrogates(value: Any) -> None:
    """Raise UnicodeEncodeError (a ValueError) on a lone surrogate anywhere in a JSON value."""
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode("utf-8")
            _check_surrogates(item)
    elif isinstance(value, list):
        for item in value:
            _check_surrogates(item)


def json_object(text: str) -> dict[str, Cell]:
    """The top-level members of one JSON object as cells; ValueError when it is none.

    Numbers (NaN and Infinity, as Python writes them, too) and nested values keep their literal
    text. A key given twice: the last one stands.
    """
    value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    _check_surrogates(value)
    # The text is valid JSON from here on: walk it once more for the literal texts.
    cells: dict[str, Cell] = {}

    def skip(position: int) -> int:
        while text[position] in _JSON_BLANKS:
            position += 1
        return position

    decode = json.JSONDecoder(parse_float=str, parse_int=str).raw_decode
    at = skip(skip(0) + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = skip(at + 1)
        key, at = decode(text, at)
        at = skip(skip(at) + 1)  # past the colon
        start = at
        item, at = decode(text, at)
        if item is None:
            cells[key] = None
        elif isinstance(item, str) and text[start] == '"':
            cells[key] = item
        else:
            cells[key] = text[start:at]  # a number, true, false, or something nested
        at = skip(at)
    return cells


def read_jsonl(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> list[RawRow]:
    rows: list[RawRow] = []
    seen: set[str] = set()
    has_object = False
    lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip(b"\r"):
            continue
        try:
            cells = json_object(line.decode("utf-8"))
        except (ValueError, RecursionError):
            rows.append(RawRow(path.name, number, None))
            continue
        has_object = True
        seen.update(cells)
        rows.append(RawRow(path.name, number, cells))
    missing = [column for column in required if column not in seen]
    if has_object and missing:
        raise InputError(f"{path.name}: no row has the keys {', '.join(missing)}")
    return rows


_UNIT_PER_US = {
    "s": Fraction(1_000_000),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
}


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without dictionary encoding, and text of any kind as bytes."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_text = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_binary_view,
    )
    return column.cast(pa.large_binary()) if any(test(column.type) for test in is_text) else column


def parquet_cells(column: pa.ChunkedArray) -> list[Cell]:
    """The cells of a column that went through :func:`plain_column`."""
    kind = column.type
    values: list[Any]
    if pa.types.is_timestamp(kind):
        scale = _UNIT_PER_US[kind.unit]
        values = column.cast(pa.int64()).to_pylist()
        # Parquet keeps a zoned timestamp as UTC; // cuts towards the past, like cutting digits.
        return [
            None if v is None else Instant(v * scale.numerator // scale.denominator) for v in values
        ]
    if pa.types.is_date(kind):
        values = column.cast(pa.date32()).cast(pa.int32()).to_pylist()
        return [None if v is None else Instant(v * DAY_US) for v in values]
    if pa.types.is_floating(kind):
        return list(column.cast(pa.float64()).to_pylist())
    values = column.to_pylist()
    if pa.types.is_large_binary(kind):
        return [None if v is None else v.decode("utf-8", "replace") for v in values]
    if pa.types.is_boolean(kind):
        return [None if v is None else ("true" if v else "false") for v in values]
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return values
    return [None if v is None else str(v) for v in values]


def undecodable_rows(column: pa.ChunkedArray) -> set[int]:
    """Positions whose text is not UTF-8 (a Parquet writer may put any bytes into a string)."""
    if not pa.types.is_large_binary(column.type):
        return set()
    bad: set[int] = set()
    for position, value in enumerate(column.to_pylist()):
        try:
            if value is not None:
                value.decode("utf-8")
        except UnicodeDecodeError:
            bad.add(position)
    return bad


def read_parquet(path: Path, required: tuple[str, ...], optional: tuple[str, ...]) -> list[RawRow]:
    try:
        table = pq.ParquetFile(io.BytesIO(path.read_bytes())).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path.name}: cannot be read as Parquet: {error}") from error
    names = list(table.column_names)
    check_columns(path, names, required, optional)
    wanted = [name for name in names if name in (*required, *optional)]
    plain = [plain_column(table.column(name)) for name in wanted]
    malformed = set().union(*map(undecodable_rows, plain))
    return [
        RawRow(
            path.name,
            position + 1,
            None if position in malformed else dict(zip(wanted, cells, strict=True)),
        )
        for position, cells in enumerate(zip(*map(parquet_cells, plain), strict=True))
    ]


READERS: dict[str, Callable[[Path, tuple[str, ...], tuple[str, ...]], list[RawRow]]] = {
    ".csv": read_csv,
    ".jsonl": read_jsonl,
    ".parquet": read_parquet,
}


def landing_files(folder: Path) -> list[Path]:
    """Landing files in bytewise order of their names."""
    if not folder.is_dir():
        return []
    files = [
        path
        for path in folder.iterdir()
        if path.is_file() and path.suffix in READERS and not path.name.startswith(".")
    ]
    return sorted(files, key=lambda path: os.fsencode(path.name))


def read_landing(
    folder: Path, required: tuple[str, ...], optional: tuple[str, ...]
) -> tuple[list[RawRow], dict[str, int]]:
    """All rows in file-name and line order, and the number of rows per file."""
    rows: list[RawRow] = []
    counts: dict[str, int] = {}
    for path in landing_files(folder):
        of_file = READERS[path.suffix](path, required, optional)
        counts[path.name] = len(of_file)
        rows.extend(of_file)
    return rows, counts


# ---------------------------------------------------------------------------------------------
# seasons.csv and score_terms.csv
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Season:
    season_id: str
    starts_us: int
    ends_us: int
    horizon_hours: float = 24.0

    @property
    def last_due_us(self) -> int:
        """The last due time that counts in this season."""
        return self.ends_us + to_horizon_us(self.horizon_hours)


def read_strict_csv(
    path: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> list[RawRow]:
    """A file that people keep by hand: any malformed row is an error of the file."""
    if not path.is_file():
        raise InputError(f"{path.name} is missing")
    rows = read_csv(path, required, optional)
    for row in rows:
        if row.cells is None:
            raise InputError(f"{path.name}: line {row.source_line} is malformed")
    return rows


def read_seasons(path: Path) -> list[Season]:
    seasons: list[Season] = []
    for row in read_strict_csv(path, ("season_id", "starts_at", "ends_at"), ("max_horizon_hours",)):
        season_id = parse_text(row.cell("season_id"))
        starts, ends = parse_time(row.cell("starts_at")), parse_time(row.cell("ends_at"))
        horizon = parse_number(row.cell("max_horizon_hours"))
        where = f"{path.name}: line {row.source_line}"
        if season_id is None:
            raise InputError(f"{where}: no season_id")
        if starts is None or ends is None or starts >= ends:
            raise InputError(f"{where}: starts_at and ends_at must be times, in this order")
        if horizon is not None and (horizon.value is None or horizon.value <= 0):
            raise InputError(f"{where}: max_horizon_hours must be a positive number")
        bound = 24.0 if horizon is None or horizon.value is None else horizon.value
        seasons.append(Season(season_id, starts, ends, bound))
    seasons.sort(key=lambda season: season.starts_us)
    for before, after in pairwise(seasons):
        if after.starts_us < before.ends_us:
            raise InputError(f"{path.name}: {before.season_id} and {after.season_id} overlap")
    if len({season.season_id for season in seasons}) < len(seasons):
        raise InputError(f"{path.name}: a season_id is named twice")
    return seasons


def season_of(seasons: list[Season], decided_us: int) -> str | None:
    for season in seasons:
        if season.starts_us <= decided_us < season.ends_us:
            return season.season_id
    return None


@dataclass
class ScoreTerms:
    """``weights[season][term]`` and ``values[season, agent][term]`` (only where a value is)."""

    weights: dict[str, dict[str, float]] = field(default_factory=dict)
    values: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)


def read_score_terms(path: Path, seasons: set[str]) -> ScoreTerms:
    terms = ScoreTerms()
    if not path.exists():
        return terms
    seen: set[tuple[str, str, str]] = set()
    for row in read_strict_csv(path, ("season_id", "agent_id", "term", "weight", "value")):
        where = f"{path.name}: line {row.source_line}"
        season, agent = parse_text(row.cell("season_id")), parse_text(row.cell("agent_id"))
        term = parse_text(row.cell("term"))
        weight, value = parse_number(row.cell("weight")), parse_number(row.cell("value"))
        if season is None or agent is None or term is None:
            raise InputError(f"{where}: season_id, agent_id and term must be given")
        if season not in seasons:
            raise InputError(f"{where}: no season {season} in seasons.csv")
        if term == "calibration":
            raise InputError(f"{where}: the term calibration comes from the calls")
        if weight is None or weight.value is None or weight.value <= 0:
            raise InputError(f"{where}: the weight must be a positive number")
        if value is not None and (value.value is None or not 0 <= value.value <= 100):
            raise InputError(f"{where}: the value must lie in [0, 100]")
        if (season, agent, term) in seen:
            raise InputError(f"{where}: {term} of {agent} in {season} is given twice")
        seen.add((season, agent, term))
        if terms.weights.setdefault(season, {}).setdefault(term, weight.value) != weight.value:
            raise InputError(f"{where}: the weight of {term} differs within {season}")
        measured = terms.values.setdefault((season, agent), {})
        if value is not None and value.value is not None:
            measured[term] = value.value
    for season, weights in terms.weights.items():
        total = sum(map(Fraction, weights.values()))
        if abs(total - Fraction(9, 10)) > Fraction(1, 10**9):
            raise InputError(f"{path.name}: the weights of {season} sum to {float(total)}, not 0.9")
    return terms


# ---------------------------------------------------------------------------------------------
# Calls
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SealedCall:
    """A sealed call: the sealed fields, what stood beside them, and where they were read."""

    call_id: str
    agent_id: str
    pool_id: str
    action: str
    decider: str
    confidence: Number | None
    horizon_hours: Number | None
    reference_price: Number | None
    decided_at: int
    recorded_at: int | None
    order_status: str | None
    mandate_id: str | None
    model_version: str | None
    question_id: str | None
    seal: str
    first_seen_as_of: int
    source_file: str
    source_line: int

    @property
    def horizon_us(self) -> int | None:
        """The horizon in microseconds where the due time is known, else None."""
        if horizon_reason(self.horizon_hours) is not None:
            return None
        return None if self.horizon_hours is None else to_horizon_us(self.horizon_hours.value)

    @property
    def due_at(self) -> int | None:
        return None if self.horizon_us is None else self.decided_at + self.horizon_us


def to_horizon_us(hours: float | None) -> int:
    assert hours is not None
    return round(hours * 3_600_000_000.0)  # Python rounds a double half to even, exactly


def horizon_reason(horizon: Number | None) -> str | None:
    """The reason of test 4 for a stated horizon; None when missing or fine."""
    if horizon is None:
        return None
    if horizon.value is None or horizon.value <= 0:
        return "horizon_not_positive"
    if horizon.value > MAX_HORIZON_HOURS:  # before the product, which may overflow
        return "horizon_too_long"
    return "horizon_not_positive" if to_horizon_us(horizon.value) < 1 else None


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def seal_text(fields: Iterable[tuple[str, str | int | Number | None]]) -> str:
    """The canonical text of the sealed fields, given in the contract's order."""
    lines = ["augur-seal-1\n"]
    for name, value in fields:
        if value is None:
            text = ""
        elif isinstance(value, Number):
            text = escape(value.text)
        else:
            text = escape(str(value))
        lines.append(f"{name}={text}\n")
    return "".join(lines)


def seal_of(fields: Iterable[tuple[str, str | int | Number | None]]) -> str:
    return hashlib.sha256(seal_text(fields).encode("utf-8")).hexdigest()


@dataclass(frozen=True)
class Fate:
    fate: str
    reason: str | None = None


def early_fate(row: RawRow, as_of_us: int) -> Fate | None:
    """Tests 0 and 1 of §4; None when the row is good enough to be sealed."""
    if row.cells is None:
        return Fate("rejected", "malformed_row")
    decided = parse_time(row.cell("decided_at"))
    recorded = parse_time(row.cell("recorded_at"))
    if any(time is not None and time > as_of_us for time in (decided, recorded)):
        return Fate("not_yet")
    for column in ("call_id", "agent_id", "pool_id"):
        if parse_text(row.cell(column)) is None:
            return Fate("rejected", f"missing_{column}")
    if decided is None:
        return Fate("rejected", "bad_decided_at")
    if recorded is None and parse_text(row.cell("recorded_at")) is not None:
        return Fate("rejected", "bad_recorded_at")
    if parse_enumeration(row.cell("action")) not in ACTIONS:
        return Fate("rejected", "unknown_action")
    if parse_enumeration(row.cell("decider")) not in DECIDERS:
        return Fate("rejected", "unknown_decider")
    status = parse_enumeration(row.cell("order_status"))
    if status is not None and status not in ORDER_STATUSES:
        return Fate("rejected", "unknown_order_status")
    return None


def seal_row(row: RawRow, as_of_us: int) -> SealedCall:
    """The sealed call of a row that passed tests 0 and 1."""
    call_id = parse_text(row.cell("call_id"))
    agent_id = parse_text(row.cell("agent_id"))
    pool_id = parse_text(row.cell("pool_id"))
    action = parse_enumeration(row.cell("action"))
    decider = parse_enumeration(row.cell("decider"))
    confidence = parse_number(row.cell("confidence"))
    horizon_hours = parse_number(row.cell("horizon_hours"))
    reference_price = parse_number(row.cell("reference_price"))
    decided_at = parse_time(row.cell("decided_at"))
    assert call_id
    assert agent_id
    assert pool_id
    assert action
    assert decider
    assert decided_at is not None
    seal = seal_of(
        [
            ("call_id", call_id),
            ("agent_id", agent_id),
            ("pool_id", pool_id),
            ("action", action),
            ("decider", decider),
            ("confidence", confidence),
            ("horizon_hours", horizon_hours),
            ("reference_price", reference_price),
            ("decided_at", decided_at),
        ]
    )
    return SealedCall(
        call_id=call_id,
        agent_id=agent_id,
        pool_id=pool_id,
        action=action,
        decider=decider,
        confidence=confidence,
        horizon_hours=horizon_hours,
        reference_price=reference_price,
        decided_at=decided_at,
        recorded_at=parse_time(row.cell("recorded_at")),
        order_status=parse_enumeration(row.cell("order_status")),
        mandate_id=parse_text(row.cell("mandate_id")),
        model_version=parse_text(row.cell("model_version")),
        question_id=parse_text(row.cell("question_id")),
        seal=seal,
        first_seen_as_of=as_of_us,
        source_file=row.source_file,
        source_line=row.source_line,
    )


def is_backfilled(call: SealedCall) -> bool:
    return call.due_at is not None and call.first_seen_as_of >= call.due_at


EXCLUDED_EARLY = ("hold", "not_own_decider")
MISSING = ("missing_confidence", "missing_horizon", "missing_reference_price")


def sealed_fate(call: SealedCall, season_id: str | None, backfill: str) -> Fate:
    """Tests 3 to 7 of §4, from the sealed fields, the seasons and the policy."""
    if call.action == "hold":
        return Fate("excluded", "hold")
    if call.decider in ("protective_exit", "system"):
        return Fate("excluded", "not_own_decider")

    confidence, price = call.confidence, call.reference_price
    if confidence is not None and (confidence.value is None or not 0 <= confidence.value <= 1):
        return Fate("rejected", "confidence_out_of_range")
    reason = horizon_reason(call.horizon_hours)
    if reason is not None:
        return Fate("rejected", reason)
    if price is not None and (price.value is None or price.value <= 0):
        return Fate("rejected", "reference_price_not_positive")
    due = call.due_at
    claimed = call.decided_at if call.recorded_at is None else call.recorded_at
    if due is not None and claimed >= due:
        return Fate("rejected", "sealed_late")
    if backfill == "exclude" and is_backfilled(call):
        return Fate("rejected", "sealed_late")
    if call.recorded_at is not None and call.recorded_at < call.decided_at:
        return Fate("rejected", "recorded_before_decided")

    if confidence is None:
        return Fate("excluded", "missing_confidence")
    if call.horizon_hours is None:
        return Fate("excluded", "missing_horizon")
    if price is None:
        return Fate("excluded", "missing_reference_price")
    if season_id is None:
        return Fate("excluded", "outside_season")
    return Fate("eligible")


# ---------------------------------------------------------------------------------------------
# Prices
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Price:
    pool_id: str
    recorded_at: int
    price: float
    sequence: int | None

    def order(self) -> tuple[int, bool, int]:
        """Time, then sequence with missing last; the sort is stable in file and line order."""
        return (self.recorded_at, self.sequence is None, self.sequence or 0)


def price_fate(row: RawRow, as_of_us: int, seen: set[Price]) -> tuple[Fate, Price | None]:
    if row.cells is None:
        return Fate("rejected", "malformed_row"), None
    recorded = parse_time(row.cell("recorded_at"))
    if recorded is not None and recorded > as_of_us:
        return Fate("not_yet"), None
    pool_id = parse_text(row.cell("pool_id"))
    if pool_id is None:
        return Fate("rejected", "missing_pool_id"), None
    if recorded is None:
        return Fate("rejected", "bad_recorded_at"), None
    number = parse_number(row.cell("price"))
    if number is None or number.value is None:
        return Fate("rejected", "bad_price"), None
    if number.value <= 0:
        return Fate("rejected", "price_not_positive"), None
    sequence = parse_sequence(row.cell("sequence"))
    if sequence.is_bad:
        return Fate("rejected", "bad_sequence"), None
    price = Price(pool_id, recorded, number.value, sequence.value)
    if price in seen:
        return Fate("duplicate"), None
    seen.add(price)
    return Fate("usable"), price


def first_in_window(prices: dict[str, list[Price]], pool_id: str, due_us: int) -> Price | None:
    """The first usable price in [due, due + 2 h], both ends in; ``prices`` in the rule's order."""
    for price in prices.get(pool_id, ()):
        if due_us <= price.recorded_at <= due_us + WINDOW_US:
            return price
        if price.recorded_at > due_us + WINDOW_US:
            return None
    return None


# ---------------------------------------------------------------------------------------------
# Outcomes
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settlement:
    call_id: str
    status: str  # resolved or expired
    outcome: int | None
    is_flat: bool | None
    price: float | None
    price_recorded_at: int | None
    settled_at: int


def outcome_of(action: str, price: float, reference: float) -> int:
    if action == "buy":
        return int(price > reference)
    return int(price < reference)


def reference_value(call: SealedCall) -> float:
    assert call.reference_price is not None
    assert call.reference_price.value is not None
    return call.reference_price.value


def settle(
    call: SealedCall, prices: dict[str, list[Price]], as_of_us: int
) -> tuple[str, Settlement | None]:
    """The status of an eligible call that is not settled yet, and its settlement if it is now."""
    due = call.due_at
    assert due is not None
    if as_of_us < due:
        return "pending", None
    found = first_in_window(prices, call.pool_id, due)
    if found is not None:
        reference = reference_value(call)
        return "resolved", Settlement(
            call_id=call.call_id,
            status="resolved",
            outcome=outcome_of(call.action, found.price, reference),
            is_flat=found.price == reference,
            price=found.price,
            price_recorded_at=found.recorded_at,
            settled_at=as_of_us,
        )
    if as_of_us >= due + EXPIRY_US:
        return "expired", Settlement(call.call_id, "expired", None, None, None, None, as_of_us)
    return "open", None


# ---------------------------------------------------------------------------------------------
# Scores
# ---------------------------------------------------------------------------------------------


def to_units(value: float) -> int:
    """The IEEE product value × 1e18 as an integer, halves away from zero."""
    product = value * 1e18
    whole = math.trunc(product)
    rest = product - whole if abs(product) < 2**53 else 0.0
    if abs(rest) >= 0.5:
        whole += 1 if product > 0 else -1
    return whole


def decimal_sum(values: Iterable[float]) -> float:
    """Σ units is exact; Σ / 10**18 as the nearest double."""
    return float(Fraction(sum(to_units(value) for value in values), UNITS))


def loss_of(confidence: float, outcome: int) -> float:
    return (confidence - outcome) * (confidence - outcome)


def brier_of(losses: list[float]) -> float | None:
    return decimal_sum(losses) / len(losses) if losses else None


def skill_of(brier: float | None) -> float | None:
    return None if brier is None else 1 - brier / 0.25


def calibration_of(skill: float | None, resolved: int) -> float | None:
    if skill is None or resolved < NEEDED_CALLS:
        return None
    return max(0.0, min(1.0, skill)) * 100


def score_of(measured: dict[str, tuple[float, float]]) -> tuple[float | None, dict[str, float]]:
    """Score and effective weights of the measured terms {term: (weight, value)}."""
    if not measured:
        return None, {}
    if len(measured) == 1:
        ((term, (_, value)),) = measured.items()
        return value, {term: 1.0}
    weights = decimal_sum(weight for weight, _ in measured.values())
    weighted = decimal_sum(weight * value for weight, value in measured.values())
    values = [value for _, value in measured.values()]
    score = max(min(values), min(max(values), weighted / weights))
    return score, {term: weight / weights for term, (weight, _) in measured.items()}


# ---------------------------------------------------------------------------------------------
# One night
# ---------------------------------------------------------------------------------------------

Row = dict[str, Any]


@dataclass
class Ledger:
    """What was last published: sealed calls and settlements, both by call_id."""

    as_of_us: int
    sealed: dict[str, SealedCall]
    settlements: dict[str, Settlement]


@dataclass
class Result:
    ledger: Ledger
    tables: dict[str, list[Row]]


TABLE_KEYS: dict[str, tuple[str, ...]] = {
    "input_files": ("kind", "source_file"),
    "funnel": ("kind", "source_file", "fate", "reason"),
    "sealed_calls": ("call_id",),
    "rejected_rows": ("kind", "source_file", "source_line", "call_id"),
    "excluded_calls": ("call_id",),
    "eligible_calls": ("call_id",),
    "resolved_outcomes": ("call_id",),
    "settlements": ("call_id",),
    "late_outcomes": ("call_id",),
    "late_prices": ("call_id",),
    "agent_season_brier": ("season_id", "agent_id"),
    "season_scores": ("season_id", "agent_id"),
}


def as_of_to_us(as_of: str | datetime) -> int:
    if isinstance(as_of, datetime):
        zoned = as_of.replace(tzinfo=UTC) if as_of.tzinfo is None else as_of
        return (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    us = parse_time_text(trim(as_of))
    if us is None:
        raise InputError(f"as_of {as_of!r} is no time")
    return us


def run(
    home: Path, as_of: str | datetime, previous: Ledger | None = None, backfill: str = "count"
) -> Result:
    """One night: read every landing file of ``home``, add to ``previous``, score.

    ``home`` is only read. ``previous`` is not changed. ``backfill``: ``count`` or ``exclude``.
    """
    if backfill not in ("count", "exclude"):
        raise ValueError(f"backfill must be count or exclude, not {backfill!r}")
    as_of_us = as_of_to_us(as_of)
    if previous is not None and as_of_us < previous.as_of_us:
        raise InputError(f"as_of {as_of} is before the last published as_of")

    inputs = Path(home) / "inputs"
    seasons = read_seasons(inputs / "seasons.csv")
    terms = read_score_terms(inputs / "score_terms.csv", {season.season_id for season in seasons})
    call_rows, call_files = read_landing(inputs / "calls", CALL_REQUIRED, CALL_OPTIONAL)
    price_rows, price_files = read_landing(inputs / "prices", PRICE_REQUIRED, PRICE_OPTIONAL)

    sealed, call_fates, carriers = _take_calls(call_rows, as_of_us, previous)
    season_by_call = {c.call_id: season_of(seasons, c.decided_at) for c in sealed.values()}
    fates = {
        c.call_id: sealed_fate(c, season_by_call[c.call_id], backfill) for c in sealed.values()
    }
    for index, call_id in carriers.items():
        call_fates[index] = fates[call_id]
    prices, price_fates = _take_prices(price_rows, as_of_us)

    eligible = [call for call in sealed.values() if fates[call.call_id].fate == "eligible"]
    settlements = dict(previous.settlements) if previous is not None else {}
    last_due = {season.season_id: season.last_due_us for season in seasons}
    after_final: set[str] = set()
    statuses: dict[str, str] = {}
    for call in eligible:
        if call.call_id in settlements:
            statuses[call.call_id] = settlements[call.call_id].status
            continue
        statuses[call.call_id], settlement = settle(call, prices, as_of_us)
        if settlement is not None:
            settlements[call.call_id] = settlement
    for call in eligible:
        season_id = season_by_call[call.call_id]
        assert season_id is not None
        assert call.due_at is not None
        if call.due_at > last_due[season_id]:
            after_final.add(call.call_id)
            statuses[call.call_id] = "due_after_final"

    settled_eligible = {
        c.call_id: settlements[c.call_id]
        for c in eligible
        if c.call_id in settlements and c.call_id not in after_final
    }
    agent_seasons = _agent_seasons(
        seasons, sealed, season_by_call, fates, statuses, settled_eligible, as_of_us
    )
    tables: dict[str, list[Row]] = {
        "input_files": [
            {"kind": kind, "source_file": name, "rows": rows}
            for kind, files in (("calls", call_files), ("prices", price_files))
            for name, rows in files.items()
        ],
        "funnel": _funnel("calls", call_rows, call_fates)
        + _funnel("prices", price_rows, price_fates),
        "sealed_calls": [
            _sealed_row(c, fates[c.call_id], season_by_call[c.call_id]) for c in sealed.values()
        ],
        "rejected_rows": _rejected_calls(call_rows, call_fates, sealed, fates, carriers)
        + _rejected_prices(price_rows, price_fates),
        "excluded_calls": [
            {
                "call_id": c.call_id,
                "agent_id": c.agent_id,
                "season_id": season_by_call[c.call_id],
                "reason": fates[c.call_id].reason,
            }
            for c in sealed.values()
            if fates[c.call_id].fate == "excluded"
        ],
        "eligible_calls": [_eligible_row(c, season_by_call[c.call_id]) for c in eligible],
        "resolved_outcomes": [
            _outcome_row(
                c, season_by_call[c.call_id], statuses[c.call_id], settled_eligible.get(c.call_id)
            )
            for c in eligible
        ],
        "late_outcomes": [
            _late_outcome_row(c, season_by_call[c.call_id], settlements[c.call_id])
            for c in eligible
            if c.call_id in after_final and c.call_id in settlements
        ],
        "settlements": [_settlement_row(s) for s in settlements.values()],
        "late_prices": _late_prices(sealed, settlements, prices),
        "agent_season_brier": agent_seasons,
        "season_scores": _season_scores(agent_seasons, terms),
    }
    for name, rows in tables.items():
        rows.sort(key=lambda row, name=name: _sort_key(row, TABLE_KEYS[name]))  # type: ignore[misc]
    return Result(Ledger(as_of_us, sealed, settlements), tables)


def _sort_key(row: Row, columns: tuple[str, ...]) -> tuple[tuple[bool, Any], ...]:
    return tuple((row[column] is not None, row[column]) for column in columns)


def _take_calls(
    rows: list[RawRow], as_of_us: int, previous: Ledger | None
) -> tuple[dict[str, SealedCall], list[Fate], dict[int, str]]:
    """All sealed calls, the fate of every row, and which row carries which sealed call's fate.

    The fates of the carrying rows are placeholders: the caller puts the sealed call's own there.
    """
    sealed = dict(previous.sealed) if previous is not None else {}
    fates: list[Fate] = []
    carriers: dict[int, str] = {}
    carried: set[str] = set()
    for index, row in enumerate(rows):
        early = early_fate(row, as_of_us)
        if early is not None:
            fates.append(early)
            continue
        call = seal_row(row, as_of_us)
        stands = sealed.setdefault(call.call_id, call)
        if stands.seal != call.seal:
            fates.append(Fate("rejected", "restated"))
        elif call.call_id in carried:
            fates.append(Fate("duplicate"))
        else:
            carried.add(call.call_id)
            carriers[index] = call.call_id
            fates.append(Fate("sealed"))
    return sealed, fates, carriers


def _take_prices(rows: list[RawRow], as_of_us: int) -> tuple[dict[str, list[Price]], list[Fate]]:
    """Usable prices by pool in the rule's order, and the fate of every row."""
    seen: set[Price] = set()
    fates: list[Fate] = []
    by_pool: dict[str, list[Price]] = {}
    for row in rows:
        fate, price = price_fate(row, as_of_us, seen)
        fates.append(fate)
        if price is not None:
            by_pool.setdefault(price.pool_id, []).append(price)
    for prices in by_pool.values():
        prices.sort(key=Price.order)  # stable: rows came in file-name and line order
    return by_pool, fates


def _funnel(kind: str, rows: list[RawRow], fates: list[Fate]) -> list[Row]:
    counts: dict[tuple[str, str, str | None], int] = {}
    for row, fate in zip(rows, fates, strict=True):
        key = (row.source_file, fate.fate, fate.reason)
        counts[key] = counts.get(key, 0) + 1
    return [
        {"kind": kind, "source_file": name, "fate": fate, "reason": reason, "rows": count}
        for (name, fate, reason), count in counts.items()
    ]


def _rejected_calls(
    rows: list[RawRow],
    row_fates: list[Fate],
    sealed: dict[str, SealedCall],
    fates: dict[str, Fate],
    carriers: dict[int, str],
) -> list[Row]:
    """Rejected rows of tonight, and rejected sealed calls whose row has vanished."""
    table = [
        {
            "kind": "calls",
            "source_file": row.source_file,
            "source_line": row.source_line,
            "call_id": parse_text(row.cell("call_id")),
            "agent_id": parse_text(row.cell("agent_id")),
            "reason": fate.reason,
        }
        for row, fate in zip(rows, row_fates, strict=True)
        if fate.fate == "rejected"
    ]
    present = set(carriers.values())
    table += [
        {
            "kind": "calls",
            "source_file": call.source_file,
            "source_line": call.source_line,
            "call_id": call.call_id,
            "agent_id": call.agent_id,
            "reason": fates[call.call_id].reason,
        }
        for call in sealed.values()
        if fates[call.call_id].fate == "rejected" and call.call_id not in present
    ]
    return table


def _rejected_prices(rows: list[RawRow], fates: list[Fate]) -> list[Row]:
    return [
        {
            "kind": "prices",
            "source_file": row.source_file,
            "source_line": row.source_line,
            "call_id": None,
            "agent_id": None,
            "reason": fate.reason,
        }
        for row, fate in zip(rows, fates, strict=True)
        if fate.fate == "rejected"
    ]


def _value(number: Number | None) -> float | None:
    return None if number is None else number.value


def _sealed_row(call: SealedCall, fate: Fate, season_id: str | None) -> Row:
    return {
        "call_id": call.call_id,
        "agent_id": call.agent_id,
        "pool_id": call.pool_id,
        "action": call.action,
        "decider": call.decider,
        "confidence": _value(call.confidence),
        "horizon_hours": _value(call.horizon_hours),
        "reference_price": _value(call.reference_price),
        "decided_at": call.decided_at,
        "recorded_at": call.recorded_at,
        "order_status": call.order_status,
        "mandate_id": call.mandate_id,
        "model_version": call.model_version,
        "question_id": call.question_id,
        "seal": call.seal,
        "first_seen_as_of": call.first_seen_as_of,
        "is_backfilled": is_backfilled(call),
        "fate": fate.fate,
        "reason": fate.reason,
        "season_id": season_id,
        "source_file": call.source_file,
        "source_line": call.source_line,
    }


def _eligible_row(call: SealedCall, season_id: str | None) -> Row:
    due = call.due_at
    assert due is not None
    return {
        "call_id": call.call_id,
        "agent_id": call.agent_id,
        "season_id": season_id,
        "pool_id": call.pool_id,
        "question_id": call.question_id,
        "action": call.action,
        "decider": call.decider,
        "order_status": call.order_status,
        "confidence": _value(call.confidence),
        "horizon_hours": _value(call.horizon_hours),
        "reference_price": _value(call.reference_price),
        "decided_at": call.decided_at,
        "due_at": due,
        "window_closes_at": due + WINDOW_US,
        "expires_at": due + EXPIRY_US,
        "model_version": call.model_version,
        "mandate_id": call.mandate_id,
        "seal": call.seal,
    }


def _stated_confidence(call: SealedCall) -> float:
    value = _value(call.confidence)
    assert value is not None
    return value


def _outcome_row(
    call: SealedCall, season_id: str | None, status: str, settlement: Settlement | None
) -> Row:
    outcome = None if settlement is None else settlement.outcome
    return {
        "call_id": call.call_id,
        "agent_id": call.agent_id,
        "season_id": season_id,
        "pool_id": call.pool_id,
        "status": status,
        "outcome": outcome,
        "is_flat": None if settlement is None else settlement.is_flat,
        "price": None if settlement is None else settlement.price,
        "price_recorded_at": None if settlement is None else settlement.price_recorded_at,
        "settled_at": None if settlement is None else settlement.settled_at,
        "squared_error": None if outcome is None else loss_of(_stated_confidence(call), outcome),
    }


def _late_outcome_row(call: SealedCall, season_id: str | None, settlement: Settlement) -> Row:
    row = _outcome_row(call, season_id, settlement.status, settlement)
    del row["pool_id"]
    return {**row, "due_at": call.due_at}


def _settlement_row(settlement: Settlement) -> Row:
    return {
        "call_id": settlement.call_id,
        "status": settlement.status,
        "outcome": settlement.outcome,
        "is_flat": settlement.is_flat,
        "price": settlement.price,
        "price_recorded_at": settlement.price_recorded_at,
        "settled_at": settlement.settled_at,
    }


def _late_prices(
    sealed: dict[str, SealedCall],
    settlements: dict[str, Settlement],
    prices: dict[str, list[Price]],
) -> list[Row]:
    """Settled calls for which the rule, on all prices now known, would choose another price."""
    table: list[Row] = []
    for settlement in settlements.values():
        call = sealed[settlement.call_id]
        due = call.due_at
        assert due is not None
        found = first_in_window(prices, call.pool_id, due)
        if found is None:
            continue
        chosen = (settlement.price_recorded_at, settlement.price)
        if (found.recorded_at, found.price) == chosen:
            continue
        table.append(
            {
                "call_id": call.call_id,
                "price": found.price,
                "price_recorded_at": found.recorded_at,
                "outcome_it_would_give": outcome_of(
                    call.action, found.price, reference_value(call)
                ),
                "settled_status": settlement.status,
                "settled_outcome": settlement.outcome,
            }
        )
    return table


def _agent_seasons(
    seasons: list[Season],
    sealed: dict[str, SealedCall],
    season_by_call: dict[str, str | None],
    fates: dict[str, Fate],
    statuses: dict[str, str],
    settled: dict[str, Settlement],
    as_of_us: int,
) -> list[Row]:
    ends = {season.season_id: season.ends_us for season in seasons}
    groups: dict[tuple[str, str], list[SealedCall]] = {}
    for call in sealed.values():
        season_id = season_by_call[call.call_id]
        if season_id is not None:
            groups.setdefault((season_id, call.agent_id), []).append(call)

    table: list[Row] = []
    for (season_id, agent_id), calls in groups.items():
        eligible = [c for c in calls if fates[c.call_id].fate == "eligible"]
        rejected = sum(fates[c.call_id].fate == "rejected" for c in calls)
        missing = sum(fates[c.call_id].reason in MISSING for c in calls)
        directional = len(eligible) + rejected + missing
        if directional == 0:
            continue
        status_counts = {
            status: sum(statuses[c.call_id] == status for c in eligible)
            for status in ("pending", "open", "resolved", "expired", "due_after_final")
        }
        resolved = [c for c in eligible if statuses[c.call_id] == "resolved"]
        n = len(resolved)
        losses: list[float] = []
        correct = flat = 0
        for call in resolved:
            settlement = settled[call.call_id]
            assert settlement.outcome is not None
            losses.append(loss_of(_stated_confidence(call), settlement.outcome))
            correct += settlement.outcome
            flat += bool(settlement.is_flat)
        brier = brier_of(losses)
        skill = skill_of(brier)
        calibration = calibration_of(skill, n)
        table.append(
            {
                "season_id": season_id,
                "agent_id": agent_id,
                "directional_calls": directional,
                "eligible_calls": len(eligible),
                "rejected_calls": rejected,
                "missing_calls": missing,
                "refused_calls": sum(c.order_status == "refused" for c in eligible),
                "backfilled_calls": sum(is_backfilled(c) for c in eligible),
                "pending_calls": status_counts["pending"],
                "open_calls": status_counts["open"],
                "resolved_calls": n,
                "expired_calls": status_counts["expired"],
                "due_after_final": status_counts["due_after_final"],
                "correct_calls": correct,
                "flat_calls": flat,
                "coverage": len(eligible) / directional,
                "hit_rate": correct / n if n else None,
                "mean_confidence": (
                    decimal_sum(_stated_confidence(c) for c in resolved) / n if n else None
                ),
                "brier": brier,
                "skill": skill,
                "calibration": calibration,
                "calibration_status": "waiting" if calibration is None else "measured",
                "calls_needed": max(0, NEEDED_CALLS - n),
                "is_final": (
                    as_of_us >= ends[season_id]
                    and status_counts["pending"] == status_counts["open"] == 0
                ),
            }
        )
    return table


def _season_scores(agent_seasons: list[Row], terms: ScoreTerms) -> list[Row]:
    calibrations: dict[tuple[str, str], float | None] = {
        (row["season_id"], row["agent_id"]): row["calibration"] for row in agent_seasons
    }
    table: list[Row] = []
    for season_id, agent_id in calibrations.keys() | terms.values.keys():
        weights = {**terms.weights.get(season_id, {}), "calibration": CALIBRATION_WEIGHT}
        values = dict(terms.values.get((season_id, agent_id), {}))
        calibration = calibrations.get((season_id, agent_id))
        if calibration is not None:
            values["calibration"] = calibration
        measured = {term: (weights[term], values[term]) for term in sorted(values)}
        score, effective = score_of(measured)
        table.append(
            {
                "season_id": season_id,
                "agent_id": agent_id,
                "score": score,
                "measured_terms": sorted(measured),
                "waiting_terms": sorted(weights.keys() - measured.keys()),
                "effective_weights": effective,
            }
        )
    return table
