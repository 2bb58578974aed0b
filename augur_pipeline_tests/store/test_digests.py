"""Digests of tables, held against a plain reading of what the module says they are."""

import hashlib
import math
import struct
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

import duckdb
import pandera.polars as pa
import pytest

from augur_pipeline.store.digests import table_digest
from augur_pipeline.store.tables import TableModel, Time, Words

TYPES = {
    "key": "BIGINT", "number": "DOUBLE", "instant": "TIMESTAMP", "flag": "BOOLEAN",
    "words": "VARCHAR", "items": "VARCHAR[]",
}  # fmt: skip


class Things(TableModel):
    """A table of every type we publish."""

    key: int = pa.Field(description="Key.")
    number: float = pa.Field(nullable=True, description="A number.")
    instant: Time = pa.Field(nullable=True, description="A time.")
    flag: bool = pa.Field(nullable=True, description="A flag.")
    words: str = pa.Field(nullable=True, description="A text.")

    class Config:
        name = "things"
        metadata: ClassVar = {"key": ("key",)}


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def as_bytes(value: Any) -> bytes:
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, int):
        return struct.pack("<q", value)
    if isinstance(value, float):
        return struct.pack("<d", value)
    assert isinstance(value, datetime)
    return struct.pack("<q", (value - datetime(1970, 1, 1)) // timedelta(microseconds=1))


def column_digest(values: list[Any]) -> str:
    """The digest of a column, one value after the other."""
    present = b"".join(bytes([value is not None]) for value in values)
    there = [value for value in values if value is not None]
    lengths, data = b"", b""
    for value in there:
        if isinstance(value, str):
            lengths += struct.pack("<q", len(value.encode()))
            data += value.encode()
        else:
            data += as_bytes(value)
    return sha(sha(present), sha(lengths), sha(data)).hex()


def expected(rows: list[tuple[Any, ...]]) -> str:
    columns = zip(*sorted(rows), strict=True)
    names = list(TYPES)[:5]
    lines = [
        f"{name} {TYPES[name]} {column_digest(list(column))}\n"
        for name, column in zip(names, columns, strict=True)
    ]
    return sha("".join(lines).encode()).hex()


ROWS: list[tuple[Any, ...]] = [
    (1, 0.5, datetime(2026, 1, 2, 3, 4, 5, 6), True, "a"),
    (2, -0.0, None, False, ""),
    (3, None, datetime(1970, 1, 1), None, None),
    (4, 5e-324, datetime(2199, 12, 31, 23, 59, 59, 999_999), True, 'é☃\n,"'),
    (2**62, math.inf, None, None, "a" * 1000),
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        yield connection


def stored(connection: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]]) -> None:
    shape = ", ".join(f"{name} {TYPES[name]}" for name in list(TYPES)[:5])
    connection.execute(f"CREATE OR REPLACE TABLE things ({shape})")
    if rows:
        connection.executemany("INSERT INTO things VALUES (?, ?, ?, ?, ?)", rows)


def test_a_digest_is_what_it_is_said_to_be(connection: duckdb.DuckDBPyConnection) -> None:
    stored(connection, ROWS)
    assert table_digest(connection, Things) == expected(ROWS)


def test_neither_order_nor_batches_count(connection: duckdb.DuckDBPyConnection) -> None:
    rows = [
        (n, n / 7 if n % 3 else None, None, n % 2 == 0, f"text {n}" if n % 5 else None)
        for n in range(3000)
    ]
    stored(connection, rows[::-1])
    whole = table_digest(connection, Things)
    assert whole == expected(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("augur_pipeline.store.digests._AT_ONCE", 7)
        assert table_digest(connection, Things) == whole


@pytest.mark.parametrize(
    "change",
    [
        "number = 1.0 WHERE key = 2; UPDATE things SET number = 0.0 WHERE key = 2",  # was −0
        "number = 0.5000000000000001 WHERE key = 1",
        "number = NULL WHERE key = 1",
        "instant = instant + INTERVAL 1 MICROSECOND WHERE key = 1",
        "flag = NOT flag WHERE key = 1",
        "flag = FALSE WHERE key = 3",  # was missing
        "words = NULL WHERE key = 2",  # was empty
        "words = 'A' WHERE key = 1",
    ],
)
def test_any_value_counts(connection: duckdb.DuckDBPyConnection, change: str) -> None:
    stored(connection, ROWS)
    connection.execute(f"UPDATE things SET {change}")
    assert table_digest(connection, Things) != expected(ROWS)


def test_texts_cannot_slide_into_each_other(connection: duckdb.DuckDBPyConnection) -> None:
    digests = set()
    for first, second in (("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("abc", None)):
        rows = [(1, None, None, None, first), (2, None, None, None, second)]
        stored(connection, rows)
        digests.add(table_digest(connection, Things))
    assert len(digests) == 5


def test_lists_count_item_by_item(connection: duckdb.DuckDBPyConnection) -> None:
    class Lists(TableModel):
        """A table with a list."""

        key: int = pa.Field(description="Key.")
        items: Words = pa.Field(nullable=True, description="Texts.")

        class Config:
            name = "lists"
            metadata: ClassVar = {"key": ("key",)}

    digests = set()
    for first, second in (
        ("['a', 'b']", "['c']"), ("['a']", "['b', 'c']"), ("['a', 'b', 'c']", "[]"),
        ("['a', 'b', 'c']", "NULL"), ("['a', NULL]", "['c']"), ("['ab']", "['c']"),
    ):  # fmt: skip
        connection.execute(
            f"CREATE OR REPLACE TABLE lists AS SELECT * FROM (VALUES (1::BIGINT, {first}::VARCHAR[]), "
            f"(2::BIGINT, {second}::VARCHAR[])) AS given (key, items)"
        )
        digests.add(table_digest(connection, Lists))
    assert len(digests) == 6
