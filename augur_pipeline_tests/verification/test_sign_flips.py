from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from augur_pipeline.verification import (
    calibration_error,
    calibration_tests,
    corp,
    hosmer_lemeshow,
    sign_flips,
    spiegelhalter,
)

from . import reference
from .helpers import bits, probabilities, round_probabilities, tables

GUARD = 1e-12


def share(drawn, seen):
    return [value >= seen - GUARD * max(1, seen) for value in drawn]


def seven_episodes(probability):
    """Rows of seven episodes, each with at least one row."""
    return tables(probability, st.integers(0, 6), smallest=7, largest=14).map(
        lambda t: {**t, "e": [*range(7), *t["e"][7:]]}
    )


@settings(max_examples=15, deadline=None)
@given(seven_episodes(st.one_of(round_probabilities, probabilities)), st.sampled_from([3, 10]))
def test_exact_test_against_rationals(t, bins):
    p, y, e = t["p"], t["y"], t["e"]
    if len(p) == 7 or any(0 < v < 1e-100 for v in p):
        return  # single rows and tiny probabilities have tests of their own
    found = calibration_tests(p, y, e, bins)
    everything = [
        reference.sign_statistics(p, y, e, signs, bins) for signs in reference.patterns(range(7))
    ]
    seen, half = everything[0], everything[:64]
    assert (found.exact, found.draws) == (True, 64)

    def p_value(name, draws):
        return sum(share([d[name] for d in draws], seen[name])) / len(draws)

    if seen["z"] is None:
        assert (found.p_worse, found.undefined_reason) == (None, "no_variance")
    elif any(abs(v) > 1e-13 for v in _totals(p, y, e)):
        assert found.p_worse == p_value("z", everything)
    assert found.mcb_p_value == p_value("mcb", half)
    assert found.ece_p_value == p_value("ece", half)
    if hosmer_lemeshow(p, y, bins).degenerate:
        assert found.hl_p_value == 0.0
    else:
        assert found.hl_p_value == p_value("hl", half)
    assert found.mcb_null_mean == pytest.approx(np.mean([d["mcb"] for d in half]), abs=1e-14)
    assert found.ece_null_mean == pytest.approx(np.mean([d["ece"] for d in half]), abs=1e-14)


def _totals(p, y, e):
    totals = {}
    for a, b, g in zip(p, y, e, strict=True):
        totals[g] = totals.get(g, 0.0) + (b - a) * (1 - 2 * a)
    return list(totals.values())


def clustered(seed=1, episodes=14, rows=3, digits=1):
    rng = np.random.default_rng(seed)
    e = np.repeat(np.arange(episodes), rows)
    p = np.round(rng.uniform(0.5, 0.95, e.size), digits)
    return p, (rng.random(e.size) < p - 0.1).astype(int), e


@pytest.mark.parametrize("digits", [1, 3])
def test_drawn_test_against_its_documented_stream(digits):
    p, y, e = clustered(digits=digits)
    ids = [f"id {9 - v % 10}{v}" for v in e]  # an order of their own
    found = calibration_tests(p, y, ids, draws=999, seed=42)
    uniform = np.random.Generator(np.random.PCG64(42)).random((999, 14))
    order = sorted(set(ids))
    drawn = [
        reference.sign_statistics(
            p.tolist(),
            y.tolist(),
            ids,
            {g: -1 if u < 0.5 else 1 for g, u in zip(order, row, strict=True)},
            10,
        )
        for row in uniform[:999]
    ]
    seen = reference.sign_statistics(p.tolist(), y.tolist(), ids, dict.fromkeys(order, 1), 10)
    assert (found.exact, found.draws, found.undefined_reason) == (False, 999, None)
    for field, name in (
        ("p_worse", "z"), ("mcb_p_value", "mcb"), ("ece_p_value", "ece"), ("hl_p_value", "hl"),
    ):  # fmt: skip
        count = sum(share([d[name] for d in drawn], seen[name]))
        assert getattr(found, field) == (1 + count) / 1000, field
    assert found.mcb_null_mean == pytest.approx(np.mean([d["mcb"] for d in drawn]), abs=1e-14)
    assert found.ece_null_mean == pytest.approx(np.mean([d["ece"] for d in drawn]), abs=1e-14)


def test_more_draws_continue_the_stream():
    p, y, e = clustered()
    a, b = calibration_tests(p, y, e, draws=999), calibration_tests(p, y, e, draws=1999)
    assert abs(a.p_worse - b.p_worse) < 0.05
    assert a != calibration_tests(p, y, e, draws=999, seed=1)


def test_observed_statistics_are_those_of_the_other_functions():
    p, y, e = clustered(digits=3)
    ids = sign_flips.check_episodes(e, p.size)
    null = sign_flips._Null(p, y.astype(float), ids, 10)
    z, mcb, ece, hl = null.statistics([np.ones((14, 1))])
    assert mcb[0] == pytest.approx(corp(p, y).miscalibration, abs=1e-14)
    assert ece[0] == pytest.approx(calibration_error(p, y).ece, abs=1e-14)
    assert hl[0] == pytest.approx(hosmer_lemeshow(p, y).statistic, rel=1e-12)
    totals = np.array(_totals(p, y, e))
    assert z[0] == pytest.approx(totals.sum() / np.sqrt((totals**2).sum()), abs=1e-12)


@pytest.mark.parametrize("case", ["clustered", "single"])
def test_batches_change_nothing(monkeypatch, case):
    p, y, e = clustered(episodes=20, digits=2)
    if case == "single":
        e = np.arange(p.size)
    whole = calibration_tests(p, y, e)
    for entries in (1, 700, 10**7):
        monkeypatch.setattr(sign_flips, "_ENTRIES_AT_ONCE", entries)
        again = calibration_tests(p, y, e)
        for field in ("p_worse", "mcb_p_value", "ece_p_value", "hl_p_value"):
            assert getattr(again, field) == getattr(whole, field)
        assert again.mcb_null_mean == pytest.approx(whole.mcb_null_mean, abs=1e-14)


@pytest.mark.parametrize(("episodes", "is_exact"), [(6, True), (11, True), (12, False)])
def test_patterns_are_enumerated_when_there_are_few(episodes, is_exact):
    p, y, e = clustered(episodes=episodes)
    result = calibration_tests(p, y, e)
    assert result.exact is is_exact
    assert result.draws == (2 ** (episodes - 1) if is_exact else 1999)
    if is_exact:
        assert result == calibration_tests(p, y, e, seed=99)
        assert (result.p_worse * 2**episodes).is_integer()
    # 2¹⁰ = 1024 patterns are more than 999 draws
    assert calibration_tests(p, y, e, draws=999).exact is (episodes == 6)


def test_too_few_episodes():
    p, y, e = clustered(episodes=5)
    result = calibration_tests(p, y, e)
    assert result.undefined_reason == "few_episodes"
    assert (result.p_worse, result.mcb_p_value, result.mcb_null_mean) == (None, None, None)
    assert (result.ece_p_value, result.ece_null_mean, result.hl_p_value) == (None, None, None)
    assert (result.exact, result.draws) == (False, 0)
    assert calibration_tests([], [], []).undefined_reason == "no_rows"
    assert calibration_tests([0.5], [1], ["a"]).undefined_reason == "few_episodes"


def test_direction():
    rng = np.random.default_rng(0)
    e = np.repeat(np.arange(40), 10)
    p = rng.uniform(0.6, 0.95, 400)
    over = calibration_tests(p, (rng.random(400) < p - 0.2).astype(int), e)
    timid = calibration_tests(p, (rng.random(400) < np.minimum(1, p + 0.15)).astype(int), e)
    assert over.p_worse < 0.01
    assert over.mcb_p_value < 0.01
    assert over.ece_p_value < 0.01
    assert timid.p_worse > 0.95
    assert timid.mcb_p_value < 0.05


def test_perfect_agreement_is_no_evidence():
    """Σ(y − p) cancels in every episode, up to rounding: z is 0/0, not √G."""
    p = [0.8] * 5 * 12
    y = [1, 1, 1, 1, 0] * 12
    result = calibration_tests(p, y, [i // 5 for i in range(60)])
    assert (result.p_worse, result.undefined_reason) == (None, "no_variance")
    assert result.mcb_p_value == result.ece_p_value == result.hl_p_value == 1.0
    # one episode that does deviate decides alone
    y[-1] = 1
    assert calibration_tests(p, y, [i // 5 for i in range(60)]).p_worse == 1.0
    y[-2:] = [0, 0]
    assert calibration_tests(p, y, [i // 5 for i in range(60)]).p_worse == pytest.approx(
        0.5, abs=0.05
    )


def test_all_one_half():
    y = [0, 1, 1] * 8
    result = calibration_tests([0.5] * 24, y, [i // 3 for i in range(24)])
    assert (result.p_worse, result.undefined_reason) == (None, "no_variance")
    assert 0 < result.mcb_p_value <= 1
    assert 0 < result.hl_p_value <= 1


def test_impossible_outcome():
    p, y, e = clustered()
    p[:3], y[:3] = 0.0, [0, 1, 0]
    result = calibration_tests(p, y, e)
    assert result.hl_p_value == 0.0
    assert 0 < result.p_worse < 1
    p[:3], y[:3] = 1.0, [1, 1, 1]
    assert calibration_tests(p, y, e).hl_p_value > 0


def test_tiny_probabilities_do_not_vanish():
    p = np.full(24, 1e-200)
    result = calibration_tests(p, np.zeros(24), np.arange(24) // 3)
    assert result.p_worse == 1.0
    assert result.undefined_reason is None


class TestSingleRows:
    """Every episode a single row: the null is known."""

    def test_p_worse_is_the_two_sided_normal_p_of_worse_losses(self):
        rng = np.random.default_rng(3)
        p = rng.uniform(0.5, 0.95, 80)
        y = (rng.random(80) < p - 0.15).astype(int)
        result = calibration_tests(p, y, np.arange(80))
        z = spiegelhalter(p, y).z
        assert z > 0
        assert result.p_worse == pytest.approx(2 * stats.norm.sf(z), rel=1e-12)
        assert (result.exact, result.draws) == (False, 1999)

    def test_better_than_stated_is_not_worse(self):
        p = [0.6] * 60
        result = calibration_tests(p, [1] * 60, np.arange(60))
        assert spiegelhalter(p, [1] * 60).p_value < 1e-6
        assert result.p_worse == 1.0

    def test_miscalibration_is_compared_with_outcomes_drawn_from_p(self):
        rng = np.random.default_rng(5)
        p = rng.choice([0.2, 0.5, 0.8], 60)
        y = (rng.random(60) < p).astype(int)
        found = calibration_tests(p, y, np.arange(60), draws=999, seed=7)
        child = np.random.SeedSequence(7).spawn(1)[0]
        uniform = np.random.Generator(np.random.PCG64(child)).random((999, 60))
        rising = np.sort(p)
        drawn = [corp(rising, row < rising).miscalibration for row in uniform]
        count = sum(share(drawn, corp(p, y).miscalibration))
        assert found.mcb_p_value == (1 + count) / 1000
        assert found.mcb_null_mean == pytest.approx(np.mean(drawn), abs=1e-14)

    def test_few_rows_are_not_enumerated(self):
        p, y = [0.6, 0.7, 0.8, 0.9, 0.6, 0.7, 0.8], [1, 0, 1, 1, 0, 1, 1]
        result = calibration_tests(p, y, list("abcdefg"))
        assert (result.exact, result.draws) == (False, 1999)

    def test_certainties(self):
        assert calibration_tests([0, 0.5] * 4, [1, 1] * 4, range(8)).p_worse == 0.0
        result = calibration_tests([0.5] * 8, [0, 1] * 4, range(8))
        assert (result.p_worse, result.undefined_reason) == (None, "no_variance")


def test_order_of_ids_is_numeric_or_bytewise():
    p, y, e = clustered(episodes=13)
    numeric = calibration_tests(p, y, e)
    padded = calibration_tests(p, y, [f"{v:02d}" for v in e])
    assert padded == numeric  # same order, so the same signs
    plain = calibration_tests(p, y, [str(v) for v in e])  # "10" < "2"
    order = sorted(map(str, range(13)))
    assert plain == calibration_tests(p, y, [order.index(str(v)) for v in e])
    assert plain != numeric


def test_all_patterns():
    found = np.concatenate(list(sign_flips.all_patterns(4, 3)), axis=1).T.tolist()
    assert len(found) == 8
    assert found[0] == [1, 1, 1, 1]
    assert sorted(found) == sorted([1, *rest] for rest in product([1, -1], repeat=3))


def test_p_values_are_reproducible():
    p, y, e = clustered(digits=3)
    assert bits(calibration_tests(p, y, e)) == bits(calibration_tests(p, y, e))
