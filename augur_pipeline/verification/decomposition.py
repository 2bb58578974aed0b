"""What a Brier score is made of: calibration, resolution or discrimination, and uncertainty."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from augur_pipeline.verification._results import equal_results, read_only
from augur_pipeline.verification._sums import (
    events_by_group,
    fsum,
    grouped_fsum,
    mean,
    weighted_mean,
)
from augur_pipeline.verification._validation import FloatArray, check_episodes, check_forecasts
from augur_pipeline.verification.bins import (
    bin_sums,
    binning_convention,
    check_binning,
    equal_width_bin,
)
from augur_pipeline.verification.isotonic import isotonic_fit
from augur_pipeline.verification.scores import (
    BRIER_CONVENTION,
    counted_forecasts,
    mean_squared_loss,
)


@dataclass(frozen=True)
class BrierDecomposition:
    """brier = reliability − resolution + uncertainty + within_bin_variance − within_bin_covariance.

    All None when there are no rows.
    """

    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_bin_variance: float | None
    within_bin_covariance: float | None
    convention: str = BRIER_CONVENTION


@dataclass(frozen=True, eq=False)
class Corp:
    """brier = miscalibration − discrimination + uncertainty, and the recalibration curve.

    probability, recalibrated:  (n,) the stated probabilities in rising order, one per counted row,
        and the isotonic estimate of P(y = 1) at each: read-only arrays, the line of a CORP
        reliability diagram
    All None when there are no rows.
    """

    brier: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None
    probability: FloatArray | None
    recalibrated: FloatArray | None
    convention: str = (
        f"{BRIER_CONVENTION}; CORP: brier = miscalibration - discrimination + uncertainty"
    )

    def __eq__(self, other: object) -> bool:
        """Equal in every number; the generated comparison fails on arrays."""
        return equal_results(self, other) if isinstance(other, Corp) else NotImplemented


@dataclass(frozen=True)
class DebiasedReliability:
    """An estimate of binned reliability that is not biased upwards by small bins.

    value:                estimate; its sign is kept (below 0 means: less than chance would give);
                          None when no bin holds two episodes
    share_rows_left_out:  share of rows in bins with a single episode; None when there are no rows
    """

    value: float | None
    share_rows_left_out: float | None
    convention: str = "mean squared gap of P(y = 1), 0 best; unbiased, so it may be negative"


def decompose_brier(
    p: ArrayLike, y: ArrayLike, bins: int = 10, scheme: str = "equal_width"
) -> BrierDecomposition:
    """Binned decomposition of the binary Brier score, within-bin terms included.

        REL = Σ n_k (o_k − p_k)² / N      RES = Σ n_k (o_k − ō)² / N      UNC = ō(1 − ō)
        WBV = Σ_k Σ_i (p_ki − p_k)² / N   WBC = 2 Σ_k Σ_i (p_ki − p_k)(y_ki − o_k) / N
        BS  = REL − RES + UNC + WBV − WBC

    with p_k the mean probability and o_k the observed rate of bin k. REL − RES + UNC alone is the
    Brier score only when every bin holds a single probability.

    p, y:     (n,) probabilities in [0, 1] and outcomes 0 or 1
    bins, scheme:  as `reliability_table`
    Raises:   ValueError for bad rows, K or scheme
    Sources:  Murphy (1973), Journal of Applied Meteorology 12; Stephenson, Coelho & Jolliffe
              (2008), Weather and Forecasting 23
    """
    count, rule = check_binning(bins, scheme)
    probability, outcome = check_forecasts(p, y)
    convention = f"{BRIER_CONVENTION}; {binning_convention(count, rule)}"
    if probability.size == 0:
        return BrierDecomposition(None, None, None, None, None, None, convention)
    sums = bin_sums(probability, outcome, count, rule)
    used = sums.used
    n, rate, stated = sums.n[used], sums.observed_rate[used], sums.mean_probability[used]
    overall = mean(outcome)
    off_stated = probability - sums.mean_probability[sums.of_row]
    off_rate = outcome - sums.observed_rate[sums.of_row]
    rows = probability.size
    return BrierDecomposition(
        brier=mean_squared_loss(probability, outcome),
        reliability=fsum((n * (rate - stated) ** 2).tolist()) / rows,
        resolution=fsum((n * (rate - overall) ** 2).tolist()) / rows,
        uncertainty=overall * (1.0 - overall),
        within_bin_variance=mean(off_stated**2),
        within_bin_covariance=2.0 * mean(off_stated * off_rate),
        convention=convention,
    )


def corp(p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Corp:
    """CORP decomposition of the binary Brier score: no bins, nothing to choose.

        S_x = BS(p),  S_c = BS(isotonic regression of y on p),  S_r = ō(1 − ō)
        MCB = S_x − S_c ≥ 0,   DSC = S_r − S_c ≥ 0,   UNC = S_r,   BS = MCB − DSC + UNC

    Rows of equal p are pooled before the fit. MCB is biased upwards in small samples: show its
    null mean (`calibration_tests`) beside it. DSC depends on p only through its order.

    p, y, weights:  as `brier_score`
    Raises:   ValueError for bad rows or weights
    Source:   Dimitriadis, Gneiting & Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118

    >>> corp([0.9, 0.7, 0.6, 0.2], [1, 0, 1, 0]).recalibrated.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    counted = counted_forecasts(p, y, weights)
    if counted is None:
        return Corp(None, None, None, None, None, None)
    probability, outcome, weight = counted
    levels, level, rows = np.unique(probability, return_inverse=True, return_counts=True)
    if weight is None:
        sizes = rows.astype(np.float64)
        events = events_by_group(outcome, level, levels.size)
    else:
        sizes = grouped_fsum(weight, level, levels.size)
        events = grouped_fsum(weight * outcome, level, levels.size)
    fitted = isotonic_fit(events, sizes)
    rate = weighted_mean(outcome, weight)
    uncertainty = rate * (1.0 - rate)
    stated_loss = mean_squared_loss(probability, outcome, weight)
    # The constant ō and p itself (when it is already isotonic) are candidates of the fit: what
    # goes beyond them is rounding.
    fitted_loss = min(mean_squared_loss(fitted[level], outcome, weight), uncertainty)
    return Corp(
        brier=stated_loss,
        miscalibration=max(0.0, stated_loss - fitted_loss),
        discrimination=uncertainty - fitted_loss,
        uncertainty=uncertainty,
        probability=read_only(np.repeat(levels, rows)),
        recalibrated=read_only(np.repeat(fitted, rows)),
    )


def debiased_reliability(
    p: ArrayLike, y: ArrayLike, episodes: ArrayLike, bins: int = 10
) -> DebiasedReliability:
    """Reliability over equal-width bins, from products of *different* episodes only.

        r_k = ((Σ_g S_gk)² − Σ_g S_gk²) / (n_k² − Σ_g n_gk²),   S_gk = Σ (p − y) of g in bin k
        value = Σ n_k r_k / Σ n_k over bins with at least two episodes

    An episode's own product measures its noise, which is what makes REL too large in small bins;
    without it the estimate is unbiased when episodes are independent.

    p, y, episodes:  (n,) probabilities, outcomes and episode ids
    Raises:   ValueError for bad rows, ids or K
    Related:  Ferro & Fricker (2012), Quarterly Journal of the Royal Meteorological Society 138,
              who remove the bias for independent rows
    """
    count, _ = check_binning(bins)
    probability, outcome = check_forecasts(p, y)
    ids = check_episodes(episodes, probability.size)
    if probability.size == 0:
        return DebiasedReliability(None, None)
    cell, of_row, size = np.unique(
        equal_width_bin(probability, count) * ids.count + ids.code,
        return_inverse=True,
        return_counts=True,
    )
    gap = grouped_fsum(probability - outcome, of_row, cell.size)
    bin_of_cell = cell // ids.count

    def total(values: FloatArray) -> FloatArray:
        return grouped_fsum(values, bin_of_cell, count)

    has_two = np.bincount(bin_of_cell, minlength=count) >= 2
    n = total(size.astype(np.float64))
    left_out = fsum(n[~has_two].tolist()) / probability.size
    if not has_two.any():
        return DebiasedReliability(None, left_out)
    squares, pairs = total(gap**2)[has_two], (n**2 - total(size.astype(np.float64) ** 2))[has_two]
    r = (total(gap)[has_two] ** 2 - squares) / pairs
    used = n[has_two]
    return DebiasedReliability(fsum((used * r).tolist()) / fsum(used.tolist()), left_out)
