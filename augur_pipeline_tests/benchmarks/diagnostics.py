"""The diagnostics' benchmark: `python -m augur_pipeline_tests.benchmarks.diagnostics --help`.

The whole report of every forecaster (decompositions, intervals and tests by episode, bins, curve)
beside what people otherwise run in a loop: scikit-learn's `calibration_curve` and
`brier_score_loss`, which give two numbers and ten points a forecaster.
"""

import time
from importlib import metadata

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from augur_pipeline import verification
from augur_pipeline.diagnostics.calibration.report import (
    ForecastRows,
    bin_rows,
    curve_rows,
    report,
)
from augur_pipeline.policy import Policy


def forecaster(seed: int, rows: int, episodes: int) -> ForecastRows:
    """An honest forecaster that states whole percents, over numbered blocks."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.uniform(0.5, 0.95, rows), 2)
    block = np.sort(rng.integers(0, episodes, rows))
    return ForecastRows(p, (rng.random(rows) < p).astype(np.int64), block, np.ones(rows, bool))


@click.command()
@click.option("--agents", default=2000, show_default=True)
@click.option("--rows", default=500, show_default=True)
@click.option("--episodes", default=20, show_default=True)
def main(agents: int, rows: int, episodes: int) -> None:
    """Time the report of many forecasters and its peers."""
    policy = Policy()
    everyone = [forecaster(seed, rows, episodes) for seed in range(agents)]
    seconds: dict[str, float] = {}

    started = time.perf_counter()
    for one in everyone:
        calibration_curve(one.outcome, one.probability, n_bins=10)
        loss = brier_score_loss(one.outcome, one.probability)
        assert abs(loss - verification.brier_score(one.probability, one.outcome)) < 1e-12
    seconds["scikit-learn: curve and Brier"] = time.perf_counter() - started

    started = time.perf_counter()
    for one in everyone:
        verification.reliability_table(one.probability, one.outcome)
        verification.brier_score(one.probability, one.outcome)
    seconds["augur: the same"] = time.perf_counter() - started

    started = time.perf_counter()
    for one in everyone:
        report(one, policy.bins, policy.test_draws, policy.test_seed)
        bin_rows(one, policy.bins)
        curve_rows(one)
    seconds["augur: whole report"] = time.perf_counter() - started

    started = time.perf_counter()
    for one in everyone:
        verification.calibration_tests(one.probability, one.outcome, one.episode)
    seconds["  of that, tests by episode"] = time.perf_counter() - started

    base = seconds["scikit-learn: curve and Brier"]
    table = Table(title=f"{agents} forecasters × {rows} rows, {episodes} episodes")
    for column in ("what", "seconds", "× scikit-learn", "ms each"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, taken in seconds.items():
        each = taken / agents * 1000
        table.add_row(what, f"{taken:.1f}", f"{taken / base:.1f}", f"{each:.2f}")
    versions = " · ".join(f"{n} {metadata.version(n)}" for n in ("numpy", "scipy", "scikit-learn"))
    console = Console(width=100, highlight=False)
    console.print(versions)
    console.print(table)


if __name__ == "__main__":
    main()
