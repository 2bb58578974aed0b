"""Digests of tables: SHA-256 over values, not over any file format's way to write them.

A column is hashed as streams of bytes over its rows in key order: one byte a row for whether it
has a value, then of the values that are there: numbers, times (µs since 1970) and flags as eight or
one little-endian bytes; texts as eight-byte lengths and as UTF-8; lists as lengths and as a column
of their items. A column's digest is that of its streams' digests, a table's that of the lines
`<column> <type> <digest>`. So it does not depend on how rows lie in files, batches or threads.
"""

import hashlib
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augur_pipeline.store.tables import Model, columns_of, key_of, name_of

_AT_ONCE = 122_880


class _ColumnDigest:
    """The streams of one column, fed batch by batch."""

    def __init__(self) -> None:
        self._streams = [hashlib.sha256(), hashlib.sha256(), hashlib.sha256()]
        self._items: _ColumnDigest | None = None

    def add(self, column: pa.Array) -> None:
        present, lengths, values = self._streams
        present.update(column.is_valid().cast(pa.uint8()).to_numpy().data)
        column = column.drop_null()
        if pa.types.is_list(column.type):
            lengths.update(pc.list_value_length(column).to_numpy().astype("<i8").data)
            self._items = self._items or _ColumnDigest()
            self._items.add(column.flatten())
        elif pa.types.is_string(column.type):
            texts = column.cast(pa.large_binary())
            _, offsets, data = texts.buffers()
            ends = np.frombuffer(offsets, "<i8")[texts.offset : texts.offset + len(texts) + 1]
            lengths.update(np.diff(ends).data)
            if data is not None:
                values.update(memoryview(data)[ends[0] : ends[-1]])
        else:
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.timestamp("us")).view(pa.int64())
            elif pa.types.is_boolean(column.type):
                column = column.cast(pa.uint8())
            numbers = column.to_numpy(zero_copy_only=False)
            values.update(np.ascontiguousarray(numbers, numbers.dtype.newbyteorder("<")).data)

    def hexdigest(self) -> str:
        whole = hashlib.sha256(b"".join(stream.digest() for stream in self._streams))
        if self._items is not None:
            whole.update(self._items.hexdigest().encode("ascii"))
        return whole.hexdigest()


def table_digest(connection: duckdb.DuckDBPyConnection, model: Model) -> str:
    """SHA-256 of a table, lower-case hex: columns as its model has them, rows in key order."""
    names = [column.name for column in columns_of(model)]
    rows = connection.sql(
        f"SELECT {', '.join(names)} FROM {name_of(model)} ORDER BY {', '.join(key_of(model))}"
    )
    digests = [_ColumnDigest() for _ in names]
    for batch in rows.to_arrow_reader(_AT_ONCE):
        for digest, column in zip(digests, batch.columns, strict=True):
            digest.add(column)
    lines = [
        f"{name} {type_} {digest.hexdigest()}\n"
        for name, type_, digest in zip(names, rows.types, digests, strict=True)
    ]
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()


def content_digest(connection: duckdb.DuckDBPyConnection, models: Sequence[Model]) -> str:
    """SHA-256 over the lines `<table> <table digest>` of all tables."""
    digests = [table_digest(connection, model) for model in models]
    lines = [f"{name_of(m)} {digest}\n" for m, digest in zip(models, digests, strict=True)]
    return hashlib.sha256("".join(lines).encode("ascii")).hexdigest()
