"""Bins of stated probabilities, and what was observed in each.

Equal width: bin k of K is [k/K, (k+1)/K), the last one closed. The edges are the correctly rounded
quotients k/K, so a stated 0.3, 0.6 or 0.7 lands in the bin that it opens; `linspace`, `p / width`
and running sums of the width put it one bin low. (float32 input is taken as the double it is: a
float32 0.7 lies below 0.7.)

Equal count: rows are ranked and cut into K groups; rows of one probability stay together.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from augur_pipeline.verification._jackknife import (
    ROUNDING,
    effective_episodes,
    jackknife_standard_error,
    student_quantile,
)
from augur_pipeline.verification._sums import events_by_group, grouped_fsum
from augur_pipeline.verification._validation import (
    Episodes,
    FloatArray,
    IntArray,
    check_choice,
    check_episodes,
    check_forecasts,
    check_whole_number,
)

SCHEMES = ("equal_width", "equal_count")

RATE_LEVEL = 0.95
"""Level of the interval of an observed rate."""


@dataclass(frozen=True)
class Bin:
    """One row of a reliability table.

    lower, upper:      edges of an equal-width bin (the last one closed, the others half-open);
                       smallest and largest stated probability of an equal-count group
    n:                 rows
    episodes:          distinct episodes, None where none were given
    mean_probability:  mean of p in the bin (not its midpoint); None in an empty bin
    observed_rate:     share of y = 1; None in an empty bin
    gap:               observed_rate − mean_probability, > 0 where events happened more often
                       than stated
    low, high:         Wilson interval of the observed rate, level .95
    """

    lower: float
    upper: float
    n: int
    episodes: int | None
    mean_probability: float | None
    observed_rate: float | None
    gap: float | None
    low: float | None
    high: float | None
    convention: str = "gap = observed rate - mean probability; 95 % Wilson interval of the rate"


@dataclass(frozen=True)
class BinSums:
    """Rows of each bin, added up: what every binned statistic is made of. Arrays of length K.

    of_row is the bin of each row; the other arrays have one entry per bin. `probability` and
    `complement` are Σp and Σ(1 − p): kept apart so that a p just below 1 is not taken for 1.
    """

    of_row: IntArray
    lower: FloatArray
    upper: FloatArray
    n: FloatArray
    events: FloatArray
    probability: FloatArray
    complement: FloatArray

    @property
    def used(self) -> IntArray:
        """Indices of the bins that hold rows."""
        return np.flatnonzero(self.n > 0)

    @property
    def mean_probability(self) -> FloatArray:
        """p_k, NaN where empty: look at `used` bins only."""
        return _quotient(self.probability, self.n)

    @property
    def observed_rate(self) -> FloatArray:
        """o_k, NaN where empty: look at `used` bins only."""
        return _quotient(self.events, self.n)

    @property
    def variance(self) -> FloatArray:
        """n_k p_k (1 − p_k), 0 exactly where p_k is 0 or 1 (or the bin empty)."""
        return self.probability * np.nan_to_num(_quotient(self.complement, self.n))


def equal_width_edges(bins: int) -> FloatArray:
    """The K + 1 edges k/K, each the correctly rounded quotient."""
    return np.arange(bins + 1) / bins


def equal_width_bin(probability: FloatArray, bins: int) -> IntArray:
    """The bin of each row, 0 … K − 1: [k/K, (k+1)/K), the last closed."""
    above = np.searchsorted(equal_width_edges(bins), probability, side="right")
    return np.minimum(above - 1, bins - 1)


def equal_count_group(probability: FloatArray, bins: int) -> IntArray:
    """The group of each row, K·(lo + hi − 1) // (2N), renumbered without gaps.

    lo and hi are the first and last 1-based rank of the row's tie: ties stay together, and the
    order of rows does not matter.
    """
    _, of_row, size = np.unique(probability, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    first = last - size + 1
    _, group = np.unique(bins * (first + last - 1) // (2 * probability.size), return_inverse=True)
    return np.asarray(group[of_row], dtype=np.int64)


def bin_sums(probability: FloatArray, outcome: FloatArray, bins: int, scheme: str) -> BinSums:
    """Assign checked rows to bins and add them up."""
    if scheme == "equal_width":
        of_row, edges = equal_width_bin(probability, bins), equal_width_edges(bins)
        lower, upper, count = edges[:-1], edges[1:], bins
    else:
        of_row = equal_count_group(probability, bins)
        count = int(of_row.max()) + 1 if of_row.size else 0
        lower, upper = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(lower, of_row, probability)
        np.maximum.at(upper, of_row, probability)
    sums = BinSums(
        of_row=of_row,
        lower=lower,
        upper=upper,
        n=np.bincount(of_row, minlength=count).astype(np.float64),
        events=events_by_group(outcome, of_row, count),
        probability=grouped_fsum(probability, of_row, count),
        complement=grouped_fsum(1.0 - probability, of_row, count),
    )
    assert int(sums.n.sum()) == probability.size, "every row is in exactly one bin"
    return sums


def check_binning(bins: object, scheme: object = "equal_width") -> tuple[int, str]:
    """The arguments `bins` and `scheme`."""
    return check_whole_number(bins, "bins", 1), check_choice(scheme, "scheme", SCHEMES)


def binning_convention(bins: int, scheme: str) -> str:
    """How the rows were binned, for a result's `convention`."""
    return f"{bins} bins, {scheme}; P(y = 1), not confidence of the predicted class"


def reliability_table(
    p: ArrayLike,
    y: ArrayLike,
    bins: int = 10,
    scheme: str = "equal_width",
    episodes: ArrayLike | None = None,
) -> tuple[Bin, ...]:
    """Stated against observed, bin by bin: the numbers of a reliability diagram.

    p, y:      (n,) probabilities in [0, 1] and outcomes 0 or 1
    bins:      K ≥ 1
    scheme:    "equal_width": K rows, empty bins keep theirs with n = 0 and None; or
               "equal_count": one row per group used, at most K (ties stay together)
    episodes:  (n,) episode ids (whole numbers or text); the intervals then know that rows of one
               episode move together
    Returns:   tuple of `Bin` by rising probability; for no rows K empty bins (equal width) or
               none (equal count)
    Raises:    ValueError for bad rows, ids, K or scheme

    The interval of the observed rate is Wilson's, at n_k, or with episodes at the effective
    number of rows

        n_eff = min(n_k, max(1, o(1−o)/SE_k² · (z/t)²)),

    SE_k the delete-one-episode jackknife standard error of o (no neighbour term), z the normal
    and t the Student quantile at max(G_eff − 1, 1) degrees of freedom, G_eff = n_k²/Σ n_gk². Where
    SE_k says nothing (o is 0 or 1, SE_k = 0, one episode), n_eff = G_eff.

    Source: Wilson (1927), Journal of the American Statistical Association 22,
            doi:10.1080/01621459.1927.10502953

    >>> [(b.n, b.observed_rate) for b in reliability_table([0.9, 0.7, 0.6, 0.2], [1, 0, 1, 0], 2)]
    [(1, 0.0), (3, 0.6666666666666666)]
    """
    count, rule = check_binning(bins, scheme)
    probability, outcome = check_forecasts(p, y)
    ids = None if episodes is None else check_episodes(episodes, probability.size)
    sums = bin_sums(probability, outcome, count, rule)
    effective, distinct = _effective_rows(sums, outcome, ids)
    rate, stated = sums.observed_rate, sums.mean_probability
    table = []
    for k in range(sums.n.size):
        edges = float(sums.lower[k]), float(sums.upper[k])
        if sums.n[k] == 0:
            table.append(Bin(*edges, 0, None if ids is None else 0, None, None, None, None, None))
            continue
        low, high = wilson_interval(float(rate[k]), float(effective[k]))
        table.append(
            Bin(
                *edges,
                n=int(sums.n[k]),
                episodes=None if ids is None else int(distinct[k]),
                mean_probability=float(stated[k]),
                observed_rate=float(rate[k]),
                gap=float(rate[k] - stated[k]),
                low=low,
                high=high,
            )
        )
    return tuple(table)


def wilson_interval(rate: float, n: float, level: float = RATE_LEVEL) -> tuple[float, float]:
    """Wilson's score interval of a rate seen in `n` rows (n > 0, it need not be whole)."""
    z = float(-ndtri((1.0 - level) / 2.0))
    shrink = 1.0 / (1.0 + z * z / n)
    centre = (rate + z * z / (2.0 * n)) * shrink
    half = z * sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) * shrink
    # Each end from the other root of the quadratic: no digits cancel, and 0 and 1 come out exact.
    low = rate * rate * shrink / (centre + half)
    high = 1.0 - (1.0 - rate) ** 2 * shrink / (1.0 - centre + half)
    return low, high


def _effective_rows(
    sums: BinSums, outcome: FloatArray, ids: Episodes | None
) -> tuple[FloatArray, IntArray]:
    """n_eff and the number of episodes, per bin."""
    bins = sums.n.size
    if ids is None:
        return sums.n, np.zeros(bins, dtype=np.int64)
    cell, of_row, size = np.unique(
        sums.of_row * ids.count + ids.code, return_inverse=True, return_counts=True
    )
    events = events_by_group(outcome, of_row, cell.size)
    ends = np.searchsorted(cell, np.arange(bins + 1) * ids.count)
    effective = np.zeros(bins)
    for k in sums.used:
        here = slice(ends[k], ends[k + 1])
        effective[k] = _effective_rows_of_bin(size[here].astype(np.float64), events[here])
    return effective, np.diff(ends)


def _effective_rows_of_bin(size: FloatArray, events: FloatArray) -> float:
    n, hits = float(size.sum()), float(events.sum())
    independent = effective_episodes(size)
    rate = hits / n
    if size.size == 1 or rate in (0.0, 1.0):
        return independent
    standard_error = jackknife_standard_error((hits - events) / (n - size))
    if standard_error <= ROUNDING:
        return independent
    z = float(-ndtri((1.0 - RATE_LEVEL) / 2.0))
    t = student_quantile(RATE_LEVEL, max(independent - 1.0, 1.0))
    return min(n, max(1.0, rate * (1.0 - rate) / standard_error**2 * (z / t) ** 2))


def _quotient(part: FloatArray, n: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(part, n, out=np.full(n.size, np.nan), where=n > 0)
    return quotient
