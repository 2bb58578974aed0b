"""What must not change when the question stays the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augur_pipeline import verification as v

from .helpers import (
    bits,
    block_numbers,
    close,
    dyadic_probabilities,
    event_ids,
    functions,
    probabilities,
    round_probabilities,
    tables,
)

pytestmark = pytest.mark.filterwarnings("error")

FUNCTIONS = functions()
every_function = pytest.mark.parametrize("name", FUNCTIONS)
SCORES = ("estimate", "low", "high", "standard_error", "df", "effective_episodes", "p_value")


def rows_in(order, t):
    return {name: [column[i] for i in order] for name, column in t.items()}


@every_function
@settings(max_examples=40, deadline=None)
@given(
    t=st.one_of(
        tables(episode=block_numbers),
        tables(round_probabilities, block_numbers, smallest=25, largest=70),
        tables(round_probabilities, event_ids, smallest=25, largest=70),
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_order_of_rows_changes_no_bit(name, t, seed):
    order = np.random.default_rng(seed).permutation(len(t["p"]))
    function = FUNCTIONS[name]
    assert bits(function(rows_in(order, t))) == bits(function(t))


@every_function
@pytest.mark.parametrize("episodes", [7, 40, 400])
def test_order_of_many_rows_changes_no_bit(name, episodes):
    """Enough rows for plain summation to differ, and probabilities with all their digits."""
    rng = np.random.default_rng(episodes)
    n = 400
    t = {
        "p": rng.beta(0.5, 0.5, n),
        "y": rng.integers(0, 2, n),
        "q": rng.random(n),
        "v": rng.integers(0, 2, n),
        "w": rng.exponential(1.0, n),
        "e": rng.permutation(np.arange(n) % episodes),
    }
    first = bits(FUNCTIONS[name](t))
    for _ in range(3):
        order = rng.permutation(n)
        assert bits(FUNCTIONS[name]({key: column[order] for key, column in t.items()})) == first


def repeated(t, times):
    return {
        name: [value for value, k in zip(column, times, strict=True) for _ in range(k)]
        for name, column in t.items()
    }


weighted_functions = pytest.mark.parametrize(
    "name", ["brier_score", "log_loss clipped", "corp", "brier_interval", "difference_interval",
             "skill_interval"],
)  # fmt: skip


def weighted(name, t):
    calls = {
        "brier_score": lambda: v.brier_score(t["p"], t["y"], t["w"]),
        "log_loss clipped": lambda: v.log_loss(t["p"], t["y"], t["w"], clip=1e-6),
        "corp": lambda: v.corp(t["p"], t["y"], t["w"]),
        "brier_interval": lambda: v.brier_interval(t["p"], t["y"], t["e"], t["w"]),
        "difference_interval": lambda: v.difference_interval(
            t["p"], t["y"], t["q"], t["v"], t["e"], t["w"]
        ),
        "skill_interval": lambda: v.skill_interval(t["p"], t["y"], t["q"], t["v"], t["e"], t["w"]),
    }
    return calls[name]()


@weighted_functions
@given(t=tables(st.one_of(round_probabilities, probabilities), block_numbers, 20, 60))
def test_a_weight_is_that_many_rows(name, t):
    close(
        weighted(name, t),
        FUNCTIONS[name](repeated(t, t["w"])),
        ignore=("probability", "recalibrated"),
    )


@weighted_functions
@given(
    t=tables(st.one_of(round_probabilities, probabilities), block_numbers, 20, 60),
    exponents=st.lists(st.integers(0, 2), min_size=60, max_size=60),
)
def test_a_weight_of_two_is_the_row_twice_to_the_bit(name, t, exponents):
    times = [2**k for k in exponents[: len(t["p"])]]
    one = bits(weighted(name, {**t, "w": times}))
    other = bits(FUNCTIONS[name](repeated(t, times)))
    if name == "corp":
        for result in (one, other):
            del result["probability"], result["recalibrated"]
    assert one == other


@weighted_functions
@given(t=tables(round_probabilities, block_numbers, 20, 60))
def test_a_weight_of_zero_is_no_row(name, t):
    kept = [i for i, w in enumerate(t["w"]) if w]
    assert bits(weighted(name, rows_in(kept, t))) == bits(weighted(name, t))


@weighted_functions
@given(t=tables(round_probabilities, block_numbers, 20, 60), scale=st.floats(1e-300, 1e300))
def test_weights_have_no_scale(name, t, scale):
    close(weighted(name, {**t, "w": [w * scale for w in t["w"]]}), weighted(name, t), 1e-11)
    assert bits(weighted(name, {**t, "w": [w * 2.0**70 for w in t["w"]]})) == bits(
        weighted(name, t)
    )


@given(tables(dyadic_probabilities))
def test_event_and_complement(t):
    p, y = np.array(t["p"]), np.array(t["y"])
    q, z = 1 - p, 1 - y
    assert bits(v.brier_score(p, y)) == bits(v.brier_score(q, z))
    assert bits(v.log_loss(p, y)) == bits(v.log_loss(q, z))
    assert bits(v.log_loss(p, y, clip=1e-3)) == bits(v.log_loss(q, z, clip=1e-3))
    mine, theirs = v.corp(p, y), v.corp(q, z)
    for name in ("brier", "miscalibration", "discrimination", "uncertainty"):
        assert getattr(mine, name) == pytest.approx(getattr(theirs, name), abs=1e-15)
    np.testing.assert_allclose(mine.recalibrated, 1 - theirs.recalibrated[::-1], atol=1e-15)
    assert v.spiegelhalter(p, y).z == (
        None if v.spiegelhalter(q, z).z is None else pytest.approx(v.spiegelhalter(q, z).z)
    )


@given(
    tables(episode=block_numbers, largest=60) | tables(round_probabilities, block_numbers, 25, 60),
    st.sampled_from([2, 4]),
)
def test_every_row_again_in_its_episode(t, times):
    again = repeated(t, [times] * len(t["p"]))
    for name in (
        "brier_score", "log_loss", "sharpness", "decompose_brier", "decompose_brier equal_count",
        "brier_interval", "brier_interval weighted", "difference_interval", "skill_interval",
        "difference_interval weighted", "skill_interval weighted",
    ):  # fmt: skip
        assert bits(FUNCTIONS[name](again)) == bits(FUNCTIONS[name](t)), name
    for name in ("calibration_error", "calibration_error equal_count"):
        one, other = FUNCTIONS[name](t), FUNCTIONS[name](again)
        assert bits((one.ece, one.mce)) == bits((other.ece, other.mce))
        assert other.mce_bin_n == times * one.mce_bin_n
    one, other = v.corp(t["p"], t["y"]), v.corp(again["p"], again["y"])
    for field in ("brier", "miscalibration", "discrimination", "uncertainty"):
        assert bits(getattr(one, field)) == bits(getattr(other, field))
    for mine, theirs in zip(
        v.reliability_table(t["p"], t["y"], episodes=t["e"]),
        v.reliability_table(again["p"], again["y"], episodes=again["e"]),
        strict=True,
    ):
        assert theirs.n == times * mine.n
        for field in ("lower", "upper", "episodes", "mean_probability", "observed_rate", "gap"):
            assert getattr(theirs, field) == getattr(mine, field)


@given(tables(episode=block_numbers, smallest=10, largest=40))
def test_three_times_every_row(t):
    again = repeated(t, [3] * len(t["p"]))
    for name in ("brier_score", "brier_interval", "difference_interval", "skill_interval"):
        close(FUNCTIONS[name](again), FUNCTIONS[name](t), 1e-12)
    close(v.calibration_error(again["p"], again["y"]).ece, v.calibration_error(t["p"], t["y"]).ece)


@given(tables(), st.lists(probabilities, min_size=40, max_size=60, unique=True))
def test_a_strictly_increasing_map_leaves_discrimination(t, images):
    distinct = sorted(set(t["p"]))
    image = dict(zip(distinct, sorted(images)[: len(distinct)], strict=True))
    one, other = v.corp(t["p"], t["y"]), v.corp([image[p] for p in t["p"]], t["y"])
    assert bits((one.discrimination, one.uncertainty)) == bits(
        (other.discrimination, other.uncertainty)
    )
    assert bits(one.recalibrated) == bits(other.recalibrated)


@given(
    tables(round_probabilities, block_numbers, 25, 70),
    st.lists(st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999]), min_size=2, max_size=2),
)
def test_higher_level_wider_interval(t, levels):
    low, high = sorted(levels)
    for call in (
        lambda level: v.brier_interval(t["p"], t["y"], t["e"], level=level),
        lambda level: v.difference_interval(t["p"], t["y"], t["q"], t["v"], t["e"], None, level),
        lambda level: v.skill_interval(t["p"], t["y"], t["q"], t["v"], t["e"], t["w"], level),
    ):
        narrow, wide = call(low), call(high)
        assert narrow.undefined_reason == wide.undefined_reason
        assert narrow.estimate == wide.estimate
        if narrow.low is not None and low < high:
            assert wide.low < narrow.low < narrow.high <= wide.high
            assert narrow.high < wide.high or wide.high == 1.0


@given(tables(round_probabilities, block_numbers, 25, 70), st.integers(-(10**12), 10**12))
def test_block_numbers_have_no_origin(t, shift):
    moved = {**t, "e": [e + shift for e in t["e"]]}
    for name in FUNCTIONS:
        if name != "calibration_tests":
            assert bits(FUNCTIONS[name](moved)) == bits(FUNCTIONS[name](t)), name


@given(tables(round_probabilities, st.integers(-5, 5).map(lambda k: 2 * k), 25, 70))
def test_block_numbers_that_never_touch_are_events(t):
    as_text = {**t, "e": [f"{e + 10:03d}" for e in t["e"]]}
    for name in FUNCTIONS:
        if name != "calibration_tests":
            assert bits(FUNCTIONS[name](as_text)) == bits(FUNCTIONS[name](t)), name


@settings(max_examples=20, deadline=None)
@given(tables(round_probabilities, block_numbers, 25, 60))
def test_sign_flips_of_shifted_and_renamed_episodes(t):
    base = bits(v.calibration_tests(t["p"], t["y"], t["e"], draws=999))
    for ids in ([e * 3 + 7 for e in t["e"]], [f"{e + 10:03d}" for e in t["e"]]):
        assert bits(v.calibration_tests(t["p"], t["y"], ids, draws=999)) == base
