"""Agents on the same questions, or on the same days: by hand, against the library, simulated."""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augur_pipeline.diagnostics.comparisons.steps import compare_on_days, compare_on_questions
from augur_pipeline.forecasts.rules import RULES as QUESTION_RULES
from augur_pipeline.forecasts.steps import number_forecasts
from augur_pipeline.store.resource import Store
from augur_pipeline.verification import difference_interval
from augur_pipeline.verification.paired import holm_adjusted
from augur_pipeline_tests.diagnostics.arena import at, call, fill, rows_of
from augur_pipeline_tests.nights import night, query

(MISMATCH,) = QUESTION_RULES


def compare(store: Store, calls: list[dict[str, Any]]) -> None:
    fill(store, calls)
    number_forecasts(store)
    compare_on_questions(store)
    compare_on_days(store)


def random_calls(seed: int, cohort: str = "S1") -> list[dict[str, Any]]:
    """Three agents, some of whose calls meet on questions; buys and sells, several calls on one."""
    rng = random.Random(seed)
    calls = []
    for n in range(150):
        asked = rng.sample("abc", rng.randint(1, 3))
        for agent in asked:
            for _ in range(rng.choice([1, 1, 1, 2])):
                calls.append(
                    call(
                        cohort=cohort, agent=agent, question=f"q{n}", block=n // 12, days=n / 12,
                        p=rng.choice([0.3, 0.6, 0.7, 0.9]), right=rng.choice([0, 1]),
                        # the price is the question's; what is right follows the action
                        price=101.0,
                    )
                )  # fmt: skip
    return calls


def plain(calls: list[dict[str, Any]], a: str, b: str) -> dict[str, Any]:
    """The comparison as rows: every call of a with every call of b, weighing their question once."""
    of = defaultdict(lambda: defaultdict(list))
    for c in calls:
        of[c["question"]][c["agent"]].append(c)
    rows = [
        (x["p"], x["right"], y["p"], y["right"], x["block"], 1 / (len(q[a]) * len(q[b])))
        for q in of.values()
        for x in q.get(a, [])
        for y in q.get(b, [])
    ]
    p_a, y_a, p_b, y_b, blocks, weights = zip(*rows, strict=True)
    interval = difference_interval(p_a, y_a, p_b, y_b, blocks, weights)
    common = sum(a in q and b in q for q in of.values())
    return {
        "n_common": common,
        "share_a": common / sum(a in q for q in of.values()),
        "share_b": common / sum(b in q for q in of.values()),
        "mean_difference": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n_episodes": interval.episodes,
        "p_value": interval.p_value,
        "undefined_reason": interval.undefined_reason,
    }


@pytest.mark.parametrize("seed", range(3))
def test_comparisons_are_those_of_difference_interval(store: Store, seed: int) -> None:
    calls = [*random_calls(seed), *random_calls(seed + 50, "S2")]
    compare(store, calls)
    rows = rows_of(store, "agent_comparisons", "cohort_id, agent_a, agent_b")
    assert [(r["cohort_id"], r["agent_a"], r["agent_b"]) for r in rows] == [
        (s, *pair) for s in ("S1", "S2") for pair in ("ab", "ac", "bc")
    ]
    for row in rows:
        mine = [c for c in calls if c["cohort"] == row["cohort_id"]]
        expected = plain(mine, row["agent_a"], row["agent_b"])
        for name, value in expected.items():
            assert row[name] == (
                pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
            ), name
    for cohort in ("S1", "S2"):
        family = [r for r in rows if r["cohort_id"] == cohort]
        assert [r["p_value_adjusted"] for r in family] == pytest.approx(
            holm_adjusted([r["p_value"] for r in family]).tolist(), abs=1e-12
        )


def test_days_compare_episode_means(store: Store) -> None:
    rng = random.Random(9)
    calls = [
        call(
            agent=agent, block=block, days=block, p=rng.choice([0.6, 0.8]), right=rng.choice([0, 1])
        )
        for block in range(0, 24, 2)
        for agent in "ab"
        for _ in range(rng.randint(3, 9))
    ]
    # an episode of one agent alone does not count
    calls.append(call(agent="a", block=40, days=40.0, p=0.0, right=1))
    compare(store, calls)
    (row,) = rows_of(store, "agent_comparisons_by_episode")
    loss = defaultdict(list)
    for c in calls:
        loss[c["block"], c["agent"]].append((c["p"] - c["right"]) ** 2)
    gaps = [np.mean(loss[b, "a"]) - np.mean(loss[b, "b"]) for b in range(0, 24, 2)]
    assert row["label"] == "same days, different questions"
    assert row["n_episodes"] == 12
    assert row["rows_a"] == sum(len(loss[b, "a"]) for b in range(0, 24, 2))
    assert row["share_a"] == pytest.approx(row["rows_a"] / (row["rows_a"] + 1))
    assert row["share_b"] == 1.0
    assert row["mean_difference"] == pytest.approx(np.mean(gaps), abs=1e-12)
    # without neighbours and with equal weights the jackknife is the plain standard error
    half = 2.200985 * np.std(gaps, ddof=1) / np.sqrt(12)
    assert row["high"] - row["mean_difference"] == pytest.approx(half, rel=1e-6)
    assert row["p_value_adjusted"] == row["p_value"]
    assert rows_of(store, "agent_comparisons") == []


def test_identical_forecasts_differ_by_nothing_with_certainty(store: Store) -> None:
    calls = [
        call(agent=agent, question=f"q{n}", block=n // 2, p=0.6 + n % 3 / 10, right=n % 2)
        for n in range(20)
        for agent in "ab"
    ]
    compare(store, calls)
    for name in ("agent_comparisons", "agent_comparisons_by_episode"):
        (row,) = rows_of(store, name)
        assert (row["mean_difference"], row["p_value"], row["p_value_adjusted"]) == (0.0, 1.0, 1.0)
        assert (row["low"], row["undefined_reason"]) == (None, "zero_spread")


def test_a_question_beyond_the_bound_is_compared_but_in_no_interval(store: Store) -> None:
    calls = [
        call(agent=agent, question="q", block=None, p=p, right=1)
        for agent, p in (("a", 1), ("b", 0))
    ]
    compare(store, calls)
    (row,) = rows_of(store, "agent_comparisons")
    assert (row["n_common"], row["mean_difference"], row["n_episodes"]) == (1, -1.0, 0)
    assert (row["p_value"], row["undefined_reason"]) == (None, "no_episodes")
    assert rows_of(store, "agent_comparisons_by_episode") == []


def test_events_have_no_neighbours(store: Store) -> None:
    """Text ids, even such as look like numbers, count as overlapping with nothing."""
    rng = random.Random(2)
    calls = [
        call(
            kind="event", agent=agent, question=f"q{n}", block=str(n // 3), p=rng.choice([0.2, 0.9]),
            right=rng.choice([0, 1]),
        )
        for n in range(60)
        for agent in "ab"
    ]  # fmt: skip
    compare(store, calls)
    (row,) = rows_of(store, "agent_comparisons")
    a, b = ([c for c in calls if c["agent"] == agent] for agent in "ab")
    expected = difference_interval(
        [c["p"] for c in a], [c["right"] for c in a], [c["p"] for c in b], [c["right"] for c in b],
        [c["block"] for c in a],
    )  # fmt: skip
    assert row["low"] == pytest.approx(expected.low, abs=1e-12)


# --- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "differs_in"),
    [
        ({"pool": "Q"}, "pool_id"),
        ({"due": at(9)}, "due_at"),
        ({"reference": 100.5, "price": 101.0}, "reference_price"),
        ({"price": 102.0}, "price"),
        ({"pool": "Q", "due": at(9)}, "pool_id, due_at"),
    ],
)
def test_calls_that_disagree_on_the_question_are_listed_and_not_compared(
    store: Store, change: dict[str, Any], differs_in: str
) -> None:
    good = [call(agent=agent, question="good", price=101.0) for agent in "ab"]
    bad = [call(agent="a", question="bad", price=101.0)]
    bad.append({**bad[0], "agent": "b", **change})
    compare(store, [*good, *bad])
    found = {row["question_id"]: row for row in rows_of(store, "questions")}
    assert (found["bad"]["reason"], found["bad"]["differs_in"]) == (
        "question_mismatch", differs_in
    )  # fmt: skip
    assert (found["good"]["reason"], found["good"]["calls"], found["good"]["agents"]) == (
        None,
        2,
        2,
    )
    (row,) = rows_of(store, "agent_comparisons")
    assert (row["n_common"], row["share_a"]) == (1, 0.5)
    finding = MISMATCH.find(store)
    assert finding.broken_rows == 1
    assert finding.examples[0][:3] == ("S1", "bad", differs_in)


def test_an_expired_call_is_no_mismatch(store: Store) -> None:
    calls = [call(agent="a", question="q"), call(agent="b", question="q", right=None)]
    compare(store, calls)
    assert [row["reason"] for row in rows_of(store, "questions")] == [None]
    assert rows_of(store, "agent_comparisons") == []
    assert MISMATCH.find(store).broken_rows == 0


def test_seasons_are_not_compared_with_each_other(store: Store) -> None:
    compare(store, [call(agent=a, cohort=s, question="q") for a, s in (("a", "S1"), ("b", "S2"))])
    assert rows_of(store, "agent_comparisons") == []
    assert rows_of(store, "agent_comparisons_by_episode") == []


# --- where the truth is known ---------------------------------------------------------------------


def season(rng: np.random.Generator, cohort: str, noise: dict[str, float]) -> list[dict[str, Any]]:
    """30 episodes of 4 questions; every agent sees the truth through noise of its own."""
    calls = []
    for n in range(120):
        truth = rng.uniform(0.2, 0.8)
        rises = int(rng.random() < truth)
        for agent, spread in noise.items():
            seen = float(np.clip(truth + rng.normal(0, spread), 0.02, 0.98))
            is_buy = seen >= 0.5
            calls.append(
                call(
                    cohort=cohort, agent=agent, question=f"q{n}", block=n // 4, days=n / 4,
                    action="buy" if is_buy else "sell", p=seen if is_buy else 1 - seen,
                    right=rises if is_buy else 1 - rises,
                )
            )  # fmt: skip
    return calls


def test_equal_agents_are_told_apart_at_the_nominal_rate(store: Store) -> None:
    rng = np.random.default_rng(11)
    noise = dict.fromkeys("abcd", 0.15)
    compare(store, [c for n in range(300) for c in season(rng, f"S{n:03d}", noise)])
    for name in ("agent_comparisons", "agent_comparisons_by_episode"):
        rows = rows_of(store, name)
        assert len(rows) == 300 * 6
        assert 0.03 <= np.mean([row["p_value"] < 0.05 for row in rows]) <= 0.07, name
        erring = {row["cohort_id"] for row in rows if row["p_value_adjusted"] < 0.05}
        # 300 families at .05: at most 15 expected, and three standard deviations
        assert len(erring) <= 26, name


def test_a_better_agent_is_found(store: Store) -> None:
    rng = np.random.default_rng(12)
    noise = {"good": 0.05, "bad": 0.8, "worse": 0.8}
    compare(store, [c for n in range(10) for c in season(rng, f"S{n}", noise)])
    found = {
        (r["agent_a"], r["agent_b"], r["cohort_id"]): r for r in rows_of(store, "agent_comparisons")
    }
    better = [found["bad", "good", f"S{n}"] for n in range(10)]
    assert all(row["mean_difference"] > 0 for row in better)
    assert sum(row["p_value_adjusted"] < 0.05 for row in better) >= 9
    alike = [found["bad", "worse", f"S{n}"] for n in range(10)]
    assert sum(row["p_value_adjusted"] < 0.05 for row in alike) <= 1


def test_no_two_real_calls_share_a_question(real_home: Path) -> None:
    night(real_home, "2026-11-01T00:00:00Z")
    assert query(real_home, "SELECT count(*) FROM agent_comparisons") == [(0,)]
    ((asked, calls, shared),) = query(
        real_home, "SELECT count(*), sum(calls), count(*) FILTER (agents > 1) FROM questions"
    )
    assert (shared, asked <= calls) == (0, True)
    ((pairs,),) = query(real_home, "SELECT count(*) FROM agent_comparisons_by_episode")
    assert pairs > 0
    assert query(real_home, "SELECT count(*) FROM questions WHERE reason IS NOT NULL") == [(0,)]
