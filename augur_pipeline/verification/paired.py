"""Loss differences of many pairs at once, from what each pair sums to in each episode.

`difference_interval` takes two forecasters row by row. A season of 200 agents has 19 900 pairs, and
their rows together do not fit a night; their sums per episode do. The numbers are the same (to
rounding), because the estimate, its jackknife and the reasons for giving none need the rows of an
episode only through their number, the sum of their differences, and whether a wrong and a right
forecast is among them.

The rows of a pair may themselves be means (of an agent's calls on one question, or in one episode):
that is what plain rows of probabilities and outcomes cannot say.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from augur_pipeline.verification._jackknife import ROUNDING
from augur_pipeline.verification._validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_between,
    check_probabilities,
)
from augur_pipeline.verification.intervals import FEWEST_EPISODES
from augur_pipeline.verification.reasons import (
    FEW_EPISODES,
    FEW_MISSES,
    NO_ROWS,
    ZERO_SPREAD,
)
from augur_pipeline.verification.scores import BRIER_CONVENTION


@dataclass(frozen=True)
class EpisodeSums:
    """What each pair holds in each episode, sorted by pair and then by block number.

    pair:        (r,) number of the pair, from 0
    block:       (r,) block number; give numbers two apart to episodes that do not overlap
    size:        (r,) n_g, rows (or their weight) of the pair in the episode, above 0
    difference:  (r,) S_g, the sum of loss_a − loss_b over them
    loss:        (r,) the sum of loss_a + loss_b
    is_same:     (r,) loss_a = loss_b in every one of them
    holds_wrong_a, holds_right_a, holds_wrong_b, holds_right_b:
                 (r,) whether a forecast of a (b) among them was wrong (right)
    """

    pair: IntArray
    block: IntArray
    size: FloatArray
    difference: FloatArray
    loss: FloatArray
    is_same: BoolArray
    holds_wrong_a: BoolArray
    holds_right_a: BoolArray
    holds_wrong_b: BoolArray
    holds_right_b: BoolArray

    def __post_init__(self) -> None:
        rows = {len(values) for values in vars(self).values()}
        if len(rows) > 1:
            raise ValueError(
                f"columns of {min(rows)} and of {max(rows)} rows: one length is needed"
            )
        for name in ("size", "difference", "loss"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name}: a finite number is needed in every row")
        if not (self.size > 0.0).all():
            raise ValueError("size: an episode of a pair holds something")
        step = np.diff(self.pair)
        is_sorted = (step > 0) | ((step == 0) & (np.diff(self.block) > 0))
        if not is_sorted.all():
            at = int(np.argmin(is_sorted)) + 1
            raise ValueError(f"pair[{at}], block[{at}]: sort by pair and block, each pair once")


@dataclass(frozen=True)
class PairedDifferences:
    """One entry a pair; NaN in an array of numbers means that there is none.

    estimate:          mean loss of a − mean loss of b (< 0: a is better)
    low, high:         ends at the level asked for
    p_value:           two-sided, of no difference; 1 where all losses are the same
    episodes:          distinct episodes
    undefined_reason:  why there is no interval, None where there is one
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    episodes: IntArray
    undefined_reason: list[str | None]
    convention: str


def paired_differences(sums: EpisodeSums, pairs: int, level: float = 0.95) -> PairedDifferences:
    """`difference_interval` for pairs 0 … `pairs` − 1, each from its rows of `sums`.

    Returns:  `PairedDifferences` of that length; a pair without rows has the reason `no_rows`
    Raises:   ValueError for a pair beyond `pairs` or a level outside (0, 1)
    """
    share = check_between(level, "level", 0.0, 1.0)
    if len(sums.pair) and not (sums.pair[0] >= 0 and sums.pair[-1] < pairs):
        raise ValueError(f"pair: numbers lie in 0 … {pairs - 1}")
    estimate, low, high, p_value = (np.full(pairs, np.nan) for _ in range(4))
    episodes = np.zeros(pairs, dtype=np.int64)
    reason = np.full(pairs, NO_ROWS, dtype=object)
    convention = f"mean loss of a - mean loss of b (< 0: a better); {BRIER_CONVENTION}; "
    convention += f"leave-one-episode-out jackknife, level {share:g}"
    if len(sums.pair):
        starts = np.flatnonzero(np.r_[True, sums.pair[1:] != sums.pair[:-1]])
        at = sums.pair[starts]
        g = np.diff(np.r_[starts, len(sums.pair)])
        n = np.add.reduceat(sums.size, starts)
        mean = np.add.reduceat(sums.difference, starts) / n
        effective = _effective_episodes(sums.size, starts, g, n)
        standard_error = _standard_errors(sums, starts, g, n)
        typical_loss = np.add.reduceat(sums.loss, starts) / n
        is_same = np.logical_and.reduceat(sums.is_same, starts)

        why = np.full(len(at), None, dtype=object)
        why[is_same | ~(standard_error > ROUNDING * typical_loss)] = ZERO_SPREAD
        why[_fewest_with_either(sums, starts) < FEWEST_EPISODES] = FEW_MISSES
        why[effective < FEWEST_EPISODES * (1.0 - 1e-9)] = FEW_EPISODES
        is_defined = np.array([value is None for value in why], dtype=bool)

        mean[is_same] = 0.0
        p = np.where(is_same, 1.0, np.nan)
        df, se = effective[is_defined] - 1.0, standard_error[is_defined]
        p[is_defined] = 2.0 * stdtr(df, -np.abs(mean[is_defined]) / se)
        half = np.full(len(at), np.nan)
        half[is_defined] = -stdtrit(df, (1.0 - share) / 2.0) * se
        estimate[at], low[at], high[at], p_value[at] = mean, mean - half, mean + half, p
        episodes[at], reason[at] = g, why
    return PairedDifferences(estimate, low, high, p_value, episodes, reason.tolist(), convention)


def holm_adjusted(p_values: ArrayLike) -> FloatArray:
    """Holm's adjusted p-values: the largest min(1, (m − j + 1)·p_(j)) over j ≤ i, p_(i) by rank.

    p_values:  (m,) p-values of one family, in [0, 1]
    Returns:   (m,) in the given order; reject those below α and the family errs at most α
    Raises:    ValueError for anything that is no probability
    Source:    Holm (1979), Scandinavian Journal of Statistics 6, jstor.org/stable/4615733

    >>> [round(p, 12) for p in holm_adjusted([0.01, 0.04, 0.03]).tolist()]
    [0.03, 0.06, 0.06]
    """
    p = check_probabilities(p_values, "p_values")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(np.minimum(1.0, np.arange(p.size, 0, -1) * p[order]))
    adjusted = np.empty(p.size)
    adjusted[order] = stepped
    return adjusted


def _effective_episodes(
    size: FloatArray, starts: IntArray, episodes: IntArray, total: FloatArray
) -> FloatArray:
    """N² / Σn_g²; exactly G where all episodes are of one size."""
    is_equal = np.minimum.reduceat(size, starts) == np.maximum.reduceat(size, starts)
    effective: FloatArray = np.where(
        is_equal, episodes.astype(np.float64), total**2 / np.add.reduceat(size**2, starts)
    )
    return effective


def _standard_errors(
    sums: EpisodeSums, starts: IntArray, episodes: IntArray, total: FloatArray
) -> FloatArray:
    """The jackknife with neighbours of `verification.intervals`, by pair; 0 for one episode."""
    of_pair = np.repeat(np.arange(len(starts)), episodes)
    differences = np.add.reduceat(sums.difference, starts)
    is_alone = (episodes == 1)[of_pair]
    rest = np.where(is_alone, 1.0, total[of_pair] - sums.size)
    without_each = np.where(is_alone, 0.0, (differences[of_pair] - sums.difference) / rest)
    u = without_each - (np.add.reduceat(without_each, starts) / episodes)[of_pair]
    products = np.zeros(len(u))
    is_next = (np.diff(of_pair) == 0) & (np.diff(sums.block) == 1)
    products[:-1] = np.where(is_next, u[:-1] * u[1:], 0.0)
    spread = np.add.reduceat(u**2, starts)
    spread += np.maximum(0.0, 2.0 * np.add.reduceat(products, starts))
    standard_errors: FloatArray = np.sqrt((episodes - 1) / episodes * spread)
    return standard_errors


def _fewest_with_either(sums: EpisodeSums, starts: IntArray) -> IntArray:
    """The least number of episodes that hold a wrong (right) forecast of a (b)."""
    counts = [
        np.add.reduceat(holds.astype(np.int64), starts)
        for holds in (
            sums.holds_wrong_a,
            sums.holds_right_a,
            sums.holds_wrong_b,
            sums.holds_right_b,
        )
    ]
    fewest: IntArray = np.minimum.reduce(counts)
    return fewest
