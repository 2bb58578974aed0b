"""Hypothesis strategies: small hostile homes, and histories of nights on such a home.

Everything drawn is a plain value object; ``write`` turns it into landing files. Cells are text (or
None for missing), whatever the file format, so a row means the same in every format and rows can
be moved between files.

- :func:`homes` draws a :class:`GeneratedHome`. ``order_free=True``: no restated calls, no repeats
  that differ beside the seal and no price conflicts that only file order decides, so that permuting
  rows and files changes nothing but source columns.
- :func:`histories` draws a :class:`GeneratedHistory`, late or with nothing late.
"""

import io
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from augur_pipeline_tests import reference as ref

Cells = dict[str, str | None]


@dataclass(frozen=True)
class Broken:
    """A malformed row, as one physical line per text format; Parquet cannot hold it."""

    csv: str  # what is wrong with it: see BROKEN_CSV
    jsonl: bytes


GeneratedRow = Cells | Broken
SeasonText = tuple[str, str, str, str]
TermText = tuple[str, str, str, str, str]

MINUTE_US = 60_000_000
SEASON_1_US = ref.as_of_to_us("2026-01-05")
SEASON_2_US = ref.as_of_to_us("2026-02-01")
SEASONS_END_US = ref.as_of_to_us("2026-03-01")
FAR_US = ref.as_of_to_us("2027-06-01")  # later than anything drawn here, not-yet rows excepted
NEVER_US = ref.as_of_to_us("2150-01-01")


# ---------------------------------------------------------------------------------------------
# Writing landing files
# ---------------------------------------------------------------------------------------------

BROKEN_CSV: dict[str, Callable[[int], bytes]] = {
    "too_few": lambda n: b"only,two",
    "too_many": lambda n: b"x" + b"," * n,
    "after_quote": lambda n: b'"x"y' + b"," * (n - 1),
    "undecodable": lambda n: b"\xff\xc3" + b"," * (n - 1),
    "encoded_surrogate": lambda n: b"\xed\xa0\x80" + b"," * (n - 1),
    "lone_cr": lambda n: b"x\ry" + b"," * (n - 1),
    "blank_but_spaces": lambda n: b"  ",
    "quoted_break_too_few": lambda n: b'"a\nb",c',
}
BROKEN_JSONL = (
    b"[1,2]",
    b'"text"',
    b"42",
    b"null",
    b"nonsense",
    b'{"call_id": ',
    b'{"call_id":"x",}',
    b'{"call_id":"x"} y',
    b'{"call_id":"\xff"}',
    b'{"call_id":"\\ud800"}',
    b'{"call_id":"a\tb"}',
    b'{"confidence":01}',
    b'{"confidence":nan}',
)
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NUMERIC = ("confidence", "horizon_hours", "reference_price", "price", "sequence")
_TIMES = ("decided_at", "recorded_at")


@dataclass(frozen=True)
class Style:
    """How one file is written. Nothing here changes what a row means."""

    quote_all: bool = False
    crlf: bool = False
    bom: bool = False
    final_newline: bool = True
    blank_lines: bool = False
    padded_header: bool = False
    extra_column: bool = False
    reverse_columns: bool = False
    drop_empty_optional: bool = False
    json_ascii: bool = False
    json_literals: bool = False
    json_leave_out: bool = False
    typed: bool = False
    time_unit: str = "us"
    zone: str | None = "UTC"


@dataclass(frozen=True)
class GeneratedFile:
    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    rows: tuple[GeneratedRow, ...]
    style: Style = Style()

    def columns(self) -> list[str]:
        given = [
            column
            for column in self.optional
            if not self.style.drop_empty_optional
            or any(row.get(column) is not None for row in self.cells())
        ]
        columns = [*self.required, *given]
        return columns[::-1] if self.style.reverse_columns else columns

    def cells(self) -> list[Cells]:
        return [row for row in self.rows if not isinstance(row, Broken)]

    def content(self) -> bytes:
        suffix = self.name.rpartition(".")[2]
        return {"csv": self._csv, "jsonl": self._jsonl, "parquet": self._parquet}[suffix]()

    def _csv(self) -> bytes:
        style, columns = self.style, self.columns()
        names = [f" {name}\t" for name in columns] if style.padded_header else list(columns)
        extra = ['no,"te"'] if style.extra_column else []
        lines = [self._csv_line([*names, *extra])]
        for number, row in enumerate(self.rows):
            if isinstance(row, Broken):
                lines.append(BROKEN_CSV[row.csv](len(names) + len(extra)))
            else:
                lines.append(self._csv_line([*(row.get(column) for column in columns), *extra]))
            if style.blank_lines and number % 3 == 1:
                lines.append(b"")
        end = b"\r\n" if style.crlf else b"\n"
        text = end.join(lines) + (end if style.final_newline else b"")
        return (b"\xef\xbb\xbf" if style.bom else b"") + text

    def _csv_line(self, fields: Iterable[str | None]) -> bytes:
        out: list[str] = []
        for text in fields:
            text = text or ""
            if self.style.quote_all or any(char in text for char in ',"\r\n'):
                text = '"' + text.replace('"', '""') + '"'
            out.append(text)
        return ",".join(out).encode()

    def _jsonl(self) -> bytes:
        style, columns = self.style, self.columns()
        lines: list[bytes] = []
        is_first = True
        for number, row in enumerate(self.rows):
            if isinstance(row, Broken):
                lines.append(row.jsonl)
                continue
            members: list[str] = []
            for column in columns:
                text = row.get(column)
                # The first object names every key, so that no required key is missing everywhere.
                if text is None and style.json_leave_out and not is_first and number % 2:
                    continue
                members.append(f"{json.dumps(column)}: {self._json_value(column, text)}")
            if style.extra_column:
                members.append('"note": {"a": [null, 1.0e2]}')
            is_first = False
            lines.append(("{" + ", ".join(members) + "}").encode())
            if style.blank_lines and number % 3 == 1:
                lines.append(b"")
        end = b"\r\n" if style.crlf else b"\n"
        return end.join(lines) + (end if style.final_newline and lines else b"")

    def _json_value(self, column: str, text: str | None) -> str:
        if text is None:
            return "null"
        is_literal = text in ("true", "false", '{"a":1}', "[0.8]") or (
            column in _NUMERIC and _JSON_NUMBER.fullmatch(text) is not None
        )
        if self.style.json_literals and is_literal:
            return text
        return json.dumps(text, ensure_ascii=self.style.json_ascii)

    def _parquet(self) -> bytes:
        rows, columns = self.cells(), self.columns()
        arrays = [self._array(column, [row.get(column) for row in rows]) for column in columns]
        names = list(columns)
        if self.style.extra_column:
            names.append("note")
            arrays.append(pa.array([[1, 2]] * len(rows), pa.list_(pa.int64())))
        sink = io.BytesIO()
        pq.write_table(pa.table(arrays, names=names), sink)
        return sink.getvalue()

    def _array(self, column: str, texts: list[str | None]) -> pa.Array:
        """A typed column where every text has an exact typed value, else strings."""
        if self.style.typed and column == "sequence":
            sequences = [ref.parse_sequence(text) for text in texts]
            if not any(sequence.is_bad for sequence in sequences):
                return pa.array([sequence.value for sequence in sequences], pa.int64())
        elif self.style.typed and column in _NUMERIC:
            numbers = [ref.parse_number(text) for text in texts]
            if all(n is None or n.value is not None or n.text in _NONFINITE for n in numbers):
                values = [
                    None if n is None else _NONFINITE.get(n.text) if n.value is None else n.value
                    for n in numbers
                ]
                return pa.array(values, pa.float64())
        elif self.style.typed and column in _TIMES:
            times = [ref.parse_time(text) for text in texts]
            if all(
                time is not None or text is None for time, text in zip(times, texts, strict=True)
            ):
                kind = pa.timestamp(self.style.time_unit, self.style.zone)
                # 999 ns more than the microsecond, to be cut.
                scale, more = (1000, 999) if self.style.time_unit == "ns" else (1, 0)
                stamps = [None if t is None else t * scale + more for t in times]
                return pa.array(stamps, pa.int64()).cast(kind)
        return pa.array(texts, pa.string())


_NONFINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _plain_csv(header: str, rows: Iterable[Sequence[str]]) -> bytes:
    lines = [header, *(",".join('"' + c.replace('"', '""') + '"' for c in row) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def shown(us: int) -> str:
    """A time as the contract's text, for ``as_of`` and messages."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True)
class GeneratedHome:
    """A home's inputs. ``moments_us``: instants at which something happens in it."""

    as_of: str
    calls: tuple[GeneratedFile, ...]
    prices: tuple[GeneratedFile, ...]
    seasons: tuple[SeasonText, ...]
    score_terms: tuple[TermText, ...] | None
    moments_us: tuple[int, ...] = ()

    def write(
        self,
        home: Path,
        calls: Iterable[str] | None = None,
        prices: Iterable[str] | None = None,
        seasons: tuple[SeasonText, ...] | None = None,
    ) -> None:
        """Write the inputs below ``home``: only the named landing files, all when None.

        Landing files of an earlier ``write`` that are not named are removed.
        """
        inputs = home / "inputs"
        for kind, files, names in (
            ("calls", self.calls, calls),
            ("prices", self.prices, prices),
        ):
            folder = inputs / kind
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.iterdir():
                old.unlink()
            wanted = None if names is None else set(names)
            for file in files:
                if wanted is None or file.name in wanted:
                    (folder / file.name).write_bytes(file.content())
        rows = self.seasons if seasons is None else seasons
        (inputs / "seasons.csv").write_bytes(
            _plain_csv("season_id,starts_at,ends_at,max_horizon_hours", rows)
        )
        terms = inputs / "score_terms.csv"
        terms.unlink(missing_ok=True)
        if self.score_terms is not None:
            terms.write_bytes(_plain_csv("season_id,agent_id,term,weight,value", self.score_terms))

    def permuted(self, seed: int) -> "GeneratedHome":
        """The same rows, dealt anew over the same files of their kind in another order.

        Broken rows stay in their file (what is broken depends on the format).
        """
        shuffler = random.Random(seed)
        return replace(
            self,
            calls=_permuted(self.calls, shuffler),
            prices=_permuted(self.prices, shuffler),
        )


def _permuted(
    files: tuple[GeneratedFile, ...], shuffler: random.Random
) -> tuple[GeneratedFile, ...]:
    dealt: list[list[GeneratedRow]] = [
        [row for row in file.rows if isinstance(row, Broken)] for file in files
    ]
    for file in files:
        for row in file.cells():
            shuffler.choice(dealt).append(row)
    for rows in dealt:
        shuffler.shuffle(rows)
    return tuple(replace(f, rows=tuple(rows)) for f, rows in zip(files, dealt, strict=True))


# ---------------------------------------------------------------------------------------------
# Hostile texts
# ---------------------------------------------------------------------------------------------

HOSTILE_IDS = (
    "../../etc/passwd",
    "C:\\temp\\x",
    "a/b",
    'quo"te',
    "it's",
    "comma,comma",
    "new\nline",
    "crlf\r\nline",
    "cr\rhere",
    "back\\nslash",
    "'; DROP TABLE sealed_calls; --",
    "<script>alert(1)</script>",
    "${x} {y} %s %(z)s $1 ?",
    "naïve",
    "nai\u0308ve",
    "名前",
    "\U0001f986",
    "\u00a0nbsp\u00a0",
    "\u0085nel",
    "line\u2028separator",
    "rtl\u202eid",
    "zero\u200bwidth",
    "\ufeffbom",
    "tab\tinside",
    "two  blanks",
    "unit\x1fseparator",
    "NULL",
    "null",
    "nan",
    "0",
    "00",
    "1e3",
    "true",
    "=1+1",
    ".",
    "..",
    "con",
    "%2e%2e",
    "Alice",
    "ALICE",
    "x" * 300,
)
NUL_ID = "nul\x00inside"
BAD_NUMBERS = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "+Infinity",
    "1e999",
    "-1e999",
    "0x1p-1",
    "0x10",
    "1_000",
    "0,8",
    "1 000",
    "\u0660.\u0668",
    "\uff11",
    "-",
    "+",
    ".",
    "e5",
    "1e",
    "1e+",
    "1e5.0",
    "0.8.1",
    "80%",
    "\u00bd",
    "+-1",
    "--1",
    "true",
    "NULL",
    "n/a",
    "0.8f",
    "1d",
    "$5",
    "[0.8]",
    "0.8\\n",
    "0.\n8",
    "\u00a00.8",
)
BAD_TIMES = (
    "epoch",
    "infinity",
    "-infinity",
    "now",
    "today",
    "2026-1-7",
    "26-01-07",
    "2026-01-07T",
    "2026-01-07T10",
    "2026-01-07T1:00",
    "2026-01-07T24:00",
    "2026-01-07T24:00:00Z",
    "2026-01-07T10:60",
    "2026-01-07T10:00:60",
    "2026-01-07T23:59:60Z",
    "2026-02-30",
    "2025-02-29T00:00Z",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00",
    "0000-01-01",
    "2026-01-07T10:00:00.",
    "2026-01-07T10:00.5",
    "2026-01-07T10:00:00,5",
    "2026-01-07T10:00:00 Z",
    "2026-01-07T10:00:00 +01:00",
    "2026-01-07T10:00:00 UTC",
    "2026-01-07T10:00:00 Europe/Berlin",
    "2026-01-07T10:00+24:00",
    "2026-01-07T10:00+23:60",
    "2026-01-07T10:00+1",
    "2026-01-07T10:00+1:00",
    "2026-01-07T10:00+010",
    "2026-01-07T10:00+01:00:00",
    "2026-01-07T10:00ZZ",
    "2026-01-07T10:00Z+01",
    "2026-01-07Z",
    "2026-01-07+01:00",
    "2026-01-07  10:00",
    "2026-01-07\t10:00",
    "2026-01-07x10:00",
    "20260107T100000Z",
    "2026-W02-3",
    "2026-007",
    "07/01/2026",
    "2026/01/07",
    "-2026-01-07",
    "+2026-01-07",
    "12026-01-07",
    "1767780000",
    "1767780000.5",
    "\uff12\uff10\uff12\uff16-01-07",
    "2026-01-07T10:00\u22121:00",
    "2026-01-07 (BC)",
    "1969-12-31T23:59:59.999999Z",
    "1969-12-31T23:59:59.9999999Z",
    "1970-01-01T00:00+00:01",
    "2200-01-01T00:00:00.000001Z",
    "2200-01-01T00:00-00:01",
    "9999-12-31",
)
CONFIDENCES = (
    "0.9",
    "0.8",
    "0.7",
    "0.6",
    "0.5",
    "0.55",
    "0.45",
    "0.333333",
    "1",
    "1.0",
    "0",
    "-0",
    "-0.0",
    "0.50",
    ".75",
    "0.",
    "8e-1",
    "8E-01",
    "+0.65",
    "1e-400",
    "0.1234567890123456789",
    "0.70000000000000001",
    "5e-324",
    "0.99999999999999994",
)
OUT_OF_RANGE = ("80", "1.01", "1.0000000000000003", "-0.1", "-1e-300", "1e300", "2")
HORIZONS = (
    "24",
    "24.0",
    "1",
    "1.5",
    "0.25",
    "2",
    "6",
    "48",
    "2.4e1",
    "+12",
    "0.016666666666666666",
    "0.000000001",
)
EDGE_HORIZONS = (
    "87600",
    "87600.0",
    "87599.99999999999",
    "2.7777777777777778e-10",
    "1.3888888888888890e-10",
    "4.1666666666666667e-10",
    "240",
    "168",
    "8760",
)
SHORT_HORIZONS = ("0", "-0", "-24", "1.3888888888888888e-10", "1e-10", "1e-400", "-1e300")
LONG_HORIZONS = ("87600.00000000001", "87600.0001", "87601", "1e9", "1e300")
REFERENCES = (
    "100",
    "100.0",
    "99.5",
    "1e2",
    "0.1",
    "12345.678901234567",
    "1e-320",
    "1e17",
    "232.82000732421875",
)
NOT_POSITIVE = ("0", "-0", "0.0", "-5", "1e-400", "-1e-320")
GOOD_SEQUENCES = (
    "1",
    "2",
    "007",
    "+3",
    "-5",
    "1.0",
    "2e0",
    "0.03e2",
    "9007199254740993",
    "9007199254740992.0",
    "9223372036854775807",
    "-9223372036854775808",
)
BAD_SEQUENCES = (
    "9223372036854775808",
    "-9223372036854775809",
    "1.5",
    "x",
    "nan",
    "9007199254740994.0",
    "1e300",
    "1e999",
    "0x1",
    "1_0",
    "true",
)
CALL_FILE_NAMES = (
    "calls.csv",
    "Calls.csv",
    "10.csv",
    "9.csv",
    "a.jsonl",
    "B.jsonl",
    "\u00e9t\u00e9.jsonl",
    "m.parquet",
    "Z.parquet",
    "with space.csv",
    "quo'te.csv",
    "[x]*.csv",
    "key=1.parquet",
    "%41.jsonl",
    "two.csv.parquet",
)
PRICE_FILE_NAMES = (
    "prices.csv",
    "Prices.jsonl",
    "p.parquet",
    "9.csv",
    "10.jsonl",
    "[x]?.parquet",
    "semi;colon.csv",
    "\u00fc.csv",
)

PADS = (("", ""), (" ", " "), ("\t", "\r\n"), ("\x0b", "\x0c"), ("\n", ""))


def padded(text: str, pick: int) -> str:
    before, after = PADS[pick % len(PADS)]
    return before + text + after


def time_text(us: int, pick: int) -> str:
    """The instant in one of many spellings of the contract's grammar."""
    offsets = (
        (0, "Z"),
        (0, ""),
        (0, "z"),
        (0, "+00:00"),
        (0, "-0000"),
        (330, "+05:30"),
        (-480, "-08:00"),
        (120, "+02"),
        (-570, "-0930"),
        (1439, "+23:59"),
        (-1439, "-2359"),
    )
    minutes, offset = offsets[pick % len(offsets)]
    moment = datetime(1970, 1, 1) + timedelta(microseconds=us + minutes * MINUTE_US)
    separator = "T t"[pick % 3]
    day = moment.strftime("%Y-%m-%d")
    if minutes == 0 and moment.time().isoformat() == "00:00:00" and pick % 4 == 0:
        return day
    clock = moment.strftime("%H:%M:%S")
    if moment.microsecond:
        fraction = f".{moment.microsecond:06d}"
        clock += (fraction, fraction + "9", fraction + "999999999", fraction.rstrip("0"))[pick % 4]
    elif moment.second == 0 and pick % 5 == 0:
        clock = moment.strftime("%H:%M")
    elif pick % 5 == 1:
        clock += ".0000009"  # cut
    return f"{day}{separator}{clock}{offset}"


# ---------------------------------------------------------------------------------------------
# Calls and their prices
# ---------------------------------------------------------------------------------------------

Trap = Callable[[Cells, int], None]


def _set(column: str, texts: Sequence[str | None]) -> Trap:
    def trap(cells: Cells, pick: int) -> None:
        cells[column] = texts[pick % len(texts)]

    return trap


def _hold(cells: Cells, pick: int) -> None:
    cells["action"] = ("hold", "HOLD", " Hold ")[pick % 3]
    rubbish = ("0", None, "nan", "-1", "n/a")
    cells["confidence"] = rubbish[pick % 5]
    cells["horizon_hours"] = rubbish[(pick + 1) % 5]
    cells["reference_price"] = rubbish[(pick + 2) % 5]


def _not_own(cells: Cells, pick: int) -> None:
    cells["decider"] = ("protective_exit", "system", "SYSTEM", "Protective_Exit ")[pick % 4]
    if pick % 3 == 0:
        cells["confidence"] = cells["horizon_hours"] = cells["reference_price"] = "0"


def _decided_us(cells: Cells) -> int:
    return ref.parse_time(cells["decided_at"]) or SEASON_1_US


def _due_us(cells: Cells) -> int:
    horizon = ref.parse_number(cells["horizon_hours"])
    if horizon is None or ref.horizon_reason(horizon) is not None:
        return _decided_us(cells) + ref.HOUR_US
    return _decided_us(cells) + ref.to_horizon_us(horizon.value)


def _recorded(cells: Cells, pick: int) -> None:
    decided, due = _decided_us(cells), _due_us(cells)
    at = (
        decided,
        decided + 1,
        decided - 1,
        decided - ref.HOUR_US,
        due - 1,
        due,
        due + 1,
        due + ref.WINDOW_US,
        due + ref.EXPIRY_US,
        NEVER_US,
    )[pick % 10]
    cells["recorded_at"] = time_text(max(at, 0), pick)


def _decided_edge(cells: Cells, pick: int) -> None:
    at = (
        SEASON_1_US,
        SEASON_1_US - 1,
        SEASON_2_US,
        SEASON_2_US - 1,
        SEASONS_END_US,
        SEASONS_END_US - 1,
        SEASON_1_US - 30 * ref.DAY_US,
        0,
        NEVER_US,
        ref.TIME_MAX_US,
    )[pick % 10]
    # A spelling with an offset could leave the years 1970 to 2200 in local time: use plain Z.
    cells["decided_at"] = shown(at)


def _late_due(cells: Cells, pick: int) -> None:
    """Due on the last instant that counts in its season (its end plus 24 h), or after it."""
    season_end = (SEASON_2_US, SEASONS_END_US)[pick % 2]
    cells["decided_at"] = shown(season_end - ref.HOUR_US)
    horizons = ("25", "25.0000000002777778", "26", "49", "240", "87600")
    cells["horizon_hours"] = horizons[pick // 2 % len(horizons)]


def _blank_ids(cells: Cells, pick: int) -> None:
    for column in ("call_id", "agent_id", "pool_id"):
        cells[column] = padded(cells[column] or "", pick)


TRAPS: dict[str, Trap] = {
    "hold": _hold,
    "not_own_decider": _not_own,
    "bad_confidence": _set("confidence", BAD_NUMBERS),
    "confidence_out_of_range": _set("confidence", OUT_OF_RANGE),
    "missing_confidence": _set("confidence", (None, "", "  ", "\t")),
    "bad_horizon": _set("horizon_hours", BAD_NUMBERS),
    "short_horizon": _set("horizon_hours", SHORT_HORIZONS),
    "long_horizon": _set("horizon_hours", LONG_HORIZONS),
    "edge_horizon": _set("horizon_hours", EDGE_HORIZONS),
    "missing_horizon": _set("horizon_hours", (None, "", " ")),
    "bad_reference": _set("reference_price", BAD_NUMBERS),
    "reference_not_positive": _set("reference_price", NOT_POSITIVE),
    "missing_reference": _set("reference_price", (None, "", "\x0b")),
    "missing_call_id": _set("call_id", (None, "", " \t\r\n\x0b\x0c")),
    "missing_agent_id": _set("agent_id", (None, "", "  ")),
    "missing_pool_id": _set("pool_id", (None, "", "\n")),
    "bad_decided_at": _set("decided_at", (*BAD_TIMES, None, "", " ")),
    "bad_recorded_at": _set("recorded_at", BAD_TIMES),
    "recorded_at": _recorded,
    "decided_edge": _decided_edge,
    "late_due": _late_due,
    "unknown_action": _set("action", ("short", "", None, "buy sell", "b\u00fcy", "hold.", "0")),
    "unknown_decider": _set("decider", ("human", "", None, "llm2", "protective exit")),
    "unknown_status": _set("order_status", ("filled", "accepted!", "0", "null")),
    "refused": _set("order_status", ("refused", "REFUSED", " Refused\t")),
    "blank_ids": _blank_ids,
}
TRAP_NAMES = (*sorted(TRAPS), "recorded_at", "recorded_at", "decided_edge", *["late_due"] * 4)
# What a further row of the same call may look like.
REPEATS = ("none",) * 14 + ("exact", "respelled", "other_columns", "restated", "restated_twice")
PRICE_PLANS = (
    *("right",) * 7,
    *("wrong",) * 5,
    "flat",
    "at_due",
    "at_close",
    "just_before",
    "just_after",
    "outside_both",
    "none",
    "two_later",
    "conflict",
    "conflict_sequenced",
    "conflict_half_sequenced",
    "duplicate",
    "bad_then_good",
    "far_later",
)


def _repeat(cells: Cells, kind: str, pick: int) -> list[Cells]:
    again = dict(cells)
    if kind == "respelled":
        confidence = ref.parse_number(cells["confidence"])
        if confidence is not None and confidence.value is not None:
            again["confidence"] = (
                f"+{abs(confidence.value)!r}" if confidence.value >= 0 else (cells["confidence"])
            )
        decided = ref.parse_time(cells["decided_at"])
        if decided is not None and SEASON_1_US < decided < SEASONS_END_US:
            again["decided_at"] = time_text(decided, pick)
        again["action"] = (cells["action"] or "").upper() or None
        again["pool_id"] = padded(cells["pool_id"] or "", pick) or None
    elif kind == "other_columns":
        again["model_version"] = "other"
        again["order_status"] = ("refused", "accepted", None)[pick % 3]
        again["recorded_at"] = cells["decided_at"] if pick % 2 else None
    elif kind in ("restated", "restated_twice"):
        column = (
            "confidence",
            "action",
            "reference_price",
            "agent_id",
            "pool_id",
            "horizon_hours",
            "decider",
            "decided_at",
            "confidence",
        )[pick % 9]
        again[column] = {
            "confidence": ("0.75", None, "nan")[pick % 3],
            "action": ("sell", "hold", "buy")[pick % 3],
            "reference_price": "101",
            "agent_id": "someone else",
            "pool_id": "elsewhere",
            "horizon_hours": "3",
            "decider": "deterministic",
            "decided_at": shown(SEASON_1_US + pick * MINUTE_US),
        }[column]
        if kind == "restated_twice":
            return [again, dict(again), dict(cells)]
    return [again]


def _price(pool: str | None, us: int, price: str, sequence: str | None, pick: int) -> Cells:
    return {
        "pool_id": pool if pick % 6 or pool is None else padded(pool, pick),
        "recorded_at": time_text(us, pick),
        "price": price,
        "sequence": sequence,
    }


def _planned_prices(cells: Cells, plan: str, pick: int) -> list[Cells]:
    """Prices around the due time of a call whose sealed fields are good."""
    due, pool = _due_us(cells), cells["pool_id"]
    number = ref.parse_number(cells["reference_price"])
    reference = 100.0 if number is None or number.value is None else number.value
    is_sell = ref.parse_enumeration(cells["action"]) == "sell"
    good, bad = reference * (0.97 if is_sell else 1.03), reference * (1.02 if is_sell else 0.98)
    close = due + ref.WINDOW_US
    inside = due + (pick * 7 % 119) * MINUTE_US + 30_000_000
    sequences = GOOD_SEQUENCES

    def price(us: int, value: float, sequence: str | None = None) -> Cells:
        return _price(pool, us, repr(value), sequence, pick)

    if plan == "right":
        return [price(inside, good)]
    if plan == "wrong":
        return [price(inside, bad)]
    if plan == "flat":
        return [price(inside, reference)]
    if plan == "at_due":
        return [price(due, good), price(due - 1, bad), price(due + 1, bad)]
    if plan == "at_close":
        return [price(close, good), price(close + 1, bad)]
    if plan == "just_before":
        return [price(due - 1, good)]
    if plan == "just_after":
        return [price(close + 1, good)]
    if plan == "outside_both":
        return [price(close + 1, good), price(due - 1, bad)]
    if plan == "two_later":
        return [price(inside + 1, bad), price(inside, good)]
    if plan == "conflict":
        return [price(inside, good), price(inside, bad)]
    if plan == "conflict_sequenced":
        first, second = sequences[pick % 12], sequences[(pick + 1 + pick % 7) % 12]
        return [price(inside, good, first), price(inside, bad, second)]
    if plan == "conflict_half_sequenced":
        return [price(inside, good, None), price(inside, bad, sequences[pick % 12])]
    if plan == "duplicate":
        once = price(inside, good, (None, "1")[pick % 2])
        return [once, {**once, "recorded_at": time_text(inside, pick + 3)}, price(inside, good)]
    if plan == "bad_then_good":
        return [
            {**price(due, 0.0), "price": (*NOT_POSITIVE, *BAD_NUMBERS)[pick % 30]},
            {**price(due + 1, bad), "sequence": BAD_SEQUENCES[pick % len(BAD_SEQUENCES)]},
            price(inside, good),
        ]
    if plan == "far_later":
        return [price(due + ref.EXPIRY_US, good), price(NEVER_US + pick, good)]
    return []


STYLES = st.builds(
    Style,
    quote_all=st.booleans(),
    crlf=st.booleans(),
    bom=st.booleans(),
    final_newline=st.booleans(),
    blank_lines=st.booleans(),
    padded_header=st.booleans(),
    extra_column=st.booleans(),
    reverse_columns=st.booleans(),
    drop_empty_optional=st.booleans(),
    json_ascii=st.booleans(),
    json_literals=st.booleans(),
    json_leave_out=st.booleans(),
    typed=st.booleans(),
    time_unit=st.sampled_from(("us", "ns")),
    zone=st.sampled_from(("UTC", None, "America/New_York")),
)

PICKS = st.integers(0, 9_999)
TRAP_COUNTS = st.sampled_from((0, 0, 0, 0, 0, 0, 1, 1, 1, 2))
BROKEN = st.builds(Broken, st.sampled_from(sorted(BROKEN_CSV)), st.sampled_from(BROKEN_JSONL))
TERM_SETS = (
    (("profit", "0.9"),),
    (("profit", "0.5"), ("execution", "0.4")),
    (("profit", "0.3"), ("execution", "0.30"), ("tool use", "3e-1")),
    (("profit", "0.7000000001"), ('naïve, "term"', "0.2")),
)
TERM_VALUES = ("0", "100", "50", "33.333333333333336", "0.1", "99.99999999999999", "")


def _order_sensitive(row: ref.SealedCall) -> tuple[Any, ...]:
    """What must agree between rows of one call so that their order cannot matter."""
    return (
        row.seal,
        row.recorded_at,
        row.order_status,
        row.mandate_id,
        row.model_version,
        row.question_id,
    )


def _order_free_calls(rows: list[Cells]) -> list[Cells]:
    """Without rows that repeat a call in other words than its first row."""
    kept: list[Cells] = []
    first: dict[str, tuple[Any, ...]] = {}
    for cells in rows:
        raw = ref.RawRow("", 0, dict(cells))
        # Judged as if every row were visible: a not-yet row may be sealed on a later night.
        if ref.early_fate(raw, ref.TIME_MAX_US) is None:
            call = ref.seal_row(raw, 0)
            if first.setdefault(call.call_id, _order_sensitive(call)) != _order_sensitive(call):
                continue
        kept.append(cells)
    return kept


def _order_free_prices(rows: list[Cells]) -> list[Cells]:
    """Without prices that only file order would put after another of the same instant."""
    kept: list[Cells] = []
    first: dict[tuple[str, int, int | None], float] = {}
    for cells in rows:
        raw = ref.RawRow("", 0, dict(cells))
        price = ref.price_fate(raw, ref.TIME_MAX_US, set())[1]
        if price is not None:
            key = (price.pool_id, price.recorded_at, price.sequence)
            if first.setdefault(key, price.price) != price.price:
                continue
        kept.append(cells)
    return kept


@st.composite
def homes(
    draw: st.DrawFn, *, order_free: bool = False, max_calls: int = 36, allow_nul: bool = True
) -> GeneratedHome:
    """A small hostile home. ``allow_nul``: ids may hold the character U+0000."""
    hostile = (*HOSTILE_IDS, NUL_ID) if allow_nul else HOSTILE_IDS
    ids = st.sampled_from(hostile)
    agents = draw(st.lists(st.sampled_from(("alice", "bob")) | ids, min_size=1, max_size=3))
    pools = draw(st.lists(st.sampled_from(("P", "Q")) | ids, min_size=1, max_size=3))
    agent_picks = st.sampled_from([agents[0], agents[0], *agents])
    pool_picks = st.sampled_from(pools)
    n_calls = draw(st.integers(0, max_calls) | st.integers(max_calls // 2, max_calls))

    call_rows: list[Cells] = []
    price_rows: list[Cells] = []
    moments: set[int] = {SEASON_1_US, SEASON_2_US, SEASONS_END_US - 1, SEASONS_END_US, FAR_US}
    for number in range(n_calls):
        pick = draw(PICKS)
        slot = draw(st.integers(-3 * 96, 57 * 96))  # quarter hours; both seasons and around
        decided = SEASON_1_US + slot * 15 * MINUTE_US + (pick if pick % 7 == 0 else 0)
        hostile_id = hostile[pick % len(hostile)]
        cells: Cells = {
            "call_id": f"c{number}" if pick % 4 else f"{hostile_id}{number}",
            "agent_id": draw(agent_picks),
            "pool_id": draw(pool_picks),
            "action": draw(st.sampled_from(("buy", "sell", "buy", "sell", "BUY", " Sell\t"))),
            "decider": ("llm", "llm", "deterministic", " LLM ")[pick % 4],
            "confidence": draw(st.sampled_from(CONFIDENCES)),
            "horizon_hours": draw(st.sampled_from(HORIZONS)),
            "reference_price": draw(st.sampled_from(REFERENCES)),
            "decided_at": time_text(decided, pick),
            "recorded_at": None,
            "order_status": (None, "accepted", "accepted", "refused", "", "Accepted")[pick % 6],
            "mandate_id": (None, "m1", '{"a":1}', hostile_id)[pick % 4],
            "model_version": (None, "v1", "v2")[pick % 3],
            "question_id": (None, None, "q", hostile_id)[pick // 4 % 4],
        }
        for _ in range(draw(TRAP_COUNTS)):
            TRAPS[draw(st.sampled_from(TRAP_NAMES))](cells, draw(PICKS))
        call_rows.append(cells)
        repeat = draw(st.sampled_from(REPEATS))
        if repeat != "none":
            call_rows.extend(_repeat(cells, repeat, draw(PICKS)))
        price_rows.extend(_planned_prices(cells, draw(st.sampled_from(PRICE_PLANS)), pick))
        due = _due_us(cells)
        moments |= {
            _decided_us(cells),
            due - 1,
            due,
            due + ref.WINDOW_US,
            due + ref.EXPIRY_US - 1,
            due + ref.EXPIRY_US,
        }
    for pick in draw(st.lists(PICKS, max_size=6)):  # prices of every bad kind
        row = _price(pools[0], SEASON_2_US + pick, "100", None, pick)
        column, texts = (
            ("pool_id", (None, "", " \t")),
            ("recorded_at", (*BAD_TIMES, None)),
            ("price", (*BAD_NUMBERS, *NOT_POSITIVE, None, "")),
            ("sequence", BAD_SEQUENCES),
        )[pick % 4]
        row[column] = texts[pick // 4 % len(texts)]
        price_rows.append(row)
    if order_free:
        call_rows = _order_free_calls(call_rows)
        price_rows = _order_free_prices(price_rows)

    calls = draw(_files(CALL_FILE_NAMES, ref.CALL_REQUIRED, ref.CALL_OPTIONAL, call_rows))
    prices = draw(_files(PRICE_FILE_NAMES, ref.PRICE_REQUIRED, ref.PRICE_OPTIONAL, price_rows))
    gap = draw(st.sampled_from((0, 0, 3)))
    season_ids = draw(st.sampled_from((("s1", "s2"), ("2026/01", 'b"2'), ("ü", "S, 2"))))
    seasons: tuple[SeasonText, ...] = (
        (season_ids[1], shown(SEASON_2_US + gap * ref.DAY_US), "2026-03-01", "24"),
        (season_ids[0], "2026-01-05T01:00+01:00", shown(SEASON_2_US), ""),
    )
    moments_us = tuple(sorted(us for us in moments if 0 <= us <= FAR_US))
    as_of = draw(st.sampled_from((FAR_US, FAR_US)) | st.sampled_from(moments_us))
    return GeneratedHome(
        as_of=shown(as_of),
        calls=calls,
        prices=prices,
        seasons=seasons,
        score_terms=draw(st.none() | _score_terms(season_ids, agents)),
        moments_us=moments_us,
    )


@st.composite
def _files(
    draw: st.DrawFn,
    names: tuple[str, ...],
    required: tuple[str, ...],
    optional: tuple[str, ...],
    rows: list[Cells],
) -> tuple[GeneratedFile, ...]:
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    dealt: list[list[GeneratedRow]] = [[] for _ in chosen]
    # One drawn number deals and shuffles: cheap, and shrinking it keeps the rows.
    shuffler = random.Random(draw(st.integers(0, 999)))
    is_shuffled = draw(st.booleans())
    for row in rows:
        shuffler.choice(dealt).append(row)
    files: list[GeneratedFile] = []
    for name, of_file in zip(chosen, dealt, strict=True):
        of_file.extend(draw(st.lists(BROKEN, max_size=2)))
        if is_shuffled:
            shuffler.shuffle(of_file)
        files.append(GeneratedFile(name, required, optional, tuple(of_file), draw(STYLES)))
    return tuple(files)


@st.composite
def _score_terms(
    draw: st.DrawFn, season_ids: tuple[str, str], agents: list[str]
) -> tuple[TermText, ...]:
    names = sorted({ref.trim(agent) for agent in agents} | {"only in terms"})
    rows: list[TermText] = []
    for season_id in season_ids[: draw(st.integers(1, 2))]:
        terms = draw(st.sampled_from(TERM_SETS))
        of_season = [
            (season_id, agent, term, weight, draw(st.sampled_from(TERM_VALUES)))
            for agent in names
            for term, weight in terms
            # One agent has every term, so that the season's weights are complete.
            if agent == names[0] or draw(st.booleans())
        ]
        rows.extend(of_season)
    return tuple(rows)


# ---------------------------------------------------------------------------------------------
# Histories
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Night:
    """One run: which files lie in the landing zone, in what order of rows, under which seasons."""

    as_of: str
    calls: tuple[str, ...]
    prices: tuple[str, ...]
    seasons: tuple[SeasonText, ...]
    permutation: int | None = None


@dataclass(frozen=True)
class GeneratedHistory:
    """Nights of increasing ``as_of``.

    ``is_late`` False: every file is there from the first night on, unchanged, and the home is
    order-free: one run at the last ``as_of`` gives the same but for when things were first seen.
    True: files appear and disappear, rows move between files, seasons change.
    """

    home: GeneratedHome
    nights: tuple[Night, ...]
    is_late: bool

    def write_night(self, home: Path, index: int) -> None:
        night = self.nights[index]
        inputs = self.home
        if night.permutation is not None:
            inputs = inputs.permuted(night.permutation)
        inputs.write(home, night.calls, night.prices, night.seasons)


@st.composite
def histories(
    draw: st.DrawFn, *, late: bool | None = None, max_nights: int = 5, allow_nul: bool = True
) -> GeneratedHistory:
    """A history of 2 to ``max_nights`` nights; ``late`` None draws the flag too."""
    is_late = draw(st.booleans()) if late is None else late
    home = draw(homes(order_free=not is_late, allow_nul=allow_nul))
    instants = draw(
        st.lists(
            st.sampled_from(home.moments_us),
            min_size=min(2, len(home.moments_us)),
            max_size=max_nights,
            unique=True,
        )
    )
    if draw(st.booleans()) and FAR_US not in instants:
        instants = [*instants[: max_nights - 1], FAR_US]
    nights: list[Night] = []
    for us in sorted(instants):
        if is_late:
            night = Night(
                as_of=shown(us),
                calls=draw(_some([file.name for file in home.calls])),
                prices=draw(_some([file.name for file in home.prices])),
                seasons=draw(_season_variants(home.seasons)),
                permutation=draw(st.none() | st.integers(0, 99)),
            )
        else:
            night = Night(
                as_of=shown(us),
                calls=tuple(file.name for file in home.calls),
                prices=tuple(file.name for file in home.prices),
                seasons=home.seasons,
            )
        nights.append(night)
    return GeneratedHistory(home, tuple(nights), is_late)


def _some(names: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """All names twice as often as a drawn subset."""
    subset = st.lists(st.sampled_from(names), unique=True).map(tuple)
    return st.just(tuple(names)) | st.just(tuple(names)) | subset


def _season_variants(
    seasons: tuple[SeasonText, ...],
) -> st.SearchStrategy[tuple[SeasonText, ...]]:
    later, earlier = seasons
    shorter = (earlier[0], "2026-01-10", *earlier[2:])
    merged = (earlier[0], earlier[1], later[2], earlier[3])
    return st.sampled_from(
        (seasons, seasons, seasons, seasons, (later,), (earlier,), (shorter, later), (merged,), ())
    )
