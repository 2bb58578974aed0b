"""Spread of a statistic over episodes: what leaving one out changes, and Student's quantile."""

from math import sqrt

import numpy as np
from scipy.special import stdtrit

from augur_pipeline.verification._sums import fsum
from augur_pipeline.verification._validation import FloatArray, IntArray

ROUNDING = 1e-12
"""What is smaller than this share of the numbers it came from is their rounding.

Leave-one-out values that are equal in exact arithmetic may differ in the last bits, and errors that
cancel may leave some: a ratio of two such leftovers would look like a result.
"""


def effective_episodes(size: FloatArray) -> float:
    """G_eff = N² / Σ n_g², the number of equal episodes that would carry as much.

    size:  (G,) n_g, rows or weight per episode, at least one of them positive
    """
    if bool((size == size[0]).all()):
        return float(size.size)  # exactly, where rounding would make five episodes 4.999…
    return fsum(size.tolist()) ** 2 / fsum((size**2).tolist())


def jackknife_standard_error(leave_one_out: FloatArray, numbers: IntArray | None = None) -> float:
    """√((G−1)/G · [Σ u_g² + max(0, 2 Σ u_g u_{g+1})]) with u_g = θ_(−g) − mean θ_(−g).

    leave_one_out:  (G,) the statistic without episode g, in sorted order of episodes
    numbers:        (G,) sorted block numbers; pairs that differ by exactly 1 overlap and add the
                    neighbour term. None: no neighbours
    """
    episodes = leave_one_out.size
    u = leave_one_out - fsum(leave_one_out.tolist()) / episodes
    spread = fsum((u**2).tolist())
    if numbers is not None:
        is_next = np.diff(numbers) == 1
        spread += max(0.0, 2.0 * fsum((u[:-1] * u[1:])[is_next].tolist()))
    return sqrt((episodes - 1) / episodes * spread)


def student_quantile(level: float, df: float) -> float:
    """The t with P(|T| ≤ t) = level at `df` degrees of freedom, which need not be whole."""
    return -float(stdtrit(df, (1.0 - level) / 2.0))
