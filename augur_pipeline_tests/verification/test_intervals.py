from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augur_pipeline.verification import (
    brier_interval,
    brier_score,
    calibration_term_interval,
    difference_interval,
    skill_interval,
)

from . import reference
from .helpers import close, event_ids, round_probabilities, tables

levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])
block_tables = tables(round_probabilities, st.integers(-3, 12), smallest=20, largest=60)
event_tables = tables(round_probabilities, event_ids, smallest=20, largest=60)


def losses(p, y):
    return [(Fraction(a) - b) ** 2 for a, b in zip(p, y, strict=True)]


def expected_reason(forecasters, episodes, weights):
    """The refusal rules before the spread, by counting."""
    sizes, wrong, right = {}, [], []
    for e, w in zip(episodes, weights, strict=True):
        if w:
            sizes[e] = sizes.get(e, 0) + w
    if not sizes:
        return "no_rows"
    if reference.effective(list(sizes.values())) < 5:
        return "few_episodes"
    for p, y in forecasters:
        rows = list(zip(p, y, episodes, weights, strict=True))
        wrong.append({e for a, b, e, w in rows if w and (b == 1) != (a >= 0.5)})
        right.append({e for a, b, e, w in rows if w and (b == 1) == (a >= 0.5)})
    return "few_misses" if min(map(len, wrong + right)) < 5 else None


def check(found, kind, own, other, t, weights, level):
    if kind == "skill" and sum(w * b for w, b in zip(weights, other, strict=True)) == 0:
        assert found.estimate is found.low is None
        assert found.undefined_reason == ("zero_reference_loss" if any(weights) else "no_rows")
        return
    forecasters = [(t["p"], t["y"])] + ([(t["q"], t["v"])] if other is not None else [])
    reason = expected_reason(forecasters, t["e"], weights)
    if reason is not None:
        assert found.undefined_reason == reason
        assert found.low is found.high is found.standard_error is found.df is None
        return
    loss = [a - b for a, b in zip(own, other, strict=True)] if kind == "difference" else own
    base = other if kind == "skill" else None
    expected = reference.statistic_interval(kind, loss, base, t["e"], weights, level)
    if found.undefined_reason is not None:
        assert found.undefined_reason == "zero_spread"
        assert expected["standard_error"] < 1e-12
        return
    for name, value in expected.items():
        if kind != "skill" or name != "p_value":
            assert getattr(found, name) == (
                None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)
            ), name


@given(st.one_of(block_tables, event_tables), levels, st.booleans())
def test_brier_interval_against_loops(t, level, is_weighted):
    weights = t["w"] if is_weighted else [1] * len(t["p"])
    found = brier_interval(t["p"], t["y"], t["e"], t["w"] if is_weighted else None, level)
    check(found, "brier", losses(t["p"], t["y"]), None, t, weights, level)
    assert found.estimate == brier_score(t["p"], t["y"], t["w"] if is_weighted else None)
    assert found.p_value is None


@given(st.one_of(block_tables, event_tables), levels, st.booleans())
def test_difference_interval_against_loops(t, level, is_weighted):
    weights = t["w"] if is_weighted else [1] * len(t["p"])
    found = difference_interval(
        t["p"], t["y"], t["q"], t["v"], t["e"], t["w"] if is_weighted else None, level
    )
    check(found, "difference", losses(t["p"], t["y"]), losses(t["q"], t["v"]), t, weights, level)


@given(st.one_of(block_tables, event_tables), levels, st.booleans())
def test_skill_interval_against_loops(t, level, is_weighted):
    weight = t["w"] if is_weighted else None
    found = skill_interval(t["p"], t["y"], t["q"], t["v"], t["e"], weight, level)
    check(
        found, "skill", losses(t["p"], t["y"]), losses(t["q"], t["v"]), t,
        t["w"] if is_weighted else [1] * len(t["p"]), level,
    )  # fmt: skip
    difference = difference_interval(t["p"], t["y"], t["q"], t["v"], t["e"], weight, level)
    if found.undefined_reason is None:
        assert found.p_value == difference.p_value


def table_of_episodes(episodes=8, rows=4, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.3, 0.6, 0.7, 0.8], episodes * rows)
    y = np.resize([0, 1, 1, 0], episodes * rows)
    return p, y, np.repeat(np.arange(episodes), rows)


def test_text_ids_have_no_neighbours_and_numbers_that_do_not_touch_neither():
    block = np.repeat(np.arange(12), 4)
    p = np.full(48, 0.7)
    # a drift, so that neighbours agree
    y = np.where(block < 6, np.tile([1, 1, 1, 0], 12), np.tile([0, 0, 0, 1], 12))
    as_text = brier_interval(p, y, [f"{b:02d}" for b in block])
    apart = brier_interval(p, y, block * 2)
    touching = brier_interval(p, y, block)
    assert as_text == apart
    assert touching.estimate == apart.estimate
    assert touching.standard_error > 1.2 * apart.standard_error
    assert touching.high - touching.low > 1.2 * (apart.high - apart.low)


def test_neighbours_are_blocks_that_differ_by_exactly_one():
    p, y, block = table_of_episodes(8)
    shifted = brier_interval(p, y, block + 1000)
    assert shifted == brier_interval(p, y, block.astype(float) - 7) == brier_interval(p, y, block)
    gap = np.where(block < 4, block, block + 1)  # 3 and 5 no longer touch
    loss = losses(p, y)
    for ids in (block, gap):
        expected = reference.statistic_interval(
            "brier", loss, None, ids.tolist(), [1] * len(p), 0.95
        )
        found = brier_interval(p, y, ids)
        assert found.standard_error == pytest.approx(expected["standard_error"], rel=1e-12)


def test_negative_neighbour_covariance_never_narrows():
    episode = np.repeat(np.arange(10), 4)
    y = np.where(episode % 2 == 0, np.tile([1, 1, 1, 0], 10), np.tile([0, 0, 0, 1], 10))
    p = np.full(40, 0.7)
    assert brier_interval(p, y, episode) == brier_interval(p, y, [f"{e}" for e in episode])


def test_ids_that_look_like_numbers_stay_text():
    p, y, block = table_of_episodes(12)
    texts = [str(b) for b in block]
    found = brier_interval(p, y, texts)
    for same in (np.array(texts), np.array(texts, dtype=object), tuple(texts)):
        assert brier_interval(p, y, same) == found
    for same in (np.array(texts, dtype="T"),):
        assert brier_interval(p, y, same) == found


def test_ids_with_trailing_nul_are_not_merged():
    p, y, block = table_of_episodes(6)
    names = ["a", "a\x00", "a\x00\x00", "b", "c", "d"]
    assert brier_interval(p, y, [names[b] for b in block]).episodes == 6


@pytest.mark.parametrize("weight", [None, 0.1, 1 / 3, 1e-300, 7e200])
def test_five_equal_episodes_are_five(weight):
    y = [1, 0, 1] * 5
    weights = None if weight is None else [weight] * 15
    result = brier_interval([0.8, 0.8, 0.7] * 5, y, [i // 3 for i in range(15)], weights)
    assert result.effective_episodes == 5.0
    assert result.undefined_reason == "zero_spread"
    y[2] = 0
    result = brier_interval([0.8, 0.8, 0.7] * 5, y, [i // 3 for i in range(15)], weights)
    assert result.undefined_reason is None


def test_weights_that_are_equal_but_for_rounding():
    weights = [0.05, 0.05] * 5
    weights[0] = np.nextafter(0.1, 1) - 0.05
    p, y = [0.6] * 9 + [0.7], [1, 0] * 5
    result = brier_interval(p, y, [i // 2 for i in range(10)], weights)
    assert 4.999999 < result.effective_episodes < 5
    assert result.undefined_reason is None


def test_few_episodes():
    p, y, block = table_of_episodes(4, 10)
    result = brier_interval(p, y, block)
    assert result.undefined_reason == "few_episodes"
    assert result.estimate == brier_score(p, y)
    assert (result.low, result.high, result.standard_error, result.df) == (None,) * 4
    assert (result.episodes, result.effective_episodes) == (4, 4.0)
    # seven episodes, but one of them holds nearly everything
    lopsided = np.concatenate([np.zeros(34, int), np.arange(1, 7)])
    result = brier_interval(p, y, lopsided)
    assert result.episodes == 7
    assert result.effective_episodes < 2
    assert result.undefined_reason == "few_episodes"


def test_few_misses():
    p, episode = [0.7] * 30, [i // 3 for i in range(30)]

    def reason(y):
        return brier_interval(p, y, episode).undefined_reason

    four_wrong = [0 if i % 3 == 0 and i < 12 else 1 for i in range(30)]
    assert reason(four_wrong) == "few_misses"
    assert reason([1] * 30) == reason([0] * 30) == "few_misses"
    five_wrong = [0 if i % 3 == 0 and i < 15 else 1 for i in range(30)]
    assert reason(five_wrong) is None
    assert reason([1 - v for v in five_wrong]) is None
    assert reason([1 - v for v in four_wrong]) == "few_misses"
    # either forecaster
    q = [0.7 if v else 0.3 for v in five_wrong]  # never wrong
    for interval in (difference_interval, skill_interval):
        result = interval(p, five_wrong, q, five_wrong, episode)
        assert result.undefined_reason == "few_misses"
        assert interval(q, five_wrong, p, five_wrong, episode).undefined_reason == "few_misses"


def test_one_half_counts_as_a_call_for_the_event():
    episode = [i // 2 for i in range(20)]
    # wrong = (y = 1) ≠ (p ≥ ½): at p = ½ the outcome 0 is the wrong one, in every episode
    assert brier_interval([0.5] * 20, [0, 1] * 10, episode).undefined_reason == "zero_spread"
    assert brier_interval([0.5] * 20, [1, 1] * 10, episode).undefined_reason == "few_misses"


def test_zero_weight_rows_hold_no_misses_and_no_episodes():
    p, y, block = table_of_episodes(8)
    extra_p, extra_y = np.append(p, [0.9] * 3), np.append(y, [0, 0, 1])
    extra_block = np.append(block, [50, 51, 52])
    weights = np.append(np.ones(p.size), np.zeros(3))
    found = brier_interval(extra_p, extra_y, extra_block, weights)
    close(found, brier_interval(p, y, block), 1e-15)
    assert found.episodes == 8


@pytest.mark.parametrize("p", [0.1, 0.3, 0.6, 0.7, 1 / 3])
@pytest.mark.parametrize("episodes", [6, 7, 11, 49])
def test_zero_spread_survives_rounding(p, episodes):
    """Episodes of unequal size but equal mean loss: SE is 0 in truth, 1e-18 in arithmetic."""
    repeats = [1 + g % 3 for g in range(episodes)]
    y = [v for r in repeats for v in [1, 0] * r]
    block = [g for g, r in enumerate(repeats) for _ in range(2 * r)]
    result = brier_interval([p] * len(y), y, block)
    assert (result.undefined_reason, result.low) == ("zero_spread", None)
    # a constant difference has no spread either, and no p-value
    q = [p + 0.1] * len(y)
    result = difference_interval([p] * len(y), y, q, y, block)
    assert (result.undefined_reason, result.p_value) == ("zero_spread", None)
    # nor a constant ratio
    result = skill_interval([p] * len(y), y, q, y, block)
    assert (result.undefined_reason, result.low, result.p_value) == ("zero_spread", None, None)


def test_identical_forecasts():
    p, y, block = table_of_episodes(8)
    result = difference_interval(p, y, p, y, block)
    assert (result.estimate, result.p_value, result.low) == (0.0, 1.0, None)
    assert result.undefined_reason == "zero_spread"
    result = skill_interval(p, y, p, y, block)
    assert (result.estimate, result.p_value, result.undefined_reason) == (0.0, 1.0, "zero_spread")
    few = difference_interval(p[:4], y[:4], p[:4], y[:4], block[:4])
    assert (few.estimate, few.p_value, few.undefined_reason) == (0.0, 1.0, "few_episodes")


def test_same_losses_in_opposite_orientation_are_identical():
    p, y, block = table_of_episodes(8)
    p = np.round(p * 64) / 64
    assert difference_interval(p, y, 1 - p, 1 - y, block).p_value == 1.0


def test_difference_is_antisymmetric():
    p, y, block = table_of_episodes(9)
    q, _, _ = table_of_episodes(9, seed=1)
    ab, ba = difference_interval(p, y, q, y, block), difference_interval(q, y, p, y, block)
    assert ab.undefined_reason is None
    assert (ba.estimate, ba.low, ba.high) == (-ab.estimate, -ab.high, -ab.low)
    assert (ba.p_value, ba.standard_error) == (ab.p_value, ab.standard_error)


def test_skill_without_reference_loss():
    p, y, block = table_of_episodes(8)
    result = skill_interval(p, y, y, y, block)
    assert (result.estimate, result.low) == (None, None)
    assert result.undefined_reason == "zero_reference_loss"
    # all of the reference's (countable) loss in one episode: it vanishes without it
    weights = np.where(block == 0, 1.0, 1e-300)
    assert skill_interval(p, y, p, y, block, weights).undefined_reason == "few_episodes"


def test_no_rows():
    for result in (
        brier_interval([], [], []),
        difference_interval([], [], [], [], []),
        skill_interval([], [], [], [], []),
        brier_interval([0.5], [1], [3], [0.0]),
    ):
        assert result.undefined_reason == "no_rows"
        assert result.episodes == 0
        assert result.estimate is result.low is result.high is result.p_value is None
        assert result.effective_episodes is result.df is result.standard_error is None


@given(block_tables)
def test_ends_are_in_order_and_in_range(t):
    result = brier_interval(t["p"], t["y"], t["e"])
    if result.low is not None:
        assert 0 < result.low < result.estimate <= result.high <= 1
    skill = skill_interval(t["p"], t["y"], t["q"], t["v"], t["e"])
    if skill.low is not None:
        assert skill.low < skill.estimate < skill.high < 1


@pytest.mark.parametrize("level", [0.999999, 1 - 1e-12])
def test_extreme_levels_stay_in_range(level):
    p, y, block = table_of_episodes(5)
    result = brier_interval(p, y, block, level=level)
    assert 0 <= result.low < result.high <= 1


def test_calibration_term_interval():
    p, y, block = table_of_episodes(8)
    result = brier_interval(p, y, block)
    low, high = calibration_term_interval(result)
    assert low == 100 * max(0, 1 - 4 * result.high)
    assert high == 100 * max(0, 1 - 4 * result.low)
    assert 0 <= low <= high <= 100
    assert calibration_term_interval(brier_interval([], [], [])) is None
