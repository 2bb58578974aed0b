"""Sums that do not depend on the order of the rows.

`math.fsum` rounds the exact sum once, so any order of the same numbers gives the same bits, and
numbers that all occur twice give exactly twice the sum. Plain and pairwise summation do neither.
"""

from itertools import pairwise
from math import fsum

import numpy as np
from numpy.typing import NDArray

from augur_pipeline.verification._validation import FloatArray

__all__ = ["events_by_group", "fsum", "grouped_fsum", "mean", "weighted_mean"]


def grouped_fsum(values: FloatArray, group: NDArray[np.integer], groups: int) -> FloatArray:
    """The sum of each group; `group` holds 0 … groups − 1 per row. Empty groups sum to 0."""
    if groups <= np.iinfo(np.int16).max:
        group = group.astype(np.int16)  # numpy sorts 16-bit integers by radix, in linear time
    sizes = np.bincount(group, minlength=groups)
    in_order = values[np.argsort(group, kind="stable")]
    if sizes.max(initial=0) <= 1:
        sums = np.zeros(groups)
        sums[sizes == 1] = in_order
        return sums
    numbers = in_order.tolist()
    ends = [0, *np.cumsum(sizes).tolist()]
    return np.array([fsum(numbers[start:end]) for start, end in pairwise(ends)])


def mean(values: FloatArray) -> float:
    """Arithmetic mean of at least one number."""
    return fsum(values.tolist()) / values.size


def weighted_mean(values: FloatArray, weights: FloatArray | None) -> float:
    """Σ w·v / Σ w, with every weight 1 where there are none."""
    if weights is None:
        return mean(values)
    return fsum((weights * values).tolist()) / fsum(weights.tolist())


def events_by_group(outcome: FloatArray, group: NDArray[np.integer], groups: int) -> FloatArray:
    """How many outcomes of each group are 1: exact, as whole numbers are."""
    return np.bincount(group, weights=outcome, minlength=groups).astype(np.float64)
