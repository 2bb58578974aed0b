"""The one place where inputs are checked.

Everything that cannot be scored is refused with a `ValueError` of one line that names the
argument and the first offending position (0-based). Nothing is dropped, filled or rounded.

Booleans are refused everywhere but in outcomes, where True and False are exactly 1 and 0
(`rng.random(n) < p` is how people make outcomes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_LONGEST_VALUE_SHOWN = 60
_PLAIN_NUMBERS = {int, float, np.int64, np.float64}


@dataclass(frozen=True)
class Episodes:
    """Which episode each row belongs to.

    code:    0 … count − 1 per row, in sorted order of the ids (numeric, or bytewise for text)
    count:   number of distinct episodes
    numbers: the sorted distinct block numbers, or None for text ids (events have no neighbours)
    """

    code: IntArray
    count: int
    numbers: IntArray | None

    def of_rows(self, keep: BoolArray) -> "Episodes":
        """The episodes of the rows kept; those left without rows are gone."""
        used, code = np.unique(self.code[keep], return_inverse=True)
        numbers = None if self.numbers is None else self.numbers[used]
        return Episodes(code.astype(np.int64), used.size, numbers)


def check_probabilities(values: ArrayLike, name: str = "p") -> FloatArray:
    """Probabilities as float64, each in [0, 1]; −0.0 becomes 0.0."""
    numbers = _numbers(values, name)
    inside = (numbers >= 0.0) & (numbers <= 1.0)
    if not inside.all():
        _refuse_value(name, values, int(np.argmin(inside)), "a probability lies in [0, 1]")
    return numbers + 0.0


def check_outcomes(values: ArrayLike, rows: int, name: str = "y", partner: str = "p") -> FloatArray:
    """Outcomes as float64, each 0 or 1 (True and False will do), as many as `rows`."""
    numbers = _numbers(values, name, are_booleans_welcome=True)
    known = (numbers == 0.0) | (numbers == 1.0)
    if not known.all():
        _refuse_value(name, values, int(np.argmin(known)), "an outcome is 0 or 1")
    _check_length(name, numbers.size, rows, partner)
    return numbers + 0.0


def check_forecasts(
    p: ArrayLike, y: ArrayLike, p_name: str = "p", y_name: str = "y"
) -> tuple[FloatArray, FloatArray]:
    """Probabilities and their outcomes, of one length."""
    probability = check_probabilities(p, p_name)
    return probability, check_outcomes(y, probability.size, y_name, p_name)


def check_weights(values: ArrayLike | None, rows: int, partner: str = "p") -> FloatArray | None:
    """Weights, finite and not negative; None stays None (every row counts once).

    Every weighted statistic is a ratio, so the weights are scaled by a power of two that brings
    the largest to [½, 1): exact, and sums neither overflow nor vanish. A row of weight 0 counts
    nothing, so callers drop it (`counted_rows`), or 0 · inf would turn up as NaN.
    """
    if values is None:
        return None
    numbers = _numbers(values, "weights")
    usable = np.isfinite(numbers) & (numbers >= 0.0)
    if not usable.all():
        at = int(np.argmin(usable))
        _refuse_value("weights", values, at, "a weight is finite and not negative")
    _check_length("weights", numbers.size, rows, partner)
    if numbers.size == 0 or not numbers.any():
        return numbers + 0.0
    _, exponent = np.frexp(numbers.max())
    scaled: FloatArray = np.ldexp(numbers, -exponent)
    return scaled


def counted_rows(weights: FloatArray | None) -> BoolArray | None:
    """Mask of the rows that count, or None when all of them do."""
    if weights is None or bool((weights > 0.0).all()):
        return None
    return weights > 0.0


def check_episodes(values: ArrayLike, rows: int, partner: str = "p") -> Episodes:
    """Episode ids: all integral numbers (block numbers), or all text (events)."""
    if _is_text(values):
        return _text_episodes(values, rows, partner)
    numbers = _block_numbers(values)
    _check_length("episodes", numbers.size, rows, partner)
    distinct, code = np.unique(numbers, return_inverse=True)
    return Episodes(code.astype(np.int64), distinct.size, distinct)


def check_whole_number(value: object, name: str, least: int) -> int:
    """An int of at least `least`; booleans and floats are refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise ValueError(f"{name} = {_shown(value)}: a whole number is needed")
    if value < least:
        raise ValueError(f"{name} = {_shown(value)}: at least {least} is needed")
    return int(value)


def check_between(value: object, name: str, low: float, high: float) -> float:
    """A number strictly between `low` and `high`."""
    if not _is_number(value) or not low < value < high:  # type: ignore[operator]
        raise ValueError(f"{name} = {_shown(value)}: must lie strictly between {low} and {high}")
    return float(value)  # type: ignore[arg-type]


def check_score(value: object, name: str) -> float:
    """A Brier score of the binary convention: in [0, 1]."""
    if not _is_number(value) or not 0.0 <= value <= 1.0:  # type: ignore[operator]
        raise ValueError(f"{name} = {_shown(value)}: a binary Brier score lies in [0, 1]")
    return float(value)  # type: ignore[arg-type]


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """One of a few names."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} = {_shown(value)}: must be one of {', '.join(choices)}")
    return value


def check_odds(values: ArrayLike) -> FloatArray:
    """Decimal odds: finite, at least 1."""
    numbers = _numbers(values, "odds")
    usable = np.isfinite(numbers) & (numbers >= 1.0)
    if not usable.all():
        at = int(np.argmin(usable))
        _refuse_value("odds", values, at, "decimal odds are finite and at least 1")
    return numbers


def _numbers(values: ArrayLike, name: str, *, are_booleans_welcome: bool = False) -> FloatArray:
    """A one-dimensional float64 array, or a refusal that names the first value at fault."""
    array = _one_dimensional(values, name)
    if array.size == 0:
        return np.empty(0)
    if array.dtype.kind in "fiu":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "b" and are_booleans_welcome:
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        _refuse_value(name, array, 0, "a number is needed, not a boolean")
    items = array.tolist()
    for at, item in enumerate(items):  # objects, text, dates: only ever a few rows of trouble
        is_fine = _is_number(item) or (are_booleans_welcome and isinstance(item, bool | np.bool_))
        if not is_fine:
            _refuse_value(name, items, at, "a number is needed")
        try:
            items[at] = float(item)
        except OverflowError:
            _refuse_value(name, items, at, "a number of usual size is needed")
    if array.dtype.kind != "O":
        _refuse_value(name, items, 0, f"a number is needed, not {array.dtype}")
    return np.array(items, dtype=np.float64)


def _one_dimensional(values: Any, name: str) -> NDArray[Any]:
    """`np.asarray` without its silent conversions of booleans, text and masked values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        at = int(np.argmax(np.ma.getmaskarray(values).ravel()))
        raise ValueError(f"{name}[{at}] is masked: a value is needed in every row")
    try:
        if isinstance(values, list | tuple) and not set(map(type, values)) <= _PLAIN_NUMBERS:
            # numpy would turn [True, 0.5] into [1.0, 0.5] and [1, "a"] into text.
            boxed = np.empty(len(values), dtype=object)
            boxed[:] = values
            values = boxed if len(set(map(type, values))) > 1 else values
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name}: a one-dimensional array of numbers is needed") from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} has {array.ndim} dimensions: a one-dimensional array of numbers is needed"
        )
    return array


def _is_text(values: Any) -> bool:
    """Whether the ids are (meant as) text: decided by the first one."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        return False
    if isinstance(values, np.ndarray) and values.ndim != 1:
        return False
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        return False
    return isinstance(next(iter(values), None), str)


def _text_episodes(values: Any, rows: int, partner: str) -> Episodes:
    # Kept as Python strings: numpy's fixed-width text loses trailing NULs, so two ids could meet,
    # and one long id would cost its length in every row. Code-point order is bytewise UTF-8 order.
    ids = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not all(issubclass(kind, str) for kind in set(map(type, ids))):
        at = next(i for i, item in enumerate(ids) if not isinstance(item, str))
        _refuse_value("episodes", ids, at, "ids are all text or all whole numbers")
    _check_length("episodes", len(ids), rows, partner)
    distinct = sorted(set(ids))
    rank = dict(zip(distinct, range(len(distinct)), strict=True))
    code = np.fromiter(map(rank.__getitem__, ids), dtype=np.int64, count=len(ids))
    return Episodes(code, len(distinct), None)


def _block_numbers(values: ArrayLike) -> IntArray:
    array = _one_dimensional(values, "episodes")
    if array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "O" and all(isinstance(item, Integral) for item in array.tolist()):
        within = [-(2**63) <= int(item) < 2**63 for item in array.tolist()]
        if not all(within):
            _refuse_value("episodes", array, within.index(False), "a block number has 64 bits")
        if not any(isinstance(item, bool | np.bool_) for item in array.tolist()):
            return array.astype(np.int64)
    numbers = _numbers(array, "episodes")
    whole = np.isfinite(numbers) & (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**63)
    if not whole.all():
        at = int(np.argmin(whole))
        _refuse_value("episodes", array, at, "a block number is a whole number; events are text")
    return array.astype(np.int64) if array.dtype.kind == "u" else numbers.astype(np.int64)


def _check_length(name: str, size: int, rows: int, partner: str) -> None:
    if size != rows:
        raise ValueError(
            f"{name} has {size} values and {partner} has {rows}: "
            f"position {min(size, rows)} has no partner"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _refuse_value(name: str, values: Any, at: int, rule: str) -> NoReturn:
    value = values.iloc[at] if hasattr(values, "iloc") else values[at]
    raise ValueError(f"{name}[{at}] = {_shown(value)}: {rule}")


def _shown(value: object) -> str:
    """A value on one line, cut where it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    text = " ".join(text.splitlines())
    return text if len(text) <= _LONGEST_VALUE_SHOWN else text[:_LONGEST_VALUE_SHOWN] + "…"
