"""Every number of the specification's list, written out by hand."""

import numpy as np
import pytest

from augur_pipeline.verification import (
    brier_interval,
    brier_score,
    brier_skill,
    calibration_error,
    corp,
    decompose_brier,
    log_loss,
    reliability_table,
    sharpness,
)

from .helpers import niamey

PLACES = 1e-12


@pytest.mark.parametrize("value", [0, 1])
def test_certain_and_right_scores_zero(value):
    assert brier_score([value] * 5, [value] * 5) == 0.0


def test_forty_percent_and_it_happened():
    assert brier_score([0.4], [1]) == pytest.approx(0.36, abs=PLACES)


@pytest.mark.parametrize(
    ("p", "y", "loss"),
    [
        (0.9, 1, 0.01),
        (0.9, 0, 0.81),
        (0.6, 1, 0.16),
        (0.6, 0, 0.36),
        (0.5, 0, 0.25),
        (0.5, 1, 0.25),
    ],
)
def test_contract_losses(p, y, loss):
    assert brier_score([p], [y]) == pytest.approx(loss, abs=PLACES)


def test_contract_five_calls():
    p, y = [0.8, 0.6, 0.3, 0.2, 0.7], [1, 0, 0, 1, 1]
    assert brier_score(p, y) == pytest.approx(0.244, abs=PLACES)
    assert brier_skill(brier_score(p, y), brier_score([0.5] * 5, y)) == pytest.approx(0.024)
    assert brier_score([0.8, 0.8, 0.2], [1, 0, 0]) == pytest.approx(0.24, abs=PLACES)


def test_one_belongs_to_the_last_bin():
    assert calibration_error([0.95, 1], [1, 0], 10).ece == pytest.approx(0.475, abs=PLACES)


def test_calibration_error_is_of_the_event_not_of_the_predicted_class():
    ece = calibration_error([0.01, 0.001, 0.005], [1, 1, 1]).ece
    assert ece == pytest.approx(0.994667, abs=5e-7)
    assert ece == pytest.approx(1 - 0.016 / 3, abs=PLACES)


def test_zero_belongs_to_the_first_bin():
    result = calibration_error([0], [1])
    assert (result.ece, result.mce, result.mce_bin_n) == (1.0, 1.0, 1)
    assert reliability_table([0], [1])[0].n == 1


def test_constant_forecast_is_one_equal_count_group():
    result = calibration_error([0.4] * 3, [0, 1, 1], scheme="equal_count")
    assert result.ece == pytest.approx(0.266667, abs=5e-7)
    assert result.ece == pytest.approx(2 / 3 - 0.4, abs=PLACES)
    assert len(reliability_table([0.4] * 3, [0, 1, 1], scheme="equal_count")) == 1


def test_isotonic_fit_pools_ties_first():
    fit = corp([0.0, 0.1, 0.1, 0.2, 0.3], [0, 0, 1, 0, 1])
    assert fit.recalibrated.tolist() == [0, 1 / 3, 1 / 3, 1 / 3, 1]
    assert fit.probability.tolist() == [0.0, 0.1, 0.1, 0.2, 0.3]


def test_all_events():
    result = corp([0.2, 0.5, 0.9], [1, 1, 1])
    assert result.miscalibration == pytest.approx(0.3, abs=PLACES)
    assert (result.discrimination, result.uncertainty) == (0.0, 0.0)


def test_six_forecasts():
    result = corp([0.4, 0.3, 0.2, 0.1, 0.5, 0.9], [0, 0, 0, 1, 1, 1])
    assert round(result.brier, 3) == 0.227
    assert round(result.miscalibration, 3) == 0.102
    assert round(result.discrimination, 3) == 0.125
    assert result.uncertainty == 0.25


TEN_OUTCOMES = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0]


def test_ten_forecasts_that_resolve():
    result = decompose_brier([0.2] * 5 + [0.8] * 5, TEN_OUTCOMES)
    assert result.brier == pytest.approx(0.16, abs=PLACES)
    assert result.reliability == pytest.approx(0.0, abs=PLACES)
    assert result.resolution == pytest.approx(0.09, abs=PLACES)
    assert result.uncertainty == 0.25
    assert result.within_bin_variance == pytest.approx(0.0, abs=PLACES)
    assert result.within_bin_covariance == pytest.approx(0.0, abs=PLACES)


def test_ten_forecasts_of_one_half():
    assert brier_score([0.5] * 10, TEN_OUTCOMES) == 0.25


def test_skill_against_an_earlier_base_rate():
    a = brier_score([0.2] * 5 + [0.8] * 5, TEN_OUTCOMES)
    reference = brier_score([0.4] * 10, TEN_OUTCOMES)
    assert reference == pytest.approx(0.26, abs=PLACES)
    assert brier_skill(a, reference) == pytest.approx(0.384615, abs=5e-7)
    assert brier_skill(0.25, reference) == pytest.approx(0.038462, abs=5e-7)


COUNTS = [8, 15, 22, 31, 38, 42, 35, 30, 22, 13]
EVENTS = [0, 2, 7, 11, 18, 24, 23, 22, 18, 13]


def ten_bin_rows():
    p = np.repeat((np.arange(10) + 0.5) / 10, COUNTS)
    y = np.concatenate([[1] * e + [0] * (n - e) for n, e in zip(COUNTS, EVENTS, strict=True)])
    return p, y


def test_ten_bin_table():
    p, y = ten_bin_rows()
    table = reliability_table(p, y)
    assert [row.n for row in table] == COUNTS
    assert [round(row.observed_rate * row.n) for row in table] == EVENTS
    error = calibration_error(p, y)
    assert round(error.ece, 6) == 0.024219
    assert round(error.mce, 6) == 0.068182
    assert error.mce_bin_n == 22
    parts = decompose_brier(p, y)
    assert round(parts.reliability, 6) == 0.000909
    assert round(parts.resolution, 6) == 0.051649
    assert round(parts.uncertainty, 6) == 0.248474


@pytest.mark.parametrize(
    ("forecaster", "published"),
    [
        ("EMOS", (0.232, 0.018, 0.0305, 0.244)),
        ("ENS", (0.266, 0.066, 0.044, 0.244)),
        ("EPC", (0.234, 0.022, 0.032, 0.244)),
        ("Logistic", (0.206, 0.017, 0.056, 0.244)),
    ],
)
def test_published_decompositions_of_niamey(forecaster, published):
    data = niamey()
    result = corp(data[forecaster], data["obs"])
    found = (result.brier, result.miscalibration, result.discrimination, result.uncertainty)
    # Published to three places; EMOS' discrimination, published as .031, is .030469 (exact
    # rational arithmetic agrees), which becomes .0305 and then .031 when rounded twice.
    assert found == pytest.approx(published, abs=5e-4)
    if forecaster == "EMOS":
        assert round(result.discrimination, 6) == 0.030469
        assert result.discrimination == pytest.approx(0.031, abs=6e-4)
    else:
        assert tuple(round(value, 3) for value in found) == published
    assert result.brier == pytest.approx(
        result.miscalibration - result.discrimination + result.uncertainty, abs=1e-15
    )


def test_honest_ece_is_not_zero():
    """ECE of a perfectly calibrated forecaster: about .145 / .075 / .033 at n = 50 / 200 / 1000."""
    rng = np.random.default_rng(5)
    for n, about in ((50, 0.145), (200, 0.075), (1000, 0.033)):
        found = []
        for _ in range(400):
            p = 1 / (1 + np.exp(-rng.normal(0, 1.3, n)))
            found.append(calibration_error(p, rng.random(n) < p).ece)
        assert np.mean(found) == pytest.approx(about, abs=0.003)


def test_honest_term_of_five_calls():
    """An honest 0.7 forecaster with five calls averages 22 on the 0–100 term, sd 24 (truth 16)."""
    hits = np.arange(6)
    chance = np.array([1, 5, 10, 10, 5, 1]) * 0.7**hits * 0.3 ** (5 - hits)
    scores = np.array([brier_score([0.7] * 5, [1] * h + [0] * (5 - h)) for h in hits.tolist()])
    term = 100 * np.clip(1 - scores / 0.25, 0, 1)
    average = float((chance * term).sum())
    spread = float(np.sqrt((chance * (term - average) ** 2).sum()))
    assert (round(average), round(spread)) == (22, 24)


def test_log_loss_in_nats():
    assert log_loss([0.5, 0.25], [1, 0]) == pytest.approx(
        (0.6931471805599453 + 0.2876820724517809) / 2, abs=PLACES
    )


def test_sharpness_divides_by_n():
    assert sharpness([0.2] * 5 + [0.8] * 5) == pytest.approx(0.09, abs=PLACES)


def test_brier_interval_by_hand():
    """Ten equal episodes of two rows; SE and ends worked out on paper.

    Losses .04 (right) and .64 (wrong) at p = .8: five episodes with one of each (mean .34), five
    of them too, but for the last which is right twice (mean .04): B = (9·.68 + .08)/20 = .31.
    θ_(−g) = (6.2 − S_g)/18: .306667 nine times, .34 once; mean .31; Σu² = .001; SE² = .9·.001.
    """
    y = [1, 0] * 9 + [1, 1]
    result = brier_interval([0.8] * 20, y, [f"event {i // 2}" for i in range(20)])
    assert result.estimate == pytest.approx(0.31, abs=PLACES)
    assert result.standard_error == pytest.approx(0.03, abs=PLACES)
    assert (result.df, result.episodes, result.effective_episodes) == (9.0, 10, 10.0)
    # t(.975, 9) = 2.262157: exp(2.262157 · .03/.31) = exp(.2189184) = 1.244730
    assert result.high == pytest.approx(0.31 * 1.244730, abs=1e-6)
    assert result.low == pytest.approx(0.31 / 1.244730, abs=1e-6)
    assert result.p_value is None
    assert result.undefined_reason is None
