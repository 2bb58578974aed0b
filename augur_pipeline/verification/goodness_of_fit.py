"""Classical calibration tests and the calibration line: for *independent* rows.

Their p-values take rows to be independent. Where rows share episodes they reject honest
forecasters far too often: publish them under names that say so (`hl_p_independent`,
`spiegelhalter_p_independent`) and decide on `calibration_tests`.
"""

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, expit, ndtr

from augur_pipeline.verification._sums import events_by_group, fsum
from augur_pipeline.verification._validation import (
    FloatArray,
    check_between,
    check_forecasts,
    check_whole_number,
)
from augur_pipeline.verification.bins import (
    BinSums,
    bin_sums,
    binning_convention,
    check_binning,
)
from augur_pipeline.verification.reasons import NO_DEGREES_OF_FREEDOM, NO_ROWS, NO_VARIANCE


@dataclass(frozen=True)
class HosmerLemeshow:
    """Hosmer–Lemeshow test of calibration by bins, for independent rows.

    statistic:          H, inf when `degenerate`; None when no group has 0 < p_k < 1
    groups:             non-empty groups with 0 < p_k < 1
    df:                 groups − fitted_parameters; None when there are no rows
    p_value:            P(χ²_df ≥ H); None with a reason when df < 1
    degenerate:         an outcome was called impossible by a whole group: H = inf, p = 0
    smallest_expected:  least expected count of events or non-events in a group; under 5 the χ²
                        approximation is poor (`hl_sparse`)
    """

    statistic: float | None
    groups: int
    df: int | None
    p_value: float | None
    degenerate: bool
    smallest_expected: float | None
    undefined_reason: str | None
    convention: str = "chi-squared upper tail, independent rows, forecasts made before outcomes"


@dataclass(frozen=True)
class Spiegelhalter:
    """Spiegelhalter's z (> 0: losses worse than stated) and its two-sided normal p-value."""

    z: float | None
    p_value: float | None
    undefined_reason: str | None
    convention: str = "z > 0 is worse than stated; two-sided normal p-value, independent rows"


@dataclass(frozen=True)
class CalibrationLine:
    """Logistic calibration: logit P(y = 1) = intercept + slope · logit p.

    intercept, slope:  0 and 1 for a calibrated forecaster; slope < 1 overconfident, > 1 timid,
                       < 0 inverted. None when they do not exist: no rows, one class, one stated
                       probability, or classes that p separates (the slope would be infinite)
    in_the_large:      intercept with slope fixed at 1, > 0 where events happened more often than
                       stated; None when there are no rows or one class
    clipped_rows:      rows whose p was moved into [clip, 1 − clip]
    """

    intercept: float | None
    slope: float | None
    in_the_large: float | None
    clipped_rows: int
    convention: str = "maximum likelihood, natural-log odds, calibrated = intercept 0 and slope 1"


def hosmer_lemeshow(
    p: ArrayLike,
    y: ArrayLike,
    bins: int = 10,
    scheme: str = "equal_width",
    fitted_parameters: int = 0,
) -> HosmerLemeshow:
    """H = Σ n_k (o_k − p_k)² / (p_k (1 − p_k)) over groups with 0 < p_k < 1, against χ².

    For forecasts made before their outcomes H has as many degrees of freedom as groups. The
    familiar K − 2 (`fitted_parameters=2`) is for a logistic model fitted on these very rows; on
    forecasts it rejects 11–22 % of calibrated forecasters instead of 5 %.

    A group with p_k of 0 or 1 adds nothing when all its outcomes agree; else H = inf and p = 0,
    whatever the degrees of freedom.

    p, y:     (n,) probabilities in [0, 1] and outcomes 0 or 1
    bins, scheme:  as `reliability_table`
    fitted_parameters:  parameters fitted on these rows, ≥ 0
    Raises:   ValueError for bad rows, K, scheme or fitted_parameters
    Source:   Hosmer & Lemeshow (1980), Communications in Statistics A 9,
              doi:10.1080/03610928008827941

    >>> p, y = [0.2] * 10 + [0.8] * 10, [1] * 2 + [0] * 8 + [1] * 7 + [0] * 3
    >>> round(hosmer_lemeshow(p, y, bins=2).statistic, 12)
    0.625
    """
    count, rule = check_binning(bins, scheme)
    fitted = check_whole_number(fitted_parameters, "fitted_parameters", 0)
    probability, outcome = check_forecasts(p, y)
    convention = (
        f"chi-squared upper tail, df = groups - {fitted}, independent rows; "
        f"{binning_convention(count, rule)}"
    )
    if probability.size == 0:
        return HosmerLemeshow(None, 0, None, None, False, None, NO_ROWS, convention)
    sums = bin_sums(probability, outcome, count, rule)
    open_groups = sums.variance > 0.0
    groups = int(open_groups.sum())
    df = groups - fitted
    expected = np.minimum(sums.probability, sums.complement)[open_groups]
    smallest = float(expected.min()) if groups else None
    if has_impossible_bin(sums):
        return HosmerLemeshow(inf, groups, df, 0.0, True, smallest, None, convention)
    with np.errstate(over="ignore"):
        gap = (sums.observed_rate - sums.mean_probability)[open_groups]
        terms = (sums.n[open_groups] * gap) ** 2 / sums.variance[open_groups]
    statistic = fsum(terms.tolist()) if groups else None
    if statistic is None or df < 1:
        return HosmerLemeshow(
            statistic, groups, df, None, False, smallest, NO_DEGREES_OF_FREEDOM, convention
        )
    p_value = float(chdtrc(df, statistic))
    return HosmerLemeshow(statistic, groups, df, p_value, False, smallest, None, convention)


def has_impossible_bin(sums: BinSums) -> bool:
    """Whether a bin of only p = 0 saw an event, or a bin of only p = 1 a miss."""
    never, always = sums.probability == 0.0, sums.complement == 0.0
    wrong = (never & (sums.events > 0)) | (always & (sums.events < sums.n))
    return bool((wrong & (sums.n > 0)).any())


def spiegelhalter(p: ArrayLike, y: ArrayLike) -> Spiegelhalter:
    """z = Σ (y − p)(1 − 2p) / √(Σ (1 − 2p)² p(1 − p)), standard normal when calibrated.

    z compares the Brier score with what the stated probabilities promise: z > 0 means worse than
    stated. Undefined (`no_variance`) when every p is 0, ½ or 1 and nothing contradicts them; when
    then an outcome was called impossible, z = inf and p = 0.

    p, y:     (n,) probabilities in [0, 1] and outcomes 0 or 1
    Raises:   ValueError for bad rows
    Source:   Spiegelhalter (1986), Statistics in Medicine 5, doi:10.1002/sim.4780050506

    >>> round(spiegelhalter([0.9] * 4, [1, 1, 1, 0]).z, 6)
    1.0
    """
    probability, outcome = check_forecasts(p, y)
    if probability.size == 0:
        return Spiegelhalter(None, None, NO_ROWS)
    excess = fsum(excess_loss(probability, outcome).tolist())
    slant = 1.0 - 2.0 * probability
    variance = fsum((slant**2 * probability * (1.0 - probability)).tolist())
    if variance == 0.0:
        if excess > 0.0:
            return Spiegelhalter(inf, 0.0, None)
        return Spiegelhalter(None, None, NO_VARIANCE)
    z = excess / sqrt(variance)
    return Spiegelhalter(z, two_sided_normal(z), None)


def excess_loss(probability: FloatArray, outcome: FloatArray) -> FloatArray:
    """(y − p)(1 − 2p) = (y − p)² − p(1 − p): a row's loss beyond the one its p promises."""
    return (outcome - probability) * (1.0 - 2.0 * probability)


def two_sided_normal(z: float) -> float:
    """P(|Z| ≥ |z|)."""
    return 2.0 * float(ndtr(-abs(z)))


def calibration_line(p: ArrayLike, y: ArrayLike, clip: float = 1e-6) -> CalibrationLine:
    """Maximum-likelihood intercept and slope of y on logit p, and calibration in the large.

    p, y:     (n,) probabilities in [0, 1] and outcomes 0 or 1
    clip:     in (0, ½); p below it or above 1 − clip has no usable logit, is moved there and
              counted
    Raises:   ValueError for bad rows or clip
    Source:   Cox (1958), Biometrika 45, doi:10.1093/biomet/45.3-4.562

    >>> line = calibration_line([0.2] * 4 + [0.8] * 4, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> round(line.slope, 4)
    0.7925
    """
    bound = check_between(clip, "clip", 0.0, 0.5)
    probability, outcome = check_forecasts(p, y)
    is_clipped = (probability < bound) | (1.0 - probability < bound)
    clipped = int(np.count_nonzero(is_clipped))
    convention = f"maximum likelihood on natural-log odds, p clipped to [{bound:g}, 1 - {bound:g}]"
    # Pooled over equal p: the same likelihood, and sums no longer depend on the order of rows.
    levels, level, rows = np.unique(probability, return_inverse=True, return_counts=True)
    events = events_by_group(outcome, level, levels.size)
    total = float(events.sum())
    if total in (0.0, float(probability.size)):
        return CalibrationLine(None, None, None, clipped, convention)
    complement = np.maximum(1.0 - levels, bound)
    logit = np.log(np.maximum(levels, bound)) - np.log(complement)
    limit = float(np.log(bound) - np.log1p(-bound))
    logit = np.clip(logit, limit, -limit)
    n = rows.astype(np.float64)
    in_the_large = _intercept_at_slope_one(logit, n, events)
    if _is_separated(logit, n, events):
        return CalibrationLine(None, None, in_the_large, clipped, convention)
    intercept, slope = _logistic_fit(logit, n, events, in_the_large)
    return CalibrationLine(intercept, slope, in_the_large, clipped, convention)


def _intercept_at_slope_one(logit: FloatArray, n: FloatArray, events: FloatArray) -> float:
    total, rows = float(events.sum()), float(n.sum())
    base = float(np.log(total) - np.log(rows - total))

    def excess(intercept: float) -> float:
        return float((n * expit(intercept + logit)).sum()) - total

    # Between these ends (widened for rounding) every, or no, row's probability exceeds the rate.
    low, high = base - float(logit.max()) - 1.0, base - float(logit.min()) + 1.0
    return float(brentq(excess, low, high, xtol=1e-14, rtol=8.9e-16, maxiter=200))


def _is_separated(logit: FloatArray, n: FloatArray, events: FloatArray) -> bool:
    """Whether some threshold on p splits the classes (or p is constant): no finite fit exists."""
    with_event, without = logit[events > 0], logit[events < n]
    return bool(with_event.min() >= without.max() or without.min() >= with_event.max())


def _logistic_fit(
    logit: FloatArray, n: FloatArray, events: FloatArray, in_the_large: float
) -> tuple[float | None, float | None]:
    """Newton's method with halved steps on the (strictly concave) likelihood of two numbers."""
    centre = float((n * logit).sum() / n.sum())
    x = logit - centre  # uncorrelated with the constant: a well-conditioned 2 × 2 system

    def loss(at: float, slope: float) -> float:
        eta = at + slope * x
        return float((n * np.logaddexp(0.0, eta) - events * eta).sum())

    at, slope = in_the_large + centre, 1.0
    current = loss(at, slope)
    for _ in range(100):
        chance = expit(at + slope * x)
        residual, weight = events - n * chance, n * chance * (1.0 - chance)
        g0, g1 = float(residual.sum()), float((residual * x).sum())
        h00, h01, h11 = (float((weight * x**power).sum()) for power in (0, 1, 2))
        determinant = h00 * h11 - h01 * h01
        if not determinant > 0.0:
            return None, None
        step0 = (h11 * g0 - h01 * g1) / determinant
        step1 = (h00 * g1 - h01 * g0) / determinant
        share = 1.0
        while True:
            next_at, next_slope = at + share * step0, slope + share * step1
            found = loss(next_at, next_slope)
            if isfinite(found) and found <= current + 1e-12 * abs(current):
                break
            share /= 2.0
        at, slope, current = next_at, next_slope, found
        if max(abs(step0) / (1.0 + abs(at)), abs(step1) / (1.0 + abs(slope))) < 1e-12:
            return at - slope * centre, slope
    return None, None
