"""Results that hold arrays."""

import numpy as np

from augur_pipeline.verification._validation import FloatArray


def equal_results(mine: object, theirs: object) -> bool:
    """Whether two results of one class agree in every field; generated comparisons fail on arrays.

    The results are then no keys of dicts or sets.
    """
    return all(
        np.array_equal(a, b)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        else a is b or a == b
        for a, b in zip(vars(mine).values(), vars(theirs).values(), strict=True)
    )


def read_only(values: FloatArray) -> FloatArray:
    """The array itself, closed to writing: a frozen result stays as it was computed."""
    values.setflags(write=False)
    return values
