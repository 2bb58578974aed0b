"""Calibration tests that respect episodes: whole episodes change sign.

If the probabilities are right, the errors y − p of an episode are as likely to have come out with
the other sign. So one fair sign per episode, for all its rows at once, gives draws of any statistic
of the errors that keep what rows of an episode have in common. Tests on independent rows reject
10–59 % of honest forecasters whose rows share episodes; these hold their size.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from augur_pipeline.verification._jackknife import ROUNDING
from augur_pipeline.verification._sums import fsum, grouped_fsum, mean
from augur_pipeline.verification._validation import (
    Episodes,
    FloatArray,
    IntArray,
    check_episodes,
    check_forecasts,
    check_whole_number,
)
from augur_pipeline.verification.bins import bin_sums, binning_convention, check_binning
from augur_pipeline.verification.goodness_of_fit import (
    excess_loss,
    has_impossible_bin,
    spiegelhalter,
    two_sided_normal,
)
from augur_pipeline.verification.isotonic import block_starts
from augur_pipeline.verification.reasons import FEW_EPISODES, NO_ROWS, NO_VARIANCE

FEWEST_EPISODES = 6
"""With five episodes even complete agreement has probability 1/32 one-sided, 1/16 two-sided."""

FEWEST_DRAWS = 999

_ENTRIES_AT_ONCE = 100_000
"""Entries of the arrays of one batch of draws, about a processor's cache."""


@dataclass(frozen=True)
class CalibrationTests:
    """p-values of calibration. All None with a reason when there are too few episodes.

    p_worse:           **primary**, one-sided: "the losses are worse than the probabilities claim"
    mcb_p_value:       of CORP miscalibration, second
    mcb_null_mean:     mean miscalibration of the draws: what an honest forecaster would show
    ece_p_value, ece_null_mean:  of the expected calibration error, descriptive
    hl_p_value:        of the Hosmer–Lemeshow statistic, descriptive
    exact:             all sign patterns were enumerated: the p-values are shares, free of chance
    draws:             draws made, or patterns enumerated with the first sign fixed
    undefined_reason:  `few_episodes`, `no_rows`; `no_variance` when only p_worse is undefined
    """

    p_worse: float | None
    mcb_p_value: float | None
    mcb_null_mean: float | None
    ece_p_value: float | None
    ece_null_mean: float | None
    hl_p_value: float | None
    exact: bool
    draws: int
    undefined_reason: str | None
    convention: str = "one fair sign per episode; p_worse is one-sided, worse than stated"


def calibration_tests(
    p: ArrayLike,
    y: ArrayLike,
    episodes: ArrayLike,
    bins: int = 10,
    draws: int = 1999,
    seed: int = 0,
) -> CalibrationTests:
    """Sign-flip tests of calibration by episode.

    With one fair sign s_g per episode g, S_gk = Σ (p − y) of g in equal-width bin k and
    T_g = Σ (y − p)(1 − 2p) of g:

        z*   = Σ_g s_g T_g / √ΣT_g²                             one-sided, z* ≥ z: `p_worse`
        MCB* = mean (p − y*)² − mean (r* − y*)²,  y* = p + s_g (y − p),  r* isotonic fit of y* on p
        ECE* = Σ_k |Σ_g s_g S_gk| / N
        H*   = Σ_k (Σ_g s_g S_gk)² / (n_k p_k (1 − p_k))

    p-value = (1 + #{T* ≥ T − 1e-12·max(1, T)}) / (1 + R) over R draws. When 2^(G−1) ≤ R, all
    patterns are enumerated instead, with the first sign fixed (for z all 2^G), and the p-value is
    the share: `exact`. Null means are means over the draws or patterns.

    p, y:      (n,) probabilities in [0, 1] and outcomes 0 or 1
    episodes:  (n,) episode ids: whole numbers or text; at least six distinct ones
    bins:      K ≥ 1 equal-width bins
    draws:     R ≥ 999
    seed:      ≥ 0; the same seed gives the same bits on any machine with this numpy
    Raises:    ValueError for bad rows, ids, K, draws or seed

    *Stream.* `Generator(PCG64(seed)).random((R, G))`, row by row a pattern, columns in sorted order
    of episode ids (numeric, or bytewise for text): s_g = −1 where the number is below ½. The order
    of rows plays no part, and sums run in a fixed order without BLAS.

    *Every episode a single row.* Then rows are independent and the null is known: MCB* uses
    y* ~ Bernoulli(p) (uniforms (R, n) below p, rows by rising p, from the first spawned child of
    the seed), ECE* and H* the R sign patterns (never enumerated), and p_worse comes from the normal
    z of `spiegelhalter`: its two-sided p-value where z > 0, and 1 where z ≤ 0, because losses that
    are better than stated are no evidence of worse ones.

    *Certainties.* A bin of only p = 0 or only p = 1 with a contrary outcome makes H infinite:
    hl_p_value is then 0. When T_g = 0 throughout (p of ½ everywhere), only p_worse is None
    (`no_variance`).
    """
    count, _ = check_binning(bins)
    wanted = check_whole_number(draws, "draws", FEWEST_DRAWS)
    start = check_whole_number(seed, "seed", 0)
    probability, outcome = check_forecasts(p, y)
    ids = check_episodes(episodes, probability.size)
    convention = f"one fair sign per episode; {binning_convention(count, 'equal_width')}"
    if ids.count < FEWEST_EPISODES:
        reason = FEW_EPISODES if ids.count else NO_ROWS
        return CalibrationTests(None, None, None, None, None, None, False, 0, reason, convention)

    null = _Null(probability, outcome, ids, count)
    is_single = ids.count == probability.size
    is_exact = not is_single and 2 ** (ids.count - 1) <= wanted
    made = 2 ** (ids.count - 1) if is_exact else wanted
    at_once = max(1, _ENTRIES_AT_ONCE // (ids.count + null.levels.size + count))
    if is_exact:
        patterns = _all_patterns(ids.count, at_once)
    else:
        patterns = _random_patterns(ids.count, made, start, at_once)
    z, mcb, ece, hl = null.statistics(patterns, _child_stream(start) if is_single else None)
    (z_seen,), (mcb_seen,), (ece_seen,), (hl_seen,) = null.statistics([np.ones((ids.count, 1))])
    p_worse = None
    if is_single:
        p_worse = _p_worse_of_independent_rows(probability, outcome)
    elif null.has_excess:
        # Opposite patterns give opposite z, so half of them make all 2^G.
        p_worse = _p_value(np.concatenate([z, -z]) if is_exact else z, z_seen, is_exact)
    return CalibrationTests(
        p_worse=p_worse,
        mcb_p_value=_p_value(mcb, mcb_seen, is_exact),
        mcb_null_mean=mean(mcb),
        ece_p_value=_p_value(ece, ece_seen, is_exact),
        ece_null_mean=mean(ece),
        hl_p_value=0.0 if np.isinf(hl_seen) else _p_value(hl, hl_seen, is_exact),
        exact=is_exact,
        draws=made,
        undefined_reason=NO_VARIANCE if p_worse is None else None,
        convention=convention,
    )


def _p_value(drawn: FloatArray, seen: float, is_exact: bool) -> float:
    """Share of draws at least as large as seen; rounding may not break a tie."""
    as_large = int(np.count_nonzero(drawn >= seen - 1e-12 * max(1.0, seen)))
    return as_large / drawn.size if is_exact else (1 + as_large) / (1 + drawn.size)


def _p_worse_of_independent_rows(probability: FloatArray, outcome: FloatArray) -> float | None:
    """The two-sided normal p-value where losses are worse than stated, else 1."""
    z = spiegelhalter(probability, outcome).z
    return None if z is None else two_sided_normal(max(z, 0.0))


def _child_stream(seed: int) -> np.random.Generator:
    """A stream of its own for drawn outcomes: PCG64 of the first spawned child of the seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed).spawn(1)[0]))


def _random_patterns(episodes: int, draws: int, seed: int, at_once: int) -> Iterator[FloatArray]:
    """Fair signs, (episodes, ≤ at_once) at a time; the stream does not depend on the cut."""
    stream = np.random.Generator(np.random.PCG64(seed))
    for first in range(0, draws, at_once):
        uniform = stream.random((min(at_once, draws - first), episodes))
        yield np.where(uniform < 0.5, -1.0, 1.0).T


def _all_patterns(episodes: int, at_once: int) -> Iterator[FloatArray]:
    """Every pattern with the first sign +1, (episodes, ≤ at_once) at a time."""
    patterns = 2 ** (episodes - 1)
    bits = np.arange(episodes)[:, np.newaxis]
    for first in range(0, patterns, at_once):
        number = 2 * np.arange(first, min(first + at_once, patterns))
        yield np.where((number >> bits) & 1, -1.0, 1.0)


class _Null:
    """Sums by episode, from which every pattern's statistics follow without going back to rows."""

    def __init__(
        self, probability: FloatArray, outcome: FloatArray, ids: Episodes, bins: int
    ) -> None:
        error = outcome - probability
        self.rows = probability.size
        binned = bin_sums(probability, outcome, bins, "equal_width")
        self.variance = binned.variance
        self.has_impossible_bin = has_impossible_bin(binned)
        self.by_bin = _cells(error, binned.of_row, bins, ids)
        self.levels, level, size = np.unique(probability, return_inverse=True, return_counts=True)
        self.size = size.astype(np.float64)
        self.stated = self.levels * self.size
        self.by_level = _cells(error, level, self.levels.size, ids)
        excess = excess_loss(probability, outcome)
        total = grouped_fsum(excess, ids.code, ids.count)
        # What cancels within an episode leaves rounding; z would blow it up to a result.
        total[np.abs(total) <= ROUNDING * grouped_fsum(np.abs(excess), ids.code, ids.count)] = 0.0
        self.has_excess = bool(total.any())
        largest = float(np.abs(total).max()) if self.has_excess else 1.0
        scaled = total / largest
        scale = sqrt(fsum((scaled**2).tolist())) if self.has_excess else 1.0
        self.unit_excess = csr_array((scaled / scale)[np.newaxis, :])

    def statistics(
        self, patterns: Iterable[FloatArray], outcomes: np.random.Generator | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """z*, MCB*, ECE* and H* of each column of signs.

        With a generator, MCB* is of outcomes drawn from the stated probabilities instead.
        """
        parts = []
        for signs in patterns:
            if outcomes is None:
                at_levels = np.ascontiguousarray((self.by_level @ signs).T) + self.stated
            else:
                at_levels = self._draw_outcomes(outcomes, signs.shape[1])
            z = (self.unit_excess @ signs)[0]
            parts.append((z, self._miscalibration(at_levels), *self._binned(self.by_bin @ signs)))
        z, mcb, ece, hl = (np.concatenate(draws) for draws in zip(*parts, strict=True))
        return z, mcb, ece, hl

    def _draw_outcomes(self, stream: np.random.Generator, draws: int) -> FloatArray:
        """Σ y* at each level with y* ~ Bernoulli(p), (draws, levels)."""
        rising = np.repeat(self.levels, self.size.astype(np.int64))
        drawn = (stream.random((draws, self.rows)) < rising).astype(np.float64)
        first = np.searchsorted(rising, self.levels)
        return np.asarray(np.add.reduceat(drawn, first, axis=1))

    def _binned(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """ECE* and H* from the signed sums of each bin, (bins, draws)."""
        ece = np.abs(sums).sum(axis=0) / self.rows
        if self.has_impossible_bin:
            return ece, np.full(ece.size, np.inf)
        is_open = self.variance > 0.0
        with np.errstate(over="ignore"):
            hl = (sums[is_open] ** 2 / self.variance[is_open, np.newaxis]).sum(axis=0)
        return ece, hl

    def _miscalibration(self, sums: FloatArray) -> FloatArray:
        """MCB* from Σ y* at each level, (draws, levels).

        With v_j = Σ y* and ȳ*_j = v_j/n_j at level j, what varies within a level cancels:
        N·MCB* = Σ n_j (p_j − ȳ*_j)² − Σ n_j (r_j − ȳ*_j)² = Σ n_j p_j² − 2 Σ p_j v_j + Σ n_j r_j²,
        since residuals of an isotonic fit are orthogonal to it.
        """
        draws, levels = sums.shape
        starts = block_starts(sums, self.size)
        in_block = np.add.reduceat(sums.ravel(), starts)
        size = np.add.reduceat(np.tile(self.size, draws), starts)
        first_block = np.searchsorted(starts, np.arange(draws) * levels)
        fitted = np.add.reduceat(in_block**2 / size, first_block)
        stated = float((self.size * self.levels**2).sum())
        crossed = (self.levels * sums).sum(axis=1)
        return np.asarray(np.maximum(stated - 2.0 * crossed + fitted, 0.0) / self.rows)


def _cells(error: FloatArray, group: IntArray, groups: int, ids: Episodes) -> csr_array:
    """Σ (y − p) per group and episode, (groups, episodes).

    Sparse, because most episodes touch few groups; and its product with the signs adds up in the
    order of episodes on any machine, which BLAS does not promise.
    """
    cell, of_row = np.unique(group * ids.count + ids.code, return_inverse=True)
    sums = grouped_fsum(error, of_row, cell.size)
    ends = np.searchsorted(cell, np.arange(groups + 1) * ids.count)
    return csr_array((sums, cell % ids.count, ends), shape=(groups, ids.count))
