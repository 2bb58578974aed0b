"""The diagnostics' steps over the work database: report, bins and curve of every forecaster."""

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from augur_pipeline.diagnostics.calibration.report import (
    ForecastRows,
    bin_rows,
    curve_rows,
    report,
)
from augur_pipeline.diagnostics.calibration.tables import (
    CalibrationDiagnostics,
    ReliabilityBins,
    ReliabilityCurve,
)
from augur_pipeline.store.arrays import keep_arrow, spans
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.tables import Model, columns_of, name_of

logger = logging.getLogger(__name__)

PROGRESS_EVERY = 200


def diagnose(store: Store) -> None:
    """Make `calibration_diagnostics`, `reliability_bins` and `reliability_curve`."""
    store.require("scored_forecasts", "episode_numbers")
    _, policy = store.state()
    diagnostics: list[dict[str, Any]] = []
    bins: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    for done, (key, rows) in enumerate(forecasters(store, "call"), start=1):
        values = report(rows, policy.bins, policy.test_draws, policy.test_seed)
        diagnostics.append(key | values)
        bins += [key | row for row in bin_rows(rows, policy.bins)]
        curve += [key | row for row in curve_rows(rows)]
        if done % PROGRESS_EVERY == 0:
            logger.info("calibration_diagnostics: %d done", done)
    _store_rows(store, CalibrationDiagnostics, diagnostics)
    _store_rows(store, ReliabilityBins, bins)
    _store_rows(store, ReliabilityCurve, curve)


def forecasters(store: Store, kind: str) -> Iterator[tuple[dict[str, Any], ForecastRows]]:
    """Each forecaster's resolved rows of a kind in each cohort, then each cohort's together."""
    columns = store.connection.execute(
        load_sql(__package__, "resolved_forecasts"), {"kind": kind}
    ).fetchnumpy()
    cohort, forecaster = (
        np.asarray(columns[n], dtype=object) for n in ("cohort_id", "forecaster_id")
    )
    block = np.asarray(columns["block_number"], dtype=np.int64)
    everything = ForecastRows(
        np.asarray(columns["probability"], dtype=np.float64),
        np.asarray(columns["outcome"], dtype=np.int64),
        block,
        block >= 0,
    )
    for first, last in spans(cohort, forecaster):
        key = {
            "cohort_id": cohort[first],
            "scope": "forecaster",
            "forecaster_id": forecaster[first],
        }
        yield key, _part(everything, first, last)
    for first, last in spans(cohort):
        key = {"cohort_id": cohort[first], "scope": "cohort", "forecaster_id": None}
        yield key, _part(everything, first, last)


def _part(rows: ForecastRows, first: int, last: int) -> ForecastRows:
    span = slice(first, last)
    return ForecastRows(
        rows.probability[span], rows.outcome[span], rows.episode[span], rows.in_episode[span]
    )


def _store_rows(store: Store, model: Model, rows: list[dict[str, Any]]) -> None:
    """Validate rows by their model and keep them as a work table."""
    names = [column.name for column in columns_of(model)]
    dtypes = {name: column.dtype.type for name, column in model.to_schema().columns.items()}
    frame = pl.DataFrame(
        {name: [row[name] for row in rows] for name in names}, schema=dtypes, strict=False
    )
    model.validate(frame, lazy=True)
    keep_arrow(store, name_of(model), frame.to_arrow())
