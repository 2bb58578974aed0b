"""Landing files into rows: CSV, JSONL and Parquet, good and bad (contract §3, §4 test 0)."""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augur_pipeline.errors import AugurError, InputError
from augur_pipeline.intake.steps import take_in
from augur_pipeline.store.resource import Store
from augur_pipeline_tests.nights import (
    CALL_COLUMNS,
    GOOD_CALL,
    LATER,
    intake_night,
    jsonl,
    make_home,
    night,
    open_store,
    query,
    table,
    write_csv,
)

HEADER = ",".join(CALL_COLUMNS)
EXTRA_HEADER = HEADER + ",note"


def line(call_id: str, note: str | None = None, **changes: str) -> str:
    """A call as one CSV line, without its end."""
    values = [*({**GOOD_CALL, "call_id": call_id, **changes}[name] for name in CALL_COLUMNS)]
    return ",".join(values if note is None else [*values, note])


TakenIn = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One open store; `taken_in` has it read the inputs of each test."""
    with open_store(make_home(tmp_path_factory.mktemp("landing"))) as store:
        intake_night(store)
        yield store


@pytest.fixture
def taken_in(shared_store: Store) -> TakenIn:
    """Rows of a home's calls as intake leaves them."""

    def rows(home: Path, columns: str) -> list[tuple[Any, ...]]:
        shutil.rmtree(shared_store.paths.inputs)
        shutil.copytree(home / "inputs", shared_store.paths.inputs)
        take_in(shared_store)
        return shared_store.connection.execute(
            f"SELECT {columns} FROM raw_calls ORDER BY file_number, source_line"
        ).fetchall()

    return rows


def home_of(root: Path, name: str, content: bytes | str, kind: str = "calls") -> Path:
    """A home whose only landing file of a kind has this content."""
    home = make_home(root)
    shutil.rmtree(home / "inputs/calls")
    (home / "inputs/calls").mkdir()
    path = home / "inputs" / kind / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return home


# ---- CSV -----------------------------------------------------------------------------------

CSV_LINES: list[bytes] = [
    b"\xef\xbb\xbf" + EXTRA_HEADER.encode(),                        # 1, a byte-order mark
    line("c2", "plain").encode(),                                   # 2
    b"",                                                            # 3, blank
    line("c4", '"two\nlines, and ""quotes"""').encode(),            # 4 and 5
    line("c6", "next").encode(),                                    # 6
    b"",                                                            # 7
    b"",                                                            # 8
    line('"c9\n\nthree"', "x").encode(),                            # 9 to 11, a blank line quoted
    b"short,row",                                                   # 12
    line("c13", "x,too,long").encode(),                             # 13
    b'c14,"bad"quoting,P,buy,llm,0.8,1,100,2024-01-02,x',           # 14
    b"c15,\xff\xfe,P,buy,llm,0.8,1,100,2024-01-02,x",               # 15
    b'"c16\nmore","bad"quoting,x',                                  # 16 and 17
    b"   ",                                                         # 18, not blank: one field
    b"z" * 500,                                                     # 19
    '"é' .encode() + "é".encode() * 300 + b'"',                     # 20, cut by characters
    line("c21", "last").encode(),                                   # 21, no line end
]  # fmt: skip

CSV_ROWS = [
    (2, "c2", None),
    (4, "c4", None),
    (6, "c6", None),
    (9, "c9\n\nthree", None),
    (12, None, "short,row"),
    (13, None, "c13,a,P,buy,llm,0.8,1,100,2024-01-02T00:00:00Z,x,too,long"),
    (14, None, 'c14,"bad"quoting,P,buy,llm,0.8,1,100,2024-01-02,x'),
    (15, None, "c15,\ufffd\ufffd,P,buy,llm,0.8,1,100,2024-01-02,x"),
    # a stray quote draws in what follows: each line is read for itself, none is swallowed
    (16, None, '"c16'),
    (17, None, 'more","bad"quoting,x'),
    (18, None, "   "),
    (19, None, "z" * 200),
    (20, None, '"' + "é" * 199),
    (21, "c21", None),
]


def test_csv_rows_keep_their_physical_line(taken_in: TakenIn, tmp_path: Path) -> None:
    home = home_of(tmp_path, "calls.csv", b"\n".join(CSV_LINES))
    assert taken_in(home, "source_line, call_id, malformed_text") == CSV_ROWS


def test_csv_with_crlf_reads_the_same(taken_in: TakenIn, tmp_path: Path) -> None:
    home = home_of(tmp_path, "calls.csv", b"\r\n".join(CSV_LINES[:9]) + b"\r\n")
    assert taken_in(home, "source_line, call_id, malformed_text, decided_at") == [
        (2, "c2", None, datetime(2024, 1, 2)),
        (4, "c4", None, datetime(2024, 1, 2)),
        (6, "c6", None, datetime(2024, 1, 2)),
        (9, "c9\n\nthree", None, datetime(2024, 1, 2)),
        (12, None, "short,row", None),
    ]


def test_malformed_rows_are_rejected_with_line_and_raw_text(tmp_path: Path) -> None:
    home = home_of(tmp_path, "calls.csv", b"\n".join(CSV_LINES))
    night(home)
    assert query(
        home,
        "SELECT source_line, reason, column_name, value, call_id FROM rejected_rows "
        "WHERE kind = 'calls' ORDER BY source_line",
    ) == [(n, "malformed_row", None, text, None) for n, _, text in CSV_ROWS if text is not None]
    assert query(home, "SELECT fate, reason, rows FROM funnel WHERE kind = 'calls' ORDER BY 1") == [
        ("eligible", None, 5),
        ("rejected", "malformed_row", 9),
    ]
    assert query(home, "SELECT rows FROM input_files WHERE kind = 'calls'") == [(14,)]


def test_a_stray_quote_swallows_no_good_row(taken_in: TakenIn, tmp_path: Path) -> None:
    quoted = line("c4").replace(",llm,", ',"llm",')
    lines = [HEADER, line("c2").replace(",P,", ',"P,'), line("c3"), quoted, line("c5")]
    home = home_of(tmp_path, "calls.csv", "\n".join(lines))
    assert [call for _, call in taken_in(home, "source_line, call_id")] == [None, "c3", "c4", "c5"]


def test_csv_columns_in_any_order_with_padded_names(taken_in: TakenIn, tmp_path: Path) -> None:
    names = list(reversed(CALL_COLUMNS))
    text = ",".join(f" {name}\t" for name in names) + "\n" + ",".join(GOOD_CALL[n] for n in names)
    home = home_of(tmp_path, "calls.csv", text)
    assert taken_in(home, "call_id, agent_id, confidence, decided_at, recorded_at") == [
        ("c1", "a", 0.8, datetime(2024, 1, 2), None)
    ]


def test_csv_of_a_header_alone_has_no_rows(taken_in: TakenIn, tmp_path: Path) -> None:
    assert taken_in(home_of(tmp_path, "calls.csv", HEADER), "call_id") == []


def test_csv_fields_are_trimmed_folded_and_typed_or_kept_as_text(
    taken_in: TakenIn, tmp_path: Path
) -> None:
    header = HEADER + ",recorded_at,order_status,model_version"
    row = '" c\t","\x0ba\x0c",P\u00a0, BUY ,Protective_EXIT,eighty, -0 ," ",soon, 2024-01-02 ,ACCEPTED, m '
    home = home_of(tmp_path, "calls.csv", f"{header}\n{row}\n")
    assert taken_in(
        home,
        "call_id, agent_id, pool_id, action, decider, confidence, confidence_text, horizon_hours, "
        "horizon_hours_text, reference_price, reference_price_text, decided_at, decided_at_text, "
        "recorded_at, recorded_at_text, order_status, mandate_id, model_version",
    ) == [
        ("c", "a", "P\u00a0", "buy", "protective_exit", None, "eighty", -0.0, None, None, None,
         None, "soon", datetime(2024, 1, 2), None, "accepted", None, "m")
    ]  # fmt: skip


UNUSABLE_CSV = {
    "unterminated quote": (
        f'{HEADER}\n{line("c2")}\n\nc4,"never closed\n{line("c5")}\n', "line 4", "mend or remove"
    ),
    "missing column": (
        "call_id,agent_id\nc,a\n", "no column pool_id, action", "add it to the header"
    ),
    "twice-named column": (f"{HEADER},pool_id\n{line('c2', 'Q')}\n", "'pool_id'", "rename one"),
    "a hundred thousand columns": (
        ",".join([HEADER, *(f"x{n}" for n in range(100_000))]) + "\n",
        "columns, and at most 1000 are read",
        "leave out",
    ),
    "empty file": ("", "no column call_id", "add it"),
    "blank lines only": ("\n\r\n\n", "no column call_id", "add it"),
    "line ends of CR alone": (
        f"{HEADER}\r{line('c2')}\r", "no CSV header", "save it as CSV in UTF-8 with LF or CRLF"
    ),
    "header with an open quote": (f'"{HEADER}\n{line("c2")}\n', "no CSV header", "save it"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNUSABLE_CSV)
def test_unusable_csv_stops_the_run_naming_file_and_remedy(tmp_path: Path, case: str) -> None:
    content, what, remedy = UNUSABLE_CSV[case]
    home = home_of(tmp_path, "broken.csv", content)
    with pytest.raises(InputError) as caught:
        night(home)
    message = str(caught.value)
    assert str(home / "inputs/calls/broken.csv") in message
    assert what in message
    assert remedy in message
    assert "\n" not in message
    assert not (home / "augur.duckdb").exists()
    assert not (home / "exports").exists()


def test_an_unusable_file_beside_good_ones_leaves_the_last_night_as_it_was(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL], [("P", "2024-01-02T01:00:00Z", 101)])
    night(home)
    before = (home / "augur.duckdb").read_bytes()
    (home / "inputs/prices/z.csv").write_text("pool_id,price\nP,1\n")
    with pytest.raises(InputError, match=r"prices/z\.csv: no column recorded_at; add it"):
        night(home)
    assert (home / "augur.duckdb").read_bytes() == before
    (home / "inputs/prices/z.csv").unlink()
    night(home)


# ---- JSONL ---------------------------------------------------------------------------------


def test_jsonl_rows(taken_in: TakenIn, tmp_path: Path) -> None:
    good = {**GOOD_CALL, "note": "x"}
    silent = {name: value for name, value in GOOD_CALL.items() if name != "confidence"}

    def raw(call_id: str, name: str, literal: str) -> str:
        return json.dumps({**GOOD_CALL, "call_id": call_id, name: "@"}).replace('"@"', literal)

    lines = [
        "\ufeff" + json.dumps({**good, "call_id": "j1"}),                    # 1
        "",                                                                  # 2, blank
        json.dumps({**good, "call_id": "j3", "confidence": None}),           # 3
        json.dumps({**silent, "call_id": "j4"}),                             # 4
        raw("j5", "confidence", "0.80"),                                     # 5
        raw("j6", "reference_price", "1e2"),                                 # 6
        raw("j7", "confidence", "1e999"),                                    # 7
        raw("j8", "confidence", "NaN"),                                      # 8
        raw("j9", "confidence", "-Infinity"),                                # 9
        raw("j10", "reference_price", "123456789012345678901234567890"),     # 10
        raw("@", "call_id", "00"),                                           # 11, no JSON
        raw("@", "call_id", "12"),                                           # 12, a number as id
        raw("@", "call_id", "1.50"),                                         # 13
        raw("j14", "confidence", "true"),                                    # 14
        raw("j15", "agent_id", '{"name": ["x", null]}'),                     # 15
        raw("j16", "confidence", "[0.8]"),                                   # 16
        "[1, 2]",                                                            # 17
        '"text"',                                                            # 18
        "null",                                                              # 19
        "7",                                                                 # 20
        raw("j21", "agent_id", '"\\ud800"'),                                 # 21, lone surrogate
        raw("j22", "agent_id", '"\\ud83d\\ude42 \\u2028\\n"'),               # 22, a pair
        raw("j23", "agent_id", '"a') [:60],                                  # 23, torn
        "  \t " + json.dumps({**good, "call_id": "j24"}) + "  \r",           # 24
        json.dumps({**good, "call_id": "j25"}) + " {}",                      # 25, trailing junk
        "[" * 100_000,                                                       # 26
        "{}",                                                                # 27, all missing
    ]  # fmt: skip
    content = "\n".join(lines).encode() + b'\n{"call_id": "\xff"}\n'  # 28
    home = home_of(tmp_path, "calls.jsonl", content)
    rows = taken_in(
        home,
        "source_line, call_id, confidence, confidence_text, reference_price, malformed_text, "
        "agent_id",
    )
    assert rows == [
        (1, "j1", 0.8, None, 100.0, None, "a"),
        (3, "j3", None, None, 100.0, None, "a"),
        (4, "j4", None, None, 100.0, None, "a"),
        (5, "j5", 0.8, None, 100.0, None, "a"),
        (6, "j6", 0.8, None, 100.0, None, "a"),
        (7, "j7", None, "1e999", 100.0, None, "a"),
        (8, "j8", None, "NaN", 100.0, None, "a"),
        (9, "j9", None, "-Infinity", 100.0, None, "a"),
        (10, "j10", 0.8, None, 1.2345678901234568e29, None, "a"),
        (11, None, None, None, None, lines[10], None),
        (12, "12", 0.8, None, 100.0, None, "a"),
        (13, "1.50", 0.8, None, 100.0, None, "a"),
        (14, "j14", None, "true", 100.0, None, "a"),
        (15, "j15", 0.8, None, 100.0, None, '{"name":["x",null]}'),
        (16, "j16", None, "[0.8]", 100.0, None, "a"),
        (17, None, None, None, None, "[1, 2]", None),
        (18, None, None, None, None, '"text"', None),
        (19, None, None, None, None, "null", None),
        (20, None, None, None, None, "7", None),
        (21, None, None, None, None, lines[20], None),
        (22, "j22", 0.8, None, 100.0, None, "🙂 \u2028"),
        (23, None, None, None, None, lines[22], None),
        (24, "j24", 0.8, None, 100.0, None, "a"),
        (25, None, None, None, None, lines[24][:200], None),
        (26, None, None, None, None, "[" * 200, None),
        (27, None, None, None, None, None, None),
        (28, None, None, None, None, '{"call_id": "\ufffd"}', None),
    ]


def test_jsonl_in_which_no_object_has_a_required_key(tmp_path: Path) -> None:
    silent = {k: v for k, v in GOOD_CALL.items() if k not in ("decider", "confidence")}
    home = home_of(tmp_path, "broken.jsonl", jsonl([silent, silent]))
    with pytest.raises(InputError) as caught:
        night(home)
    assert str(home / "inputs/calls/broken.jsonl") in str(caught.value)
    assert "no object has decider, confidence" in str(caught.value)
    assert "add it" in str(caught.value)
    assert not (home / "augur.duckdb").exists()


def test_jsonl_with_a_key_in_one_object_only_is_usable(taken_in: TakenIn, tmp_path: Path) -> None:
    silent = {k: v for k, v in GOOD_CALL.items() if k != "confidence"}
    home = home_of(tmp_path, "calls.jsonl", jsonl([silent, {**GOOD_CALL, "call_id": "c2"}]))
    assert taken_in(home, "call_id, confidence") == [("c1", None), ("c2", 0.8)]


def test_jsonl_numbers_of_any_length_stop_no_run(taken_in: TakenIn, tmp_path: Path) -> None:
    long = json.dumps({**GOOD_CALL, "confidence": "@"}).replace('"@"', "9" * 5000)
    nested = long.replace('"a"', '{"name": 1}')
    home = home_of(tmp_path, "calls.jsonl", f"{long}\n{nested}\n")
    assert taken_in(home, "source_line, agent_id, confidence, length(confidence_text)") == [
        (1, "a", None, 5000),
        (2, '{"name":1}', None, 5000),
    ]


def test_empty_jsonl_has_no_rows(taken_in: TakenIn, tmp_path: Path) -> None:
    assert taken_in(home_of(tmp_path, "calls.jsonl", "\n \n"), "call_id") == []


# ---- Parquet -------------------------------------------------------------------------------


def parquet_calls(rows: int, **columns: pa.Array) -> pa.Table:
    """Good calls p1, p2, … as strings, with other columns in the place of some."""
    given: dict[str, Any] = {name: pa.array([GOOD_CALL[name]] * rows) for name in CALL_COLUMNS}
    given["call_id"] = pa.array([f"p{n}" for n in range(1, rows + 1)])
    return pa.table({**given, **columns})


def test_parquet_of_strings_reads_like_csv(taken_in: TakenIn, tmp_path: Path) -> None:
    home = make_home(tmp_path)
    text = [" 0.8\t", "eighty", "", None]
    pq.write_table(parquet_calls(4, confidence=pa.array(text)), home / "inputs/calls/p.parquet")
    assert taken_in(home, "source_line, call_id, confidence, confidence_text, decided_at") == [
        (1, "p1", 0.8, None, datetime(2024, 1, 2)),
        (2, "p2", None, "eighty", datetime(2024, 1, 2)),
        (3, "p3", None, None, datetime(2024, 1, 2)),
        (4, "p4", None, None, datetime(2024, 1, 2)),
    ]


def test_parquet_numbers_of_every_type(taken_in: TakenIn, tmp_path: Path) -> None:
    home = make_home(tmp_path)
    confidence = pa.array([0.1, math.nan, math.inf, -math.inf, None, -0.0], pa.float64())
    horizon = pa.array([1.5, 0.1, math.nan, 24, None, 2], pa.float32())
    price = pa.array(
        [Decimal("0.10"), Decimal("-1.25"), Decimal("12345.67"), None] + [Decimal(1)] * 2
    )
    pq.write_table(
        parquet_calls(6, confidence=confidence, horizon_hours=horizon, reference_price=price),
        home / "inputs/calls/floats.parquet",
    )
    whole = {
        "confidence": pa.array([0, 1, None], pa.int8()),
        "horizon_hours": pa.array([2**64 - 1, 3, None], pa.uint64()),
        "reference_price": pa.array([2**53 + 1, -7, None], pa.int64()),
        "agent_id": pa.array([7, -1, None], pa.int32()),
        "question_id": pa.array([1.5, 2.0, None], pa.float64()),
    }
    pq.write_table(parquet_calls(3, **whole), home / "inputs/calls/wholes.parquet")
    columns = (
        "confidence, confidence_text, horizon_hours, horizon_hours_text, reference_price, "
        "reference_price_text, agent_id"
    )
    assert taken_in(home, columns) == [
        (0.1, None, 1.5, None, 0.1, None, "a"),
        (None, "nan", 0.10000000149011612, None, -1.25, None, "a"),
        (None, "inf", None, "nan", 12345.67, None, "a"),
        (None, "-inf", 24.0, None, None, None, "a"),
        (None, None, None, None, 1.0, None, "a"),
        (-0.0, None, 2.0, None, 1.0, None, "a"),
        (0.0, None, 18446744073709551616.0, None, 9007199254740992.0, None, "7"),
        (1.0, None, 3.0, None, -7.0, None, "-1"),
        (None, None, None, None, None, None, None),
    ]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([1_704_164_400_123_456, 0, -1, None], pa.timestamp("us")),
         [moment("2024-01-02T03:00:00.123456"), datetime(1970, 1, 1), None, None]),
        (pa.array([1_704_164_400_123, 7_258_118_400_000, 7_258_118_400_001], pa.timestamp("ms")),
         [moment("2024-01-02T03:00:00.123"), datetime(2200, 1, 1), None]),
        (pa.array([1_704_164_400], pa.timestamp("s")), [moment("2024-01-02T03:00:00")]),
        (pa.array([1_704_164_400_000_000_000, 1_704_164_400_123_456_000], pa.timestamp("ns")),
         [moment("2024-01-02T03:00:00"), moment("2024-01-02T03:00:00.123456")]),
        (pa.array([datetime(2024, 1, 2, 3, tzinfo=UTC)], pa.timestamp("us", "America/New_York")),
         [moment("2024-01-02T03:00:00")]),
        (pa.array([datetime(2024, 1, 2, 3, tzinfo=UTC)], pa.timestamp("ms", "UTC")),
         [moment("2024-01-02T03:00:00")]),
        (pa.array([date(2024, 1, 2), date(1969, 12, 31), date(2200, 1, 1)], pa.date32()),
         [datetime(2024, 1, 2), None, datetime(2200, 1, 1)]),
        (pa.array(["2024-01-02t05:00+02", "epoch"], pa.large_string()),
         [moment("2024-01-02T03:00:00"), None]),
        (pa.array([1_704_164_400], pa.int64()), [None]),
    ],
    ids=["us", "ms", "s", "ns", "us New York", "ms UTC", "date", "text", "epoch seconds"],
)  # fmt: skip
def test_parquet_times_of_every_type(
    taken_in: TakenIn, tmp_path: Path, values: pa.Array, expected: list[datetime | None]
) -> None:
    home = make_home(tmp_path)
    pq.write_table(
        parquet_calls(len(values), decided_at=values), home / "inputs/calls/times.parquet"
    )
    rows = taken_in(home, "decided_at, decided_at_text IS NOT NULL")
    assert [instant for instant, _ in rows] == expected
    # what is no time keeps its text as evidence; what is missing has none
    assert [has_text for _, has_text in rows] == [
        instant is None and value.is_valid for instant, value in zip(expected, values, strict=True)
    ]


def test_parquet_nanoseconds_beyond_microseconds_are_cut(taken_in: TakenIn, tmp_path: Path) -> None:
    """As in text; a rounded price could enter a window it was not recorded in."""
    home = make_home(tmp_path)
    values = pa.array([1_704_164_400_000_000_999, 1_704_164_400_000_001_500], pa.timestamp("ns"))
    pq.write_table(parquet_calls(2, decided_at=values), home / "inputs/calls/ns.parquet")
    assert taken_in(home, "decided_at") == [
        (moment("2024-01-02T03:00:00"),),
        (moment("2024-01-02T03:00:00.000001"),),
    ]


def test_parquet_rows_are_numbered_through_row_groups(taken_in: TakenIn, tmp_path: Path) -> None:
    home = make_home(tmp_path)
    pq.write_table(parquet_calls(5000), home / "inputs/calls/groups.parquet", row_group_size=700)
    rows = taken_in(home, "source_line, call_id")
    assert rows == [(n, f"p{n}") for n in range(1, 5001)]


def test_parquet_names_that_are_patterns_mean_themselves(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    folder = home / "inputs/calls"
    for name, agent in (
        ("a[1]*.parquet", "pattern"),
        ("a1.parquet", "plain"),
        ("*.parquet", "star"),
    ):
        pq.write_table(parquet_calls(1, agent_id=pa.array([agent])), folder / name)
    with open_store(home) as store:
        intake_night(store)
        rows = store.connection.execute(
            "SELECT source_file, agent_id FROM raw_calls JOIN input_files USING (file_number) "
            "WHERE kind = 'calls' ORDER BY file_number"
        ).fetchall()
    assert rows == [("*.parquet", "star"), ("a1.parquet", "plain"), ("a[1]*.parquet", "pattern")]


@pytest.mark.parametrize("name", ["home[1]", "home*", "arena=7"])
def test_parquet_in_a_home_of_any_name(tmp_path: Path, name: str) -> None:
    home = make_home(tmp_path / name)
    (tmp_path / "home1/inputs").mkdir(parents=True)
    pq.write_table(parquet_calls(1), home / "inputs/calls/p.parquet")
    night(home)
    assert query(home, "SELECT call_id, agent_id FROM sealed_calls") == [("p1", "a")]
    assert query(
        home, "SELECT ignored_columns FROM input_files WHERE source_file = 'p.parquet'"
    ) == [(None,)]


def test_parquet_with_odd_extra_columns(taken_in: TakenIn, tmp_path: Path) -> None:
    home = make_home(tmp_path)
    extra = {name: pa.array([1]) for name in ('no"te', "file_row_number", "filename", " spaced ")}
    pq.write_table(parquet_calls(1, **extra), home / "inputs/calls/p.parquet")
    assert taken_in(home, "source_line, call_id") == [(1, "p1")]


def _truncated(path: Path) -> None:
    pq.write_table(parquet_calls(1000), path)
    path.write_bytes(path.read_bytes()[:-100])


UNUSABLE_PARQUET: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "truncated": (_truncated, "cannot be read as Parquet", "write it anew or remove it"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read as Parquet", "write it anew"),
    "text": (lambda path: path.write_text("call_id\nc1\n"), "cannot be read", "write it anew"),
    "column twice": (
        lambda path: pq.write_table(
            pa.Table.from_arrays(
                [*(calls := parquet_calls(1)).columns, calls.column("pool_id")],
                [*calls.column_names, "pool_id"],
            ),
            path,
        ),
        "column 'pool_id' stands in the header twice",
        "rename one",
    ),
    "column twice but for case and blanks": (
        lambda path: pq.write_table(
            (calls := parquet_calls(1)).append_column(" Pool_ID", calls.column("pool_id")), path
        ),
        "column ' Pool_ID' stands in the header twice (as 'pool_id')",
        "rename one",
    ),
    "missing column": (
        lambda path: pq.write_table(parquet_calls(1).drop_columns(["pool_id", "action"]), path),
        "no column pool_id, action",
        "add it",
    ),
}


@pytest.mark.parametrize("case", UNUSABLE_PARQUET)
def test_unusable_parquet_stops_the_run(tmp_path: Path, case: str) -> None:
    write, what, remedy = UNUSABLE_PARQUET[case]
    home = make_home(tmp_path)
    write(home / "inputs/calls/broken.parquet")
    with pytest.raises(InputError) as caught:
        night(home)
    message = str(caught.value)
    assert str(home / "inputs/calls/broken.parquet") in message
    assert what in message
    assert remedy in message
    assert "landing.parquet" not in message
    assert not (home / "augur.duckdb").exists()


def test_one_call_in_three_formats_has_one_seal(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    call = {**GOOD_CALL, "confidence": 0.8, "horizon_hours": 1, "reference_price": 100.0}
    (home / "inputs/calls/d.jsonl").write_text(jsonl([call]))
    typed = {
        "call_id": pa.array(["c1"]),
        "confidence": pa.array([0.8]),
        "horizon_hours": pa.array([1], pa.int16()),
        "reference_price": pa.array([Decimal("100.00")]),
        "decided_at": pa.array([datetime(2024, 1, 2)], pa.timestamp("ns")),
    }
    pq.write_table(parquet_calls(1, **typed), home / "inputs/calls/e.parquet")
    night(home)
    assert query(
        home, "SELECT source_file, fate, rows FROM funnel WHERE kind = 'calls' ORDER BY 1"
    ) == [("calls.csv", "eligible", 1), ("d.jsonl", "duplicate", 1), ("e.parquet", "duplicate", 1)]


# ---- files ---------------------------------------------------------------------------------


def test_files_their_order_what_is_ignored_and_their_digests(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    folder = home / "inputs/calls"
    (folder / "calls.csv").unlink()
    agents = {"a.csv": "second", "B.csv": "first", "é.csv": "third"}
    for name, agent in agents.items():
        write_csv(folder / name, [{**GOOD_CALL, "agent_id": agent, "note": "", "b": "1"}])
    (folder / "C.jsonl").write_text(jsonl([{**GOOD_CALL, "mood": 1, "zeal": 2}, GOOD_CALL]))
    extra = {"tag": pa.array(["x"])}
    pq.write_table(parquet_calls(1, call_id=pa.array(["c1"]), **extra), folder / "b.parquet")
    # not ours: hidden, other suffixes, folders
    good = (folder / "a.csv").read_bytes()
    others = (".hidden.csv", "notes.txt", "calls.csv.bak", "calls.CSV", "x.csv~", "csv", ".csv")
    for name in others:
        (folder / name).write_bytes(good)
    (folder / "folder.csv").mkdir()
    (folder / "folder.csv/inner.csv").write_bytes(good)
    (folder / "sub").mkdir()
    (folder / "sub/inner.csv").write_bytes(good)
    night(home)

    files = [row for row in table(home, "input_files") if row["kind"] == "calls"]
    assert [
        (row["file_number"], row["source_file"], row["rows"], row["ignored_columns"])
        for row in sorted(files, key=lambda row: row["file_number"])
    ] == [
        (0, "B.csv", 1, '["b", "note"]'),
        (1, "C.jsonl", 2, '["mood", "zeal"]'),
        (2, "a.csv", 1, '["b", "note"]'),
        (3, "b.parquet", 1, '["tag"]'),
        (4, "é.csv", 1, '["b", "note"]'),
    ]
    for row in files:
        content = (folder / row["source_file"]).read_bytes()
        assert row["sha256"] == hashlib.sha256(content).hexdigest()
        assert row["bytes"] == len(content)
    # the first row in bytewise order of names is the seal
    assert query(home, "SELECT agent_id, source_file, source_line FROM sealed_calls") == [
        ("first", "B.csv", 2)
    ]
    assert query(
        home, "SELECT source_file, fate, reason, rows FROM funnel WHERE kind = 'calls' ORDER BY 1"
    ) == [
        ("B.csv", "eligible", None, 1),
        ("C.jsonl", "rejected", "restated", 2),
        ("a.csv", "rejected", "restated", 1),
        ("b.parquet", "rejected", "restated", 1),
        ("é.csv", "rejected", "restated", 1),
    ]


def test_settings_are_evidence_too(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    (home / "inputs/policy.toml").write_text('backfill = "exclude"\n')
    night(home)
    digests = {
        name: hashlib.sha256((home / "inputs" / name).read_bytes()).hexdigest()
        for name in ("calls/calls.csv", "prices/prices.csv", "seasons.csv", "policy.toml")
    }
    ((stored,),) = query(home, "SELECT input_digests FROM run_info")
    assert json.loads(stored) == {
        (name if "/" in name else f"settings/{name}"): digest for name, digest in digests.items()
    }


def test_a_home_without_landing_folders_is_an_empty_night(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    shutil.rmtree(home / "inputs/calls")
    shutil.rmtree(home / "inputs/prices")
    night(home, LATER)
    assert query(home, "SELECT count(*) FROM sealed_calls") == [(0,)]
    assert query(home, "SELECT count(*) FROM funnel") == [(0,)]


# ---- what is no file -----------------------------------------------------------------------


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("nothing"))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", [a_pipe, a_device, a_link_to_nothing])
@pytest.mark.parametrize(
    "name",
    [
        "calls/x.csv", "calls/x.jsonl", "prices/x.parquet", "seasons.csv", "score_terms.csv",
        "benchmarks.csv", "policy.toml",
    ],
)  # fmt: skip
def test_what_is_no_regular_file_is_refused(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    home = make_home(tmp_path / "home", [GOOD_CALL])
    path = home / "inputs" / name
    path.unlink(missing_ok=True)
    make(path)
    with pytest.raises(AugurError) as caught:
        night(home)
    message = str(caught.value)
    assert str(path) in message
    assert "remove it" in message
    assert not (home / "augur.duckdb").exists()


def test_a_link_to_a_file_is_one(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", [GOOD_CALL])
    calls = home / "inputs/calls/calls.csv"
    calls.rename(tmp_path / "elsewhere.csv")
    calls.symlink_to(tmp_path / "elsewhere.csv")
    night(home)
    assert query(home, "SELECT count(*) FROM sealed_calls") == [(1,)]


def test_a_json_object_in_which_a_name_stands_twice_is_malformed(tmp_path: Path) -> None:
    twice = json.dumps({**GOOD_CALL, "call_id": "c2"})[:-1] + ', "confidence": "0.1"}'
    home = home_of(tmp_path, "x.jsonl", json.dumps(GOOD_CALL) + "\n" + twice + "\n")
    night(home)
    assert query(home, "SELECT call_id FROM sealed_calls") == [("c1",)]
    assert query(home, "SELECT source_line, reason FROM rejected_rows") == [(2, "malformed_row")]


def test_objects_of_ever_new_names_are_bounded(tmp_path: Path) -> None:
    lines = (json.dumps({**GOOD_CALL, f"x{n}": 1}) for n in range(1200))
    home = home_of(tmp_path, "x.jsonl", "\n".join(lines))
    with pytest.raises(InputError, match="more than 1000 different names"):
        night(home)


# ---- many files ----------------------------------------------------------------------------


def test_rows_of_many_files_keep_their_place(tmp_path: Path) -> None:
    """Rows of several files go in together: each keeps its file, line and fate."""
    home = make_home(tmp_path / "home")
    shutil.rmtree(home / "inputs/calls")
    for n in range(40):
        rows = [{**GOOD_CALL, "call_id": f"c{n}-{k}"} for k in range(n % 4)]
        bad = [{**GOOD_CALL, "call_id": f"bad{n}", "confidence": "80"}] if n % 3 == 0 else []
        write_csv(home / f"inputs/calls/f{n:02}.csv", [*rows, *bad], CALL_COLUMNS)
    night(home)
    expected = [(f"f{n:02}.csv", f"c{n}-{k}", 2 + k) for n in range(40) for k in range(n % 4)]
    assert query(
        home,
        "SELECT source_file, call_id, source_line FROM sealed_calls WHERE fate = 'eligible' "
        "ORDER BY source_file, source_line",
    ) == expected  # fmt: skip
    assert query(
        home, "SELECT source_file, rows FROM input_files WHERE kind = 'calls' ORDER BY 1"
    ) == [(f"f{n:02}.csv", n % 4 + (n % 3 == 0)) for n in range(40)]


def test_files_taken_in_together_or_one_by_one_give_the_same_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for rows_at_once in (1, 3, 50_000):
        monkeypatch.setattr("augur_pipeline.landing.files.BATCH_ROWS", rows_at_once)
        home = make_home(tmp_path / f"home{rows_at_once}", [GOOD_CALL])
        for n in range(12):
            rows = [
                {**GOOD_CALL, "call_id": f"c{n}-{k}", "agent_id": f"a{n % 3}"} for k in range(3)
            ]
            write_csv(home / f"inputs/calls/f{n:02}.csv", rows, CALL_COLUMNS)
            price = {"pool_id": "P", "recorded_at": f"2024-01-02T01:{n:02}:00Z", "price": 99 + n}
            write_csv(home / f"inputs/prices/f{n:02}.csv", [price])
        digests.append(night(home))
    assert len(set(digests)) == 1
