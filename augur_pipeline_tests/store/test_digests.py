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

from augur_pipeline.store.digests import Part, content_digest, parts_of
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
    items: Words = pa.Field(nullable=True, description="Texts.")

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


def column_digest(type_: str, values: list[Any]) -> bytes:
    """The digest of a column, one value after the other."""
    present = b"".join(bytes([value is not None]) for value in values)
    there = [value for value in values if value is not None]
    lengths, data = b"", b""
    for value in there:
        if isinstance(value, str):
            lengths += struct.pack("<q", len(value.encode()))
            data += value.encode()
        elif isinstance(value, list):
            lengths += struct.pack("<q", len(value))
        else:
            data += as_bytes(value)
    streams = sha(present) + sha(lengths) + sha(data)
    if type_ == "VARCHAR[]":
        streams += column_digest("VARCHAR", [item for value in there for item in value])
    return sha(streams)


def expected(rows: list[tuple[Any, ...]]) -> str:
    in_order = sorted(rows, key=lambda row: row[0])
    lines = [
        f"{name} {type_} {column_digest(type_, [row[n] for row in in_order]).hex()}\n"
        for n, (name, type_) in enumerate(TYPES.items())
    ]
    return sha("".join(lines).encode()).hex()


ROWS: list[tuple[Any, ...]] = [
    (1, 0.5, datetime(2026, 1, 2, 3, 4, 5, 6), True, "a", ["x", "yz"]),
    (2, -0.0, None, False, "", []),
    (3, None, datetime(1970, 1, 1), None, None, None),
    (4, 5e-324, datetime(2199, 12, 31, 23, 59, 59, 999_999), True, 'é☃\n,"', ["xy", None, "z"]),
    (2**62, math.inf, None, None, "a" * 1000, [None]),
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'America/New_York'")
        yield connection


def digest_of(connection: duckdb.DuckDBPyConnection) -> str:
    (part,) = parts_of(connection, Things)
    return part.sha256


def stored(connection: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]]) -> None:
    shape = ", ".join(f"{name} {TYPES[name]}" for name in TYPES)
    connection.execute(f"CREATE OR REPLACE TABLE things ({shape})")
    if rows:
        connection.executemany("INSERT INTO things VALUES (?, ?, ?, ?, ?, ?)", rows)


def test_a_digest_is_what_it_is_said_to_be(connection: duckdb.DuckDBPyConnection) -> None:
    stored(connection, ROWS)
    assert digest_of(connection) == expected(ROWS)


def test_an_empty_table_has_a_digest(connection: duckdb.DuckDBPyConnection) -> None:
    stored(connection, [])
    assert digest_of(connection) == expected([])


def test_neither_order_nor_batches_count(connection: duckdb.DuckDBPyConnection) -> None:
    rows = [
        (
            n,
            n / 7 if n % 3 else None,
            None,
            n % 2 == 0,
            f"text {n}" if n % 5 else None,
            ["i"] * (n % 4),
        )
        for n in range(3000)
    ]
    stored(connection, rows[::-1])
    whole = digest_of(connection)
    assert whole == expected(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("augur_pipeline.store.digests._AT_ONCE", 7)
        assert digest_of(connection) == whole


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
    assert digest_of(connection) != expected(ROWS)


def test_texts_cannot_slide_into_each_other(connection: duckdb.DuckDBPyConnection) -> None:
    digests = set()
    for first, second in (("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("abc", None)):
        rows = [(1, None, None, None, first, None), (2, None, None, None, second, None)]
        stored(connection, rows)
        digests.add(digest_of(connection))
    assert len(digests) == 5


def test_lists_count_item_by_item(connection: duckdb.DuckDBPyConnection) -> None:
    digests = set()
    for first, second in (
        (["a", "b"], ["c"]), (["a"], ["b", "c"]), (["a", "b", "c"], []), (["a", "b", "c"], None),
        (["a", None], ["c"]), (["ab"], ["c"]),
    ):  # fmt: skip
        stored(
            connection, [(1, None, None, None, None, first), (2, None, None, None, None, second)]
        )
        digests.add(digest_of(connection))
    assert len(digests) == 6


class ByDay(Things):
    """The same table, parted by its texts."""

    class Config:
        name = "things"
        metadata: ClassVar = {"key": ("key",), "season": "words"}


def test_a_parted_table_has_a_digest_for_each_season(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    rows = [(key, *row[1:4], season, row[5])
            for key, season in enumerate(["b", "a", None, "b", "A\n", None])
            for row in [ROWS[key % 5]]]  # fmt: skip
    stored(connection, rows)
    parts = list(parts_of(connection, ByDay))
    seasons = ["A\n", "a", "b", None]
    assert [part.season_id for part in parts] == seasons
    for part in parts:
        own = [row for row in rows if row[4] == part.season_id]
        assert part == Part("things", "words", part.season_id, len(own), expected(own))
    lines = [
        f"things {part.rows} {part.sha256} {season}\n"
        for part, season in zip(parts, ["=A\\n", "=a", "=b", "+"], strict=True)
    ]
    text = "augur-content-2\n" + "".join(lines)
    assert content_digest(reversed(parts)) == hashlib.sha256(text.encode()).hexdigest()


def test_an_empty_parted_table_is_one_part(connection: duckdb.DuckDBPyConnection) -> None:
    stored(connection, [])
    assert list(parts_of(connection, ByDay)) == [Part("things", "words", None, 0, expected([]))]


def test_a_whole_table_and_rows_of_no_season_are_two_things() -> None:
    digests = {
        content_digest([Part("things", column, season, 1, "0" * 64)])
        for column, season in ((None, None), ("words", None), ("words", ""), ("words", "-"))
    }
    assert len(digests) == 4
