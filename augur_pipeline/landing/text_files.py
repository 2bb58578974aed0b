"""CSV and JSONL files as batches of text columns that keep the physical line of each record.

Neither format is left to a sniffing reader: a bad line must become a rejected row with its line
number, never a dropped one, and never a shifted column.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from augur_pipeline.errors import InputError

BATCH_ROWS = 50_000
RAW_TEXT_LENGTH = 200
MOST_COLUMNS = 1000
SHOWN_COLUMNS = 30

# fields are bounded by the file, not by the csv module's default of 128 KiB
csv.field_size_limit(sys.maxsize)

Record = tuple[int, str | None, Sequence[str | None]]
"""Physical line, raw text (of a malformed record, else None), values in column order."""


def raw_text(line: str) -> str:
    """A malformed record as evidence: its text without the line end, cut, always valid UTF-8."""
    shown = line.rstrip("\r\n")[:RAW_TEXT_LENGTH]
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_utf8(text: str) -> bool:
    """Whether a text decoded with surrogateescape was UTF-8 throughout."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _open(path: Path) -> io.TextIOWrapper:
    # lines end at LF only: a lone CR is content, as every line-counting tool has it
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n")


class _Lines:
    """Iterates over physical lines, remembering those of the record being read."""

    def __init__(self, source: io.TextIOWrapper) -> None:
        self._source = source
        self._again: list[str] = []
        self.read = 0
        self.record: list[str] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._again.pop() if self._again else next(self._source)
        self.read += 1
        self.record.append(line)
        return line

    def read_again(self, lines: Sequence[str]) -> None:
        """Give lines that were read once more, before the rest."""
        self._again += reversed(lines)
        self.read -= len(lines)


def read_csv(
    path: Path, columns: Sequence[str], required: Sequence[str], extra: set[str]
) -> Iterator[Record]:
    """Records of an RFC 4180 file; raises `InputError` where the file as a whole is unusable."""
    with _open(path) as source:
        lines = _Lines(source)
        reader = csv.reader(lines, strict=True)
        header = _header(path, reader, required)
        extra.update(set(header) - set(columns))
        width = len(header)
        places = [header.index(name) if name in header else None for name in columns]
        nothing: tuple[None, ...] = (None,) * len(columns)
        while True:
            first_line = lines.read + 1
            lines.record.clear()
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "unexpected end of data" in str(error):
                    raise InputError(
                        f"{path}: line {first_line}: a quote opened in this record is never "
                        "closed; mend or remove the record"
                    ) from None
                # a stray quote may have drawn in good records: only its first line is bad
                yield first_line, raw_text(lines.record[0]), nothing
                lines.read_again(lines.record[1:])
                continue
            if not fields:
                continue
            if len(fields) != width or not is_utf8("".join(fields)):
                yield first_line, raw_text("".join(lines.record)), nothing
                continue
            yield first_line, None, [fields[at] if at is not None else None for at in places]


def _header(path: Path, reader: Iterator[list[str]], required: Sequence[str]) -> list[str]:
    try:
        header = next((fields for fields in reader if fields), [])
    except csv.Error as error:
        raise InputError(
            f"{path}: line 1: no CSV header ({error}); save it as CSV in UTF-8 with LF or CRLF"
        ) from None
    header = [name.strip() for name in header]
    refuse_header(path, header)
    missing = [name for name in required if name not in header]
    if missing:
        raise InputError(
            f"{path}: no column {', '.join(missing)}; add it to the header (an empty field is a "
            f"missing value); {columns_there(header)}"
        )
    return header


def refuse_header(
    path: Path, names: Sequence[str], key: Callable[[str], str] = lambda name: name
) -> None:
    """Raise `InputError` for more columns than any log has, and for one that stands there twice."""
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{path}: {len(names)} columns, and at most {MOST_COLUMNS} are read; leave out what is "
            "not needed"
        )
    known: dict[str, str] = {}
    for name in names:
        if key(name) in known:
            raise InputError(
                f"{path}: column {name!r} stands in the header twice"
                f"{'' if known[key(name)] == name else f' (as {known[key(name)]!r})'}; rename one"
            )
        known[key(name)] = name


def columns_there(names: Collection[str]) -> str:
    """The columns a file has, for an error that misses one; only the first of many."""
    shown = [name if len(name) <= 60 else f"{name[:60]}…" for name in list(names)[:SHOWN_COLUMNS]]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"it has {', '.join(map(repr, shown)) or 'none'}{more}"


def read_jsonl(
    path: Path, columns: Sequence[str], required: Sequence[str], extra: set[str]
) -> Iterator[Record]:
    """Records of a file with one JSON object a line; numbers keep the text they were given as.

    NaN and Infinity, which Python writes though JSON has no such thing, are texts that are no
    numbers: so a bad confidence is rejected as such and still counts as stated.
    """
    decoder = json.JSONDecoder(
        parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_unrepeated
    )
    nothing: tuple[None, ...] = (None,) * len(columns)
    seen: set[str] = set()
    has_objects = False
    with _open(path) as source:
        for number, line in enumerate(source, start=1):
            if not line.strip(" \t\r\n"):
                continue
            record = _json_object(decoder, line)
            if record is None:
                yield number, raw_text(line), nothing
                continue
            has_objects = True
            seen.update(record)
            if len(seen) > MOST_COLUMNS:
                raise InputError(
                    f"{path}: line {number}: more than {MOST_COLUMNS} different names in its "
                    "objects so far; leave out what is not needed"
                )
            yield number, None, [_json_text(record.get(name), name, line) for name in columns]
    missing = [name for name in required if name not in seen]
    if has_objects and missing:
        raise InputError(
            f"{path}: no object has {', '.join(missing)}; add it (null is a missing value); "
            f"{columns_there(sorted(seen))}"
        )
    extra.update(seen - set(columns))


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice: which value was meant cannot be told."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a name stands in the object twice")
    return record


def _json_object(decoder: json.JSONDecoder, line: str) -> dict[str, Any] | None:
    if not is_utf8(line):
        return None
    try:
        record = decoder.decode(line.strip(" \t\r\n"))
        if isinstance(record, dict) and is_utf8(json.dumps(record, ensure_ascii=False)):
            return record
    except (ValueError, RecursionError):
        pass
    return None


# Python refuses to read integers of thousands of digits; such a one stays a text
_NESTED = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 4000 else text)


def _json_text(value: Any, name: str, line: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return json.dumps(value)
    # something nested is no value of ours: its compact text is the evidence
    return json.dumps(_NESTED.decode(line)[name], ensure_ascii=False, separators=(",", ":"))


Reader = Callable[[Path, Sequence[str], Sequence[str], set[str]], Iterator[Record]]
READERS: dict[str, Reader] = {".csv": read_csv, ".jsonl": read_jsonl}


def text_batches(
    path: Path, columns: Sequence[str], required: Sequence[str], extra: set[str]
) -> Iterator[pa.Table]:
    """A text file's records as tables `source_line, malformed_text, <columns as text>`.

    In this order, for a column of the file may be called like one of ours.
    """
    schema = pa.schema(
        [("source_line", pa.int64()), ("malformed_text", pa.string())]
        + [(name, pa.string()) for name in columns]
    )
    records = READERS[path.suffix](path, columns, required, extra)
    pending: list[tuple[Any, ...]] = []
    try:
        for line, malformed, values in records:
            pending.append((line, malformed, *values))
            if len(pending) == BATCH_ROWS:
                yield _table(pending, schema)
                pending = []
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check it") from error
    yield _table(pending, schema)


def _table(records: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    values = zip(*records, strict=True) if records else [[]] * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)],
        schema=schema,
    )
