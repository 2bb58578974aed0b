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
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augur_pipeline.store.tables import Model, columns_of, key_of, name_of

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
    rows = connection.sql(
        f"SELECT {', '.join(names)} FROM {name_of(model)} ORDER BY {', '.join(key_of(model))}"
    )
    types = [str(type_) for type_ in rows.types]
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
    lines = ["augur-content-1\n"]
    for model in sorted(models, key=name_of):
        lines.append(f"{name_of(model)} {table_digest(connection, model)}\n")
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
