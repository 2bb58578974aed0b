import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from augur_pipeline.verification import calibration_line, hosmer_lemeshow, spiegelhalter

from . import reference
from .helpers import round_probabilities, tables
from .test_worked_numbers import ten_bin_rows


@given(
    tables(round_probabilities),
    st.integers(1, 20),
    st.sampled_from(["equal_width", "equal_count"]),
    st.integers(0, 3),
)
def test_hosmer_lemeshow_against_rationals(t, bins, scheme, fitted):
    found = hosmer_lemeshow(t["p"], t["y"], bins, scheme, fitted)
    statistic, groups = reference.hosmer_lemeshow(t["p"], t["y"], bins, scheme)
    assert (found.groups, found.df) == (groups, groups - fitted)
    if statistic == math.inf:
        assert (found.statistic, found.p_value, found.degenerate) == (math.inf, 0.0, True)
        return
    assert not found.degenerate
    if groups == 0:
        assert found.statistic is found.smallest_expected is None
    else:
        assert found.statistic == pytest.approx(float(statistic), rel=1e-12, abs=1e-12)
    if groups - fitted < 1:
        assert (found.p_value, found.undefined_reason) == (None, "no_degrees_of_freedom")
    else:
        expected = stats.chi2.sf(float(statistic), groups - fitted)
        assert found.p_value == pytest.approx(expected, rel=1e-9, abs=1e-300)
        assert found.undefined_reason is None


def test_forecasts_have_as_many_degrees_of_freedom_as_groups():
    p, y = ten_bin_rows()
    assert hosmer_lemeshow(p, y).df == 10
    assert hosmer_lemeshow(p, y, fitted_parameters=2).df == 8
    assert hosmer_lemeshow(p, y).smallest_expected == pytest.approx(8 * 0.05)


def test_a_group_of_certainties():
    agree = hosmer_lemeshow([0, 0, 1, 1, 0.5, 0.5], [0, 0, 1, 1, 0, 1], 3)
    assert agree.groups == 1
    assert agree.statistic == 0.0
    assert agree.p_value == 1.0
    # 0 shares its bin with .25 there: the group is not a certainty.
    assert hosmer_lemeshow([0, 0.25], [1, 0], 3).degenerate is False
    for p, y in (([0, 0, 0.5], [0, 1, 1]), ([1, 1, 0.5], [0, 1, 1])):
        assert hosmer_lemeshow(p, y).degenerate is True
        assert hosmer_lemeshow(p, y).p_value == 0.0
    # proof enough without any degree of freedom
    assert hosmer_lemeshow([0.0], [1]).p_value == 0.0


def test_nearly_certain_is_not_certain():
    almost = 1 - 2**-53
    assert hosmer_lemeshow([1.0, 1.0, 1.0, almost], [1, 1, 1, 1]).groups == 1
    assert hosmer_lemeshow([0.0, 5e-324], [0, 0]).groups == 1
    result = hosmer_lemeshow([5e-324], [1])
    assert (result.statistic, result.p_value, result.degenerate) == (math.inf, 0.0, False)


def test_upper_tail_keeps_its_digits():
    result = hosmer_lemeshow([0.1] * 400, [1] * 200 + [0] * 200)
    assert 0 < result.p_value < 1e-100


def test_k_minus_two_rejects_too_often():
    rng = np.random.default_rng(2)
    rejected = {0: 0, 2: 0}
    for _ in range(1500):
        p = rng.uniform(0.5, 0.9, 200)
        y = rng.random(200) < p
        for fitted in rejected:
            rejected[fitted] += hosmer_lemeshow(p, y, fitted_parameters=fitted).p_value < 0.05
    assert 0.03 < rejected[0] / 1500 < 0.07
    assert 0.11 < rejected[2] / 1500 < 0.22


@given(tables())
def test_spiegelhalter_against_rationals(t):
    found = spiegelhalter(t["p"], t["y"])
    assume(sum(0 < value < 1 and abs(value - 0.5) > 1e-9 for value in t["p"]))
    # variances below the smallest double are another matter (see edge cases)
    assume(all(value == 0 or value > 1e-150 for value in t["p"]))
    expected = reference.spiegelhalter(t["p"], t["y"])
    assert found.z == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(found.z)), rel=1e-12)


def test_spiegelhalter_by_hand():
    # p = .8 twice, right and wrong: Σ(y−p)(1−2p) = (.2 − .8)(−.6) = .36; variance 2·.36·.16
    result = spiegelhalter([0.8, 0.8], [1, 0])
    assert result.z == pytest.approx(0.36 / math.sqrt(0.1152), abs=1e-12)
    assert result.p_value == pytest.approx(0.288844, abs=5e-7)
    assert spiegelhalter([0.8, 0.8], [1, 1]).z < 0 < spiegelhalter([0.8, 0.8], [0, 0]).z


def test_spiegelhalter_undefined():
    for p, y in (([0.5] * 4, [0, 1, 1, 1]), ([0, 1, 0.5], [0, 1, 1])):
        result = spiegelhalter(p, y)
        assert (result.z, result.p_value, result.undefined_reason) == (None, None, "no_variance")
    assert spiegelhalter([0, 0.5], [1, 1]).z == math.inf
    assert spiegelhalter([1.0], [0]).p_value == 0.0


def independent_line(p, y):
    x = np.log(p) - np.log1p(-p)

    def loss(beta):
        eta = beta[0] + beta[1] * x
        return float((np.logaddexp(0, eta) - y * eta).sum())

    return minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("seed", range(6))
def test_calibration_line_against_other_optimisers(seed):
    rng = np.random.default_rng(seed)
    n = [30, 80, 300, 1000, 5000, 40][seed]
    p = np.clip(np.round(rng.beta(1 + seed, 2, n), 2 + seed % 2), 0.01, 0.99)
    truth = 1 / (1 + np.exp(-(0.3 + 0.6 * np.log(p / (1 - p)))))
    y = (rng.random(n) < truth).astype(float)
    line = calibration_line(p, y)
    assert (line.intercept, line.slope) == pytest.approx(tuple(independent_line(p, y)), abs=2e-5)
    x = (np.log(p) - np.log1p(-p)).reshape(-1, 1)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(x, y)
    assert line.slope == pytest.approx(theirs.coef_[0, 0], abs=2e-4)
    # the likelihood equations themselves
    fitted = 1 / (1 + np.exp(-(line.intercept + line.slope * x[:, 0])))
    assert (y - fitted).sum() == pytest.approx(0, abs=1e-8 * n)
    assert ((y - fitted) * x[:, 0]).sum() == pytest.approx(0, abs=1e-8 * n)
    large = 1 / (1 + np.exp(-(line.in_the_large + x[:, 0])))
    assert (y - large).sum() == pytest.approx(0, abs=1e-8 * n)


@given(tables(smallest=4))
def test_calibration_line_solves_its_equations_or_is_none(t):
    line = calibration_line(t["p"], t["y"], clip=1e-3)
    p, y = np.clip(t["p"], 1e-3, 1 - 1e-3), np.array(t["y"])
    x = np.log(p) - np.log1p(-p)
    if len(set(t["y"])) == 1:
        assert line.intercept is line.slope is line.in_the_large is None
        return
    large = 1 / (1 + np.exp(-(line.in_the_large + x)))
    assert (y - large).sum() == pytest.approx(0, abs=1e-8)
    one, zero = x[y == 1], x[y == 0]
    is_separated = one.min() >= zero.max() - 1e-12 or zero.min() >= one.max() - 1e-12
    if line.slope is None:
        assert is_separated
        return
    fitted = 1 / (1 + np.exp(-(line.intercept + line.slope * x)))
    assert (y - fitted).sum() == pytest.approx(0, abs=1e-6)
    assert ((y - fitted) * x).sum() == pytest.approx(0, abs=1e-6)


def test_calibration_line_of_known_forecasters():
    rng = np.random.default_rng(11)
    logit = rng.normal(0, 1.3, 20_000)
    y = rng.random(20_000) < 1 / (1 + np.exp(-logit))

    def line(factor, shift=0.0):
        return calibration_line(1 / (1 + np.exp(-(factor * logit + shift))), y)

    assert line(1).slope == pytest.approx(1, abs=0.05)
    assert line(1).intercept == pytest.approx(0, abs=0.05)
    assert line(1.6).slope == pytest.approx(1 / 1.6, abs=0.05)
    assert line(-1).slope == pytest.approx(-1, abs=0.05)
    assert line(1, -0.5).in_the_large == pytest.approx(0.5, abs=0.05)


def test_calibration_line_that_does_not_exist():
    separated = calibration_line([0.2, 0.3, 0.7, 0.8], [0, 0, 1, 1])
    assert separated.slope is separated.intercept is None
    assert separated.in_the_large == pytest.approx(0.0, abs=1e-12)
    touching = calibration_line([0.2, 0.5, 0.5, 0.8], [0, 0, 1, 1])
    assert touching.slope is None
    constant = calibration_line([0.3] * 4, [0, 1, 1, 1])
    assert constant.slope is None
    assert constant.in_the_large == pytest.approx(math.log(3) - math.log(3 / 7), abs=1e-12)
    assert calibration_line([0.3, 0.4], [1, 1]).in_the_large is None


def test_clipped_rows_are_counted():
    line = calibration_line([0, 1, 1e-7, 1 - 1e-7, 1e-6, 0.5, 0.3], [0, 1, 1, 0, 1, 0, 1])
    assert line.clipped_rows == 4
    assert calibration_line([0, 1, 0.05], [0, 1, 1], clip=0.1).clipped_rows == 3
    assert calibration_line([], []).clipped_rows == 0


@given(tables(smallest=4))
def test_calibration_line_of_the_complement(t):
    p = np.round(np.array(t["p"]) * 64) / 64
    y = np.array(t["y"])
    line, mirrored = calibration_line(p, y), calibration_line(1 - p, 1 - y)
    if line.slope is None:
        assert mirrored.slope is None
    else:
        assert mirrored.slope == pytest.approx(line.slope, abs=1e-8, rel=1e-8)
        assert mirrored.intercept == pytest.approx(-line.intercept, abs=1e-8, rel=1e-8)
    if line.in_the_large is not None:
        assert mirrored.in_the_large == pytest.approx(-line.in_the_large, abs=1e-9)


@given(tables(round_probabilities), st.integers(1, 20))
def test_smallest_expected_is_of_events_or_of_non_events(t, bins):
    groups = reference.binned(t["p"], t["y"], bins, "equal_width").values()
    stated = [(len(rows), reference.mean_and_rate(rows)[0]) for rows in groups]
    expected = [n * min(p, 1 - p) for n, p in stated if 0 < p < 1]
    found = hosmer_lemeshow(t["p"], t["y"], bins).smallest_expected
    assert found == (pytest.approx(float(min(expected)), abs=1e-12) if expected else None)


def test_a_miss_of_the_nearly_certain_is_not_impossible():
    """The mean of p rounds to 1, but the row that missed had not called it impossible."""
    almost = 1 - 2**-53
    assert np.mean([1.0, 1.0, 1.0, almost]) == 1.0
    result = hosmer_lemeshow([1.0, 1.0, 1.0, almost], [1, 1, 1, 0])
    assert (result.degenerate, result.groups) == (False, 1)
    assert result.statistic == pytest.approx(2.0**53, rel=1e-12)
