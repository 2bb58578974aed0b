"""Missing outcomes and weights: who expires, what that could hide, and repeated prompts."""

import random
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline.diagnostics.missingness.steps import bound_brier, weigh_episodes
from augur_pipeline.forecasts.steps import number_forecasts
from augur_pipeline.store.resource import Store
from augur_pipeline_tests.diagnostics.arena import call, fill, rows_of
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, table

START = datetime(2024, 1, 3)  # a Wednesday
HORIZONS = {"1": "to 1 h", "1.5": "1-4 h", "4": "1-4 h", "24": "12-24 h", "200": "over 168 h"}


@pytest.fixture(scope="module")
def calls() -> list[dict[str, Any]]:
    rng = random.Random(4)
    return [
        {
            **GOOD_CALL,
            "call_id": f"c{n}",
            "agent_id": rng.choice(["a", "b"]),
            "pool_id": rng.choice(["P", "Q", "never priced"]),
            "confidence": rng.choice(["0", "0.3", "0.6", "0.65", "0.7", "1.0"]),
            "horizon_hours": rng.choice(list(HORIZONS)),
            "decided_at": f"{START + timedelta(minutes=rng.randrange(14 * 24 * 60)):%Y-%m-%dT%H:%M}Z",
        }
        for n in range(300)
    ]


@pytest.fixture(scope="module")
def prices() -> list[tuple[str, str, str]]:
    """Prices every half hour with holes of hours and days."""
    rng = random.Random(5)
    made = []
    for pool in "PQ":
        moment = START - timedelta(days=1)
        while moment < START + timedelta(days=25):
            made.append((pool, f"{moment:%Y-%m-%dT%H:%M}:00Z", f"{rng.uniform(90, 110):.2f}"))
            moment += timedelta(minutes=rng.choice([30] * 60 + [600] * 4 + [4000]))
    return made


@pytest.fixture(scope="module")
def home(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[dict[str, Any]],
    prices: list[tuple[str, str, str]],
) -> Path:
    made = make_home(tmp_path_factory.mktemp("missing"), calls, prices)
    night(made)
    return made


def price_range(c: dict[str, Any], prices: list[tuple[str, str, str]]) -> float | None:
    """Highest ÷ lowest price of the 24 whole hours before the call's hour."""
    hour = datetime.fromisoformat(c["decided_at"][:-1]).replace(minute=0)
    seen = [
        float(price)
        for pool, moment, price in prices
        if pool == c["pool_id"]
        and hour - timedelta(hours=24) <= datetime.fromisoformat(moment[:-1]) < hour
    ]
    return max(seen) / min(seen) if seen else None


def test_buckets_against_plain_python(
    home: Path, calls: list[dict[str, Any]], prices: list[tuple[str, str, str]]
) -> None:
    expired = {
        c for (c,) in query(home, "SELECT call_id FROM resolved_outcomes WHERE status='expired'")
    }
    assert 0 < len(expired) < len(calls)
    ranges = {c["call_id"]: price_range(c, prices) for c in calls}
    known = sorted(r for r in ranges.values() if r is not None)
    assert 0 < len(known) < len(calls)

    def third(value: float | None) -> str:
        if value is None:
            return "unknown"
        first, last = known.index(value) + 1, len(known) - known[::-1].index(value)
        return ["low", "middle", "high"][3 * (first + last - 1) // (2 * len(known))]

    eligible: Counter[tuple[Any, ...]] = Counter()
    gone: Counter[tuple[Any, ...]] = Counter()
    for c in calls:
        decided = datetime.fromisoformat(c["decided_at"][:-1])
        tenth = {"0": 0, "0.3": 3, "0.6": 6, "0.65": 6, "0.7": 7, "1.0": 9}[c["confidence"]]
        buckets = {
            "confidence": f"0.{tenth}-{(tenth + 1) / 10:.1f}",
            "horizon": HORIZONS[c["horizon_hours"]],
            "hour_of_week": f"{decided:%a} {decided.hour:02d}",
            "volatility": third(ranges[c["call_id"]]),
        }
        scopes = [("all", None), ("agent", c["agent_id"]), ("pool", c["pool_id"])]
        keys = [(*s, *b) for s in scopes for b in buckets.items()]
        keys += [("all", None, s, name) for s, name in scopes[1:]]
        for key in keys:
            eligible[key] += 1
            gone[key] += c["call_id"] in expired
    found = {
        (r["scope"], r["scope_id"], r["dimension"], r["bucket"]): r
        for r in table(home, "missingness")
    }
    assert set(found) == set(eligible)
    for key, row in found.items():
        assert (row["eligible"], row["expired"]) == (eligible[key], gone[key]), key
        assert row["share_expired"] == gone[key] / eligible[key]
    assert {row["dimension"] for row in found.values()} == {
        "agent", "pool", "confidence", "horizon", "hour_of_week", "volatility"
    }  # fmt: skip
    assert found["all", None, "pool", "never priced"]["share_expired"] == 1.0
    in_order = query(
        home,
        "SELECT bucket FROM missingness WHERE scope = 'all' AND dimension = 'volatility' "
        "ORDER BY bucket_number",
    )
    assert in_order == [("low",), ("middle",), ("high",), ("unknown",)]


def test_bounds_hold_every_expired_call_at_its_best_and_worst(store: Store) -> None:
    fill(
        store,
        [
            call(agent="a", p=0.8, right=1),
            call(agent="a", p=0.8, right=0),
            call(agent="a", p=0.9, right=None),
            call(agent="a", p=0.3, right=None),
            call(agent="a", p=0.6, right=None, status="pending"),
            call(agent="gone", p=0.7, right=None),
            call(agent="waiting", right=None, status="open"),
        ],
    )
    bound_brier(store)
    a, gone = rows_of(store, "brier_bounds")
    assert (a["resolved"], a["expired"]) == (2, 2)
    assert a["brier"] == pytest.approx((0.04 + 0.64) / 2, abs=1e-15)
    assert a["brier_low"] == pytest.approx((0.04 + 0.64 + 0.01 + 0.09) / 4, abs=1e-15)
    assert a["brier_high"] == pytest.approx((0.04 + 0.64 + 0.81 + 0.49) / 4, abs=1e-15)
    assert (gone["resolved"], gone["expired"], gone["brier"]) == (0, 1, None)
    assert (gone["brier_low"], gone["brier_high"]) == pytest.approx((0.09, 0.49), abs=1e-15)


def test_hundreds_of_repeats_in_one_episode_are_one_lesson(store: Store) -> None:
    fill(
        store,
        [
            *(call(p=0.9, right=1, block=0) for _ in range(300)),
            call(p=0.9, right=0, block=1),
            call(p=0.5, right=0, block=3),
            call(p=0.0, right=1, block=None),
            call(agent="none", right=None),
        ],
    )
    number_forecasts(store)
    weigh_episodes(store)
    row, none = rows_of(store, "episode_weighted_brier")
    assert (row["n"], row["n_without_episode"], row["episodes"]) == (303, 1, 3)
    assert row["brier"] == pytest.approx((300 * 0.01 + 0.81 + 0.25 + 1) / 303, abs=1e-15)
    assert row["episode_weighted_brier"] == pytest.approx((0.01 + 0.81 + 0.25) / 3, abs=1e-15)
    assert (none["n"], none["episodes"], none["brier"], none["episode_weighted_brier"]) == (
        0, 0, None, None
    )  # fmt: skip


def test_scores_beside_each_other_are_the_same(home: Path) -> None:
    """One Brier score, whichever table it stands in, to the bit."""
    rows = query(
        home,
        """
        SELECT s.brier, b.brier, e.brier, k.brier
        FROM agent_season_brier AS s
        JOIN brier_bounds AS b ON b.cohort_id = s.season_id AND b.forecaster_id = s.agent_id
        JOIN episode_weighted_brier AS e
            ON e.cohort_id = s.season_id AND e.forecaster_id = s.agent_id
        JOIN benchmark_skill AS k ON k.cohort_id = s.season_id AND k.forecaster_id = s.agent_id
        """,
    )
    assert len(rows) == 2
    for row in rows:
        assert len(set(row)) == 1
