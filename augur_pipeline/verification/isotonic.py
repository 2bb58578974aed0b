"""Isotonic (non-decreasing) least squares by pooling adjacent violators, many fits at once."""

import numpy as np
from scipy.optimize import isotonic_regression

from augur_pipeline.verification._validation import FloatArray, IntArray

# Pooled means lie in [−1, 2] (a sign-flipped outcome may leave [0, 1]): at this distance between
# the fits of a batch no block can reach from one into the next.
_DISTANCE = 4.0


def block_starts(sums: FloatArray, sizes: FloatArray) -> IntArray:
    """Where the blocks of equal fitted value start, in the flattened `sums`.

    sums:   (fits, m) Σ w·y at each of m rising levels of the explanatory variable (ties pooled),
            with sums / sizes in [−1, 2]
    sizes:  (m,) Σ w at each level, positive

    The fitted value of a block is its Σ w·y / Σ w; the caller adds those up from its own sums, so
    that a fit of counts gives exact quotients. All fits go through one call, one above the other:
    the shift costs digits (1e-12 at most), which can only decide whether two blocks whose means
    agree to that are one, and that does not matter to the least-squares fit.
    """
    fits, _levels = sums.shape
    means = sums / sizes
    means += _DISTANCE * np.arange(fits)[:, np.newaxis]
    blocks = isotonic_regression(means.ravel(), weights=np.tile(sizes, fits)).blocks
    starts: IntArray = blocks[:-1]
    return starts


def isotonic_fit(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """Fitted value at each of m levels, for one fit: (m,) Σ w·y and Σ w."""
    starts = block_starts(sums[np.newaxis, :], sizes)
    value = np.add.reduceat(sums, starts) / np.add.reduceat(sizes, starts)
    lengths = np.diff(np.append(starts, sums.size))
    # Recomputed means of blocks that almost meet may cross in the last bit.
    return np.maximum.accumulate(np.repeat(value, lengths))
