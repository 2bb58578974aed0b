"""Tests of the reference itself: the contract's worked numbers, traps by hand, the real data."""

import copy
import hashlib
import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from augur_pipeline_tests import reference as ref
from augur_pipeline_tests import strategies as gen
from augur_pipeline_tests.reference import InputError, run

CALL_HEADER = (*ref.CALL_REQUIRED, *ref.CALL_OPTIONAL)
PRICE_HEADER = (*ref.PRICE_REQUIRED, *ref.PRICE_OPTIONAL)
SEASONS = "season_id,starts_at,ends_at\ns1,2026-03-01,2026-04-01\ns2,2026-04-01,2026-05-01\n"
T0 = datetime(2026, 3, 10, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MICRO = timedelta(microseconds=1)

SLOW = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def text(moment: datetime) -> str:
    return moment.isoformat()


def us(moment: datetime) -> int:
    return ref.as_of_to_us(moment)


def call(call_id: str, **changes: str) -> dict[str, str]:
    cells = {
        "call_id": call_id,
        "agent_id": "a",
        "pool_id": "P",
        "action": "buy",
        "decider": "llm",
        "confidence": "0.7",
        "horizon_hours": "24",
        "reference_price": "100",
        "decided_at": text(T0),
    }
    return {**cells, **changes}


def price(at: datetime, value: str = "101", **changes: str) -> dict[str, str]:
    return {"pool_id": "P", "recorded_at": text(at), "price": value, **changes}


def csv_text(header: Iterable[str], rows: Iterable[dict[str, str]]) -> str:
    header = tuple(header)
    lines = [",".join(header)]
    lines += [",".join(row.get(column, "") for column in header) for row in rows]
    return "\n".join(lines) + "\n"


class Home:
    """A home on disk with short ways to fill it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for kind in ("calls", "prices"):
            (path / "inputs" / kind).mkdir(parents=True)
        self.put("seasons.csv", SEASONS)
        self.prices([])

    def put(self, name: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        (self.path / "inputs" / name).write_bytes(data)

    def calls(self, rows: Iterable[dict[str, str]], name: str = "calls.csv") -> None:
        self.put(f"calls/{name}", csv_text(CALL_HEADER, rows))

    def prices(self, rows: Iterable[dict[str, str]], name: str = "prices.csv") -> None:
        self.put(f"prices/{name}", csv_text(PRICE_HEADER, rows))

    def run(
        self,
        as_of: str | datetime = "2026-06-01",
        previous: ref.Ledger | None = None,
        backfill: str = "count",
    ) -> ref.Result:
        return run(self.path, as_of, previous, backfill)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def fates(result: ref.Result) -> dict[str, str]:
    return {row["call_id"]: row["reason"] or row["fate"] for row in result.tables["sealed_calls"]}


def funnel(result: ref.Result, kind: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in result.tables["funnel"]:
        if row["kind"] == kind:
            counts[row["reason"] or row["fate"]] += row["rows"]
    return dict(counts)


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = rows
    return row


def settle_calls(home: Home, stated: Iterable[tuple[str, int]]) -> ref.Result:
    """One buy per (confidence, outcome), an hour apart, each with its price at its due time."""
    calls, prices = [], []
    for number, (confidence, outcome) in enumerate(stated):
        at = T0 + number * MICRO
        pool = f"P{number}"
        calls.append(
            call(f"c{number:05d}", confidence=confidence, decided_at=text(at), pool_id=pool)
        )
        prices.append(price(at + 24 * HOUR, "101" if outcome else "99", pool_id=pool))
    home.calls(calls)
    home.prices(prices)
    return home.run()


# --- contract §10 -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "outcome", "expected"),
    [
        (0.90, 1, 0.01),
        (0.90, 0, 0.81),
        (0.60, 1, 0.16),
        (0.60, 0, 0.36),
        (0.50, 1, 0.25),
        (0.50, 0, 0.25),
    ],
)
def test_loss(home: Home, confidence: float, outcome: int, expected: float) -> None:
    assert ref.loss_of(confidence, outcome) == pytest.approx(expected, abs=1e-12)
    row = only(settle_calls(home, [(str(confidence), outcome)]).tables["resolved_outcomes"])
    assert row["outcome"] == outcome
    assert row["squared_error"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("stated", "brier", "calibration"),
    [
        ([("0.7", 1)] * 4 + [("0.7", 0)], 0.17, 32),
        ([("0.5", 1), ("0.5", 0), ("0.5", 0), ("0.5", 1), ("0.5", 1)], 0.25, 0),
        ([("1", 1)] * 5, 0, 100),
        ([("0.60", 1)] * 60 + [("0.60", 0)] * 40, 0.24, 4),
        ([("0.80", 1)] * 80 + [("0.80", 0)] * 20, 0.16, 36),
        ([("0.90", 1)] * 90 + [("0.90", 0)] * 10, 0.09, 64),
        ([("0.90", 1)] * 60 + [("0.90", 0)] * 40, 0.33, 0),
    ],
)
def test_brier_and_calibration(
    home: Home, stated: list[tuple[str, int]], brier: float, calibration: float
) -> None:
    row = only(settle_calls(home, stated).tables["agent_season_brier"])
    assert row["brier"] == pytest.approx(brier, abs=1e-12)
    assert row["calibration"] == pytest.approx(calibration, abs=1e-10)
    assert row["calibration_status"] == "measured"
    assert row["calls_needed"] == 0


def test_five_mixed_calls(home: Home) -> None:
    stated = [("0.80", 1), ("0.60", 0), ("0.30", 0), ("0.20", 1), ("0.70", 1)]
    result = settle_calls(home, stated)
    losses = [row["squared_error"] for row in result.tables["resolved_outcomes"]]
    assert losses == pytest.approx([0.04, 0.36, 0.09, 0.64, 0.09], abs=1e-12)
    assert ref.decimal_sum(losses) == pytest.approx(1.22, abs=1e-12)
    row = only(result.tables["agent_season_brier"])
    assert row["brier"] == pytest.approx(0.244, abs=1e-12)
    assert 0.25 - row["brier"] == pytest.approx(0.006, abs=1e-12)
    assert row["skill"] == pytest.approx(0.024, abs=1e-12)
    assert row["mean_confidence"] == pytest.approx(0.52, abs=1e-12)
    assert row["hit_rate"] == 0.6


def test_three_calls(home: Home) -> None:
    result = settle_calls(home, [("0.8", 1), ("0.8", 0), ("0.2", 0)])
    losses = [row["squared_error"] for row in result.tables["resolved_outcomes"]]
    assert losses == pytest.approx([0.04, 0.64, 0.04], abs=1e-12)
    row = only(result.tables["agent_season_brier"])
    assert row["brier"] == pytest.approx(0.24, abs=1e-12)
    assert row["calibration"] is None
    assert (row["calibration_status"], row["calls_needed"]) == ("waiting", 2)


@pytest.mark.parametrize(
    ("offset", "counts"),
    [
        (timedelta(0), True),
        (2 * HOUR, True),
        (-MICRO, False),
        (2 * HOUR + MICRO, False),
    ],
)
def test_window_edges(home: Home, offset: timedelta, counts: bool) -> None:
    home.calls([call("c")])
    home.prices([price(T0 + 24 * HOUR + offset)])
    row = only(home.run().tables["resolved_outcomes"])
    assert row["status"] == ("resolved" if counts else "expired")
    assert row["outcome"] == (1 if counts else None)


@pytest.mark.parametrize("hours", [24, 240])
def test_expiry_is_168_hours_after_the_calls_own_due_time(home: Home, hours: int) -> None:
    home.calls([call("c", horizon_hours=str(hours))])
    due = T0 + hours * HOUR
    statuses = [
        only(home.run(at).tables["resolved_outcomes"])["status"]
        for at in (
            due - MICRO,
            due,
            due + 168 * HOUR - timedelta(seconds=1),
            due + 168 * HOUR - MICRO,
            due + 168 * HOUR,
        )
    ]
    assert statuses == ["pending", "open", "open", "open", "expired"]


@pytest.mark.parametrize(
    ("resolved", "expired", "is_measured"), [(4, 0, False), (5, 0, True), (4, 3, False)]
)
def test_five_resolved_calls_are_needed(
    home: Home, resolved: int, expired: int, is_measured: bool
) -> None:
    home.calls(
        [call(f"r{n}") for n in range(resolved)]
        + [call(f"e{n}", pool_id="empty") for n in range(expired)]
    )
    home.prices([price(T0 + 25 * HOUR)])
    row = only(home.run().tables["agent_season_brier"])
    assert (row["resolved_calls"], row["expired_calls"]) == (resolved, expired)
    assert (row["calibration"] is not None) is is_measured
    assert row["brier"] == pytest.approx(0.09, abs=1e-12)


def test_durations_are_exact(home: Home) -> None:
    before_dst = datetime(2026, 3, 28, 12, tzinfo=UTC)  # Europe changes on 29 March
    home.calls(
        [
            call("half", horizon_hours="1.5"),
            call("dst", decided_at="2026-03-28T13:00:00+01:00"),
        ]
    )
    due = {row["call_id"]: row["due_at"] for row in home.run().tables["eligible_calls"]}
    assert due["half"] == us(T0) + 5_400_000_000
    assert due["dst"] == us(before_dst) + 24 * 3_600_000_000


# --- seals ------------------------------------------------------------------------------------


def test_seal_by_hand(home: Home) -> None:
    home.calls(
        [
            call(
                " id-1 ",
                agent_id='"a\\b\nc"',
                action="BUY",
                decider=" LLM",
                confidence="0.10",
                horizon_hours="24.0",
                reference_price="-0",
                decided_at="2026-03-10 13:00:00.1234569+01",
            ),
            call("id-2", confidence=" n/a ", horizon_hours="", reference_price="1e22"),
        ]
    )
    decided = (20_522 * 86_400 + 12 * 3_600) * 1_000_000  # 20 522 days up to 2026-03-10
    expected_1 = (
        "augur-seal-1\ncall_id=id-1\nagent_id=a\\\\b\\nc\npool_id=P\naction=buy\ndecider=llm\n"
        "confidence=0.10000000000000001\nhorizon_hours=24\nreference_price=0\n"
        f"decided_at={decided + 123_456}\n"
    )
    expected_2 = (
        "augur-seal-1\ncall_id=id-2\nagent_id=a\npool_id=P\naction=buy\ndecider=llm\n"
        f"confidence=n/a\nhorizon_hours=\nreference_price=1e+22\ndecided_at={decided}\n"
    )
    seals = {row["call_id"]: row["seal"] for row in home.run().tables["sealed_calls"]}
    assert seals == {
        "id-1": hashlib.sha256(expected_1.encode()).hexdigest(),
        "id-2": hashlib.sha256(expected_2.encode()).hexdigest(),
    }


def test_repeats_and_restatements(home: Home) -> None:
    home.calls(
        [
            call("c", confidence="0.70", order_status="refused"),  # the seal
            call("c", confidence="0.71"),  # restated
            call("c", confidence="7e-1", model_version="other"),  # the same again
        ]
    )
    first = home.run()
    assert funnel(first, "calls") == {"eligible": 1, "restated": 1, "duplicate": 1}
    assert only(first.tables["eligible_calls"])["order_status"] == "refused"

    # Tomorrow the first row is gone: the first row that equals the seal carries its fate.
    home.calls([call("c", confidence="0.71"), call("c"), call("c")])
    second = home.run("2026-06-02", first.ledger)
    assert funnel(second, "calls") == {"eligible": 1, "restated": 1, "duplicate": 1}
    assert only(second.tables["rejected_rows"])["source_line"] == 2
    assert only(second.tables["sealed_calls"]) == only(first.tables["sealed_calls"])

    home.calls([])
    third = home.run("2026-06-03", second.ledger)
    assert funnel(third, "calls") == {}
    assert third.tables["agent_season_brier"] == first.tables["agent_season_brier"]


# --- grammar ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        ("1970-01-01", 0),
        ("1969-12-31T23:59-00:01", 0),
        ("2200-01-01T00:00:00.0000009Z", 7_258_118_400),
        ("2026-03-10", 1_773_100_800),
        ("2026-03-10T00:00", 1_773_100_800),
        ("2026-03-10t01:00:00z", 1_773_104_400),
        ("2026-03-10 01:00:00.5+0100", 1_773_100_800.5),
        ("2026-03-10T01:00-23:59", 1_773_104_400 + 86_340),
        ("2024-02-29T00:00+00", 1_709_164_800),
    ],
)
def test_good_times(stated: str, seconds: float) -> None:
    assert ref.parse_time(f" {stated}\t") == round(seconds * 1_000_000)


@pytest.mark.parametrize("stated", [*gen.BAD_TIMES, "", " "])
def test_bad_times(stated: str) -> None:
    assert ref.parse_time(stated) is None


@pytest.mark.parametrize("stated", gen.BAD_NUMBERS)
def test_bad_numbers(stated: str) -> None:
    number = ref.parse_number(f"\t{stated} ")
    assert number == ref.Number(None, stated)


@pytest.mark.parametrize(
    ("stated", "value"),
    [("+.5", 0.5), ("5.", 5.0), ("1E2", 100.0), ("-0", 0.0), ("1e-400", 0.0), ("007", 7.0)],
)
def test_good_numbers(stated: str, value: float) -> None:
    number = ref.parse_number(stated)
    assert number is not None
    assert number.value == value
    assert number.text == f"{value:.17g}"


def test_sequences() -> None:
    assert [ref.parse_sequence(s).is_bad for s in gen.GOOD_SEQUENCES] == [False] * 12
    assert [ref.parse_sequence(s).is_bad for s in gen.BAD_SEQUENCES] == [True] * 11
    assert ref.parse_sequence(" ") == ref.Sequence(None)
    assert ref.parse_sequence("9007199254740993").value == 9_007_199_254_740_993
    assert ref.parse_sequence("-3e0").value == -3
    assert ref.parse_sequence("0" * 5000 + "4").value == 4
    assert ref.parse_sequence("9" * 5000).is_bad


@pytest.mark.parametrize(
    ("hours", "reason"),
    [
        ("87600", None),
        ("87600.00000000001", "horizon_too_long"),
        ("1e300", "horizon_too_long"),
        ("0", "horizon_not_positive"),
        ("-1e300", "horizon_not_positive"),
        ("nan", "horizon_not_positive"),
        ("1e-10", "horizon_not_positive"),
        ("1.3888888888888888e-10", "horizon_not_positive"),  # half a microsecond, to even: 0
        ("2.7777777777777778e-10", None),
        ("1.4e-10", None),
    ],
)
def test_horizon_edges(hours: str, reason: str | None) -> None:
    assert ref.horizon_reason(ref.parse_number(hours)) == reason


# --- files ------------------------------------------------------------------------------------


def test_csv_physical_lines_and_malformed_rows(home: Home) -> None:
    header = ",".join(ref.CALL_REQUIRED)
    tail = ",a,P,buy,llm,0.7,24,100,2026-03-10"
    lines: list[bytes] = [
        b"\xef\xbb\xbf" + header.replace("call_id", ' "call_id"').encode().replace(b' "', b'"'),
        b'"two\r\nlines"' + tail.encode(),  # 2 and 3
        b"",  # 4
        b"few,fields",  # 5
        b'"x"y' + tail.encode(),  # 6
        b"\xff" + tail.encode(),  # 7
        b"lone\rcr" + tail.encode(),  # 8
        b'quote"inside' + tail.encode(),  # 9
        b"last" + tail.encode(),  # 10
    ]
    home.put("calls/calls.csv", b"\r\n".join(lines))
    result = home.run()
    sealed = [(row["call_id"], row["source_line"]) for row in result.tables["sealed_calls"]]
    assert sealed == [("last", 10), ('quote"inside', 9), ("two\r\nlines", 2)]
    rejected = result.tables["rejected_rows"]
    assert [row["source_line"] for row in rejected] == [5, 6, 7, 8]
    assert {row["reason"] for row in rejected} == {"malformed_row"}
    assert [row["rows"] for row in result.tables["input_files"]] == [7, 0]


def test_jsonl(home: Home) -> None:
    good = {**call("c"), "confidence": 0.7, "horizon_hours": 24, "mandate_id": {"a": 1}}
    lines = [
        json.dumps(good),
        "",
        "[1]",
        '{"call_id": "\\ud800"}',
        '{"confidence": nan}',
        json.dumps({**good, "call_id": "t", "confidence": True}),
        json.dumps({"call_id": "few"}),
        json.dumps(good).replace("0.7,", "0.70000000000000000000e0 ,"),
    ]
    home.put("calls/c.jsonl", "\n".join(lines).encode() + b'\n{"call_id":"\xff"}')
    result = home.run()
    assert fates(result) == {"c": "eligible", "t": "confidence_out_of_range"}
    rejected = [(r["source_line"], r["reason"]) for r in result.tables["rejected_rows"]]
    assert rejected == [
        (3, "malformed_row"),
        (4, "malformed_row"),
        (5, "malformed_row"),
        (6, "confidence_out_of_range"),
        (7, "missing_agent_id"),
        (9, "malformed_row"),
    ]
    assert funnel(result, "calls")["duplicate"] == 1
    eligible = only(result.tables["eligible_calls"])
    assert eligible["mandate_id"] == '{"a": 1}'


def test_parquet_types(home: Home) -> None:
    decided = us(T0)
    table = pa.table(
        {
            "call_id": pa.array([" c ", "nan", None]).dictionary_encode(),
            "agent_id": ["a", "a", "a"],
            "pool_id": ["P", "P", "P"],
            "action": ["Buy", "buy", "buy"],
            "decider": ["llm", "llm", "llm"],
            "confidence": [0.7, float("nan"), 0.7],
            "horizon_hours": pa.array([24, 24, 24], pa.int32()),
            "reference_price": [100.0, 100.0, 100.0],
            "decided_at": pa.array([decided * 1000 + 999] * 3, pa.int64()).cast(
                pa.timestamp("ns", "America/New_York")
            ),
            "recorded_at": pa.array([20_523] * 3, pa.int32()).cast(pa.date32()),
        }
    )
    pq.write_table(table, home.path / "inputs/calls/c.parquet")
    result = home.run()
    assert fates(result) == {"c": "eligible", "nan": "confidence_out_of_range"}
    rejected = [(r["source_line"], r["reason"]) for r in result.tables["rejected_rows"]]
    assert rejected == [(2, "confidence_out_of_range"), (3, "missing_call_id")]
    sealed = result.ledger.sealed
    assert sealed["c"].decided_at == decided
    assert sealed["c"].recorded_at == us(datetime(2026, 3, 11, tzinfo=UTC))
    assert sealed["nan"].confidence == ref.Number(None, "nan")
    home.calls([call("c")], "d.csv")  # the same call as text has the same seal
    assert funnel(home.run(), "calls")["duplicate"] == 1


def test_parquet_text_that_is_no_utf8(home: Home) -> None:
    columns: dict[str, Any] = {name: [value, value] for name, value in call("c").items()}
    broken = pa.Array.from_buffers(pa.string(), 2, pa.array([b"c", b"\xff"], pa.binary()).buffers())
    columns["call_id"] = broken
    pq.write_table(pa.table(columns), home.path / "inputs/calls/c.parquet")
    result = home.run()
    assert funnel(result, "calls") == {"eligible": 1, "malformed_row": 1}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("calls/c.csv", ""),
        ("calls/c.csv", "call_id,agent_id\n"),
        ("calls/c.csv", ",".join([*CALL_HEADER, " call_id "]) + "\n"),
        ("calls/c.csv", csv_text(CALL_HEADER, [call("c")]) + '"open,\nx,y\n'),
        ("calls/c.csv", b"\xff" + csv_text(CALL_HEADER, []).encode()),
        ("calls/c.jsonl", '{"call_id": "c"}\n'),
        ("prices/p.parquet", "PAR1"),
        ("prices/p.jsonl", '{"pool_id": "c", "price": 1}\n'),
        ("seasons.csv", "season_id,starts_at\n"),
        ("seasons.csv", "season_id,starts_at,ends_at\na,2026-01-01,2026-02-01\nb,x,2026-04-01\n"),
        ("seasons.csv", "season_id,starts_at,ends_at\na,2026-01-01,2026-02-01\nb\n"),
        (
            "seasons.csv",
            "season_id,starts_at,ends_at\na,2026-01-01,2026-02-02\nb,2026-02-01,2026-03-01\n",
        ),
        (
            "seasons.csv",
            "season_id,starts_at,ends_at\na,2026-01-01,2026-02-01\na,2026-02-01,2026-03-01\n",
        ),
        ("score_terms.csv", "season_id,agent_id,term,weight\n"),
        ("score_terms.csv", "season_id,agent_id,term,weight,value\ns1,a,calibration,0.9,1\n"),
        ("score_terms.csv", "season_id,agent_id,term,weight,value\ns1,a,x,0.8,1\n"),
        ("score_terms.csv", "season_id,agent_id,term,weight,value\ns1,a,x,0.9,100.1\n"),
        ("score_terms.csv", "season_id,agent_id,term,weight,value\ns1,a,x,0.9,\ns1,a,x,0.9,\n"),
        ("score_terms.csv", "season_id,agent_id,term,weight,value\ns1,a,x,0.9,\ns1,b,x,0.8,\n"),
    ],
)
def test_unusable_inputs_stop_the_run(home: Home, name: str, content: str | bytes) -> None:
    home.run()
    home.put(name, content)
    with pytest.raises(InputError, match=name.rpartition("/")[2]):
        home.run()


# --- fates ------------------------------------------------------------------------------------


def test_fate_of_each_kind_of_call(home: Home) -> None:
    due = T0 + 24 * HOUR
    late = text(T0 + 9999 * HOUR)
    rows = {
        "missing_agent_id": call("x", agent_id=" \t", decided_at="?", action="?"),
        "missing_pool_id": call("x", pool_id="", action="?"),
        "bad_decided_at": call("x", decided_at="", recorded_at="?"),
        "bad_recorded_at": call("x", recorded_at="?", action="?"),
        "unknown_action": call("x", action="", decider="?"),
        "unknown_decider": call("x", decider="", order_status="?"),
        "unknown_order_status": call("x", order_status="?", confidence="2"),
        "not_yet": call("x", recorded_at=late, agent_id=""),
        "hold": call("h", action="hold", decider="system", confidence="x"),
        "not_own_decider": call("n", decider="system", confidence="0", reference_price="0"),
        "confidence_out_of_range": call("co", confidence="80", horizon_hours="0"),
        "horizon_not_positive": call("hn", horizon_hours="0", reference_price="0"),
        "horizon_too_long": call("hl", horizon_hours="87601", reference_price="0"),
        "reference_price_not_positive": call("rp", reference_price="0", recorded_at=text(due)),
        "sealed_late": call("sl", recorded_at=text(due)),
        "recorded_before_decided": call("rb", recorded_at=text(T0 - MICRO), confidence=""),
        "missing_confidence": call("mc", confidence="", horizon_hours=""),
        "missing_horizon": call("mh", horizon_hours=" ", reference_price=""),
        "missing_reference_price": call("mr", reference_price="", decided_at="2020-01-01"),
        "outside_season": call("os", decided_at="2020-01-01"),
        "eligible": call("ok", recorded_at=text(due - MICRO), order_status="Refused"),
    }
    home.calls([*rows.values(), call("")])
    result = home.run()
    assert funnel(result, "calls") == dict.fromkeys([*rows, "missing_call_id"], 1)
    row = only(result.tables["agent_season_brier"])
    assert (row["eligible_calls"], row["rejected_calls"], row["missing_calls"]) == (1, 6, 2)
    assert (row["directional_calls"], row["coverage"], row["refused_calls"]) == (9, 1 / 9, 1)


def test_backfilled_calls(home: Home) -> None:
    home.calls([call("late"), call("in time", horizon_hours="48"), call("none", horizon_hours="")])
    at_due = T0 + 24 * HOUR
    result = home.run(at_due)
    flags = {row["call_id"]: row["is_backfilled"] for row in result.tables["sealed_calls"]}
    assert flags == {"late": True, "in time": False, "none": False}
    assert only(result.tables["agent_season_brier"])["backfilled_calls"] == 1
    excluded = home.run(at_due, backfill="exclude")
    assert fates(excluded)["late"] == "sealed_late"
    assert fates(excluded)["in time"] == "eligible"
    # First seen in time, it stays so.
    later = home.run("2026-06-01", home.run(at_due - MICRO).ledger, "exclude")
    assert fates(later)["late"] == "eligible"


def test_fates_of_prices(home: Home) -> None:
    at = T0 + 25 * HOUR
    home.prices(
        [
            price(at, pool_id="", value="0"),
            price(at, recorded_at="?", value="x"),
            price(at, "nan", sequence="x"),
            price(at, "0", sequence="x"),
            price(at, sequence="1.5"),
            price(at + 9999 * HOUR, "x", pool_id=""),
            price(at, "101"),
            price(at, "1.01e2"),
            price(at, "101", sequence="1"),
        ]
    )
    assert funnel(home.run(), "prices") == {
        "missing_pool_id": 1,
        "bad_recorded_at": 1,
        "bad_price": 1,
        "price_not_positive": 1,
        "bad_sequence": 1,
        "not_yet": 1,
        "usable": 2,
        "duplicate": 1,
    }


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        (("9.csv", ""), ("10.csv", ""), 102.0),  # file names bytewise: 10.csv comes first
        (("9.csv", "2"), ("10.csv", ""), 101.0),  # missing sequence last
        (("9.csv", "2"), ("10.csv", "3"), 101.0),
        (("a.csv", "2"), ("b.csv", "1.0"), 102.0),
        (("B.csv", ""), ("a.csv", ""), 101.0),
    ],
)
def test_order_of_prices_at_one_instant(
    home: Home, first: tuple[str, str], second: tuple[str, str], chosen: float
) -> None:
    home.calls([call("c")])
    at = T0 + 25 * HOUR
    home.prices([price(at, "101", sequence=first[1])], first[0])
    home.prices([price(at, "102", sequence=second[1])], second[0])
    assert only(home.run().tables["resolved_outcomes"])["price"] == chosen


def test_flat_is_wrong_for_both(home: Home) -> None:
    home.calls([call("b"), call("s", action="sell")])
    home.prices([price(T0 + 25 * HOUR, "100")])
    rows = home.run().tables["resolved_outcomes"]
    assert [(row["outcome"], row["is_flat"]) for row in rows] == [(0, True), (0, True)]


# --- finality ---------------------------------------------------------------------------------


def test_settled_stays_settled_and_late_prices_are_listed(home: Home) -> None:
    home.calls([call("c"), call("e", pool_id="Q")])
    home.prices([price(T0 + 25 * HOUR, "101")])
    first = home.run("2026-03-20")
    statuses = {row["call_id"]: row["status"] for row in first.tables["settlements"]}
    assert statuses == {"c": "resolved", "e": "expired"}
    assert first.tables["late_prices"] == []

    at = T0 + 24 * HOUR
    home.prices([price(at, "99"), price(at, "99", pool_id="Q")], "late.csv")
    second = home.run("2026-03-21", first.ledger)
    assert second.tables["settlements"] == first.tables["settlements"]
    assert second.tables["resolved_outcomes"] == first.tables["resolved_outcomes"]
    late = [
        (r["call_id"], r["price"], r["outcome_it_would_give"], r["settled_status"])
        for r in second.tables["late_prices"]
    ]
    assert late == [("c", 99.0, 0, "resolved"), ("e", 99.0, 0, "expired")]

    home.prices([])
    home.prices([], "late.csv")
    assert home.run("2026-03-22", second.ledger).tables["late_prices"] == []


def test_settlement_outlives_a_change_of_seasons(home: Home) -> None:
    home.calls([call("c")])
    home.prices([price(T0 + 25 * HOUR, "101")])
    first = home.run("2026-03-20")
    home.put("seasons.csv", "season_id,starts_at,ends_at\ns2,2026-04-01,2026-05-01\n")
    home.prices([price(T0 + 24 * HOUR, "99")])
    second = home.run("2026-03-21", first.ledger)
    assert second.tables["eligible_calls"] == []
    assert only(second.tables["excluded_calls"])["reason"] == "outside_season"
    assert second.tables["settlements"] == first.tables["settlements"]
    assert only(second.tables["late_prices"])["outcome_it_would_give"] == 0
    home.put("seasons.csv", SEASONS)
    third = home.run("2026-03-22", second.ledger)
    assert third.tables["resolved_outcomes"] == first.tables["resolved_outcomes"]


def test_clock_going_back_is_an_error_and_a_night_can_be_repeated(home: Home) -> None:
    home.calls([call("c")])
    first = home.run("2026-03-20")
    again = home.run("2026-03-20T00:00Z", first.ledger)
    assert again.tables == first.tables
    with pytest.raises(InputError):
        home.run("2026-03-19", first.ledger)


def test_is_final(home: Home) -> None:
    home.calls([call("c", decided_at="2026-03-31T12:00")])
    home.prices([price(datetime(2026, 4, 1, 13, tzinfo=UTC))])
    for as_of, expected in (
        ("2026-03-31T23:00", False),
        ("2026-04-01T00:00", False),
        ("2026-04-01T13:00", True),
    ):
        assert only(home.run(as_of).tables["agent_season_brier"])["is_final"] is expected


# --- scores -----------------------------------------------------------------------------------


def test_decimal_rule() -> None:
    assert ref.to_units(0.5e-18) == 1
    assert ref.to_units(-0.5e-18) == -1
    assert ref.to_units(0.49e-18) == 0
    assert ref.to_units(1.0) == 10**18
    assert ref.to_units(0.1) == 10**17  # the IEEE product, not the exact one
    assert ref.decimal_sum([0.1] * 10) == 1.0
    values = [0.04000000000000001, 0.36, 0.09, 0.6400000000000001, 0.09000000000000002]
    sums = {ref.decimal_sum(order) for order in itertools.permutations(values)}
    assert len(sums) == 1


def test_season_scores(home: Home) -> None:
    home.calls([call(f"c{n}") for n in range(5)] + [call("w", agent_id="b")])
    home.prices([price(T0 + 25 * HOUR)])
    home.put(
        "score_terms.csv",
        "season_id,agent_id,term,weight,value\n"
        "s1,a,profit,0.5,80\ns1,a,execution,0.4,\ns1,b,profit,0.5,60\ns1,only,execution,0.4,\n",
    )
    rows = {row["agent_id"]: row for row in home.run().tables["season_scores"]}
    a = rows["a"]
    calibration = (1 - 0.09 / 0.25) * 100
    assert a["score"] == pytest.approx((0.5 * 80 + 0.1 * calibration) / 0.6, abs=1e-9)
    assert a["measured_terms"] == ["calibration", "profit"]
    assert a["waiting_terms"] == ["execution"]
    assert a["effective_weights"] == pytest.approx({"calibration": 1 / 6, "profit": 5 / 6})
    assert rows["b"]["score"] == 60.0
    assert rows["b"]["waiting_terms"] == ["calibration", "execution"]
    assert rows["only"]["score"] is None
    assert rows["only"]["effective_weights"] == {}


# --- real data --------------------------------------------------------------------------------

REAL = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "llm_trading_lab" / "inputs"


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real data is not at {REAL}")
def test_real_data(tmp_path: Path) -> None:
    (tmp_path / "inputs").symlink_to(REAL.resolve())
    started = time.monotonic()
    result = run(tmp_path, "2026-06-10T00:00:00Z")
    assert time.monotonic() - started < 30  # about 3 s where it was written
    assert funnel(result, "calls") == {
        "eligible": 5_144,
        "hold": 7_911,
        "missing_reference_price": 317,
        "outside_season": 64,
        "reference_price_not_positive": 8,
    }
    assert sum(funnel(result, "calls").values()) == 13_444
    assert funnel(result, "prices") == {
        "usable": 42_994,
        "duplicate": 4_075,
        "price_not_positive": 7_899,
    }
    rows = result.tables["agent_season_brier"]
    assert len(rows) == 12
    assert sum(row["eligible_calls"] for row in rows) == 5_144
    assert all(row["is_final"] and row["calibration"] is not None for row in rows)
    # Confidences are stated in tenths: the losses are whole hundredths, summed here as integers.
    eligible = {row["call_id"]: row for row in result.tables["eligible_calls"]}
    hundredths: Counter[tuple[str, str]] = Counter()
    for row in result.tables["resolved_outcomes"]:
        if row["status"] == "resolved":
            tenths = round(eligible[row["call_id"]]["confidence"] * 10)
            loss = (tenths - 10 * row["outcome"]) ** 2
            hundredths[row["season_id"], row["agent_id"]] += loss
    for row in rows:
        total = hundredths[row["season_id"], row["agent_id"]] / 100
        assert row["brier"] == pytest.approx(total / row["resolved_calls"], abs=1e-12)


# --- generated homes --------------------------------------------------------------------------


def _assert_rules(result: ref.Result, as_of_us: int) -> None:
    """The blocking rules of §8, as far as one night shows them."""
    tables = result.tables
    read = {(row["kind"], row["source_file"]): row["rows"] for row in tables["input_files"]}
    told: Counter[tuple[str, str]] = Counter()
    for row in tables["funnel"]:
        told[row["kind"], row["source_file"]] += row["rows"]
        assert (row["reason"] is not None) == (row["fate"] in ("rejected", "excluded"))
    assert told == Counter(read)
    due = {row["call_id"]: row["due_at"] for row in tables["eligible_calls"]}
    for row in tables["resolved_outcomes"]:
        at = due[row["call_id"]]
        if row["status"] == "resolved":
            assert at <= row["price_recorded_at"] <= min(at + ref.WINDOW_US, row["settled_at"])
            assert row["outcome"] in (0, 1)
            assert 0 <= row["squared_error"] <= 1
        else:
            assert row["outcome"] is row["price"] is row["squared_error"] is None
        if row["status"] == "expired":
            assert row["settled_at"] >= at + ref.EXPIRY_US
        if row["status"] == "open":
            assert at <= as_of_us < at + ref.EXPIRY_US
    for row in tables["agent_season_brier"]:
        assert (row["calibration"] is None) == (row["resolved_calls"] < 5)
        assert row["brier"] is None or 0 <= row["brier"] <= 1
        assert row["calibration"] is None or 0 <= row["calibration"] <= 100
        assert (
            row["eligible_calls"]
            == sum(row[f"{status}_calls"] for status in ("pending", "open", "resolved", "expired"))
            + row["due_after_final"]
        )
    for row in tables["season_scores"]:
        assert row["score"] is None or 0 <= row["score"] <= 100 + 1e-9
        if row["effective_weights"]:
            assert math.isclose(sum(row["effective_weights"].values()), 1, abs_tol=1e-9)


def _without(table: list[dict[str, Any]], columns: set[str]) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in columns} for row in table]


WHEN_SEEN = {"settled_at", "first_seen_as_of", "is_backfilled", "backfilled_calls"}
SOURCE = {"source_file", "source_line"}


@SLOW
@given(gen.homes())
def test_generated_homes_obey_the_rules(generated: gen.GeneratedHome) -> None:
    with TemporaryDirectory() as folder:
        generated.write(Path(folder))
        result = run(Path(folder), generated.as_of)
    _assert_rules(result, ref.as_of_to_us(generated.as_of))


@SLOW
@given(gen.homes(order_free=True), st.integers(0, 999))
def test_row_order_changes_nothing(generated: gen.GeneratedHome, seed: int) -> None:
    with TemporaryDirectory() as folder:
        generated.write(Path(folder))
        plain = run(Path(folder), generated.as_of).tables
        generated.permuted(seed).write(Path(folder))
        permuted = run(Path(folder), generated.as_of).tables
    for name in plain.keys() - {"input_files", "funnel", "rejected_rows"}:
        assert _without(plain[name], SOURCE) == _without(permuted[name], SOURCE), name
    for tables in (plain, permuted):
        tables["funnel"] = [
            {"key": key, "rows": rows}
            for key, rows in sorted(
                Counter(
                    {
                        (kind, fate, reason or ""): sum(row["rows"] for row in group)
                        for (kind, fate, reason), group in itertools.groupby(
                            sorted(
                                tables["funnel"],
                                key=lambda row: (row["kind"], row["fate"], row["reason"] or ""),
                            ),
                            key=lambda row: (row["kind"], row["fate"], row["reason"]),
                        )
                    }
                ).items()
            )
        ]
    # What is malformed depends on the format, but broken rows stay in their file.
    assert plain["funnel"] == permuted["funnel"]


@SLOW
@given(gen.histories(late=False))
def test_nothing_late_nights_add_up_to_one_run(history: gen.GeneratedHistory) -> None:
    ledger: ref.Ledger | None = None
    with TemporaryDirectory() as folder:
        for index, night in enumerate(history.nights):
            history.write_night(Path(folder), index)
            nightly = run(Path(folder), night.as_of, ledger)
            ledger = nightly.ledger
        once = run(Path(folder), history.nights[-1].as_of)
    assert nightly.tables["late_prices"] == []
    for name, table in once.tables.items():
        assert _without(nightly.tables[name], WHEN_SEEN) == _without(table, WHEN_SEEN), name


@pytest.mark.slow
@SLOW
@given(gen.histories(late=True))
def test_late_rows_change_nothing_settled_or_sealed(history: gen.GeneratedHistory) -> None:
    ledger: ref.Ledger | None = None
    with TemporaryDirectory() as folder:
        for index, night in enumerate(history.nights):
            before = copy.deepcopy(ledger)
            history.write_night(Path(folder), index)
            try:
                result = run(Path(folder), night.as_of, ledger)
            except ref.InputError:
                continue  # a season was withdrawn that still has terms
            assert ledger == before  # the ledger given is not changed
            _assert_rules(result, ref.as_of_to_us(night.as_of))
            ledger = result.ledger
            if before is not None:
                assert before.sealed.items() <= ledger.sealed.items()
                assert before.settlements.items() <= ledger.settlements.items()
            again = run(Path(folder), night.as_of, ledger)
            assert again.tables == result.tables


@pytest.mark.slow
def test_generated_homes_are_worth_running() -> None:
    """A good share of calls resolve, agents often get a number, and every fate is met."""
    reasons: Counter[str] = Counter()
    shares: list[float] = []
    measured = late = 0

    @settings(
        max_examples=250,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(gen.homes())
    def collect(generated: gen.GeneratedHome) -> None:
        nonlocal measured
        with TemporaryDirectory() as folder:
            generated.write(Path(folder))
            tables = run(Path(folder), generated.as_of).tables
        for row in tables["funnel"]:
            reasons[f"{row['kind']} {row['reason'] or row['fate']}"] += row["rows"]
        outcomes = tables["resolved_outcomes"]
        if outcomes:
            shares.append(sum(row["status"] == "resolved" for row in outcomes) / len(outcomes))
        measured += any(row["calibration"] is not None for row in tables["agent_season_brier"])

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(gen.histories(late=True))
    def collect_late(history: gen.GeneratedHistory) -> None:
        nonlocal late
        ledger: ref.Ledger | None = None
        with TemporaryDirectory() as folder:
            for index, night in enumerate(history.nights):
                history.write_night(Path(folder), index)
                try:
                    result = run(Path(folder), night.as_of, ledger)
                except ref.InputError:
                    continue  # a season was withdrawn that still has terms
                ledger = result.ledger
                late += bool(result.tables["late_prices"])

    collect()
    collect_late()
    print(f"{measured=} {late=} resolved share={sum(shares) / len(shares):.2f} {reasons=}")
    assert sum(shares) / len(shares) > 0.3
    assert measured >= 60
    assert late >= 2
    expected = {
        *(f"missing_{c}" for c in ("call_id", "agent_id", "pool_id")),
        *(f"missing_{c}" for c in ("confidence", "horizon", "reference_price")),
        *("malformed_row", "not_yet", "duplicate", "restated", "eligible", "hold"),
        *("bad_decided_at", "bad_recorded_at", "unknown_action", "unknown_decider"),
        *("unknown_order_status", "not_own_decider", "confidence_out_of_range"),
        *("horizon_not_positive", "horizon_too_long", "reference_price_not_positive"),
        *("sealed_late", "recorded_before_decided", "outside_season"),
    }
    assert {f"calls {reason}" for reason in expected} <= reasons.keys()
    expected = {"malformed_row", "not_yet", "missing_pool_id", "bad_recorded_at", "bad_price"}
    expected |= {"price_not_positive", "bad_sequence", "duplicate", "usable"}
    assert {f"prices {reason}" for reason in expected} <= reasons.keys()
