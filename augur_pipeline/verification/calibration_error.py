"""Expected and maximum calibration error, and the words a house puts on them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from augur_pipeline.verification._sums import fsum
from augur_pipeline.verification._validation import check_forecasts
from augur_pipeline.verification.bins import bin_sums, binning_convention, check_binning

HOUSE_BANDS = (("excellent", 0.02), ("good", 0.05), ("mediocre", 0.10), ("poor", 1.0))
"""House names of ECE and the value each reaches up to: below .02 is excellent, then .05 is still
good and .10 still mediocre."""

NOT_DISTINGUISHABLE = "not distinguishable from calibrated"


@dataclass(frozen=True)
class CalibrationError:
    """Binned calibration error of P(y = 1), 0 best. All None when there are no rows.

    ece:        row-weighted mean gap
    mce:        largest gap of a non-empty bin
    mce_bin_n:  rows of that bin (of the fullest one, where several share the gap): a large gap of
                a few rows says little
    """

    ece: float | None
    mce: float | None
    mce_bin_n: int | None
    convention: str = "gap of P(y = 1), not confidence of the predicted class; 0 best"


def calibration_error(
    p: ArrayLike, y: ArrayLike, bins: int = 10, scheme: str = "equal_width"
) -> CalibrationError:
    """ECE = Σ n_k/N · |o_k − p_k| and MCE = max |o_k − p_k| over non-empty bins.

    Both are of P(y = 1): p = .01 with y = 1 is a gap of .99, whatever class was "predicted".
    ECE is biased upwards: a *perfectly calibrated* forecaster averages about .145 at 50 rows, .075
    at 200 and .033 at 1000, so read it beside its null mean and p-value (`calibration_tests`), name
    it through `calibration_band`, and never put a percentile bootstrap around it.

    p, y:     (n,) probabilities in [0, 1] and outcomes 0 or 1
    bins, scheme:  as `reliability_table`
    Raises:   ValueError for bad rows, K or scheme
    """
    count, rule = check_binning(bins, scheme)
    probability, outcome = check_forecasts(p, y)
    convention = f"{binning_convention(count, rule)}; 0 best"
    if probability.size == 0:
        return CalibrationError(None, None, None, convention)
    sums = bin_sums(probability, outcome, count, rule)
    used = sums.used
    n = sums.n[used]
    gap = np.abs(sums.observed_rate - sums.mean_probability)[used]
    largest = float(gap.max())
    return CalibrationError(
        ece=fsum((n * gap).tolist()) / probability.size,
        mce=largest,
        mce_bin_n=int(n[gap == largest].max()),
        convention=convention,
    )


def calibration_band(
    ece: float | None,
    p_value: float | None,
    bands: tuple[tuple[str, float], ...] = HOUSE_BANDS,
    significance: float = 0.05,
) -> str | None:
    """The word for an ECE, if the data can tell it from a calibrated forecaster's at all.

    ece:           expected calibration error; None (no rows) has no word
    p_value:       of its test (`CalibrationTests.ece_p_value`); None where there was none
    bands:         (word, upper end) by rising end; the first end is exclusive, the others inclusive
    significance:  the test must reject at this level, else `NOT_DISTINGUISHABLE`
    """
    if ece is None:
        return None
    if p_value is None or p_value >= significance:
        return NOT_DISTINGUISHABLE
    (best, below), *others = bands
    if ece < below:
        return best
    return next((word for word, end in others if ece <= end), others[-1][0])
