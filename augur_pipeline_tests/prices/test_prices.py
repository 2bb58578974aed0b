"""The fates of price rows (contract §3)."""

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augur_pipeline.errors import InputError
from augur_pipeline.landing import files as landing
from augur_pipeline.prices.rules import RULES
from augur_pipeline_tests.nights import intake_night, make_home, night, open_store, query, write_csv

COLUMNS = ("pool_id", "recorded_at", "price", "sequence")
LATE = "2199-01-01T00:00:00Z"
T = "2024-01-02T01:00:00Z"

# pool_id, recorded_at, price, sequence, then the fate and reason it has; as_of is 2024-06-01
ROWS: list[tuple[str, str, str, str, str, str | None]] = [
    ("P", T, "1", "", "usable", None),
    ("P", "2024-01-02 03:00+02", " +1.0e0 ", "", "duplicate", None),
    ("P\t", T, "1", " ", "duplicate", None),
    ("P", T, "2", "", "usable", None),  # another price at the same instant is kept
    ("P", T, "2", "", "duplicate", None),
    ("P", T, "1", "0", "usable", None),  # another sequence: no duplicate
    ("P", T, "1", "+0", "duplicate", None),
    ("P", T, "1", "1", "usable", None),
    ("p", T, "1", "", "usable", None),  # ids are case-sensitive
    ("P", "2024-01-02T01:00:00.000001Z", "1", "", "usable", None),
    ("P", "2024-01-02T01:00:00.0000019Z", "1", "", "duplicate", None),
    ("Q", T, "5e-324", "", "usable", None),
    ("Q", T, "1.7e308", "-9223372036854775808", "usable", None),
    ("Q", "2024-06-01", "1", "", "usable", None),  # at as_of is known
    ("Q", "2024-06-01T00:00:00.000001Z", "1", "", "not_yet", None),
    # not_yet before every other reason
    ("", LATE, "nan", "x", "not_yet", None),
    ("Q", LATE, "-1", "", "not_yet", None),
    # missing_pool_id before bad_recorded_at, bad_price, bad_sequence
    ("", T, "1", "", "rejected", "missing_pool_id"),
    (" \t", "never", "nan", "x", "rejected", "missing_pool_id"),
    # bad_recorded_at before bad_price, price_not_positive, bad_sequence
    ("Q", "", "1", "", "rejected", "bad_recorded_at"),
    ("Q", "never", "nan", "x", "rejected", "bad_recorded_at"),
    ("Q", "2200-01-01T00:00:00.000001Z", "0", "x", "rejected", "bad_recorded_at"),
    ("Q", "1969-12-31T23:59:59Z", "1", "", "rejected", "bad_recorded_at"),
    ("Q", "2024-01-02T24:00:00Z", "1", "", "rejected", "bad_recorded_at"),
    # bad_price before bad_sequence
    ("Q", T, "", "x", "rejected", "bad_price"),
    ("Q", T, "nan", "", "rejected", "bad_price"),
    ("Q", T, "inf", "", "rejected", "bad_price"),
    ("Q", T, "-inf", "", "rejected", "bad_price"),
    ("Q", T, "1e999", "", "rejected", "bad_price"),
    ("Q", T, "1,5", "", "rejected", "bad_price"),
    # price_not_positive before bad_sequence
    ("Q", T, "0", "x", "rejected", "price_not_positive"),
    ("Q", T, "-0", "", "rejected", "price_not_positive"),
    ("Q", T, "-1.5", "", "rejected", "price_not_positive"),
    ("Q", T, "1e-400", "", "rejected", "price_not_positive"),
    ("Q", T, "1", "x", "rejected", "bad_sequence"),
    ("Q", T, "1", "1.5", "rejected", "bad_sequence"),
    ("Q", T, "1", "9223372036854775808", "rejected", "bad_sequence"),
    ("Q", T, "1", "nan", "rejected", "bad_sequence"),
    # what is rejected is not what a good row repeats
    ("R", T, "1", "x", "rejected", "bad_sequence"),
    ("R", T, "1", "", "usable", None),
]


def write_prices(home: Path, name: str, rows: list[tuple[Any, ...]]) -> None:
    write_csv(
        home / "inputs/prices" / name,
        [dict(zip(COLUMNS, row, strict=False)) for row in rows],
        COLUMNS,
    )


def prices_taken_in(home: Path, columns: str) -> list[tuple[Any, ...]]:
    with open_store(home) as store:
        intake_night(store)
        return store.connection.execute(
            f"SELECT {columns} FROM raw_prices ORDER BY file_number, source_line"
        ).fetchall()


@pytest.fixture(scope="module")
def price_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = make_home(tmp_path_factory.mktemp("prices"))
    write_prices(home, "prices.csv", [row[:4] for row in ROWS])
    with (home / "inputs/prices/prices.csv").open("ab") as file:
        file.write(b"P,2199-01-01\n" + b"P,2199-01-01,1,,\n" + b"P\xff,2199-01-01,1,\n")
    night(home)
    return home


def test_every_price_row_has_its_fate(price_home: Path) -> None:
    found = prices_taken_in(price_home, "source_line, fate, reason")
    expected = [(place, *row[4:]) for place, row in enumerate(ROWS, start=2)]
    malformed = [(len(ROWS) + place, "rejected", "malformed_row") for place in (2, 3, 4)]
    assert found == [*expected, *malformed]


def test_the_price_funnel_sums_to_the_rows_read(price_home: Path) -> None:
    assert query(
        price_home, "SELECT fate, reason, rows FROM funnel WHERE kind = 'prices' ORDER BY ALL"
    ) == [
        ("duplicate", None, 5),
        ("not_yet", None, 3),
        ("rejected", "bad_price", 6),
        ("rejected", "bad_recorded_at", 5),
        ("rejected", "bad_sequence", 5),
        ("rejected", "malformed_row", 3),
        ("rejected", "missing_pool_id", 2),
        ("rejected", "price_not_positive", 4),
        ("usable", None, 10),
    ]
    assert query(price_home, "SELECT rows FROM input_files WHERE kind = 'prices'") == [(43,)]


def test_rejected_prices_are_named_with_column_and_value(price_home: Path) -> None:
    columns = {
        "missing_pool_id": ("pool_id", 0),
        "bad_recorded_at": ("recorded_at", 1),
        "bad_price": ("price", 2),
        "bad_sequence": ("sequence", 3),
    }
    found = {
        line: rest
        for line, *rest in query(
            price_home,
            "SELECT source_line, source_file, reason, column_name, value, call_id, agent_id "
            "FROM rejected_rows WHERE kind = 'prices'",
        )
    }
    assert len(found) == 25
    for line, row in enumerate(ROWS, start=2):
        reason = row[5]
        if reason in columns:
            column, place = columns[reason]
            given = row[place].strip() or None
            assert found[line] == ["prices.csv", reason, column, given, None, None]
        elif reason:
            assert found[line][:3] == ["prices.csv", "price_not_positive", "price"]
    assert found[len(ROWS) + 2] == ["prices.csv", "malformed_row", None, "P,2199-01-01", None, None]
    messages = query(price_home, "SELECT message FROM rejected_rows WHERE kind = 'prices'")
    assert all(message for (message,) in messages)


def test_the_first_row_by_file_name_and_line_is_no_duplicate(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    one, other = ("P", T, "1"), ("P", "2024-01-02T01:00Z", "1.0")
    write_prices(home, "b.csv", [one, other])
    write_prices(home, "B.csv", [("Q", T, "1"), other])
    write_prices(home, "a.csv", [one])
    assert prices_taken_in(home, "file_number, source_line, pool_id, fate") == [
        (0, 2, "Q", "usable"),
        (0, 3, "P", "usable"),
        (1, 2, "P", "duplicate"),
        (2, 2, "P", "duplicate"),
        (2, 3, "P", "duplicate"),
    ]


def test_conflicts_are_instants_that_sequence_does_not_decide(tmp_path: Path) -> None:
    instants = [f"2024-01-02T{hour:02d}:00:00Z" for hour in range(10)]
    rows = [
        (instants[0], "1", ""), (instants[0], "2", ""), (instants[0], "3", ""),  # conflict
        (instants[1], "1", "7"), (instants[1], "2", "7"),                        # conflict
        (instants[2], "1", "1"), (instants[2], "2", "2"),                        # decided
        (instants[3], "1", "1"), (instants[3], "2", ""),                         # conflict
        (instants[4], "1", ""), (instants[4], "1", ""),                          # duplicate
        (instants[5], "1", ""), (instants[5], "0", ""),                          # rejected
        (instants[6], "1", ""), (LATE, "2", ""),
        (instants[7], "1", "1"), (instants[7], "1", ""),                         # one price
        (instants[8], "1", "1"), (instants[8], "2", "2"), (instants[8], "1", ""),  # conflict, once
        (instants[9], "1", "3"), (instants[9], "2", "3"), (instants[9], "3", ""),  # conflict, once
    ]  # fmt: skip
    home = make_home(tmp_path)
    write_prices(home, "prices.csv", [("P", *row) for row in rows] + [("Q", instants[6], "9")])
    (rule,) = (rule for rule in RULES if rule.name == "price_conflicts")
    assert not rule.is_blocking
    with open_store(home) as store:
        intake_night(store)
        finding = rule.find(store)
    assert finding.broken_rows == 5
    assert [(str(at), prices) for _, at, prices, *_ in finding.examples] == [
        ("2024-01-02 00:00:00", 3),
        ("2024-01-02 01:00:00", 2),
        ("2024-01-02 03:00:00", 2),
        ("2024-01-02 08:00:00", 3),
        ("2024-01-02 09:00:00", 3),
    ]


def test_sequence_column_may_be_left_out(tmp_path: Path) -> None:
    home = make_home(tmp_path, prices=[("P", T, 1), ("P", T, 1), ("P", T, 2)])
    assert prices_taken_in(home, "sequence, sequence_text, fate") == [
        (None, None, "usable"),
        (None, None, "duplicate"),
        (None, None, "usable"),
    ]


def test_sequences_are_whole_64_bit_numbers(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    given = ["9223372036854775807", "9007199254740993", "-3", "5.0", ""]
    clock = (f"2024-01-02T00:00:{second:02d}Z" for second in itertools.count())
    write_prices(
        home, "prices.csv", [("P", at, "1", text) for at, text in zip(clock, given, strict=False)]
    )
    assert prices_taken_in(home, "sequence, fate") == [
        (9223372036854775807, "usable"),
        (9007199254740993, "usable"),
        (-3, "usable"),
        (5, "usable"),
        (None, "usable"),
    ]


def parquet_prices(path: Path, prices: list[float | None]) -> None:
    rows = len(prices)
    table = pa.table(
        {
            "pool_id": ["P"] * rows,
            "recorded_at": [f"2024-01-02T01:{n:02d}:00Z" for n in range(rows)],
            "price": pa.array(prices, pa.float64()),
        }
    )
    pq.write_table(table, path)


@pytest.mark.parametrize("later", [[1.0, 2.0, 3.0], [1.0, None, None], [1.0], []])
def test_a_parquet_file_replaced_between_its_readings_stops_the_run(
    later: list[float | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path, [])
    path = home / "inputs/prices/prices.parquet"
    parquet_prices(path, [1.0, None, 3.0])
    honest = landing._append

    def replaced_after(connection: Any, table: str, *arguments: Any) -> int:
        appended = honest(connection, table, *arguments)
        if table == "usable_prices" and appended:
            parquet_prices(tmp_path / "fresh.parquet", later)
            (tmp_path / "fresh.parquet").replace(path)
        return appended

    monkeypatch.setattr(landing, "_append", replaced_after)
    with (
        open_store(home) as store,
        pytest.raises(
            InputError, match=r"prices\.parquet: it changed while it was read; run again"
        ),
    ):
        intake_night(store)


@pytest.mark.parametrize("name", ["prices.csv", "prices.jsonl", "prices.parquet"])
def test_a_file_written_to_while_it_is_read_stops_the_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path, [])
    path = home / "inputs/prices" / name
    if name.endswith("parquet"):
        parquet_prices(path, [1.0])
    elif name.endswith("csv"):
        path.write_text(f"pool_id,recorded_at,price\nP,{T},1\n", encoding="utf-8")
    else:
        path.write_text(f'{{"pool_id":"P","recorded_at":"{T}","price":1}}\n', encoding="utf-8")
    honest = landing.Landing.add

    def written_to_after(self: landing.Landing, file: landing.LandingFile) -> Any:
        landed = honest(self, file)
        if file.path == path:
            path.write_bytes(path.read_bytes() + b"more")
        return landed

    monkeypatch.setattr(landing.Landing, "add", written_to_after)
    with open_store(home) as store, pytest.raises(InputError, match="changed while it was read"):
        intake_night(store)


def test_good_and_bad_prices_of_a_typed_file_have_their_fates(tmp_path: Path) -> None:
    home = make_home(tmp_path, [])
    parquet_prices(home / "inputs/prices/prices.parquet", [1.0, None, 0.0, 2.0])
    with open_store(home) as store:
        intake_night(store)
        fates = store.connection.execute(
            "SELECT source_line, fate, reason FROM raw_prices ORDER BY source_line"
        ).fetchall()
    assert fates == [
        (1, "usable", None),
        (2, "rejected", "bad_price"),
        (3, "rejected", "price_not_positive"),
        (4, "usable", None),
    ]
