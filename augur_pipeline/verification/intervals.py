"""Intervals and p-values of Brier scores, with the episode as the unit of inference.

Rows are not independent: horizons overlap and markets move together. So an interval asks what the
statistic does when a whole episode is left out, and block numbers that differ by 1 (episodes that
overlap in time) are taken to move together as well.

    n_g = Σ w,  S_g = Σ w·loss,  N = Σ n_g;  θ the statistic, θ_(−g) without episode g
    SE² = (G−1)/G · [Σ u_g² + max(0, 2 Σ u_g u_{g+1})],  u_g = θ_(−g) − mean θ_(−g)
    df  = G_eff − 1,  G_eff = N² / Σ n_g²  (not rounded);  t the Student quantile

Numeric `episodes` are block numbers and have neighbours; text ids are events and have none, so
pass event ids as text even when they look like numbers.

No interval is given, and the reason is, with fewer than five effective episodes (`few_episodes`),
with fewer than five episodes that hold a wrong call or fewer than five that hold a right one
(`few_misses`; of either forecaster where there are two), and when leaving out an episode changes
nothing (`zero_spread`). Then low, high, standard_error, df and p_value are None; the estimate and
the numbers of episodes still stand. One p-value is defined all the same: forecasters with the same
loss on every row differ by exactly 0, p = 1.

In simulations 95 % intervals cover .92–.98 for mid probabilities and .89–.97 near p = .9 (say
"about .90" there), where intervals of independent rows cover .80–.90.
"""

from dataclasses import dataclass
from math import exp, inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from augur_pipeline.verification._jackknife import (
    ROUNDING,
    effective_episodes,
    jackknife_standard_error,
    student_quantile,
)
from augur_pipeline.verification._sums import fsum, grouped_fsum
from augur_pipeline.verification._validation import (
    BoolArray,
    Episodes,
    FloatArray,
    check_between,
    check_episodes,
    check_forecasts,
    check_weights,
    counted_rows,
)
from augur_pipeline.verification.reasons import (
    FEW_EPISODES,
    FEW_MISSES,
    NO_ROWS,
    ZERO_REFERENCE_LOSS,
    ZERO_SPREAD,
)
from augur_pipeline.verification.scores import BRIER_CONVENTION

FEWEST_EPISODES = 5
"""Effective episodes, and episodes with a wrong and with a right call, an interval needs."""

_BY_EPISODE = "leave-one-episode-out jackknife"


@dataclass(frozen=True)
class Interval:
    """An estimate and what is known about it.

    estimate:            None when there are no rows or the statistic is undefined
    low, high:           ends at the level asked for
    standard_error:      jackknife, of the estimate
    df:                  degrees of freedom of the Student quantile, not rounded
    episodes:            distinct episodes
    effective_episodes:  N²/Σn_g²; None when there are no rows
    p_value:             two-sided, of "no difference" (None for a single score)
    undefined_reason:    why there is no interval, None when there is one
    """

    estimate: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    df: float | None
    episodes: int
    effective_episodes: float | None
    p_value: float | None
    undefined_reason: str | None
    convention: str = f"{BRIER_CONVENTION}; {_BY_EPISODE}"


def brier_interval(
    p: ArrayLike,
    y: ArrayLike,
    episodes: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Interval of the binary Brier score B: [B·exp(−t·SE/B), min(1, B·exp(t·SE/B))].

    p, y:      (n,) probabilities in [0, 1] and outcomes 0 or 1
    episodes:  (n,) block numbers (whole numbers) or event ids (text)
    weights:   (n,) finite and ≥ 0, or None
    level:     in (0, 1)
    Returns:   `Interval` without a p-value
    Raises:    ValueError for bad rows, ids, weights or level
    """
    share = check_between(level, "level", 0.0, 1.0)
    convention = f"{BRIER_CONVENTION}; {_BY_EPISODE}, log scale, level {share:g}"
    probability, outcome = check_forecasts(p, y)
    rows = _Rows.counted(probability.size, episodes, weights, "p")
    if rows is None:
        return _nothing(convention)
    loss = rows.totals((probability - outcome) ** 2)
    score = loss.sum / rows.size.sum
    undefined = rows.undefined_reason(_calls_by_episode(rows, probability, outcome))
    standard_error = 0.0
    if undefined is None:
        standard_error = jackknife_standard_error(
            loss.without_each / rows.size.without_each, rows.ids.numbers
        )
        if standard_error <= ROUNDING * score:
            undefined = ZERO_SPREAD
    if undefined is not None:
        return rows.without_interval(score, undefined, None, convention)
    factor = _exp(student_quantile(share, rows.df) * standard_error / score)
    ends = score / factor, min(1.0, score * factor)
    return rows.with_interval(score, ends, standard_error, None, convention)


def difference_interval(
    p_a: ArrayLike,
    y_a: ArrayLike,
    p_b: ArrayLike,
    y_b: ArrayLike,
    episodes: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Mean loss difference D = Σ w (loss_a − loss_b) / Σ w: D ∓ t·SE, p-value two-sided t.

    Row i of a and row i of b are about the same question; their outcomes may differ, because a
    buy and a sell are right in opposite cases. D < 0: a is better.

    p_a, y_a, p_b, y_b:  (n,) probabilities in [0, 1] and outcomes 0 or 1
    episodes, weights, level:  as `brier_interval`
    Returns:   `Interval` with the p-value of "no difference"
    Raises:    ValueError for bad rows, ids, weights or level
    """
    share = check_between(level, "level", 0.0, 1.0)
    convention = f"mean loss of a - mean loss of b (< 0: a better); {BRIER_CONVENTION}; "
    convention += f"{_BY_EPISODE}, level {share:g}"
    a, b = _two_forecasters(p_a, y_a, p_b, y_b, ("p_a", "y_a", "p_b", "y_b"))
    rows = _Rows.counted(a[0].size, episodes, weights, "p_a")
    if rows is None:
        return _nothing(convention)
    loss_a, loss_b = (a[0] - a[1]) ** 2, (b[0] - b[1]) ** 2
    gap = rows.totals(loss_a - loss_b)
    undefined = rows.undefined_reason(_calls_by_episode(rows, *a), _calls_by_episode(rows, *b))
    estimate, test = _difference(rows, loss_a, loss_b, gap, undefined)
    if test.undefined is not None:
        return rows.without_interval(estimate, test.undefined, test.p_value, convention)
    half = student_quantile(share, rows.df) * test.standard_error
    ends = estimate - half, estimate + half
    return rows.with_interval(estimate, ends, test.standard_error, test.p_value, convention)


def skill_interval(
    p: ArrayLike,
    y: ArrayLike,
    p_ref: ArrayLike,
    y_ref: ArrayLike,
    episodes: ArrayLike,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Skill 1 − θ with θ = ΣS/ΣS_ref, the ratio of losses on the same rows: 1 − θ·exp(±t·SE/θ).

    SE is the jackknife's of the ratio; the p-value is that of the mean loss difference
    (`difference_interval`). Undefined (`zero_reference_loss`) when the reference has no loss, or
    none once some episode is left out.

    p, y, p_ref, y_ref:  (n,) probabilities in [0, 1] and outcomes 0 or 1
    episodes, weights, level:  as `brier_interval`
    Returns:   `Interval`; estimate unclamped, ≤ 1
    Raises:    ValueError for bad rows, ids, weights or level
    """
    share = check_between(level, "level", 0.0, 1.0)
    convention = f"skill 1 - S/S_ref, 1 best, 0 no better; {BRIER_CONVENTION}; "
    convention += f"{_BY_EPISODE} of the ratio, log scale, level {share:g}"
    own, ref = _two_forecasters(p, y, p_ref, y_ref, ("p", "y", "p_ref", "y_ref"))
    rows = _Rows.counted(own[0].size, episodes, weights, "p")
    if rows is None:
        return _nothing(convention)
    own_loss, ref_loss = (own[0] - own[1]) ** 2, (ref[0] - ref[1]) ** 2
    loss, reference = rows.totals(own_loss), rows.totals(ref_loss)
    undefined = rows.undefined_reason(_calls_by_episode(rows, *own), _calls_by_episode(rows, *ref))
    gap = rows.totals(own_loss - ref_loss)
    _, test = _difference(rows, own_loss, ref_loss, gap, undefined)
    if reference.sum == 0.0:
        return rows.without_interval(None, ZERO_REFERENCE_LOSS, test.p_value, convention)
    ratio = loss.sum / reference.sum
    standard_error = 0.0
    if undefined is None and not reference.without_each.all():
        undefined = ZERO_REFERENCE_LOSS
    if undefined is None:
        standard_error = jackknife_standard_error(
            loss.without_each / reference.without_each, rows.ids.numbers
        )
        if standard_error <= ROUNDING * ratio:
            undefined = ZERO_SPREAD
    if undefined is not None:
        return rows.without_interval(1.0 - ratio, undefined, test.p_value, convention)
    factor = _exp(student_quantile(share, rows.df) * standard_error / ratio)
    ends = 1.0 - ratio * factor, 1.0 - ratio / factor
    return rows.with_interval(1.0 - ratio, ends, standard_error, test.p_value, convention)


def calibration_term_interval(interval: Interval) -> tuple[float, float] | None:
    """A Brier interval on the 0–100 scale of the contract's term: 100 · clamp(1 − 4·end).

    Returns (low, high) with low ≤ high, or None where there is no interval.
    """
    if interval.low is None or interval.high is None:
        return None
    low, high = (
        min(1.0, max(0.0, 1.0 - 4.0 * end)) * 100.0 for end in (interval.high, interval.low)
    )
    return low, high


@dataclass(frozen=True)
class _Totals:
    """Sums per episode, over all of them, and over all but each."""

    each: FloatArray
    sum: float
    without_each: FloatArray

    @classmethod
    def of(cls, each: FloatArray, total: float) -> "_Totals":
        return cls(each, total, total - each)


@dataclass(frozen=True)
class _Rows:
    """The rows that count, by episode."""

    keep: BoolArray | None
    weights: FloatArray | None
    ids: Episodes
    size: _Totals
    effective: float

    @classmethod
    def counted(
        cls, rows: int, episodes: ArrayLike, weights: ArrayLike | None, partner: str
    ) -> "_Rows | None":
        """Checks ids and weights; None when no row counts."""
        ids = check_episodes(episodes, rows, partner)
        weight = check_weights(weights, rows, partner)
        keep = counted_rows(weight)
        if keep is not None and weight is not None:
            ids, weight = ids.of_rows(keep), weight[keep]
        if ids.count == 0:
            return None
        if weight is None:
            each = np.bincount(ids.code, minlength=ids.count).astype(np.float64)
            total = float(each.sum())
        else:
            each = grouped_fsum(weight, ids.code, ids.count)
            total = fsum(weight.tolist())
        return cls(keep, weight, ids, _Totals.of(each, total), effective_episodes(each))

    @property
    def df(self) -> float:
        return self.effective - 1.0

    def of(self, values: FloatArray) -> FloatArray:
        """The values of the rows that count."""
        return values if self.keep is None else values[self.keep]

    def totals(self, values: FloatArray) -> _Totals:
        """Weighted sums of a value of each row."""
        counted = self.of(values)
        weighted = counted if self.weights is None else self.weights * counted
        each = grouped_fsum(weighted, self.ids.code, self.ids.count)
        return _Totals.of(each, fsum(weighted.tolist()))

    def undefined_reason(self, *episodes_with: int) -> str | None:
        """Why an interval cannot be given; `episodes_with` count those with wrong, right calls."""
        # Weights that are equal but for rounding may give 4.999…: that is five.
        if self.effective < FEWEST_EPISODES * (1.0 - 1e-9):
            return FEW_EPISODES
        return FEW_MISSES if min(episodes_with) < FEWEST_EPISODES else None

    def without_interval(
        self, estimate: float | None, reason: str, p_value: float | None, convention: str
    ) -> Interval:
        return Interval(
            estimate, None, None, None, None, self.ids.count, self.effective, p_value, reason,
            convention,
        )  # fmt: skip

    def with_interval(
        self,
        estimate: float,
        ends: tuple[float, float],
        standard_error: float,
        p_value: float | None,
        convention: str,
    ) -> Interval:
        return Interval(
            estimate, *ends, standard_error, self.df, self.ids.count, self.effective, p_value, None,
            convention,
        )  # fmt: skip


@dataclass(frozen=True)
class _Test:
    standard_error: float
    p_value: float | None
    undefined: str | None


def _difference(
    rows: _Rows, loss_a: FloatArray, loss_b: FloatArray, gap: _Totals, undefined: str | None
) -> tuple[float, _Test]:
    """Mean loss difference and its test."""
    estimate = gap.sum / rows.size.sum
    if not rows.of(loss_a - loss_b).any():
        return 0.0, _Test(0.0, 1.0, undefined or ZERO_SPREAD)
    if undefined is not None:
        return estimate, _Test(0.0, None, undefined)
    standard_error = jackknife_standard_error(
        gap.without_each / rows.size.without_each, rows.ids.numbers
    )
    typical_loss = (rows.totals(loss_a).sum + rows.totals(loss_b).sum) / rows.size.sum
    if standard_error <= ROUNDING * typical_loss:
        return estimate, _Test(0.0, None, ZERO_SPREAD)
    p_value = 2.0 * float(stdtr(rows.df, -abs(estimate) / standard_error))
    return estimate, _Test(standard_error, p_value, None)


def _two_forecasters(
    p_a: ArrayLike, y_a: ArrayLike, p_b: ArrayLike, y_b: ArrayLike, names: tuple[str, str, str, str]
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    a = check_forecasts(p_a, y_a, names[0], names[1])
    b = check_forecasts(p_b, y_b, names[2], names[3])
    if a[0].size != b[0].size:
        raise ValueError(
            f"{names[2]} has {b[0].size} values and {names[0]} has {a[0].size}: "
            f"position {min(a[0].size, b[0].size)} has no partner"
        )
    return a, b


def _calls_by_episode(rows: _Rows, probability: FloatArray, outcome: FloatArray) -> int:
    """The lesser number of episodes that hold a wrong call, and that hold a right one."""
    is_wrong: BoolArray = (rows.of(outcome) == 1.0) != (rows.of(probability) >= 0.5)
    return min(
        int(np.count_nonzero(np.bincount(rows.ids.code[mask], minlength=rows.ids.count)))
        for mask in (is_wrong, np.logical_not(is_wrong))
    )


def _exp(exponent: float) -> float:
    return exp(exponent) if exponent < 700.0 else inf


def _nothing(convention: str) -> Interval:
    return Interval(None, None, None, None, None, 0, None, None, NO_ROWS, convention)
