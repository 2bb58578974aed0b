import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from augur_pipeline.verification import (
    brier_score,
    brier_skill,
    impossible_rows,
    log_loss,
    sharpness,
)

from . import reference
from .helpers import tables


@given(tables())
def test_brier_score_is_the_correctly_rounded_mean(t):
    # Each loss is one rounded square; their exact sum is rounded once.
    assert brier_score(t["p"], t["y"]) == pytest.approx(float(reference.brier(t["p"], t["y"])))
    assert brier_score(t["p"], t["y"]) == pytest.approx(brier_score_loss(t["y"], t["p"]), abs=1e-14)


@given(tables())
def test_weighted_brier_score(t):
    if sum(t["w"]) == 0:
        assert brier_score(t["p"], t["y"], t["w"]) is None
    else:
        expected = float(reference.brier(t["p"], t["y"], t["w"]))
        assert brier_score(t["p"], t["y"], t["w"]) == pytest.approx(expected, abs=1e-14)


@given(tables())
def test_log_loss(t):
    expected = reference.log_loss(t["p"], t["y"])
    assert log_loss(t["p"], t["y"]) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_log_loss_against_sklearn():
    rng = np.random.default_rng(0)
    p, y = rng.random(200), rng.integers(0, 2, 200)
    w = rng.random(200)
    assert log_loss(p, y, w) == pytest.approx(
        sklearn_log_loss(y, p, sample_weight=w, labels=[0, 1]), abs=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_impossible_event_costs_everything_in_any_dtype(dtype):
    p = np.array([0, 1, 1], dtype=dtype)
    assert log_loss(p, [1, 1, 1]) == math.inf
    assert log_loss(p, [0, 0, 1]) == math.inf
    assert impossible_rows(p, [1, 1, 0]) == 2
    assert log_loss(p, [0, 1, 1]) == 0.0
    assert log_loss(p[:1], [1], clip=1e-6) == pytest.approx(6 * math.log(10), rel=1e-15)


def test_tiny_probabilities_are_not_impossible():
    assert impossible_rows([1e-20, 5e-324, 1 - 2**-53], [1, 1, 0]) == 0
    assert log_loss([5e-324], [1]) == pytest.approx(1074 * math.log(2), rel=1e-15)
    assert log_loss([1e-20], [0]) == pytest.approx(1e-20, rel=1e-15)
    assert log_loss([1 - 2**-53], [0]) == pytest.approx(53 * math.log(2), rel=1e-15)


def test_a_weight_of_zero_silences_an_infinite_loss():
    assert log_loss([0.0, 0.5], [1, 1], [0, 1]) == math.log(2)
    assert log_loss([0.0, 0.5], [1, 1], [1e-320, 1]) == math.inf


@given(st.floats(1e-9, 0.499), tables())
def test_clip_is_the_same_at_both_ends(clip, t):
    clipped = [min(max(value, clip), 1 - clip) for value in t["p"]]
    assert log_loss(t["p"], t["y"], clip=clip) == pytest.approx(log_loss(clipped, t["y"]), rel=1e-6)
    assert log_loss([0.0], [1], clip=clip) == log_loss([1.0], [0], clip=clip)


@pytest.mark.parametrize("scale", [1e-320, 1e-308, 3e-5, 7.0, 1e300, 1.7e308])
def test_weights_have_no_scale(scale):
    p, y, w = [0.2, 0.7, 0.9], [0, 1, 0], np.full(3, scale)
    assert brier_score(p, y, w) == pytest.approx(brier_score(p, y), rel=1e-15)


@pytest.mark.parametrize("exponent", [-1074, -1000, -1, 1, 1000, 1021])
def test_powers_of_two_change_no_bit(exponent):
    p, y, w = [0.2, 0.7, 0.9], [0, 1, 0], np.array([1.0, 2.0, 4.0])
    assert brier_score(p, y, np.ldexp(w, exponent)) == brier_score(p, y, w)


@given(tables())
def test_sharpness(t):
    assert sharpness(t["p"]) == pytest.approx(float(np.var(t["p"])), abs=1e-14)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 1 / 3, 0.0, 1.0])
def test_a_constant_forecast_is_not_sharp(value):
    assert sharpness([value] * 7) == pytest.approx(0.0, abs=1e-30)


def test_skill():
    assert brier_skill(0.16, 0.26) == pytest.approx(0.384615, abs=5e-7)
    assert brier_skill(0.25, 0.25) == 0.0
    assert brier_skill(0.5, 0.25) == -1.0
    assert brier_skill(0.0, 0.25) == 1.0
    assert brier_skill(0.1, 0.0) is None
    assert brier_skill(0.0, 0.0) is None
    assert brier_skill(None, 0.2) is None
    assert brier_skill(0.2, None) is None
