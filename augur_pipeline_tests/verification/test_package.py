"""Names, fields and signatures that people import, and what the package may not do."""

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from augur_pipeline import verification as v

SIGNATURES = {
    "brier_score": "p, y, weights=None",
    "log_loss": "p, y, weights=None, clip=None",
    "sharpness": "p",
    "brier_skill": "brier, reference",
    "reliability_table": "p, y, bins=10, scheme='equal_width', episodes=None",
    "decompose_brier": "p, y, bins=10, scheme='equal_width'",
    "corp": "p, y, weights=None",
    "calibration_error": "p, y, bins=10, scheme='equal_width'",
    "debiased_reliability": "p, y, episodes, bins=10",
    "hosmer_lemeshow": "p, y, bins=10, scheme='equal_width', fitted_parameters=0",
    "spiegelhalter": "p, y",
    "calibration_line": "p, y, clip=1e-06",
    "brier_interval": "p, y, episodes, weights=None, level=0.95",
    "difference_interval": "p_a, y_a, p_b, y_b, episodes, weights=None, level=0.95",
    "skill_interval": "p, y, p_ref, y_ref, episodes, weights=None, level=0.95",
    "calibration_tests": "p, y, episodes, bins=10, draws=1999, seed=0",
    "consistency_band": "p, y, episodes, level=0.95, draws=999, seed=0",
    "remove_overround": "odds, method='multiplicative'",
    "holm_adjusted": "p_values",
    "paired_differences": "sums, pairs, level=0.95",
}

FIELDS = {
    "Bin": "lower upper n episodes mean_probability observed_rate gap low high",
    "BrierDecomposition": "brier reliability resolution uncertainty within_bin_variance "
    "within_bin_covariance",
    "Corp": "brier miscalibration discrimination uncertainty probability recalibrated",
    "CalibrationError": "ece mce mce_bin_n",
    "DebiasedReliability": "value share_rows_left_out",
    "HosmerLemeshow": "statistic groups df p_value degenerate smallest_expected undefined_reason",
    "Spiegelhalter": "z p_value undefined_reason",
    "CalibrationLine": "intercept slope in_the_large clipped_rows",
    "Interval": "estimate low high standard_error df episodes effective_episodes p_value "
    "undefined_reason",
    "CalibrationTests": "p_worse mcb_p_value mcb_null_mean ece_p_value ece_null_mean hl_p_value "
    "exact draws undefined_reason",
    "ConsistencyBand": "probability low high exact draws undefined_reason",
    "PairedDifferences": "estimate low high p_value episodes undefined_reason",
}

PACKAGE = Path(v.__file__).parent


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    parameters = inspect.signature(getattr(v, name)).parameters.values()
    shown = ", ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters
    )
    assert shown == SIGNATURES[name]
    assert name in v.__all__
    assert len(inspect.getdoc(getattr(v, name))) > 100


def test_examples_in_docstrings_hold():
    shown = 0
    for path in sorted(PACKAGE.glob("*.py")):
        module = importlib.import_module(f"{v.__name__}.{path.stem}")
        failed, tried = doctest.testmod(module)
        assert failed == 0, path.name
        shown += tried
    assert shown >= 10


@pytest.mark.parametrize("name", FIELDS)
def test_result(name):
    kind = getattr(v, name)
    assert name in v.__all__
    assert is_dataclass(kind)
    assert [f.name for f in fields(kind)] == [*FIELDS[name].split(), "convention"]


def test_results_are_frozen_and_state_their_convention():
    p, y, e = [0.6, 0.7] * 8, [1, 0] * 8, list(range(16))
    one, yes = np.ones(1), np.ones(1, dtype=bool)
    sums = v.EpisodeSums(np.zeros(1, int), np.zeros(1, int), one, one, one, yes, yes, yes, yes, yes)
    results = [
        v.paired_differences(sums, 1), v.reliability_table(p, y)[0], v.decompose_brier(p, y), v.corp(p, y),
        v.calibration_error(p, y), v.debiased_reliability(p, y, e), v.hosmer_lemeshow(p, y),
        v.spiegelhalter(p, y), v.calibration_line(p, y), v.brier_interval(p, y, e),
        v.difference_interval(p, y, p, y, e), v.skill_interval(p, y, p, y, e),
        v.calibration_tests(p, y, e), v.consistency_band(p, y, e),
    ]  # fmt: skip
    assert {type(r).__name__ for r in results} == set(FIELDS)
    for result in results:
        assert isinstance(result.convention, str)
        assert len(result.convention) > 20
        with pytest.raises(FrozenInstanceError):
            result.convention = ""
    for result in (v.decompose_brier(p, y), v.corp(p, y), v.brier_interval(p, y, e)):
        assert "0 best, 1 worst" in result.convention
    assert "level 0.8" in v.brier_interval(p, y, e, level=0.8).convention
    assert "7 bins, equal_count" in v.decompose_brier(p, y, 7, "equal_count").convention


def test_plain_python_numbers_come_out():
    p, y, e = np.array([0.6, 0.7] * 8), np.array([1, 0] * 8), np.arange(16)
    for result in (
        v.reliability_table(p, y, episodes=e)[6], v.calibration_error(p, y),
        v.hosmer_lemeshow(p, y), v.calibration_line(p, y), v.brier_interval(p, y, e),
        v.calibration_tests(p, y, e), v.debiased_reliability(p, y, e), v.decompose_brier(p, y),
        v.spiegelhalter(p, y),
    ):  # fmt: skip
        for field in fields(result):
            value = getattr(result, field.name)
            assert type(value) in (float, int, bool, str, type(None)), (field.name, type(value))


def test_imports_numpy_and_scipy_only():
    welcome = {"numpy", "scipy", *sys.stdlib_module_names}
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            for name in names:
                own = name.startswith("augur_pipeline.verification.")
                assert own or name.split(".")[0] in welcome, (path.name, name)
                assert name.split(".")[0] not in {"time", "random", "os", "io", "pathlib"}


def test_importing_it_draws_in_nothing_heavy():
    code = (
        "import sys, augur_pipeline.verification; "
        "print([m for m in ('dagster', 'duckdb', 'polars', 'pandas', 'sklearn', 'matplotlib') "
        "if m in sys.modules])"
    )
    root = PACKAGE.parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_random_state_is_touched():
    np.random.seed(3)
    before = np.random.get_state()[1].tolist()
    v.calibration_tests([0.6, 0.7] * 8, [1, 0] * 8, list(range(8)) * 2)
    assert np.random.get_state()[1].tolist() == before


def test_p_values_do_not_depend_on_threads():
    code = (
        "import numpy as np; from augur_pipeline.verification import *; "
        "r = np.random.default_rng(1); p = r.random(600); e = r.integers(0, 40, 600); "
        "print(calibration_tests(p, r.random(600) < p, e), brier_interval(p, p > .5, e), "
        "calibration_line(p, r.random(600) < p))"
    )
    seen = set()
    for threads in ("1", "2"):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=PACKAGE.parents[1],
            env=dict.fromkeys(names, threads),
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout)
    assert len(seen) == 1
