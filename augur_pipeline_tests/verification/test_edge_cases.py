"""Inputs at the ends: nothing, one row, one class, certainties, ties, denormals, a million rows."""

import math
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from augur_pipeline import verification as v

from .helpers import bits, close, functions

pytestmark = pytest.mark.filterwarnings("error")

FUNCTIONS = functions()
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def table(p, y, e=None, q=None):
    n = len(p)
    return {
        "p": p,
        "y": y,
        "q": [0.5] * n if q is None else q,
        "v": y,
        "w": [1.0] * n,
        "e": list(range(n)) if e is None else e,
    }


def numbers(result):
    if is_dataclass(result):
        for field in fields(result):
            yield from numbers(getattr(result, field.name))
    elif isinstance(result, tuple):
        for item in result:
            yield from numbers(item)
    elif isinstance(result, np.ndarray):
        yield from result.tolist()
    elif isinstance(result, float):
        yield result


NOTHING = {"p": [], "y": [], "q": [], "v": [], "w": [], "e": []}


@every_function
def test_no_rows_is_none_never_nan_never_perfect(name):
    for empty in (NOTHING, {key: np.empty(0) for key in NOTHING}):
        result = FUNCTIONS[name](empty)
        if is_dataclass(result):
            counts = {"groups", "episodes", "draws", "clipped_rows", "exact", "degenerate"}
            for field in fields(result):
                if field.name not in counts | {"convention", "undefined_reason"}:
                    assert getattr(result, field.name) is None, field.name
            if hasattr(result, "undefined_reason"):
                assert result.undefined_reason == "no_rows"
        elif "table" in name:
            assert all(row.n == 0 and row.observed_rate is None for row in result)
        else:
            assert result is None or (name == "impossible_rows" and result == 0)


EDGES = {
    "one row": table([0.7], [1]),
    "one row at 0": table([0.0], [0]),
    "one row wrong at 0": table([0.0], [1]),
    "all events": table([0.2, 0.5, 0.9] * 5, [1] * 15),
    "no events": table([0.2, 0.5, 0.9] * 5, [0] * 15),
    "all one half": table([0.5] * 20, [0, 1] * 10, [i // 2 for i in range(20)]),
    "certain and right": table([0, 1] * 10, [0, 1] * 10, [i // 2 for i in range(20)]),
    "certain and wrong": table([0, 1] * 10, [1, 0] * 10, [i // 2 for i in range(20)]),
    "certain, half wrong": table([0, 1] * 10, [0, 0, 1, 1] * 5, [i // 2 for i in range(20)]),
    "one episode": table([0.6, 0.8] * 10, [0, 1, 1, 0] * 5, [3] * 20),
    "one tie": table([0.3] * 20, [0, 0, 1, 1] * 5, [i // 2 for i in range(20)]),
    "denormals": table([5e-324, 1e-310, 1e-200] * 6, [0, 1, 0] * 6, [i // 3 for i in range(18)]),
    "denormals that never happen": table([5e-324] * 12, [0] * 12, [i // 2 for i in range(12)]),
    "next to one": table([1 - 2**-53] * 12, [1, 0] * 6, [i // 2 for i in range(12)]),
    "next to one half": table([np.nextafter(0.5, 1)] * 12, [1, 0] * 6, [i // 2 for i in range(12)]),
    "negative zero": table([-0.0, 1.0] * 6, [-0.0, 1.0] * 6, [i // 2 for i in range(12)]),
    "far apart blocks": table(
        [0.6, 0.7] * 8, [0, 1] * 8, [-(2**63), 2**63 - 1] * 2 + list(range(6)) * 2
    ),
}


@every_function
@pytest.mark.parametrize("edge", EDGES)
def test_edges_give_numbers_or_none_and_no_warning(name, edge):
    result = FUNCTIONS[name](EDGES[edge])
    for value in numbers(result):
        assert not math.isnan(value)
        assert not math.isinf(value) or name in (
            "log_loss",
            "hosmer_lemeshow",
            "hosmer_lemeshow equal_count",
            "spiegelhalter",
        )
        assert value != 0.0 or math.copysign(1, value) == 1.0


@every_function
def test_negative_zero_is_zero(name):
    one = FUNCTIONS[name](EDGES["negative zero"])
    positive = {key: np.array(column) + 0 for key, column in EDGES["negative zero"].items()}
    assert not np.signbit(positive["p"]).any()
    other = FUNCTIONS[name](positive)
    assert bits(one) == bits(other)


def test_far_apart_blocks_are_no_neighbours():
    """int64 differences that wrap around are not 1."""
    ids = [-(2**63), 2**63 - 1, 0, 10, 20, 30]
    y = [0, 1, 1] * 6
    p = [0.6, 0.7, 0.9, 0.6, 0.8, 0.6] * 3
    rows = [b for b in ids for _ in range(3)]
    text = [str(b) for b in rows]
    assert v.brier_interval(p, y, rows).standard_error == pytest.approx(
        v.brier_interval(p, y, text).standard_error, rel=1e-14
    )


def test_a_million_rows():
    rng = np.random.default_rng(0)
    n = 1_000_000
    p = np.round(rng.random(n), 4)
    y, block = rng.random(n) < p, rng.integers(0, 5000, n)
    table_ = v.reliability_table(p, y, 20, episodes=block)
    assert sum(row.n for row in table_) == n
    assert all(row.low < row.mean_probability < row.high for row in table_)
    d = v.decompose_brier(p, y, 20)
    total = (
        d.reliability - d.resolution + d.uncertainty
        + d.within_bin_variance - d.within_bin_covariance
    )  # fmt: skip
    assert d.brier == pytest.approx(total, abs=1e-12)
    fit = v.corp(p, y)
    assert fit.miscalibration < 0.001
    interval = v.brier_interval(p, y, block)
    assert interval.low < 1 / 6 < interval.high
    assert v.brier_interval(p, y, np.arange(n)).effective_episodes == n
    order = rng.permutation(n)
    assert bits(v.brier_interval(p[order], y[order], block[order])) == bits(interval)
    assert bits(v.corp(p[order], y[order])) == bits(fit)


def test_many_identical_rows_are_exact():
    n = 3 * 10**5
    assert v.brier_score([0.1] * n, [0] * n) == 0.1 * 0.1
    assert v.calibration_error([0.1] * n, [1] + [0] * (n - 1)).ece == pytest.approx(
        0.1 - 1 / n, abs=1e-16
    )
    assert v.sharpness([0.1] * n) == 0.0


def test_huge_and_tiny_weights():
    p, y, e = [0.6, 0.7, 0.8, 0.9] * 5, [1, 0, 1, 1] * 4 + [0, 1, 1, 0], [i // 2 for i in range(20)]
    plain = v.brier_interval(p, y, e)
    assert plain.undefined_reason is None
    for weight in (5e-324, 1e-310, 1e308, 1.7e308):
        close(v.brier_interval(p, y, e, [weight] * 20), plain, 1e-12)
    # weights that differ by more than doubles span: the lesser rows vanish, without NaN
    mixed = [1e300] * 10 + [1e-300] * 10
    result = v.brier_interval(p, y, e, mixed)
    assert result.effective_episodes == pytest.approx(5.0)
    assert not any(map(math.isnan, numbers(result)))
    for name in ("brier_interval weighted", "skill_interval weighted", "corp weighted"):
        t = {**table(p, y, e), "w": mixed}
        assert not any(map(math.isnan, numbers(FUNCTIONS[name](t))))
