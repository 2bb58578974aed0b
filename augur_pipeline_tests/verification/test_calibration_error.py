import pytest
from hypothesis import given
from hypothesis import strategies as st

from augur_pipeline.verification import (
    NOT_DISTINGUISHABLE,
    calibration_band,
    calibration_error,
    reliability_table,
)

from . import reference
from .helpers import tables


@given(tables(), st.integers(1, 20), st.sampled_from(["equal_width", "equal_count"]))
def test_against_rationals(t, bins, scheme):
    found = calibration_error(t["p"], t["y"], bins, scheme)
    ece, mce = reference.calibration_error(t["p"], t["y"], bins, scheme)
    assert found.ece == pytest.approx(float(ece), abs=1e-15)
    assert found.mce == pytest.approx(float(mce), abs=1e-15)


@given(tables(), st.sampled_from(["equal_width", "equal_count"]))
def test_agrees_with_the_table(t, scheme):
    found = calibration_error(t["p"], t["y"], scheme=scheme)
    table = [row for row in reliability_table(t["p"], t["y"], scheme=scheme) if row.n]
    assert found.mce == max(abs(row.gap) for row in table)
    assert found.mce_bin_n == max(row.n for row in table if abs(row.gap) == found.mce)
    assert found.ece == pytest.approx(sum(row.n * abs(row.gap) for row in table) / len(t["p"]))


def test_fullest_of_equal_gaps():
    result = calibration_error([0.25, 0.75, 0.75, 0.75, 0.75], [0, 1, 1, 1, 1], 2)
    assert (result.mce, result.mce_bin_n) == (0.25, 4)


@pytest.mark.parametrize(
    ("ece", "word"),
    [
        (0.0, "excellent"),
        (0.0199, "excellent"),
        (0.02, "good"),
        (0.05, "good"),
        (0.0501, "mediocre"),
        (0.10, "mediocre"),
        (0.1001, "poor"),
        (1.0, "poor"),
    ],
)
def test_bands(ece, word):
    assert calibration_band(ece, 0.049) == word
    assert calibration_band(ece, 0.05) == NOT_DISTINGUISHABLE
    assert calibration_band(ece, None) == NOT_DISTINGUISHABLE


def test_bands_are_configurable():
    bands = (("fine", 0.1), ("not fine", 1.0))
    assert calibration_band(0.1, 0.001, bands) == "not fine"
    assert calibration_band(0.09, 0.001, bands) == "fine"
    assert calibration_band(0.09, 0.001, bands, significance=0.001) == NOT_DISTINGUISHABLE
    assert calibration_band(None, 0.001) is None
