"""Where the CORP curve of a calibrated forecaster would lie."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike

from augur_pipeline.verification._results import equal_results, read_only
from augur_pipeline.verification._validation import (
    FloatArray,
    check_between,
    check_episodes,
    check_forecasts,
    check_whole_number,
)
from augur_pipeline.verification.isotonic import isotonic_fits
from augur_pipeline.verification.reasons import FEW_EPISODES, NO_ROWS
from augur_pipeline.verification.sign_flips import (
    FEWEST_EPISODES,
    Levels,
    all_patterns,
    child_stream,
    random_patterns,
)

_VALUES_AT_ONCE = 100_000
"""Fitted values of one batch of draws, about a processor's cache."""


@dataclass(frozen=True, eq=False)
class ConsistencyBand:
    """Pointwise range of the CORP curve, were the stated probabilities right.

    probability:       (m,) distinct stated probabilities, rising
    low, high:         (m,) ends of the range at each, in [0, 1]
    exact:             all sign patterns were enumerated
    draws:             draws made, or patterns enumerated
    undefined_reason:  `few_episodes`, `no_rows`; the arrays are then None
    The arrays are read-only.
    """

    probability: FloatArray | None
    low: FloatArray | None
    high: FloatArray | None
    exact: bool
    draws: int
    undefined_reason: str | None
    convention: str = "pointwise range of the CORP curve under calibration, by sign flips"

    def __eq__(self, other: object) -> bool:
        """Equal in every number."""
        return equal_results(self, other) if isinstance(other, ConsistencyBand) else NotImplemented


def consistency_band(
    p: ArrayLike,
    y: ArrayLike,
    episodes: ArrayLike,
    level: float = 0.95,
    draws: int = 999,
    seed: int = 0,
) -> ConsistencyBand:
    """Consistency band of a CORP reliability diagram, by sign flips per episode.

    For each pattern of one fair sign s_g per episode: y* = p + s_g (y − p), equal p pooled, r* the
    non-decreasing least-squares fit of y* on p. At each stated probability the band is

        [k-th smallest r*, k-th largest r*],  k = ⌊(R + 1)(1 − level)/2⌋

    of R draws, cut to [0, 1], so that a curve exchangeable with the draws leaves it on either side
    with probability k/(R + 1) at most. When 2^G ≤ R, all M = 2^G patterns are enumerated instead:
    the curve seen is one of them, and k = ⌊M(1 − level)/2⌋ + 1.

    The band is pointwise: with many stated probabilities an honest curve leaves it somewhere more
    often than 1 − level. `calibration_tests` tests; this shows. Near p = 0 and 1, where an error
    and its mirror image differ most, it is approximate until a level has many episodes.

    p, y:      (n,) probabilities in [0, 1] and outcomes 0 or 1
    episodes:  (n,) episode ids: whole numbers or text; at least six distinct ones
    level:     in (0, 1)
    draws:     R with (R + 1)(1 − level)/2 ≥ 1
    seed:      ≥ 0; the same seed gives the same bits on any machine with this numpy
    Raises:    ValueError for bad rows, ids, level, draws or seed
    Related:   Dimitriadis, Gneiting & Jordan (2021), PNAS 118, resample independent rows

    Stream, order of episodes, and single rows as in `calibration_tests`: when every episode is a
    single row, y* ~ Bernoulli(p), from the first spawned child of the seed, never enumerated.
    """
    share = check_between(level, "level", 0.0, 1.0)
    in_tail = (1.0 - share) / 2.0
    # A hair's breadth more: 1 − .9 is a little below .1, and .05 of 1000 must be 50.
    fewest = ceil(1.0 / in_tail * (1.0 - 1e-12)) - 1
    wanted = check_whole_number(draws, "draws", max(fewest, 1))
    start = check_whole_number(seed, "seed", 0)
    probability, outcome = check_forecasts(p, y)
    ids = check_episodes(episodes, probability.size)
    convention = f"{ConsistencyBand.convention}, level {share:g}"
    if ids.count < FEWEST_EPISODES:
        reason = FEW_EPISODES if ids.count else NO_ROWS
        return ConsistencyBand(None, None, None, False, 0, reason, convention)

    levels = Levels(probability, outcome, ids)
    is_single = ids.count == probability.size
    is_exact = not is_single and 2**ids.count <= wanted
    made = 2**ids.count if is_exact else wanted
    at_once = max(1, _VALUES_AT_ONCE // (levels.size.size + ids.count))
    if is_single:
        stream = child_stream(start)
        at_once = max(1, _VALUES_AT_ONCE // probability.size)
        sums = (
            levels.drawn(stream, min(at_once, made - first)) for first in range(0, made, at_once)
        )
    elif is_exact:
        sums = (
            levels.flipped(signs)
            for half in all_patterns(ids.count, at_once)
            for signs in (half, -half)
        )
    else:
        sums = (levels.flipped(signs) for signs in random_patterns(ids.count, made, start, at_once))
    tail = floor((made if is_exact else made + 1) * in_tail * (1.0 + 1e-12)) + is_exact
    low, high = _tails((isotonic_fits(of_draws, levels.size) for of_draws in sums), tail)
    return ConsistencyBand(
        probability=read_only(levels.probability),
        low=read_only(np.clip(low, 0.0, 1.0)),
        high=read_only(np.clip(high, 0.0, 1.0)),
        exact=is_exact,
        draws=made,
        undefined_reason=None,
        convention=convention,
    )


def _tails(fits: Iterable[FloatArray], tail: int) -> tuple[FloatArray, FloatArray]:
    """The tail-th smallest and tail-th largest value of each column, without keeping all rows."""
    lowest = highest = None
    for rows in _stacked(fits, 4 * tail):
        below = rows if lowest is None else np.concatenate([lowest, rows])
        above = rows if highest is None else np.concatenate([highest, rows])
        # Only the first batch can be shorter than a tail, and then it is the only one.
        lowest = np.partition(below, tail - 1, axis=0)[:tail]
        highest = np.partition(above, above.shape[0] - tail, axis=0)[-tail:]
    assert lowest is not None
    assert highest is not None
    return lowest.max(axis=0), highest.min(axis=0)


def _stacked(fits: Iterable[FloatArray], least: int) -> Iterator[FloatArray]:
    """The batches, joined until they have at least so many rows (but for the last)."""
    held: list[FloatArray] = []
    for rows in fits:
        held.append(rows)
        if sum(part.shape[0] for part in held) >= least:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)
