"""The sample: same bytes, small by default, and every trap with the fate its note claims.

The fates come from a plain-Python reading of the contract (§3 to §5) below, which shares nothing
with the pipeline's SQL.
"""

import csv
import io
import json
import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from augur_pipeline.sample.generator import (
    CALLS_SCHEMA,
    CHARACTERS,
    SampleReport,
    SampleSize,
    agent_names,
    season_bounds,
    stated_confidences,
    write_sample,
)

SMALL = SampleSize(agents=1, calls=1, pools=1, days=3)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
HOUR_US = 3_600_000_000
REQUIRED = CALLS_SCHEMA.names[:9]


def micros(*date: int) -> int:
    return (datetime(*date, tzinfo=UTC) - EPOCH) // MICROSECOND  # type: ignore[arg-type, misc]


AS_OF_US = micros(2025, 1, 1)
TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?"
    r"(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d)?)?)?",
    re.ASCII,
)
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
CALL_REASONS = {
    "rejected": "malformed_row missing_call_id missing_agent_id missing_pool_id bad_decided_at "
    "bad_recorded_at unknown_action unknown_decider unknown_order_status restated "
    "confidence_out_of_range horizon_not_positive horizon_too_long reference_price_not_positive "
    "sealed_late recorded_before_decided",
    "excluded": "hold not_own_decider missing_confidence missing_horizon missing_reference_price "
    "outside_season",
}
PRICE_REASONS = (
    "malformed_row missing_pool_id bad_recorded_at bad_price price_not_positive bad_sequence"
)

# --- a plain reading of the contract --------------------------------------------------------------


def trimmed(value: Any) -> str:
    return "" if value is None else str(value).strip(" \t\r\n\v\f")


def time_us(text: str) -> int | None:
    found = TIME.fullmatch(text)
    if not found:
        return None
    day, hour, minute, second, fraction, sign, off_hour, off_minute = found.groups()
    try:
        instant = datetime.fromisoformat(f"{day}T00:00:00+00:00") - EPOCH
    except ValueError:
        return None
    offset = 60 * int(off_hour or 0) + int(off_minute or 0)
    minutes = 60 * int(hour or 0) + int(minute or 0) - (-offset if sign == "-" else offset)
    seconds = 60 * minutes + int(second or 0)
    us = instant // MICROSECOND + seconds * 1_000_000 + int((fraction or "")[:6].ljust(6, "0"))
    return us if 0 <= us < micros(2200, 1, 1) else None


def number(text: str) -> float | None:
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return None if math.isinf(value) else value


def records(path: Path) -> list[dict[str, Any] | None]:
    """Rows of a landing file in order; None for a row that is no record."""
    if path.suffix == ".parquet":
        return [
            {k: v.isoformat() if isinstance(v, datetime) else v for k, v in row.items()}
            for row in pq.read_table(path).to_pylist()
        ]
    rows: list[dict[str, Any] | None] = []
    if path.suffix == ".jsonl":
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                item = json.loads(line)
            except ValueError:
                item = None
            rows.append(item if isinstance(item, dict) else None)
        return rows
    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")
    header, *lines = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    for fields in lines:
        is_utf8 = not any("\udc80" <= c <= "\udcff" for field in fields for c in field)
        is_record = is_utf8 and len(fields) == len(header)
        rows.append(dict(zip(header, fields, strict=True)) if is_record else None)
    return rows


def landing(home: Path, kind: str) -> list[tuple[str, dict[str, Any] | None]]:
    folder = home / "inputs" / kind
    return [(path.name, row) for path in sorted(folder.iterdir()) for row in records(path)]


class Reading:
    """Fates of all rows of a home, in file-name and line order."""

    def __init__(self, home: Path) -> None:
        with (home / "inputs" / "seasons.csv").open() as file:
            self.seasons = [
                (time_us(row["starts_at"]), time_us(row["ends_at"])) for row in csv.DictReader(file)
            ]
        self.prices: dict[str, list[tuple[int, float, int, float]]] = defaultdict(list)
        self.seen_prices: set[tuple[Any, ...]] = set()
        self.seals: dict[str, tuple[Any, ...]] = {}
        self.repeated: set[str] = set()
        self.price_fates = [(f, row, self.price_fate(row)) for f, row in landing(home, "prices")]
        for series in self.prices.values():
            series.sort()
        self.call_fates = [(f, row, self.call_fate(row)) for f, row in landing(home, "calls")]

    def price_fate(self, row: dict[str, Any] | None) -> str:
        if row is None:
            return "rejected malformed_row"
        pool, price = trimmed(row["pool_id"]), number(trimmed(row["price"]))
        at, sequence = time_us(trimmed(row["recorded_at"])), trimmed(row.get("sequence"))
        if at is not None and at > AS_OF_US:
            return "not_yet"
        if not pool:
            return "rejected missing_pool_id"
        if at is None:
            return "rejected bad_recorded_at"
        if price is None:
            return "rejected bad_price"
        if price <= 0:
            return "rejected price_not_positive"
        if sequence and not re.fullmatch(r"[+-]?\d+", sequence):
            return "rejected bad_sequence"
        key = (pool, at, price, sequence)
        if key in self.seen_prices:
            return "duplicate"
        self.seen_prices.add(key)
        order = float(sequence) if sequence else math.inf
        self.prices[pool].append((at, order, len(self.seen_prices), price))
        return "usable"

    def call_fate(self, row: dict[str, Any] | None) -> str:
        if row is None:
            return "rejected malformed_row"
        get = {name: trimmed(row.get(name)) for name in CALLS_SCHEMA.names}
        action, decider, status = (get[n].lower() for n in ("action", "decider", "order_status"))
        decided, recorded = time_us(get["decided_at"]), time_us(get["recorded_at"])
        if any(us is not None and us > AS_OF_US for us in (decided, recorded)):
            return "not_yet"
        for name in ("call_id", "agent_id", "pool_id"):
            if not get[name]:
                return f"rejected missing_{name}"
        if decided is None:
            return "rejected bad_decided_at"
        if get["recorded_at"] and recorded is None:
            return "rejected bad_recorded_at"
        if action not in ("buy", "sell", "hold"):
            return "rejected unknown_action"
        if decider not in ("llm", "deterministic", "protective_exit", "system"):
            return "rejected unknown_decider"
        if status not in ("", "accepted", "refused"):
            return "rejected unknown_order_status"

        texts = (get["confidence"], get["horizon_hours"], get["reference_price"])
        confidence, hours, reference = (number(text) for text in texts)
        numbers = (t if n is None else n for t, n in zip(texts, map(number, texts), strict=True))
        seal = (get["agent_id"], get["pool_id"], action, decider, *numbers, decided)
        if get["call_id"] in self.seals:
            return "duplicate" if self.seals[get["call_id"]] == seal else "rejected restated"
        self.seals[get["call_id"]] = seal

        if action == "hold":
            return "excluded hold"
        if decider in ("protective_exit", "system"):
            return "excluded not_own_decider"
        if texts[0] and (confidence is None or not 0 <= confidence <= 1):
            return "rejected confidence_out_of_range"
        horizon = None if hours is None else round(hours * HOUR_US)
        if texts[1] and (horizon is None or horizon < 1):
            return "rejected horizon_not_positive"
        if horizon is not None and horizon > 87_600 * HOUR_US:
            return "rejected horizon_too_long"
        if texts[2] and (reference is None or reference <= 0):
            return "rejected reference_price_not_positive"
        claimed = decided if recorded is None else recorded
        if horizon is not None and claimed >= decided + horizon:
            return "rejected sealed_late"
        if claimed < decided:
            return "rejected recorded_before_decided"
        for name, value in zip(
            ("confidence", "horizon", "reference_price"), (confidence, horizon, reference),
            strict=True,
        ):  # fmt: skip
            if value is None:
                return f"excluded missing_{name}"
        if not any(start <= decided < end for start, end in self.seasons if start and end):
            return "excluded outside_season"
        assert horizon is not None
        assert reference is not None
        due = decided + horizon
        series = self.prices[get["pool_id"]]
        i = bisect_left(series, (due,))
        if i == len(series) or series[i][0] > due + 2 * HOUR_US:
            return "eligible expired" if due + 168 * HOUR_US <= AS_OF_US else "eligible open"
        price = series[i][3]
        is_right = price > reference if action == "buy" else price < reference
        return f"eligible resolved {int(is_right)}"


# --- tests ----------------------------------------------------------------------------------------


def contents(home: Path) -> dict[str, bytes]:
    files = sorted(path for path in home.rglob("*") if path.is_file())
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def default_home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SampleReport]:
    home = tmp_path_factory.mktemp("default")
    return home, write_sample(home, SampleSize())


@pytest.fixture(scope="module")
def reading(default_home: tuple[Path, SampleReport]) -> Reading:
    return Reading(default_home[0])


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_same_arguments_same_bytes(tmp_path: Path, file_format: str) -> None:
    size = SampleSize(agents=7, calls=500, pools=3, days=4)
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        write_sample(tmp_path / name, size, seed, file_format)
    first, again, other = (contents(tmp_path / name) for name in "abc")
    assert first == again
    bulk = [f"inputs/{kind}/{kind}.{file_format}" for kind in ("calls", "prices")]
    for name in (*bulk, "inputs/score_terms.csv"):
        assert first[name] != other[name]
    assert sorted(first) == sorted(
        [
            *bulk,
            "inputs/calls/traps.csv",
            "inputs/calls/traps.jsonl",
            "inputs/prices/traps.csv",
            "inputs/score_terms.csv",
            "inputs/seasons.csv",
        ]
    )


def test_csv_and_parquet_hold_the_same_rows(tmp_path: Path) -> None:
    size = SampleSize(agents=4, calls=300, pools=2, days=3)
    for file_format in ("csv", "parquet"):
        write_sample(tmp_path / file_format, size, 1, file_format)
    for kind, numbers, times in (
        (
            "calls",
            ("confidence", "horizon_hours", "reference_price"),
            ("decided_at", "recorded_at"),
        ),
        ("prices", ("price",), ("recorded_at",)),
    ):
        text, typed = (
            [row for name, row in landing(tmp_path / f, kind) if name == f"{kind}.{f}"]
            for f in ("csv", "parquet")
        )
        assert len(text) == len(typed) > 0
        for left, right in zip(text, typed, strict=True):
            assert left is not None
            assert right is not None
            for name, value in left.items():
                if name in numbers:
                    assert number(value) == right[name]
                elif name in times:
                    assert time_us(value) == time_us(right[name] or "")
                else:
                    assert value == (right[name] or "")


def test_default_size(default_home: tuple[Path, SampleReport], reading: Reading) -> None:
    home, report = default_home
    assert report.bytes_written == sum(map(len, contents(home).values())) <= 1_000_000
    assert report.calls == 1200
    assert report.calls + report.trap_calls == len(reading.call_fates)
    assert report.prices + report.trap_prices == len(reading.price_fates)
    resolved = Counter(
        row["agent_id"] for _, row, fate in reading.call_fates if row and "resolved" in fate
    )
    assert min(resolved[agent] for agent in agent_names(10)) >= 20
    assert resolved["waiting-four"] == 4
    assert resolved["certain-right"] == 6
    fates = Counter(fate for file, _, fate in reading.call_fates if file == "calls.csv")
    assert {"excluded hold", "excluded not_own_decider", "excluded outside_season",
            "excluded missing_confidence", "eligible expired"} <= set(fates)  # fmt: skip
    assert not any("rejected" in fate or "duplicate" in fate for fate in fates)


@pytest.mark.parametrize(
    ("size", "file_format"),
    [(SampleSize(), "csv"), (SMALL, "csv"), (SMALL, "parquet")],
)
def test_every_trap_meets_the_fate_in_its_note(
    tmp_path: Path, size: SampleSize, file_format: str
) -> None:
    write_sample(tmp_path, size, 3, file_format)
    read = Reading(tmp_path)
    for fates in (read.call_fates, read.price_fates):
        for file, row, fate in fates:
            if file.startswith("traps") and row is not None:
                note = row["note"]
                assert note == fate or note.startswith(f"{fate} "), row
    calls = Counter(fate for file, _, fate in read.call_fates if file.startswith("traps"))
    wanted = {f"{fate} {reason}" for fate, r in CALL_REASONS.items() for reason in r.split()}
    wanted |= {"duplicate", "not_yet", "eligible resolved 0", "eligible resolved 1",
               "eligible expired"}  # fmt: skip
    assert set(calls) == wanted
    assert calls["rejected malformed_row"] == 8
    assert calls["not_yet"] == 1
    prices = Counter(fate for file, _, fate in read.price_fates if file == "traps.csv")
    assert set(prices) == {f"rejected {reason}" for reason in PRICE_REASONS.split()} | {
        "usable", "duplicate", "not_yet"}  # fmt: skip
    assert prices["not_yet"] == 1


def test_times_lie_in_the_past_for_any_clock(reading: Reading) -> None:
    for fates in (reading.call_fates, reading.price_fates):
        times = [
            us
            for _, row, _ in fates
            if row is not None
            for name in ("decided_at", "recorded_at")
            if (us := time_us(trimmed(row.get(name)))) is not None
        ]
        assert [us for us in times if us > AS_OF_US] == [micros(2199, 1, 1)]
    bulk = [row for file, row, _ in reading.call_fates if file == "calls.csv" and row]
    assert min(time_us(row["decided_at"]) or 0 for row in bulk) >= micros(2024, 1, 1)
    assert sum(row["recorded_at"] > row["decided_at"] for row in bulk) > len(bulk) // 2


def test_seasons_are_two_weeks_and_cover_the_days() -> None:
    bounds = season_bounds(30)
    assert [name for name, _, _ in bounds] == ["2024-S01", "2024-S02", "2024-S03"]
    assert bounds[0][1:] == (micros(2024, 1, 1), micros(2024, 1, 15))
    assert bounds[-1][1:] == (micros(2024, 1, 29), micros(2024, 1, 31))
    assert len(season_bounds(360)) == 26


@pytest.mark.parametrize("size", [SMALL, SampleSize(agents=12, calls=50, pools=2, days=20)])
def test_score_terms(tmp_path: Path, size: SampleSize) -> None:
    write_sample(tmp_path, size)
    with (tmp_path / "inputs" / "score_terms.csv").open() as file:
        rows = list(csv.DictReader(file))
    by_season: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        weight = by_season[row["season_id"]].setdefault(row["term"], float(row["weight"]))
        assert weight == float(row["weight"])
        assert row["value"] == "" or 0 <= float(row["value"]) <= 100
    assert len(by_season) == len(season_bounds(size.days))
    assert all(abs(sum(terms.values()) - 0.90) <= 1e-9 for terms in by_season.values())
    assert any(row["value"] == "" for row in rows)
    agents = size.agents + 2
    assert len(rows) < agents * 2 * len(by_season)


def test_common_questions(reading: Reading) -> None:
    asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file, row, fate in reading.call_fates:
        if file == "calls.csv" and row and row["question_id"] and "resolved" in fate:
            asked[row["question_id"]].append(row)
    pairs: Counter[tuple[str, str]] = Counter()
    for rows in asked.values():
        same = ("pool_id", "decided_at", "horizon_hours", "reference_price")
        assert len({tuple(row[name] for name in same) for row in rows}) == 1
        agents = sorted(row["agent_id"] for row in rows)
        assert len(set(agents)) == len(agents)
        pairs.update((a, b) for a in agents for b in agents if a < b)
    assert len(pairs) == 45, "every two of the ten agents meet"
    assert min(pairs.values()) >= 5


def test_starved_pools(reading: Reading) -> None:
    gaps = {}
    for pool, series in reading.prices.items():
        times = np.array([row[0] for row in series])
        assert (np.array([row[3] for row in series]) > 0).all()
        if pool.startswith("pool-"):
            gaps[pool] = (np.diff(times).max() / HOUR_US, times[-1])
    assert [gap > 11 for gap, _ in gaps.values()] == [False, False, True, False]
    assert [last < micros(2024, 1, 22) for _, last in gaps.values()] == [False, False, False, True]
    assert all(last > micros(2024, 1, 23, 23) for _, last in list(gaps.values())[:3])


def test_characters(tmp_path: Path) -> None:
    """Outcomes are read off the written files again, not taken from the generator."""
    write_sample(tmp_path, SampleSize(agents=5, calls=40_000, pools=5, days=20), 11, "parquet")
    hits: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for file, row, fate in Reading(tmp_path).call_fates:
        if file == "calls.parquet" and row is not None and fate.startswith("eligible resolved"):
            who = row["agent_id"].rsplit("-", 1)[0]
            hits[who].append((row["confidence"], fate.endswith("1")))
    assert set(hits) == set(CHARACTERS)
    stated = {who: np.array([c for c, _ in rows]) for who, rows in hits.items()}
    right = {who: np.array([r for _, r in rows]) for who, rows in hits.items()}
    for low in (0.5, 0.6, 0.7, 0.8):
        chosen = (stated["honest"] >= low) & (stated["honest"] < low + 0.1)
        noise = 4 * 0.5 / math.sqrt(chosen.sum())
        assert abs(stated["honest"][chosen].mean() - right["honest"][chosen].mean()) < noise
    excess = {who: stated[who].mean() - right[who].mean() for who in CHARACTERS}
    assert abs(excess["honest"]) < 0.03
    assert excess["overconfident"] > 0.04
    assert excess["timid"] < -0.04
    assert abs(right["coin-flip"].mean() - 0.5) < 0.03
    assert abs(right["inverted"].mean() - (1 - stated["inverted"].mean())) < 0.03


def test_stated_confidences_stay_clear_of_rounding_boundaries() -> None:
    table = stated_confidences()
    assert table[0].tolist() == [p / 100 for p in range(50, 91)]
    assert table[1, -1] == 0.97  # 0.9^1.6 / (0.9^1.6 + 0.1^1.6)
    assert table[2, -1] == 0.79
    for slope in (1.6, 0.6):
        for p in np.arange(0.5, 0.905, 0.01):
            exact = 100 / (1 + ((1 - p) / p) ** slope)
            assert abs(exact % 1 - 0.5) > 1e-6


def test_row_groups_and_bounded_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("augur_pipeline.sample.generator.BLOCK_ROWS", 1000)
    report = write_sample(tmp_path, SampleSize(3, 5000, 2, 10), 0, "parquet")
    for kind, rows in (("calls", report.calls), ("prices", report.prices)):
        meta = pq.ParquetFile(tmp_path / f"inputs/{kind}/{kind}.parquet").metadata
        assert meta.num_rows == rows
        assert meta.num_row_groups >= 2
    calls = pq.read_table(tmp_path / "inputs/calls/calls.parquet")
    assert calls["call_id"].to_pylist() == [f"call-{i:08d}" for i in range(5000)]


@pytest.mark.parametrize(
    ("size", "seed", "file_format", "message"),
    [
        (SampleSize(agents=0), 0, "csv", "agents must be at least 1, not 0"),
        (SampleSize(calls=0), 0, "csv", "calls must be at least 1, not 0"),
        (SampleSize(pools=-1), 0, "csv", "pools must be at least 1, not -1"),
        (SampleSize(days=2), 0, "csv", "days must be at least 3, not 2"),
        (SampleSize(days=361), 0, "csv", "days must be at most 360, not 361"),
        (SampleSize(), -1, "csv", "seed must not be negative, not -1"),
        (SampleSize(), 0, "json", "file_format must be csv or parquet, not 'json'"),
    ],
)
def test_unusable_arguments(
    tmp_path: Path, size: SampleSize, seed: int, file_format: str, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        write_sample(tmp_path / "home", size, seed, file_format)
    assert not (tmp_path / "home").exists()


def test_refuses_to_write_over_a_home(tmp_path: Path) -> None:
    write_sample(tmp_path, SMALL)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match="already holds files"):
        write_sample(tmp_path, SMALL, 1, "parquet")
    assert contents(tmp_path) == before
