"""Due, window, settlement, expiry and finality, to the microsecond (contract §5, §10)."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, write_csv

DUE = datetime(2024, 1, 2, 1)
US = timedelta(microseconds=1)
H = timedelta(hours=1)
CLOSES = DUE + 2 * H
EXPIRES = DUE + 168 * H


def text(instant: datetime) -> str:
    return instant.isoformat() + "Z"


def call(call_id: str, **changes: str) -> dict[str, str]:
    """GOOD_CALL on a pool of its own: buy at 100, due at DUE."""
    return {**GOOD_CALL, "call_id": call_id, "pool_id": call_id, **changes}


def write_prices(home: Path, name: str, rows: list[tuple[Any, ...]]) -> None:
    columns = ("pool_id", "recorded_at", "price", "sequence")
    path = home / "inputs/prices" / name
    write_csv(path, [dict(zip(columns, row, strict=False)) for row in rows], columns)


def outcomes(
    home: Path, columns: str = "status, outcome, is_flat, price"
) -> dict[str, tuple[Any, ...]]:
    rows = query(home, f"SELECT call_id, {columns} FROM resolved_outcomes ORDER BY 1")
    return {call_id: rest for call_id, *rest in ((row[0], *row[1:]) for row in rows)}


OPEN = ["expired", None, None, None]

# call, what differs, its prices as (recorded_at, price[, sequence]), what becomes of it
CASES: dict[str, tuple[dict[str, str], list[tuple[Any, ...]], list[Any]]] = {
    # both ends of the window are in, one microsecond outside is out
    "at due": ({}, [(text(DUE), 101)], ["resolved", 1, False, 101.0]),
    "before due": ({}, [(text(DUE - US), 101)], OPEN),
    "at close": ({}, [(text(CLOSES), 101)], ["resolved", 1, False, 101.0]),
    "after close": ({}, [(text(CLOSES + US), 101)], OPEN),
    "around": ({}, [(text(DUE - US), 101), (text(CLOSES + US), 101)], OPEN),
    "no price": ({}, [], OPEN),
    # nanoseconds are cut before they are compared
    "cut to close": ({}, [(text(CLOSES)[:-1] + ".0000009Z", 101)], ["resolved", 1, False, 101.0]),
    # directions; equal is wrong for both
    "buy up": ({}, [(text(DUE), 100.00000000000001)], ["resolved", 1, False, 100.00000000000001]),
    "buy down": ({}, [(text(DUE), 99)], ["resolved", 0, False, 99.0]),
    "buy flat": ({}, [(text(DUE), "1e2")], ["resolved", 0, True, 100.0]),
    "sell up": ({"action": "sell"}, [(text(DUE), 101)], ["resolved", 0, False, 101.0]),
    "sell down": ({"action": "sell"}, [(text(DUE), 99)], ["resolved", 1, False, 99.0]),
    "sell flat": ({"action": "sell"}, [(text(DUE), 100)], ["resolved", 0, True, 100.0]),
    # the first price of the window, in whatever order the rows stand
    "first": (
        {},
        [(text(DUE + H), 99), (text(DUE + US), 101), (text(CLOSES), 98), (text(DUE - US), 97)],
        ["resolved", 1, False, 101.0],
    ),
    # one instant: sequence, missing last, numbers as numbers; then line
    "sequence": (
        {}, [(text(DUE), 99, 10), (text(DUE), 101, 9), (text(DUE), 98, "")],
        ["resolved", 1, False, 101.0],
    ),
    "negative sequence": (
        {}, [(text(DUE), 99, 0), (text(DUE), 101, -1)], ["resolved", 1, False, 101.0]
    ),
    "time before sequence": (
        {}, [(text(DUE + US), 99, 1), (text(DUE), 101, 2)], ["resolved", 1, False, 101.0]
    ),
    "line": ({}, [(text(DUE), 101), (text(DUE), 99)], ["resolved", 1, False, 101.0]),
    "same sequence": (
        {}, [(text(DUE), 101, 5), (text(DUE), 99, 5)], ["resolved", 1, False, 101.0]
    ),
    # what is not usable settles nothing
    "unusable": (
        {},
        [(text(DUE), 0), (text(DUE), "nan"), (text(DUE), 90, "x"), (text(DUE), -1),
         (text(DUE + H), 101)],
        ["resolved", 1, False, 101.0],
    ),
    "only unusable": ({}, [(text(DUE), 0), (text(DUE), "inf"), ("never", 101)], OPEN),
    # horizons: exact hours, halves to even, calendars play no part
    "1.5 h before": (
        {"horizon_hours": "1.5"}, [(text(DUE + H / 2 - US), 99), (text(DUE + H / 2), 101)],
        ["resolved", 1, False, 101.0],
    ),
    "1.5 h": ({"horizon_hours": "1.5"}, [(text(DUE + H / 2 - US), 101)], OPEN),
    "240 h": (
        {"horizon_hours": "240"}, [(text(datetime(2024, 1, 12)), 101)], ["resolved", 1, False, 101.0]
    ),
    # spring forward in the US (2024-03-10) and in Europe (2024-03-31): 24 h are 24 h
    "dst us": (
        {"decided_at": "2024-03-09T12:00:00-05:00", "horizon_hours": "24"},
        [("2024-03-10T16:59:59.999999Z", 99), ("2024-03-10T17:00:00Z", 101)],
        ["resolved", 1, False, 101.0],
    ),
    "dst eu": (
        {"decided_at": "2024-03-30T12:00:00+01:00", "horizon_hours": "24"},
        [("2024-03-31T10:59:59.999999Z", 99), ("2024-03-31T11:00:00Z", 101)],
        ["resolved", 1, False, 101.0],
    ),
    "leap day": (
        {"decided_at": "2024-02-28T12:00:00Z", "horizon_hours": "24"},
        [("2024-02-29T11:59:59.999999Z", 99), ("2024-02-29T12:00:00Z", 101)],
        ["resolved", 1, False, 101.0],
    ),
}  # fmt: skip
YEAR = {"season_id": "Y", "starts_at": "2024-01-01", "ends_at": "2025-01-01"}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    calls = [call(name, **changes) for name, (changes, *_) in CASES.items()]
    calls += [call("case", pool_id="Case"), call("other case", pool_id="case")]
    home = make_home(tmp_path_factory.mktemp("cases"), calls, seasons=[YEAR])
    rows = [(name, *row) for name, (_, prices, _) in CASES.items() for row in prices]
    # after its pool's last price a call must not pick up the next pool's first
    write_prices(home, "prices.csv", [*rows, ("case", text(DUE), 101)])
    night(home, "2024-06-01T00:00:00Z")
    return home


@pytest.mark.parametrize("name", CASES)
def test_outcome(cases: Path, name: str) -> None:
    assert outcomes(cases)[name] == CASES[name][2]


def test_pools_are_case_sensitive(cases: Path) -> None:
    found = outcomes(cases)
    assert found["case"] == OPEN
    assert found["other case"] == ["resolved", 1, False, 101.0]


def test_loss_is_the_squared_error(cases: Path) -> None:
    found = outcomes(cases, "squared_error, settled_at")
    assert found["buy up"] == [(0.8 - 1) * (0.8 - 1), datetime(2024, 6, 1)]
    assert found["buy down"] == [(0.8 - 0) * (0.8 - 0), datetime(2024, 6, 1)]
    assert found["no price"] == [None, datetime(2024, 6, 1)]


def test_times_of_an_eligible_call(cases: Path) -> None:
    rows = {
        call_id: times
        for call_id, *times in query(
            cases, "SELECT call_id, due_at, window_closes_at, expires_at FROM eligible_calls"
        )
    }
    assert rows["at due"] == [DUE, CLOSES, EXPIRES]
    assert rows["1.5 h"] == [DUE + H / 2, CLOSES + H / 2, EXPIRES + H / 2]
    # a long horizon expires 168 h after its own due time
    due = datetime(2024, 1, 12)
    assert rows["240 h"] == [due, due + 2 * H, datetime(2024, 1, 19)]


def test_one_instant_over_files_goes_by_bytewise_file_name(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call("c"), call("s")])
    write_prices(home, "a.csv", [("c", text(DUE), 99), ("s", text(DUE), 101, 1)])
    write_prices(
        home, "B.csv", [("s", text(DUE), 99, 2), ("s", text(DUE), 98), ("c", text(DUE), 101)]
    )
    night(home)
    assert outcomes(home) == {
        "c": ["resolved", 1, False, 101.0],
        "s": ["resolved", 1, False, 101.0],
    }


def test_horizons_round_half_to_even(tmp_path: Path) -> None:
    exact = {
        "0.5": 1_800_000_000,
        "1": 3_600_000_000,
        "1.5": 5_400_000_000,
        "24": 86_400_000_000,
        "0.1": 360_000_000,
        "87600": 315_360_000_000_000,
        repr(1 / 3): 1_200_000_000,
        repr(0.75 / 3.6e9): 1,
    }
    # hours whose product with 3.6e9 is a double that ends in one half
    halves = {1.5: 2, 2.5: 2, 4.5: 4, 5.5: 6, 1000000.5: 1_000_000, 1000001.5: 1_000_002}
    for half in halves:
        assert half / 3.6e9 * 3.6e9 == half
    horizons = exact | {repr(half / 3.6e9): us for half, us in halves.items()}
    calls = [call(hours, horizon_hours=hours) for hours in horizons]
    calls.append(call("half", horizon_hours=repr(0.5 / 3.6e9)))  # to even is 0: not positive
    home = make_home(tmp_path, calls)
    night(home)
    assert (
        dict(
            query(
                home, "SELECT call_id, epoch_us(due_at) - epoch_us(decided_at) FROM eligible_calls"
            )
        )
        == horizons
    )
    assert query(home, "SELECT reason FROM sealed_calls WHERE call_id = 'half'") == [
        ("horizon_not_positive",)
    ]


def test_a_call_through_its_life_without_a_price(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call("c"), call("far", horizon_hours="240")])
    far_due = datetime(2024, 1, 12)
    life = [
        (DUE - US, "pending", "pending"),
        (DUE, "open", "pending"),
        (DUE + timedelta(hours=167, minutes=59, seconds=59), "open", "pending"),
        (EXPIRES - US, "open", "pending"),
        (EXPIRES, "expired", "pending"),
        (far_due + 168 * H - US, "expired", "open"),
        (far_due + 168 * H, "expired", "expired"),
    ]
    for as_of, status, far_status in life:
        night(home, text(as_of))
        found = outcomes(home, "status, outcome, squared_error, settled_at")
        settled = EXPIRES if status == "expired" else None
        assert found["c"] == [status, None, None, settled], as_of
        assert found["far"][0] == far_status, as_of
    assert found["far"] == ["expired", None, None, far_due + 168 * H]


def test_a_call_is_settled_by_what_is_known_at_as_of(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call("c")])
    write_prices(home, "p.csv", [("c", text(DUE + H), 101)])
    night(home, text(DUE + H - US))
    assert outcomes(home)["c"] == ["open", None, None, None]
    night(home, text(DUE + H))
    assert outcomes(home, "status, outcome, settled_at, price_recorded_at")["c"] == [
        "resolved", 1, DUE + H, DUE + H
    ]  # fmt: skip
    night(home, text(EXPIRES + H))
    assert outcomes(home, "status, settled_at")["c"] == ["resolved", DUE + H]


def test_expiry_is_decided_only_after_trying_to_resolve(tmp_path: Path) -> None:
    """The price arrives in the files with the very run that would expire the call."""
    home = make_home(tmp_path, [call("c")])
    night(home, text(EXPIRES - US))
    write_prices(home, "late.csv", [("c", text(DUE + H), 101)])
    night(home, text(EXPIRES + 1000 * H))
    assert outcomes(home)["c"] == ["resolved", 1, False, 101.0]
    assert query(home, "FROM late_prices") == []


# ---- finality --------------------------------------------------------------------------------


def late_prices(home: Path) -> list[tuple[Any, ...]]:
    return query(
        home,
        "SELECT call_id, price, price_recorded_at, outcome_it_would_give, settled_status, "
        "settled_outcome FROM late_prices ORDER BY call_id",
    )


def test_what_is_settled_stays_and_late_prices_are_listed(tmp_path: Path) -> None:
    names = ("earlier", "expired", "later", "same instant", "same price", "untouched", "gone")
    home = make_home(tmp_path, [call(name) for name in names])
    first = [(name, text(DUE + H), 101) for name in names if name != "expired"]
    write_prices(home, "p.csv", first)
    night(home, text(EXPIRES))
    before = query(home, "FROM settlements ORDER BY call_id")
    outcomes_before = query(home, "FROM resolved_outcomes ORDER BY call_id")
    assert outcomes(home)["expired"] == OPEN
    assert late_prices(home) == []

    write_prices(home, "late.csv", [
        ("earlier", text(DUE), 99),
        ("expired", text(CLOSES), 102),
        ("expired", text(CLOSES + US), 98),
        ("later", text(DUE + H + US), 99),
        ("same instant", text(DUE + H), 98, 1),
        ("same price", text(DUE + H - US), 101),
        ("untouched", text(DUE - US), 99),
        ("untouched", text(DUE + H), 101),
    ])  # fmt: skip
    write_prices(home, "p.csv", [row for row in first if row[0] != "gone"])
    night(home, text(EXPIRES + 24 * H))
    assert query(home, "FROM settlements ORDER BY call_id") == before
    assert query(home, "FROM resolved_outcomes ORDER BY call_id") == outcomes_before
    listed = [
        ("earlier", 99.0, DUE, 0, "resolved", 1),
        ("expired", 102.0, CLOSES, 1, "expired", None),
        ("same instant", 98.0, DUE + H, 0, "resolved", 1),
        ("same price", 101.0, DUE + H - US, 1, "resolved", 1),
    ]
    assert late_prices(home) == listed

    # every price file vanishes: nothing is late any more, nothing settled changes
    for path in (home / "inputs/prices").iterdir():
        path.unlink()
    night(home, text(EXPIRES + 48 * H))
    assert late_prices(home) == []
    assert query(home, "FROM settlements ORDER BY call_id") == before

    # archived again: listed again
    write_prices(home, "back.csv", [("earlier", text(DUE), 99)])
    night(home, text(EXPIRES + 72 * H))
    assert late_prices(home) == listed[:1]


def test_a_vanished_earlier_price_leaves_the_later_one_listed(tmp_path: Path) -> None:
    """The rule now finds a price, only another than the settled one: late."""
    home = make_home(tmp_path, [call("c")])
    write_prices(home, "p.csv", [("c", text(DUE), 101), ("c", text(DUE + H), 99)])
    night(home, text(EXPIRES))
    write_prices(home, "p.csv", [("c", text(DUE + H), 99)])
    night(home, text(EXPIRES))
    assert late_prices(home) == [("c", 99.0, DUE + H, 0, "resolved", 1)]
    assert outcomes(home)["c"] == ["resolved", 1, False, 101.0]


def test_restored_seasons_keep_the_old_settlement(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call("c")])
    write_prices(home, "p.csv", [("c", text(DUE + H), 101)])
    night(home, text(EXPIRES))
    seasons = (home / "inputs/seasons.csv").read_bytes()
    write_csv(home / "inputs/seasons.csv", [{**YEAR, "starts_at": "2024-06-01"}])
    write_prices(home, "late.csv", [("c", text(DUE), 99)])
    night(home, text(EXPIRES + H))
    assert outcomes(home) == {}
    assert query(home, "SELECT status, outcome, settled_at FROM settlements") == [
        ("resolved", 1, EXPIRES)
    ]
    assert late_prices(home) == [("c", 99.0, DUE, 0, "resolved", 1)]
    (home / "inputs/seasons.csv").write_bytes(seasons)
    night(home, text(EXPIRES + 2 * H))
    assert outcomes(home, "status, outcome, price, settled_at") == {
        "c": ["resolved", 1, 101.0, EXPIRES]
    }


def test_a_repeated_night_gives_the_same_bits(tmp_path: Path) -> None:
    calls = [call(name) for name in ("priced", "expired", "unsettled")]
    calls[2]["decided_at"] = text(EXPIRES - H)
    home = make_home(tmp_path, calls)
    write_prices(home, "p.csv", [("priced", text(DUE + H), 101)])
    night(home, text(DUE - H / 2))

    digests = [night(home, text(EXPIRES)) for _ in range(2)]
    assert digests[0] == digests[1]
    exports = (home / "exports/latest").resolve()
    files = {
        path.relative_to(exports): path.read_bytes()
        for path in sorted(exports.rglob("*"))
        if path.is_file() and path.name != "run_info.parquet"
    }
    digests.append(night(home, text(EXPIRES)))
    again = (home / "exports/latest").resolve()
    assert digests[2] == digests[0]
    assert {p.relative_to(again): p.read_bytes() for p in sorted(again.rglob("*"))
            if p.is_file() and p.name != "run_info.parquet"} == files  # fmt: skip
    assert len(files) > 10


def test_is_final_needs_the_end_and_no_call_unsettled(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call("c", decided_at="2024-01-31T23:00:00Z")])
    end = datetime(2024, 2, 1)
    finals = []
    for as_of in (end - US, end + 168 * H - US, end + 168 * H):
        night(home, text(as_of))
        finals.append(query(home, "SELECT is_final FROM agent_season_brier")[0][0])
    assert finals == [False, False, True]
