"""The contract's grammar of times, numbers and trimming, macro by macro (contract §3)."""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb
import pytest

from augur_pipeline.errors import ClockError
from augur_pipeline.store.grammar import install_grammar, parse_time


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        install_grammar(opened)
        yield opened


def value_of(connection: duckdb.DuckDBPyConnection, expression: str, given: Any) -> Any:
    ((value,),) = connection.execute(f"SELECT {expression}", {"given": given}).fetchall()
    return value


MIDNIGHT = datetime(2024, 1, 2)
HALF_PAST_THREE = datetime(2024, 1, 2, 3, 30)

TIMES = [
    # a date alone is midnight
    ("2024-01-02", MIDNIGHT),
    ("1970-01-01", datetime(1970, 1, 1)),
    ("2200-01-01", datetime(2200, 1, 1)),
    ("2024-02-29", datetime(2024, 2, 29)),
    ("2000-02-29", datetime(2000, 2, 29)),
    ("2023-12-31", datetime(2023, 12, 31)),
    # minutes, seconds, fractions; T, t or a space; without an offset it is UTC
    ("2024-01-02T03:30", HALF_PAST_THREE),
    ("2024-01-02t03:30", HALF_PAST_THREE),
    ("2024-01-02 03:30", HALF_PAST_THREE),
    ("2024-01-02T03:30:00", HALF_PAST_THREE),
    ("2024-01-02 03:30:59", datetime(2024, 1, 2, 3, 30, 59)),
    ("2024-01-02T03:30:00.5", datetime(2024, 1, 2, 3, 30, 0, 500_000)),
    ("2024-01-02T03:30:00.05", datetime(2024, 1, 2, 3, 30, 0, 50_000)),
    ("2024-01-02T03:30:00.000001", datetime(2024, 1, 2, 3, 30, 0, 1)),
    ("2024-01-02T23:59:59.999999", datetime(2024, 1, 2, 23, 59, 59, 999_999)),
    ("2024-01-02T00:00", MIDNIGHT),
    # digits beyond microseconds are cut, never rounded
    ("2024-01-02T03:30:00.0000009", HALF_PAST_THREE),
    ("2024-01-02T03:30:00.1234567", datetime(2024, 1, 2, 3, 30, 0, 123_456)),
    ("2024-01-02T23:59:59.999999999999999999", datetime(2024, 1, 2, 23, 59, 59, 999_999)),
    ("2200-01-01T00:00:00.0000009Z", datetime(2200, 1, 1)),
    # Z in either case
    ("2024-01-02T03:30Z", HALF_PAST_THREE),
    ("2024-01-02T03:30z", HALF_PAST_THREE),
    ("2024-01-02t03:30:00z", HALF_PAST_THREE),
    ("2024-01-02 03:30:00Z", HALF_PAST_THREE),
    ("2024-01-02T03:30:00.25Z", datetime(2024, 1, 2, 3, 30, 0, 250_000)),
    # offsets in three forms, after minutes, seconds and fractions
    ("2024-01-02T05:30+02", HALF_PAST_THREE),
    ("2024-01-02T05:30+0200", HALF_PAST_THREE),
    ("2024-01-02T05:30+02:00", HALF_PAST_THREE),
    ("2024-01-02T01:30-02", HALF_PAST_THREE),
    ("2024-01-02T01:30-0200", HALF_PAST_THREE),
    ("2024-01-02T01:30-02:00", HALF_PAST_THREE),
    ("2024-01-02T09:00:00+05:30", HALF_PAST_THREE),
    ("2024-01-02T09:00:00+0530", HALF_PAST_THREE),
    ("2024-01-02T09:15:00.5+0545", datetime(2024, 1, 2, 3, 30, 0, 500_000)),
    ("2024-01-02T00:00:00-03:30", HALF_PAST_THREE),
    ("2024-01-02T00:00:00.000-0330", HALF_PAST_THREE),
    ("2024-01-02 03:30:00+00", HALF_PAST_THREE),
    ("2024-01-02 03:30:00-00:00", HALF_PAST_THREE),
    # over midnight, month and year
    ("2024-01-01T21:30-06", HALF_PAST_THREE),
    ("2024-01-03T01:30+22:00", HALF_PAST_THREE),
    ("2024-01-01T01:00+02:00", datetime(2023, 12, 31, 23)),
    ("2023-12-31T23:00-02:00", datetime(2024, 1, 1, 1)),
    ("2024-03-01T00:30+01:00", datetime(2024, 2, 29, 23, 30)),
    # 1970 and 2200 bound the instant, not its spelling
    ("1970-01-01T01:00+01:00", datetime(1970, 1, 1)),
    ("1969-12-31T23:00-01:00", datetime(1970, 1, 1)),
    ("2200-01-01T01:00:00+01:00", datetime(2200, 1, 1)),
    ("2199-12-31T23:59:59.999999Z", datetime(2199, 12, 31, 23, 59, 59, 999_999)),
]

NO_TIMES = [
    "2024-01-02T24:00",
    "2024-01-02T24:00:00Z",
    "2024-01-02T23:60",
    "2024-01-02T23:59:60",
    "2024-01-02T23:59:60Z",
    "2024-01-02T23:59:61.5Z",
    "2024-02-30",
    "2023-02-29",
    "1900-02-29",
    "2100-02-29T00:00:00Z",
    "2024-04-31",
    "2024-13-01",
    "2024-00-10",
    "2024-01-00",
    "2024-01-32",
    "2024-1-1",
    "2024-01-2",
    "24-01-02",
    "12024-01-02",
    "+2024-01-02",
    "-2024-01-02",
    "20240102",
    "20240102T033000Z",
    "2024-W01-2",
    "2024/01/02",
    "02/01/2024",
    "02-01-2024",
    "2024-01",
    "2024",
    "1704164400",
    "epoch",
    "infinity",
    "-infinity",
    "now",
    "today",
    "never",
    "",
    # parts missing, or too much of them
    "2024-01-02T",
    "2024-01-02 ",
    "2024-01-02T03",
    "2024-01-02T03Z",
    "2024-01-02T3:30",
    "2024-01-02T03:3",
    "2024-01-02T03:30:",
    "2024-01-02T03:30:0",
    "2024-01-02T03:30:00.",
    "2024-01-02T03:30:00.Z",
    "2024-01-02T03:30:00,5",
    "2024-01-02T03:30.5",
    "2024-01-02T0330",
    "2024-01-02  03:30",
    "2024-01-02_03:30",
    "2024-01-02T03:30:00ZZ",
    "2024-01-02T03:30:00 Z",
    "2024-01-02T03:30:00 UTC",
    "2024-01-02T03:30:00UTC",
    "2024-01-02T03:30:00 Europe/Berlin",
    "2024-01-02T03:30:00 +02:00",
    "2024-01-02T03:30:00+2",
    "2024-01-02T03:30:00+200",
    "2024-01-02T03:30:00+02:0",
    "2024-01-02T03:30:00+02:60",
    "2024-01-02T03:30:00+02:00:00",
    "2024-01-02T03:30:00+02:00Z",
    "2024-01-02T03:30:00Z+02:00",
    "2024-01-02T03:30:00--02",
    "2024-01-02T03:30:00\u221202:00",
    "2024-01-02T03:30:00Zjunk",
    "junk2024-01-02T03:30:00Z",
    "2024-01-02T03:30:00Z\n",
    "2024-01-02T03:30:00Z\nx",
    "2024-01-02T03:30:00Z (BC)",
    # an offset needs a time of day
    "2024-01-02Z",
    "2024-01-02+02:00",
    "2024-01-02-05",
    # digits of other scripts
    "٢٠٢٤-٠١-٠٢",
    "２０２４-01-02",
    "2024-01-0२T03:30:00Z",
    # outside 1970 to 2200
    "1969-12-31",
    "1969-12-31T23:59:59.999999Z",
    "1970-01-01T00:59:59.999999+01:00",
    "2200-01-01T00:00:00.000001Z",
    "2200-01-02",
    "2200-01-01T00:00-00:01",
    "9999-12-31",
    "0001-01-01",
    "0000-00-00",
]


@pytest.mark.parametrize(("given", "expected"), TIMES)
def test_time_is_read(
    connection: duckdb.DuckDBPyConnection, given: str, expected: datetime
) -> None:
    assert value_of(connection, "time_of($given)", given) == expected


@pytest.mark.parametrize("given", NO_TIMES)
def test_what_is_no_time_is_null(connection: duckdb.DuckDBPyConnection, given: str) -> None:
    assert value_of(connection, "time_of($given)", given) is None


def test_missing_time_stays_missing(connection: duckdb.DuckDBPyConnection) -> None:
    assert value_of(connection, "time_of($given::VARCHAR)", None) is None


def test_times_in_bulk_are_judged_row_by_row(connection: duckdb.DuckDBPyConnection) -> None:
    """Constant folding of a single literal must not be what makes the macros right."""
    given = [text for text, _ in TIMES] + NO_TIMES
    rows = connection.execute(
        "SELECT time_of(given) FROM (SELECT unnest($given) AS given, "
        "generate_subscripts($given, 1) AS place) ORDER BY place",
        {"given": given},
    ).fetchall()
    assert [value for (value,) in rows] == [value for _, value in TIMES] + [None] * len(NO_TIMES)


def test_python_reads_times_by_the_same_grammar() -> None:
    assert parse_time(" 2024-01-02t05:30+0200\n") == HALF_PAST_THREE
    with pytest.raises(ClockError, match=r"2024-01-02T24:00.*write it like"):
        parse_time("2024-01-02T24:00")


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("TIMESTAMP '1970-01-01'", datetime(1970, 1, 1)),
        ("TIMESTAMP '2200-01-01'", datetime(2200, 1, 1)),
        ("TIMESTAMP '2200-01-01 00:00:00.000001'", None),
        ("TIMESTAMP '1969-12-31 23:59:59.999999'", None),
        ("TIMESTAMP 'infinity'", None),
        ("TIMESTAMP '-infinity'", None),
        ("TIMESTAMPTZ '2024-01-02 05:30:00+02'", HALF_PAST_THREE),
        ("DATE '2024-01-02'", MIDNIGHT),
        ("DATE 'infinity'", None),
        ("TIMESTAMP_MS '2024-01-02 03:30:00.250'", datetime(2024, 1, 2, 3, 30, 0, 250_000)),
        ("TIMESTAMP_S '2024-01-02 03:30:00'", HALF_PAST_THREE),
        ("CAST(NULL AS TIMESTAMP)", None),
    ],
)
def test_typed_times_keep_the_same_limits(
    connection: duckdb.DuckDBPyConnection, literal: str, expected: datetime | None
) -> None:
    ((value,),) = connection.execute(f"SELECT typed_time({literal})").fetchall()
    assert value == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("2024-01-02 05:30:00+02", HALF_PAST_THREE),
        ("2024-01-02 03:30:00.000001+00", datetime(2024, 1, 2, 3, 30, 0, 1)),
        ("1970-01-01 00:00:00+00", datetime(1970, 1, 1)),
        ("1969-12-31 23:59:59.999999+00", None),
        ("2200-01-01 00:00:00+00", datetime(2200, 1, 1)),
        ("2200-01-01 00:00:00.000001+00", None),
        ("294246-01-01 00:00:00+00", None),
        ("0044-03-15 (BC) 00:00:00+00", None),
        ("infinity", None),
        ("-infinity", None),
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_typed_instants_keep_the_same_limits_in_any_zone(
    connection: duckdb.DuckDBPyConnection, zone: str, literal: str, expected: datetime | None
) -> None:
    connection.execute(f"SET TimeZone = '{zone}'")
    given = f"typed_time_tz(TIMESTAMPTZ '{literal}')"
    ((value,),) = connection.execute(f"SELECT {given}").fetchall()
    assert value == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("2024-01-02 03:30:00.000000999", HALF_PAST_THREE),
        ("2024-01-02 03:30:00.000001500", datetime(2024, 1, 2, 3, 30, 0, 1)),
        ("1970-01-01 00:00:00.000000000", datetime(1970, 1, 1)),
        ("1969-12-31 23:59:59.999999999", None),
        ("2200-01-01 00:00:00.000000999", datetime(2200, 1, 1)),
        ("2200-01-01 00:00:00.000001000", None),
    ],
)
def test_typed_nanoseconds_are_cut_like_digits_of_text(
    connection: duckdb.DuckDBPyConnection, literal: str, expected: datetime | None
) -> None:
    given = value_of(connection, "CAST($given AS TIMESTAMP_NS)", literal)
    assert given is not None
    assert value_of(connection, "typed_time_ns(CAST($given AS TIMESTAMP_NS))", literal) == expected


NUMBERS = [
    ("0", 0.0),
    ("-0", -0.0),
    ("+0", 0.0),
    ("1", 1.0),
    ("007", 7.0),
    ("0.8", 0.8),
    ("+.5", 0.5),
    ("-.5", -0.5),
    (".5", 0.5),
    ("5.", 5.0),
    ("+5.", 5.0),
    ("1e5", 100_000.0),
    ("1E5", 100_000.0),
    ("1e+5", 100_000.0),
    ("1e-5", 0.00001),
    ("5.e1", 50.0),
    (".5e1", 5.0),
    ("1.e-0", 1.0),
    ("+.70e0", 0.7),
    ("0.1", 0.1),
    ("0.30000000000000004", 0.1 + 0.2),
    ("123456789012345678901234567890", 1.2345678901234568e29),
    ("9007199254740993", 9007199254740992.0),
    ("5e-324", 5e-324),
    ("1e-400", 0.0),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    ("2.2250738585072011e-308", 2.2250738585072011e-308),
]

NO_NUMBERS = [
    "nan", "NaN", "-nan", "inf", "Inf", "-inf", "+inf", "infinity", "Infinity",
    "1e999", "-1e999", "1e309", "1.7976931348623159e308",
    "1_000", "1_0.5", "1,000", "1,5", "1 000", "1'000",
    "0x1", "0x1p3", "0b1", "0o7", "1e", "e5", "1e+", "1e5.0", "1e 5", ".", "+", "-", "+.", "-.e1",
    "--1", "+-1", "- 1", "1-", "1.2.3", "5%", "80 %", "$1", "1f", "1d", "1L", "1.0f",
    "٣", "１", "½", "²", "−1", "1\u00a0", "\u00a01", "1\n", "true", "null", "None", "eighty", "",
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), NUMBERS)
def test_number_is_read_to_the_bit(
    connection: duckdb.DuckDBPyConnection, given: str, expected: float
) -> None:
    found = value_of(connection, "number_of($given)", given)
    assert found == expected
    assert math.copysign(1, found) == math.copysign(1, expected)


@pytest.mark.parametrize("given", NO_NUMBERS)
def test_what_is_no_number_is_null(connection: duckdb.DuckDBPyConnection, given: str) -> None:
    assert value_of(connection, "number_of($given)", given) is None


@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, None])
def test_a_double_that_is_not_finite_is_no_number(
    connection: duckdb.DuckDBPyConnection, given: float | None
) -> None:
    assert value_of(connection, "finite($given::DOUBLE)", given) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("0", 0),
        ("-0", 0),
        ("7", 7),
        ("+7", 7),
        ("-7", -7),
        ("007", 7),
        ("9223372036854775807", 9223372036854775807),
        ("-9223372036854775808", -9223372036854775808),
        ("9007199254740993", 9007199254740993),  # a double would round it
        ("5.0", 5),  # what writers make of an integer column with gaps
        ("9223372036854775808", None),
        ("1.5", None),
        ("first", None),
        ("0x1", None),
        ("1_000", None),
        ("1,000", None),
        ("٣", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_integer_is_read(
    connection: duckdb.DuckDBPyConnection, given: str | None, expected: int | None
) -> None:
    assert value_of(connection, "integer_of($given::VARCHAR)", given) == expected


SIX = " \t\r\n\x0b\x0c"


@pytest.mark.parametrize("character", list(SIX))
def test_each_of_the_six_characters_is_trimmed(
    connection: duckdb.DuckDBPyConnection, character: str
) -> None:
    given = character * 2 + "a" + character + "b" + character
    assert value_of(connection, "trimmed($given)", given) == f"a{character}b"
    assert value_of(connection, "trimmed($given)", character * 3) is None


@pytest.mark.parametrize(
    "character",
    # NBSP, NEL, line and paragraph separator, ideographic, figure and zero-width space, BOM,
    # NUL, the information separators that Python's str.strip() takes too; letters of escapes
    ["\u00a0", "\u0085", "\u2028", "\u2029", "\u3000", "\u2007", "\u200b", "\ufeff", "\x00",
     "\x1c", "\x1d", "\x1e", "\x1f", "\x08", "t", "r", "n", "x", "0", "b", "c", "\\", "e"],
)  # fmt: skip
def test_nothing_else_is_trimmed(connection: duckdb.DuckDBPyConnection, character: str) -> None:
    given = f"{character}a{character}"
    assert value_of(connection, "trimmed($given)", given) == given
    assert value_of(connection, "trimmed($given)", f" {given}\f") == given


def test_trimming_leaves_a_missing_value(connection: duckdb.DuckDBPyConnection) -> None:
    assert value_of(connection, "trimmed($given)", "") is None
    assert value_of(connection, "trimmed($given)", SIX) is None
    assert value_of(connection, "trimmed($given::VARCHAR)", None) is None
