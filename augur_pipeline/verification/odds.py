"""Probabilities from betting odds."""

from numpy.typing import ArrayLike

from augur_pipeline.verification._sums import fsum
from augur_pipeline.verification._validation import FloatArray, check_choice, check_odds

# Fair odds such as 10/7 and 10/3 are rounded, and their inverses may add up to 1 − 1e-16.
_ROUNDING = 1e-12


def remove_overround(odds: ArrayLike, method: str = "multiplicative") -> FloatArray | None:
    """Probabilities of the outcomes of one event from its decimal odds, bookmaker's margin removed.

    Implied probabilities 1/odds add up to more than 1 (the overround); "multiplicative" divides
    them by their sum.

    odds:     (n,) decimal odds ≥ 1 of *all* outcomes of one event
    method:   "multiplicative", the only one
    Returns:  (n,) probabilities that sum to 1, in the order of `odds`; None for no odds
    Raises:   ValueError for odds below 1 or not finite, and where the implied probabilities sum to
              less than 1: then an outcome is missing, or these are no odds of one bookmaker
    """
    check_choice(method, "method", ("multiplicative",))
    decimal = check_odds(odds)
    if decimal.size == 0:
        return None
    implied = 1.0 / decimal
    total = fsum(implied.tolist())
    if total < 1.0 - _ROUNDING:
        raise ValueError(
            f"odds: implied probabilities sum to {total:.6g}, below 1: "
            f"an outcome is missing after position {decimal.size - 1}"
        )
    probability: FloatArray = implied / total
    return probability
