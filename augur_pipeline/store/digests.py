"""Digests of tables: SHA-256 over values, not over any file format's way to write them.

A column is three streams of bytes over its rows in key order (texts sort by bytes): presence, one
byte a row, 1 where there is a value; then of the values that are there lengths, of texts and
lists, eight bytes each; and values: numbers and times (µs since 1970) eight bytes, flags one, texts
their UTF-8. All little-endian. Its digest is SHA-256(SHA-256(presence) ‖ SHA-256(lengths) ‖
SHA-256(values)), and of a list, ‖ the digest of its items as a column. A table's is SHA-256 of the
lines `<column> <type> <digest>`, the content's of the line `augur-content-1` and the lines
`<table> <digest>` in order of the names; digests as lower-case hex there, each line ended by LF. So
nothing depends on how rows lie in files, batches or threads.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augur_pipeline.errors import InputError
from augur_pipeline.store.tables import (
    Model,
    columns_of,
    key_of,
    name_of,
)

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


def table_digest(connection: duckdb.DuckDBPyConnection, model: Model) -> str:
    """SHA-256 of a table, lower-case hex: columns as its model has them, rows in key order."""
    names = [column.name for column in columns_of(model)]
    return _digest_of_rows(
        connection.sql(
            f"SELECT {', '.join(names)} FROM {name_of(model)} ORDER BY {', '.join(key_of(model))}"
        )
    )


def _digest_of_rows(rows: duckdb.DuckDBPyRelation) -> str:
    names, types = rows.columns, [str(type_) for type_ in rows.types]
    digests = [_ColumnDigest(type_) for type_ in types]
    for batch in rows.to_arrow_reader(_AT_ONCE):
        for digest, column in zip(digests, batch.columns, strict=True):
            digest.add(column)
    lines = [
        f"{name} {type_} {digest.digest().hex()}\n"
        for name, type_, digest in zip(names, types, digests, strict=True)
    ]
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()


def content_digest(connection: duckdb.DuckDBPyConnection, models: Sequence[Model]) -> str:
    """SHA-256 over the tables' names and digests, in order of the names."""
    return _digest_of_tables({name_of(model): table_digest(connection, model) for model in models})


def stored_content_digest(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> str:
    """The content digest of a published database of any version: columns and rows as they lie.

    A published table lies in its key's order. The connection must keep the order of rows.
    """
    digests = {}
    for table in tables:
        rows = connection.table(table)
        for name, type_ in zip(rows.columns, rows.types, strict=True):
            if str(type_).removesuffix("[]") not in {*_WIDTHS, "VARCHAR"}:
                raise ValueError(f"{table}.{name} is a {type_}, which no published column is")
        digests[table] = _digest_of_rows(rows)
    return _digest_of_tables(digests)


def _digest_of_tables(digests: Mapping[str, str]) -> str:
    lines = ["augur-content-1\n", *(f"{name} {digests[name]}\n" for name in sorted(digests))]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def run_digest(columns: Mapping[str, Any]) -> str:
    """The digest of the other columns of run_info: SHA-256 of their lines name=value, in order.

    Escaped as a seal's text is, times in microseconds. It covers what no other table tells: the
    run's id above all.
    """
    lines = []
    for name, value in columns.items():
        text = str(_micros(value)) if isinstance(value, datetime) else str(value)
        escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        lines.append(f"{name}={escaped}\n")
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()


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
