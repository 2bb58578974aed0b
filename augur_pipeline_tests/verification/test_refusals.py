"""Bad input is refused in one line that names the argument and the first offending position."""

import datetime
import decimal

import numpy as np
import pytest

from augur_pipeline import verification as v

E8 = list(range(8))
P8, Y8 = [0.6] * 8, [1, 0] * 4

# function, its array arguments by name, keyword arguments that make it run
CALLS = [
    (v.brier_score, {"p": P8, "y": Y8, "weights": [1.0] * 8}),
    (v.log_loss, {"p": P8, "y": Y8, "weights": [1.0] * 8}),
    (v.impossible_rows, {"p": P8, "y": Y8}),
    (v.sharpness, {"p": P8}),
    (v.reliability_table, {"p": P8, "y": Y8, "episodes": E8}),
    (v.decompose_brier, {"p": P8, "y": Y8}),
    (v.corp, {"p": P8, "y": Y8, "weights": [1.0] * 8}),
    (v.calibration_error, {"p": P8, "y": Y8}),
    (v.debiased_reliability, {"p": P8, "y": Y8, "episodes": E8}),
    (v.hosmer_lemeshow, {"p": P8, "y": Y8}),
    (v.spiegelhalter, {"p": P8, "y": Y8}),
    (v.calibration_line, {"p": P8, "y": Y8}),
    (v.brier_interval, {"p": P8, "y": Y8, "episodes": E8, "weights": [1.0] * 8}),
    (
        v.difference_interval,
        {"p_a": P8, "y_a": Y8, "p_b": P8, "y_b": Y8, "episodes": E8, "weights": [1.0] * 8},
    ),
    (
        v.skill_interval,
        {"p": P8, "y": Y8, "p_ref": P8, "y_ref": Y8, "episodes": E8, "weights": [1.0] * 8},
    ),
    (v.calibration_tests, {"p": P8, "y": Y8, "episodes": E8}),
]
ARGUMENTS = [(call, rows, name) for call, rows in CALLS for name in rows]
SHOWN = [f"{call.__name__}-{name}" for call, _, name in ARGUMENTS]

BAD_PROBABILITY = [
    float("nan"), float("inf"), -float("inf"), -0.1, 1.1, 1 + 2**-52, -5e-324, 2, True, False,
    np.True_, "0.5", "", "\n'; DROP", b"0.5", None, 0.5j, [0.5], (0.5,), {}, object(),
    decimal.Decimal("0.5"), datetime.date(2026, 1, 1), np.datetime64("2026-01-01"), 10**400,
    -(10**400),
]  # fmt: skip
BAD_OUTCOME = [
    float("nan"), 0.5, 2, -1, 1 + 2**-52, 5e-324, "1", "yes", None, 1j, [1], float("inf"), 10**400,
]  # fmt: skip
BAD_WEIGHT = [
    float("nan"), float("inf"), -1.0, -5e-324, True, np.False_, "1", None, 1j, [1], 10**400,
]  # fmt: skip
BAD_BLOCK = [
    0.5, float("nan"), float("inf"), True, "a", None, 1j, [1], 2**63, -(2**63) - 1, 1e19, 10**400,
    datetime.date(2026, 1, 1), decimal.Decimal(1),
]  # fmt: skip


def bad_values(name):
    if name.startswith("p"):
        return BAD_PROBABILITY
    return {"y": BAD_OUTCOME, "w": BAD_WEIGHT, "e": BAD_BLOCK}[name[0]]


def refused(call, arguments):
    with pytest.raises(ValueError, match=r".") as caught:
        call(**arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250, message
    return message


@pytest.mark.parametrize(("call", "rows", "name"), ARGUMENTS, ids=SHOWN)
def test_bad_values_are_named_with_their_position(call, rows, name):
    for bad in bad_values(name):
        for at in (0, 5):
            values = list(rows[name])
            values[at] = bad
            if name == "episodes" and isinstance(bad, str) and at == 0:
                at = 1  # the first id is text, so the second is what does not fit
            message = refused(call, {**rows, name: values})
            assert message.startswith(f"{name}[{at}]"), (bad, message)


@pytest.mark.parametrize(("call", "rows", "name"), ARGUMENTS, ids=SHOWN)
def test_the_first_offence_is_named(call, rows, name):
    values = [float(v) for v in rows[name]]
    values[3], values[6] = -1.5, float("nan")
    assert refused(call, {**rows, name: np.array(values)}).startswith(f"{name}[3] = -1.5")


@pytest.mark.parametrize(("call", "rows", "name"), ARGUMENTS, ids=SHOWN)
def test_shapes_and_kinds(call, rows, name):
    values = np.array(rows[name], dtype=float)
    assert "2 dimensions" in refused(call, {**rows, name: values.reshape(2, 4)})
    assert "2 dimensions" in refused(call, {**rows, name: [[v] for v in rows[name]]})
    assert "0 dimensions" in refused(call, {**rows, name: 0.5})
    assert "0 dimensions" in refused(call, {**rows, name: (v for v in rows[name])})
    assert "0 dimensions" in refused(call, {**rows, name: "0.5"})
    assert refused(call, {**rows, name: [[1], [1, 0]]}).startswith(name)
    assert refused(call, {**rows, name: values.astype(complex)}).startswith(f"{name}[0]")
    assert refused(call, {**rows, name: np.array(["2026-01-01"] * 8, "M8[ns]")}).startswith(
        f"{name}[0]"
    )
    masked = np.ma.array(np.ones(8), mask=[0, 0, 1, 0, 0, 0, 0, 0])
    assert refused(call, {**rows, name: masked}).startswith(f"{name}[2] is masked")
    if name != "episodes":
        assert refused(call, {**rows, name: ["1"] * 8}).startswith(f"{name}[0] = '1'")
    if not name.startswith("y"):
        assert refused(call, {**rows, name: np.array([True] * 8)}).startswith(f"{name}[0]")
        assert refused(call, {**rows, name: [1, True] * 4}).startswith(f"{name}[1]")


@pytest.mark.parametrize(
    ("call", "rows", "name"),
    [a for a in ARGUMENTS if len(a[1]) > 1],
    ids=[s for a, s in zip(ARGUMENTS, SHOWN, strict=True) if len(a[1]) > 1],
)
def test_unequal_lengths(call, rows, name):
    for values, at in ((rows[name][:-1], 7), ([*rows[name], rows[name][0]], 8), ([], 0)):
        message = refused(call, {**rows, name: values})
        assert "position" in message
        assert f"position {min(at, 8)} has no partner" in message
        assert any(message.startswith(n) or f" {n} has" in message for n in rows)


@pytest.mark.parametrize(("call", "rows"), CALLS, ids=[call.__name__ for call, _ in CALLS])
def test_ordinary_containers_are_welcome(call, rows):
    from .helpers import bits

    found = bits(call(**rows))
    as_arrays = {name: np.array(values) for name, values in rows.items()}
    assert bits(call(**as_arrays)) == found
    assert bits(call(**{name: tuple(values) for name, values in rows.items()})) == found
    as_objects = {name: np.array(values, dtype=object) for name, values in rows.items()}
    assert bits(call(**as_objects)) == found
    scalars = {name: [np.float64(v) for v in values] for name, values in rows.items()}
    assert bits(call(**scalars)) == found
    booleans = {n: [bool(b) for b in v] if n[0] == "y" else v for n, v in rows.items()}
    assert bits(call(**booleans)) == found
    numpy_booleans = {n: np.array(v, bool) if n[0] == "y" else v for n, v in rows.items()}
    assert bits(call(**numpy_booleans)) == found
    frame = pytest.importorskip("pandas")
    series = {n: frame.Series(v, index=range(10, 18)) for n, v in rows.items()}
    assert bits(call(**series)) == found
    frame = pytest.importorskip("polars")
    assert bits(call(**{n: frame.Series(v) for n, v in rows.items()})) == found


def test_inputs_are_not_changed():
    p, y, w, e = np.array([-0.0, 0.7]), np.array([0.0, 1.0]), np.array([3.0, 0.0]), np.array([1, 2])
    for array in (p, y, w, e):
        array.setflags(write=False)
    v.brier_interval(p, y, e, w)
    v.corp(p, y, w)
    v.reliability_table(p, y, episodes=e)
    assert np.signbit(p[0])


@pytest.mark.parametrize("bad", [0, -1, 2.0, 10.5, True, "10", None, float("nan")])
def test_bins(bad):
    for call in (v.reliability_table, v.decompose_brier, v.calibration_error, v.hosmer_lemeshow):
        assert refused(call, {"p": P8, "y": Y8, "bins": bad}).startswith("bins = ")
        assert refused(call, {"p": [], "y": [], "bins": bad}).startswith("bins = ")
    for call in (v.debiased_reliability, v.calibration_tests):
        refused(call, {"p": P8, "y": Y8, "episodes": E8, "bins": bad})


@pytest.mark.parametrize("bad", ["quantile", "", None, 1, "Equal_Width"])
def test_scheme(bad):
    for call in (v.reliability_table, v.decompose_brier, v.calibration_error, v.hosmer_lemeshow):
        assert refused(call, {"p": P8, "y": Y8, "scheme": bad}).startswith("scheme = ")


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.5, 95, float("nan"), True, "0.95", None])
def test_level(bad):
    rows = {"p": P8, "y": Y8, "episodes": E8}
    assert refused(v.brier_interval, {**rows, "level": bad}).startswith("level = ")


@pytest.mark.parametrize("bad", [0.0, 0.5, 1.0, -1e-6, float("nan"), True, "1e-6"])
def test_clip(bad):
    assert refused(v.log_loss, {"p": P8, "y": Y8, "clip": bad}).startswith("clip = ")
    assert refused(v.calibration_line, {"p": P8, "y": Y8, "clip": bad}).startswith("clip = ")


def test_other_arguments():
    rows = {"p": P8, "y": Y8, "episodes": E8}
    for bad in (998, 0, 1999.0, True, "1999", None):
        assert refused(v.calibration_tests, {**rows, "draws": bad}).startswith("draws = ")
    for bad in (-1, 0.0, False, None, "0"):
        assert refused(v.calibration_tests, {**rows, "seed": bad}).startswith("seed = ")
    for bad in (-1, 2.0, True):
        arguments = {"p": P8, "y": Y8, "fitted_parameters": bad}
        assert refused(v.hosmer_lemeshow, arguments).startswith("fitted_parameters = ")
    for bad in (float("nan"), -0.1, 1.1, True, "0.2"):
        assert refused(v.brier_skill, {"brier": bad, "reference": 0.2}).startswith("brier = ")
        assert refused(v.brier_skill, {"brier": 0.2, "reference": bad}).startswith("reference = ")


def test_ids_of_two_kinds():
    rows = {"p": P8, "y": Y8}
    message = refused(v.brier_interval, {**rows, "episodes": ["1", *range(7)]})
    assert message.startswith("episodes[1] = 0")
    message = refused(v.brier_interval, {**rows, "episodes": [*range(7), "1"]})
    assert message.startswith("episodes[7] = '1'")
    message = refused(v.brier_interval, {**rows, "episodes": ["a"] * 7 + [None]})
    assert message.startswith("episodes[7] = None")
    message = refused(v.brier_interval, {**rows, "episodes": [b"a"] * 8})
    assert message.startswith("episodes[0]")


def test_long_and_hostile_values_stay_on_one_line():
    message = refused(v.brier_score, {"p": ["x\n" * 500], "y": [1]})
    assert message.startswith("p[0] = 'x")
