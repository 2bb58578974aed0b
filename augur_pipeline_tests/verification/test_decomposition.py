import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from augur_pipeline.verification import corp, debiased_reliability, decompose_brier
from augur_pipeline.verification.isotonic import block_starts, isotonic_fit

from . import reference
from .helpers import block_numbers, event_ids, tables

SCHEMES = st.sampled_from(["equal_width", "equal_count"])


@given(tables(), st.integers(1, 20), SCHEMES)
def test_five_terms_add_up(t, bins, scheme):
    d = decompose_brier(t["p"], t["y"], bins, scheme)
    total = (
        d.reliability
        - d.resolution
        + d.uncertainty
        + d.within_bin_variance
        - d.within_bin_covariance
    )
    assert d.brier == pytest.approx(total, abs=1e-12)


@given(tables(), st.integers(1, 20), SCHEMES)
def test_decomposition_against_rationals(t, bins, scheme):
    found = decompose_brier(t["p"], t["y"], bins, scheme)
    for name, expected in reference.decomposition(t["p"], t["y"], bins, scheme).items():
        assert getattr(found, name) == pytest.approx(float(expected), abs=1e-14), name


def test_three_terms_alone_do_not_add_up():
    p, y = [0.51, 0.59, 0.55, 0.52], [0, 1, 1, 0]
    d = decompose_brier(p, y)
    assert abs(d.brier - (d.reliability - d.resolution + d.uncertainty)) > 0.01


@given(tables())
def test_corp_against_rationals(t):
    found = corp(t["p"], t["y"])
    for name, expected in reference.corp(t["p"], t["y"]).items():
        assert getattr(found, name) == pytest.approx(float(expected), abs=1e-14), name


@given(tables(largest=25))
def test_weighted_corp_against_rationals(t):
    found = corp(t["p"], t["y"], t["w"])
    if not any(t["w"]):
        assert found.brier is found.probability is found.recalibrated is None
        return
    for name, expected in reference.corp(t["p"], t["y"], t["w"]).items():
        assert getattr(found, name) == pytest.approx(float(expected), abs=1e-13), name
    assert found.probability.size == np.count_nonzero(t["w"])


@given(tables(smallest=2, largest=12))
def test_the_reference_fit_is_the_max_min_formula(t):
    weights = [1 + w for w in t["w"]]
    assert reference.isotonic(t["p"], t["y"], weights) == reference.isotonic_by_formula(
        t["p"], t["y"], weights
    )


@given(tables(largest=25))
def test_recalibration_curve_against_rationals(t):
    found = corp(t["p"], t["y"])
    fit = reference.isotonic(t["p"], t["y"], [1] * len(t["p"]))
    assert found.probability.tolist() == sorted(t["p"])
    expected = [float(fit[value]) for value in sorted(t["p"])]
    assert found.recalibrated == pytest.approx(expected, abs=1e-15)


@given(tables())
def test_corp_signs_and_identity(t):
    result = corp(t["p"], t["y"])
    assert result.miscalibration >= 0.0
    assert result.discrimination >= 0.0
    assert result.brier == pytest.approx(
        result.miscalibration - result.discrimination + result.uncertainty, abs=1e-15
    )
    assert (np.diff(result.recalibrated) >= 0).all()


def test_corp_against_sklearn():
    rng = np.random.default_rng(3)
    p = np.round(rng.random(3000), 3)
    y, w = (rng.random(3000) < p**2).astype(float), rng.random(3000)
    for weight in (None, w):
        mine = corp(p, y, weight)
        theirs = IsotonicRegression().fit(p, y, sample_weight=weight)
        np.testing.assert_allclose(mine.recalibrated, theirs.predict(np.sort(p)), atol=1e-12)


def test_corp_arrays_are_read_only_and_results_compare():
    result = corp([0.2, 0.4], [0, 1])
    with pytest.raises(ValueError, match="read-only"):
        result.recalibrated[0] = 1
    assert result == corp([0.2, 0.4], [0, 1])
    assert result != corp([0.2, 0.5], [0, 1])
    assert corp([], []) == corp([], [])
    assert result != corp([], [])
    assert result != 1


def test_batched_isotonic_fits_do_not_touch_each_other():
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 5, 30).astype(float)
    sums = rng.uniform(-1, 2, (200, 30)) * sizes
    starts = block_starts(sums, sizes)
    alone = [fit * 30 + block_starts(row[np.newaxis], sizes) for fit, row in enumerate(sums)]
    assert starts.tolist() == np.concatenate(alone).tolist()
    for row in sums[:20]:
        theirs = IsotonicRegression().fit(np.arange(30), row / sizes, sizes).predict(np.arange(30))
        np.testing.assert_allclose(isotonic_fit(row, sizes), theirs, atol=1e-13)


@given(tables(episode=block_numbers), st.integers(1, 12))
def test_debiased_reliability_against_products_of_pairs(t, bins):
    found = debiased_reliability(t["p"], t["y"], t["e"], bins)
    value, left_out = reference.debiased(t["p"], t["y"], t["e"], bins)
    assert found.share_rows_left_out == float(left_out)
    if value is None:
        assert found.value is None
    else:
        assert found.value == pytest.approx(float(value), abs=1e-14)


@given(tables(episode=event_ids))
def test_debiased_reliability_takes_text_ids(t):
    value, _ = reference.debiased(t["p"], t["y"], t["e"], 10)
    found = debiased_reliability(t["p"], t["y"], t["e"]).value
    assert found == (None if value is None else pytest.approx(float(value), abs=1e-14))


def test_debiased_reliability_keeps_its_sign():
    # One episode runs over, the other under: opposite products only.
    result = debiased_reliability([0.5] * 4, [1, 1, 0, 0], ["a", "a", "b", "b"])
    assert (result.value, result.share_rows_left_out) == (-0.25, 0.0)


def test_debiased_reliability_is_unbiased_where_reliability_is_not():
    rng = np.random.default_rng(4)
    p = np.repeat([0.15, 0.35, 0.55, 0.75], 12)
    episode = np.tile(np.arange(12), 4)
    honest = [(rng.random(48) < p).astype(int) for _ in range(2000)]
    debiased = np.array([debiased_reliability(p, y, episode).value for y in honest])
    plain = np.array([decompose_brier(p, y).reliability for y in honest])
    assert abs(debiased.mean()) < 4 * debiased.std() / np.sqrt(2000)
    assert plain.mean() > 20 * plain.std() / np.sqrt(2000)


def test_recomputed_blocks_do_not_cross():
    """Two blocks of mean 1/3 up to rounding, which plain quotients would put in falling order."""
    weights = np.array([0.1, 0.2, 0.3, 0.3, 0.7])
    sums = np.array([0.06999999999999999, 0.1, 0.03, 0.09999999999999999, 0.48999999999999994])
    assert (np.diff(isotonic_fit(sums, weights)) >= 0).all()


def test_miscalibration_is_not_negative_for_its_rounding():
    for n in range(3, 40):
        for k in range(1, n):
            y = [1] * k + [0] * (n - k)
            for p in (k / n, np.nextafter(k / n, 0), np.nextafter(k / n, 1)):
                result = corp([p] * n, y)
                assert 0.0 <= result.miscalibration < 1e-15
                assert 0.0 <= result.discrimination < 1e-15
