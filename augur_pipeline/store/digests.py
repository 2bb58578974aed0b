"""Digests of tables: SHA-256 over values, not over any file format's way to write them.

A column is three streams of bytes over its rows in key order (texts sort by bytes): presence, one
byte a row, 1 where there is a value; then of the values that are there lengths, of texts and
lists, eight bytes each; and values: numbers and times (µs since 1970) eight bytes, flags one, texts
their UTF-8. All little-endian. Its digest is SHA-256(SHA-256(presence) ‖ SHA-256(lengths) ‖
SHA-256(values)), and of a list, ‖ the digest of its items as a column. A table's is SHA-256 of the
lines `<column> <type> <digest>`.

The content's is a tree: each table is a leaf, and of a call-level table each season (`Part`; the
published table `content_digests` lists them). It is SHA-256 of the line `augur-content-2` and the
lines `<table> <rows> <digest> <season>` by table, then season: `-` for a whole table, `=` and the
id (escaped as a seal's texts are), or `+` for rows in no season, last. Digests are lower-case hex
there, each line ended by LF. So nothing depends on how rows lie in files, batches or threads, and a
season that has not changed keeps its digest.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augur_pipeline.errors import InputError
from augur_pipeline.store.sql import quoted_identifier, rows_as_dicts
from augur_pipeline.store.tables import Model, columns_of, key_of, name_of, season_column_of

PARTS_TABLE = "content_digests"
"""The published table that lists the parts; its rows are the digest's lines."""

_AT_ONCE = 122_880


_WIDTHS = {"BIGINT": "<i8", "DOUBLE": "<f8", "BOOLEAN": "u1", "TIMESTAMP": "<i8"}


class _ColumnDigest:
    """The streams of one column of an SQL type, fed batch by batch."""

    def __init__(self, type_: str) -> None:
        self._type = type_
        self._streams = [hashlib.sha256(), hashlib.sha256(), hashlib.sha256()]
        self._items = _ColumnDigest(type_.removesuffix("[]")) if type_.endswith("[]") else None

    def add(self, column: pa.Array) -> None:
        present, lengths, values = self._streams
        present.update(column.is_valid().cast(pa.uint8()).to_numpy().data)
        column = column.drop_null()
        if self._items is not None:
            lengths.update(pc.list_value_length(column).to_numpy().astype("<i8").data)
            self._items.add(column.flatten())
        elif self._type == "VARCHAR":
            texts = column.cast(pa.large_binary())
            _, offsets, data = texts.buffers()
            ends = np.frombuffer(offsets, "<i8")[texts.offset : texts.offset + len(texts) + 1]
            lengths.update(np.diff(ends).data)
            if data is not None:
                values.update(memoryview(data)[ends[0] : ends[-1]])
        else:
            if self._type == "TIMESTAMP":
                column = column.cast(pa.timestamp("us")).view(pa.int64())
            numbers = column.to_numpy(zero_copy_only=False)
            values.update(np.ascontiguousarray(numbers, _WIDTHS[self._type]).data)

    def digest(self) -> bytes:
        items = self._items.digest() if self._items is not None else b""
        return hashlib.sha256(b"".join(s.digest() for s in self._streams) + items).digest()


@dataclass(frozen=True)
class Part:
    """A table, or what one season has of a call-level table: a leaf of the content digest's tree.

    season_column: the column that parts the table by season; None: the part is the whole table
    season_id:     the season; None where a row lies in none, and of a whole table
    """

    table_name: str
    season_column: str | None
    season_id: str | None
    rows: int
    sha256: str

    def line(self) -> str:
        """The part's line in the content digest."""
        season = "-" if self.season_column is None else "+"
        if self.season_id is not None:
            season = f"={_escaped(self.season_id)}"
        return f"{self.table_name} {self.rows} {self.sha256} {season}\n"


def parts_of(connection: duckdb.DuckDBPyConnection, model: Model) -> Iterator[Part]:
    """Digests of a table, season by season where it is parted: columns as its model has them."""
    names = [column.name for column in columns_of(model)]
    yield from _parts(
        connection, name_of(model), season_column_of(model), names, ", ".join(key_of(model))
    )


def stored_parts(connection: duckdb.DuckDBPyConnection) -> list[Part]:
    """What `content_digests` of a published database says; ValueError where it says nothing."""
    try:
        return [Part(**row) for row in rows_as_dicts(connection, f"FROM {PARTS_TABLE}")]
    except TypeError as error:
        raise ValueError(f"{PARTS_TABLE} has other columns than were published") from error


def recomputed_parts(
    connection: duckdb.DuckDBPyConnection, tables: Mapping[str, str | None]
) -> list[Part]:
    """The parts of a published database of this version or a later one, computed anew.

    tables: every table that is covered, with the column that parts it. Columns and rows are taken
            as they lie: a published table lies season by season, in each by key. The connection
            must keep the order of rows.
    Raises: ValueError for a column of a type that no published column has
    """
    found: list[Part] = []
    for table in sorted(tables):
        _refuse_types(connection.table(table), table)
        found += _parts(connection, table, tables[table], connection.table(table).columns, None)
    return found


def _parts(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    season_column: str | None,
    names: Sequence[str],
    order: str | None,
) -> Iterator[Part]:
    columns = ", ".join(map(quoted_identifier, names))
    query = f"SELECT {columns} FROM {quoted_identifier(table)}"
    last = f" ORDER BY {order}" if order else ""
    if season_column is None:
        rows, sha256 = _digest_of_rows(connection.sql(f"{query}{last}"))
        yield Part(table, None, None, rows, sha256)
        return
    column = quoted_identifier(season_column)
    seasons = connection.execute(
        f"SELECT DISTINCT {column} FROM {quoted_identifier(table)} ORDER BY {column} NULLS LAST"
    ).fetchall()
    for (season,) in seasons or [(None,)]:  # an empty table is a part, too
        of_season = connection.sql(
            f"{query} WHERE {column} IS NOT DISTINCT FROM $season{last}",
            params={"season": season},
        )
        rows, sha256 = _digest_of_rows(of_season)
        yield Part(table, season_column, season, rows, sha256)


def content_digest(parts: Iterable[Part]) -> str:
    """SHA-256 over the lines of the parts: by table, then by season, rows without one last."""
    ordered = sorted(parts, key=lambda p: (p.table_name, p.season_id is None, p.season_id or ""))
    lines = ["augur-content-2\n", *(part.line() for part in ordered)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _digest_of_rows(rows: duckdb.DuckDBPyRelation) -> tuple[int, str]:
    """How many rows, and the digest of their table."""
    count = 0
    names, types = rows.columns, [str(type_) for type_ in rows.types]
    digests = [_ColumnDigest(type_) for type_ in types]
    for batch in rows.to_arrow_reader(_AT_ONCE):
        count += batch.num_rows
        for digest, column in zip(digests, batch.columns, strict=True):
            digest.add(column)
    lines = [
        f"{name} {type_} {digest.digest().hex()}\n"
        for name, type_, digest in zip(names, types, digests, strict=True)
    ]
    return count, hashlib.sha256("".join(lines).encode("ascii")).hexdigest()


def first_content_digest(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> str:
    """The content digest as versions 1 and 2 of the ledger had it: a line a table.

    Raises: ValueError for a column of a type that no published column has
    """
    digests = {}
    for table in tables:
        rows = connection.table(table)
        _refuse_types(rows, table)
        _, digests[table] = _digest_of_rows(rows)
    lines = ["augur-content-1\n", *(f"{name} {digests[name]}\n" for name in sorted(digests))]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _refuse_types(rows: duckdb.DuckDBPyRelation, table: str) -> None:
    for name, type_ in zip(rows.columns, rows.types, strict=True):
        if str(type_).removesuffix("[]") not in {*_WIDTHS, "VARCHAR"}:
            raise ValueError(f"{table}.{name} is a {type_}, which no published column is")


def run_digest(columns: Mapping[str, Any]) -> str:
    """The digest of the other columns of run_info: SHA-256 of their lines name=value, in order.

    Escaped as a seal's text is, times in microseconds. It covers what no other table tells: the
    run's id above all.
    """
    lines = []
    for name, value in columns.items():
        text = str(_micros(value)) if isinstance(value, datetime) else str(value)
        lines.append(f"{name}={_escaped(text)}\n")
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _micros(instant: datetime) -> int:
    """Microseconds since 1970 of a naive UTC instant."""
    return (instant - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, lower-case hex."""
    try:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check it") from error
