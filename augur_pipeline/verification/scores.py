"""Scores of probability forecasts of binary events.

Convention: **binary Brier score**, (p − y)² averaged, 0 best and 1 worst. The two-class form that
sums over both classes is twice that and is never used here.
"""

import numpy as np
from numpy.typing import ArrayLike

from augur_pipeline.verification._sums import mean, weighted_mean
from augur_pipeline.verification._validation import (
    FloatArray,
    check_between,
    check_forecasts,
    check_probabilities,
    check_score,
    check_weights,
    counted_rows,
)

BRIER_CONVENTION = "binary Brier score: mean (p - y)^2, 0 best, 1 worst"

LOG_LOSS_CLIP = 1e-6
"""The clip of the published clipped log loss."""


def brier_score(p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """Brier score Σ w(p − y)² / Σ w: binary convention, 0 best, 1 worst.

    p:        (n,) stated probabilities of y = 1, in [0, 1]
    y:        (n,) outcomes, 0 or 1
    weights:  (n,) finite and ≥ 0, on any scale; None weighs every row equally
    Returns:  a number in [0, 1]; None for no rows (or no row of positive weight)
    Raises:   ValueError for anything that is no probability, outcome or weight
    Source:   Brier (1950), Monthly Weather Review 78, in its one-class form,
              doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2

    >>> round(brier_score([0.9, 0.7, 0.6, 0.2], [1, 0, 1, 0]), 12)
    0.175
    """
    counted = counted_forecasts(p, y, weights)
    return None if counted is None else mean_squared_loss(*counted)


def log_loss(
    p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None, clip: float | None = None
) -> float | None:
    """Log loss −Σ w ln P(y) / Σ w, in nats, 0 best; P(y) is p where y = 1 and 1 − p where y = 0.

    An event that was called impossible and happened costs inf: nothing is clipped unless `clip`
    is given, which first moves p into [clip, 1 − clip]. Report `impossible_rows` beside a clipped
    loss.

    p, y, weights, Raises:  as `brier_score`
    clip:     None, or a number in (0, ½); the house value is `LOG_LOSS_CLIP`
    Returns:  a number in [0, inf]; None for no rows
    Source:   Good (1952), Journal of the Royal Statistical Society B 14,
              doi:10.1111/j.2517-6161.1952.tb00104.x

    >>> round(log_loss([0.5, 0.5], [1, 0]), 6)
    0.693147
    """
    bound = None if clip is None else check_between(clip, "clip", 0.0, 0.5)
    counted = counted_forecasts(p, y, weights)
    if counted is None:
        return None
    probability, outcome, weight = counted
    of_outcome = np.where(outcome == 1.0, probability, 1.0 - probability)
    of_other = np.where(outcome == 1.0, 1.0 - probability, probability)
    if bound is not None:
        of_outcome, of_other = np.maximum(of_outcome, bound), np.maximum(of_other, bound)
    # Whichever of the two is small carries the digits, so the loss is accurate at both ends and
    # the same when event and complement change places.
    with np.errstate(divide="ignore"):
        loss = np.where(
            of_outcome < 0.5, -np.log(of_outcome), -np.log1p(-np.minimum(of_other, 0.5))
        )
    return weighted_mean(loss, weight)


def impossible_rows(p: ArrayLike, y: ArrayLike) -> int:
    """How many outcomes were called impossible: p = 0 and y = 1, or p = 1 and y = 0."""
    probability, outcome = check_forecasts(p, y)
    is_impossible = np.where(outcome == 1.0, probability == 0.0, probability == 1.0)
    return int(np.count_nonzero(is_impossible))


def sharpness(p: ArrayLike) -> float | None:
    """Sharpness: the variance of the stated probabilities, Σ(p − p̄)²/n (denominator n).

    p:        (n,) probabilities in [0, 1]
    Returns:  a number in [0, ¼], 0 when the same probability is always stated; None for no rows
    Raises:   ValueError for anything that is no probability
    """
    probability = check_probabilities(p)
    if probability.size == 0:
        return None
    return mean((probability - mean(probability)) ** 2)


def brier_skill(brier: float | None, reference: float | None) -> float | None:
    """Skill 1 − S/S_ref of two binary Brier scores over the **same rows**: 1 best, 0 no better.

    Returns:  a number ≤ 1, unclamped; None when either score is None (no rows) or the reference
              is 0 (nothing is left to improve on; the table that calls this states the reason)
    Raises:   ValueError for a score outside [0, 1]
    """
    if brier is None or reference is None:
        return None
    score, baseline = check_score(brier, "brier"), check_score(reference, "reference")
    return None if baseline == 0.0 else 1.0 - score / baseline


def mean_squared_loss(
    probability: FloatArray, outcome: FloatArray, weight: FloatArray | None = None
) -> float:
    """The Brier score of checked arrays with at least one row."""
    return weighted_mean((probability - outcome) ** 2, weight)


def counted_forecasts(
    p: ArrayLike, y: ArrayLike, weights: ArrayLike | None
) -> tuple[FloatArray, FloatArray, FloatArray | None] | None:
    """Checked rows that count, or None when there is none."""
    probability, outcome = check_forecasts(p, y)
    weight = check_weights(weights, probability.size)
    keep = counted_rows(weight)
    if keep is not None and weight is not None:
        probability, outcome, weight = probability[keep], outcome[keep], weight[keep]
    return None if probability.size == 0 else (probability, outcome, weight)
