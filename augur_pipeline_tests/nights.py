"""Small homes and whole nights for tests: the pipeline's steps without Dagster around them."""

import contextlib
import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
from dagster import build_init_resource_context

from augur_pipeline.diagnostics.benchmarks.steps import forecast_benchmarks, measure_skill
from augur_pipeline.diagnostics.calibration.steps import diagnose
from augur_pipeline.diagnostics.comparisons.steps import (
    audit_orientation,
    compare_on_days,
    compare_on_questions,
)
from augur_pipeline.diagnostics.missingness.steps import bound_brier, count_missing, weigh_episodes
from augur_pipeline.exports.publish import publish
from augur_pipeline.forecasts.steps import number_forecasts, state_forecasts
from augur_pipeline.intake.steps import start_run, take_in
from augur_pipeline.ledger.steps import seal_calls, select_eligible, settle_calls
from augur_pipeline.pictures import diagram_files
from augur_pipeline.policy import Policy
from augur_pipeline.store import rules
from augur_pipeline.store.continuity import refuse_lost_ledger, traces_of
from augur_pipeline.store.published import last_published, refuse_backwards
from augur_pipeline.store.resource import Store
from augur_pipeline.store.run_clock import RunClock

# pictures are slow, and tested for themselves
diagram_files.MOST_A_SEASON = 0
# pandera takes half of such a night; `store/test_models.py` holds both ways to the same findings
rules.MOST_ROWS_BY_PANDERA = -1

CALL_COLUMNS = (
    "call_id", "agent_id", "pool_id", "action", "decider", "confidence", "horizon_hours",
    "reference_price", "decided_at",
)  # fmt: skip
PRICE_COLUMNS = ("pool_id", "recorded_at", "price")
SEASON = {
    "season_id": "S1",
    "starts_at": "2024-01-01T00:00:00Z",
    "ends_at": "2024-02-01T00:00:00Z",
}

GOOD_CALL = {
    "call_id": "c1",
    "agent_id": "a",
    "pool_id": "P",
    "action": "buy",
    "decider": "llm",
    "confidence": "0.8",
    "horizon_hours": "1",
    "reference_price": "100",
    "decided_at": "2024-01-02T00:00:00Z",
}
"""Due 2024-01-02T01:00Z; its window closes at 03:00Z, it expires 2024-01-09T01:00Z."""

LATER = "2024-06-01T00:00:00Z"


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
    rows = list(rows)
    names = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def make_home(
    root: Path,
    calls: Iterable[Mapping[str, Any]] = (),
    prices: Iterable[tuple[str, str, Any]] = (),
    seasons: Iterable[Mapping[str, Any]] = (SEASON,),
) -> Path:
    """A home with one file of calls, one of prices, and its seasons."""
    write_csv(root / "inputs/calls/calls.csv", calls, CALL_COLUMNS)
    rows = [dict(zip(PRICE_COLUMNS, row, strict=True)) for row in prices]
    write_csv(root / "inputs/prices/prices.csv", rows, PRICE_COLUMNS)
    write_csv(root / "inputs/seasons.csv", seasons)
    return root


@contextlib.contextmanager
def open_store(home: Path, as_of: str = LATER, lock_wait: float = 60) -> Iterator[Store]:
    """The store as a run holds it."""
    store = Store(clock=RunClock(as_of=as_of))
    surroundings = {
        "AUGUR_HOME": str(home), "AUGUR_MEMORY_LIMIT": "2GiB", "AUGUR_THREADS": "1"
    }  # fmt: skip
    with (
        mock.patch.dict(os.environ, surroundings),
        # a test that opens the store twice must fail, not wait for itself
        mock.patch("augur_pipeline.store.resource.LOCK_WAIT_SECONDS", lock_wait),
        store.yield_for_execution(build_init_resource_context()) as opened,
    ):
        yield opened


def intake_night(store: Store) -> None:
    as_of = store.clock.reading()
    published = last_published(store.paths.database)
    refuse_lost_ledger(store.paths, published, traces_of(store.paths))
    refuse_backwards(as_of, published)
    policy = Policy.from_toml(store.paths.inputs / "policy.toml")
    start_run(store, as_of, policy, published)
    take_in(store)


def work_night(store: Store) -> None:
    """Every step of a night but the publication."""
    intake_night(store)
    seal_calls(store)
    select_eligible(store)
    settle_calls(store)
    for name in ("agent_season_brier", "season_scores"):
        store.run("augur_pipeline.scores", name)
    state_forecasts(store)
    diagnose(store)
    compare(store)
    store.run("augur_pipeline.exports.passports", "passports")


def compare(store: Store) -> None:
    """Benchmarks, comparisons, orientation, missing outcomes."""
    for step in (
        forecast_benchmarks,
        number_forecasts,
        measure_skill,
        compare_on_questions,
        compare_on_days,
        audit_orientation,
        count_missing,
        bound_brier,
        weigh_episodes,
    ):
        step(store)


def night(home: Path, as_of: str = LATER, lock_wait: float = 60) -> str:
    """One whole night; returns the content digest."""
    with open_store(home, as_of, lock_wait) as store:
        work_night(store)
        return publish(store)


def query(home: Path, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    """Rows of the published database."""
    with duckdb.connect(str(home / "augur.duckdb"), read_only=True) as connection:
        return connection.execute(sql, parameters).fetchall()


def table(home: Path, name: str, leave_out: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A published table as dicts, in its stored order."""
    with duckdb.connect(str(home / "augur.duckdb"), read_only=True) as connection:
        cursor = connection.execute(f"FROM {name}")
        names = [column[0] for column in cursor.description or []]
        return [
            {n: v for n, v in zip(names, row, strict=True) if n not in leave_out}
            for row in cursor.fetchall()
        ]


def fate_of(home: Path, call_id: str = "c1") -> tuple[str, str | None]:
    """Fate and reason of a sealed call."""
    ((fate, reason),) = query(
        home, "SELECT fate, reason FROM sealed_calls WHERE call_id = ?", [call_id]
    )
    return fate, reason


def jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def current_set(home: Path) -> str:
    """What the link says of the export set that belongs to the published database."""
    ((digest, as_of),) = query(home, "SELECT content_digest, as_of FROM run_info")
    return f"sets/{digest}-{as_of:%Y%m%dT%H%M%S%f}"
