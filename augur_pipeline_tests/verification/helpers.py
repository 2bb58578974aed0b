"""Data and strategies shared by the tests of `augur_pipeline.verification`."""

import csv
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]


def shared_data(*parts: str) -> Path:
    """A file of `../shared/data` beside the project; skips the test where it is absent."""
    path = ROOT.parent.joinpath("shared", "data", *parts)
    if not path.exists():
        pytest.skip(f"real data is not here: {path}")
    return path


def niamey() -> dict[str, np.ndarray]:
    """Columns of the 92 days of rain forecasts, as arrays."""
    with shared_data("events", "precip_niamey.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        name: np.array([float(row[name]) for row in rows])
        for name in ("Logistic", "EMOS", "ENS", "EPC", "obs")
    }


def bits(result: Any) -> Any:
    """A result as plain values whose equality is equality of bits (0.0 is not −0.0)."""
    if is_dataclass(result) and not isinstance(result, type):
        return {field.name: bits(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, tuple):
        return [bits(item) for item in result]
    if isinstance(result, np.ndarray):
        return result.dtype.str, result.shape, result.tobytes()
    return result.hex() if isinstance(result, float) else result


def close(result: Any, other: Any, tolerance: float = 1e-12, ignore: tuple[str, ...] = ()) -> None:
    """Asserts equality of two results, floats to a tolerance (relative above 1)."""
    if is_dataclass(result) and not isinstance(result, type):
        assert type(result) is type(other)
        for field in fields(result):
            if field.name not in ignore:
                close(getattr(result, field.name), getattr(other, field.name), tolerance)
    elif isinstance(result, float):
        assert isinstance(other, float), (result, other)
        assert result == pytest.approx(other, rel=tolerance, abs=tolerance)
    elif isinstance(result, np.ndarray):
        np.testing.assert_allclose(result, other, rtol=tolerance, atol=tolerance)
    elif isinstance(result, tuple):
        assert len(result) == len(other)
        for mine, theirs in zip(result, other, strict=True):
            close(mine, theirs, tolerance)
    else:
        assert result == other


# Probabilities as agents state them (round, the ends included) and as models do (any double).
round_probabilities = st.sampled_from([k / 10 for k in range(11)] + [0.25, 0.75, 0.99, 0.01, 1 / 3])
any_probabilities = st.floats(0.0, 1.0, allow_subnormal=True)
probabilities = st.one_of(round_probabilities, any_probabilities)
dyadic_probabilities = st.integers(0, 1024).map(lambda k: k / 1024)
outcomes = st.integers(0, 1)
block_numbers = st.integers(-3, 12)
event_ids = st.sampled_from(["a", "b", "10", "9", "é", "", "a b", "zz", "Z", "\x00", "a\x00", "ß"])


def tables(
    probability: st.SearchStrategy[float] = probabilities,
    episode: st.SearchStrategy[Any] = block_numbers,
    smallest: int = 1,
    largest: int = 40,
) -> st.SearchStrategy[dict[str, list[Any]]]:
    """Rows (p, y, q, v, w, episode) as columns: two forecasters, weights, episodes."""
    row = st.tuples(probability, outcomes, probability, outcomes, st.integers(0, 5), episode)
    return st.lists(row, min_size=smallest, max_size=largest).map(
        lambda rows: dict(
            zip("pyqvwe", map(list, zip(*rows, strict=True)), strict=True)
            if rows
            else {name: [] for name in "pyqvwe"}
        )
    )


def functions() -> dict[str, Callable[..., Any]]:
    """Every function of the package on the columns of a table, under a name."""
    from augur_pipeline import verification as v

    plain: dict[str, Callable[..., Any]] = {
        "brier_score": lambda t: v.brier_score(t["p"], t["y"]),
        "log_loss": lambda t: v.log_loss(t["p"], t["y"]),
        "log_loss clipped": lambda t: v.log_loss(t["p"], t["y"], clip=1e-6),
        "impossible_rows": lambda t: v.impossible_rows(t["p"], t["y"]),
        "sharpness": lambda t: v.sharpness(t["p"]),
        "reliability_table": lambda t: v.reliability_table(t["p"], t["y"], 7),
        "reliability_table episodes": lambda t: v.reliability_table(
            t["p"], t["y"], episodes=t["e"]
        ),
        "reliability_table equal_count": lambda t: v.reliability_table(
            t["p"], t["y"], 5, "equal_count", t["e"]
        ),
        "decompose_brier": lambda t: v.decompose_brier(t["p"], t["y"]),
        "decompose_brier equal_count": lambda t: v.decompose_brier(
            t["p"], t["y"], 4, "equal_count"
        ),
        "corp": lambda t: v.corp(t["p"], t["y"]),
        "calibration_error": lambda t: v.calibration_error(t["p"], t["y"]),
        "calibration_error equal_count": lambda t: v.calibration_error(
            t["p"], t["y"], 5, "equal_count"
        ),
        "debiased_reliability": lambda t: v.debiased_reliability(t["p"], t["y"], t["e"]),
        "hosmer_lemeshow": lambda t: v.hosmer_lemeshow(t["p"], t["y"]),
        "hosmer_lemeshow equal_count": lambda t: v.hosmer_lemeshow(
            t["p"], t["y"], 5, "equal_count", 2
        ),
        "spiegelhalter": lambda t: v.spiegelhalter(t["p"], t["y"]),
        "calibration_line": lambda t: v.calibration_line(t["p"], t["y"]),
        "brier_interval": lambda t: v.brier_interval(t["p"], t["y"], t["e"]),
        "difference_interval": lambda t: v.difference_interval(
            t["p"], t["y"], t["q"], t["v"], t["e"]
        ),
        "skill_interval": lambda t: v.skill_interval(t["p"], t["y"], t["q"], t["v"], t["e"]),
    }
    weighted: dict[str, Callable[..., Any]] = {
        "brier_score weighted": lambda t: v.brier_score(t["p"], t["y"], t["w"]),
        "log_loss weighted": lambda t: v.log_loss(t["p"], t["y"], t["w"], clip=0.01),
        "corp weighted": lambda t: v.corp(t["p"], t["y"], t["w"]),
        "brier_interval weighted": lambda t: v.brier_interval(t["p"], t["y"], t["e"], t["w"]),
        "difference_interval weighted": lambda t: v.difference_interval(
            t["p"], t["y"], t["q"], t["v"], t["e"], t["w"]
        ),
        "skill_interval weighted": lambda t: v.skill_interval(
            t["p"], t["y"], t["q"], t["v"], t["e"], t["w"]
        ),
    }
    slow: dict[str, Callable[..., Any]] = {
        "calibration_tests": lambda t: v.calibration_tests(t["p"], t["y"], t["e"], draws=999),
        "consistency_band": lambda t: v.consistency_band(t["p"], t["y"], t["e"], draws=99),
    }
    return plain | weighted | slow
