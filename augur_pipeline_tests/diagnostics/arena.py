"""A ledger made by hand: the tables that the comparisons read, without landing files."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from augur_pipeline.store.resource import Store

EPOCH = dt.datetime(2024, 1, 1)

SCORED = pa.schema(
    [
        ("kind", pa.string()), ("cohort_id", pa.string()), ("forecaster_id", pa.string()),
        ("forecast_id", pa.string()), ("event_id", pa.string()), ("question_id", pa.string()),
        ("episode_id", pa.string()), ("status", pa.string()), ("probability", pa.float64()),
        ("outcome", pa.int32()), ("weight", pa.float64()), ("issued_at", pa.timestamp("us")),
        ("resolved_at", pa.timestamp("us")), ("model_version", pa.string()),
    ]
)  # fmt: skip
ELIGIBLE = pa.schema(
    [
        ("call_id", pa.string()), ("agent_id", pa.string()), ("season_id", pa.string()),
        ("pool_id", pa.string()), ("action", pa.string()), ("confidence", pa.float64()),
        ("horizon_hours", pa.float64()), ("reference_price", pa.float64()),
        ("decided_at", pa.timestamp("us")), ("due_at", pa.timestamp("us")),
    ]
)  # fmt: skip
OUTCOMES = pa.schema(
    [
        ("call_id", pa.string()), ("status", pa.string()), ("outcome", pa.int32()),
        ("price", pa.float64()), ("is_flat", pa.bool_()), ("squared_error", pa.float64()),
    ]
)  # fmt: skip


def at(days: float) -> dt.datetime:
    """So many days after the arena's beginning."""
    return EPOCH + dt.timedelta(microseconds=round(days * 86_400_000_000))


def call(**given: Any) -> dict[str, Any]:
    """One call: `agent`, `p`, `right` (None: no outcome), `question`, `block`, `action`, …"""
    made = {
        "cohort": "S1", "agent": "a", "p": 0.7, "right": 1, "question": None, "block": 0,
        "action": "buy", "pool": "P", "reference": 100.0, "is_flat": False, "days": 1.0,
        "due": None, "known": None, "status": None, "kind": "call", "weight": 1.0, "price": None,
        **given,
    }  # fmt: skip
    if made["status"] is None:
        made["status"] = "expired" if made["right"] is None else "resolved"
    return made


def _price(c: Mapping[str, Any]) -> float | None:
    if c["right"] is None:
        return None
    if c["price"] is not None:
        return float(c["price"])
    if c["is_flat"]:
        return float(c["reference"])
    return float(c["reference"]) + (1 if (c["action"] == "buy") == bool(c["right"]) else -1)


def fill(store: Store, calls: Iterable[Mapping[str, Any]]) -> None:
    """Make `scored_forecasts` with its `episode_numbers`, `eligible_calls`, `resolved_outcomes`."""
    scored, eligible, outcomes = [], [], []
    for number, c in enumerate(calls):
        name = f"c{number:06d}"
        due = at(c["days"] + 0.25) if c["due"] is None else c["due"]
        question = c["question"] or f"alone-{name}"
        known = None if c["right"] is None else (c["known"] or due)
        block = None if c["block"] is None else str(c["block"])
        scored.append(
            (
                c["kind"], c["cohort"], c["agent"], name, question, question, block, c["status"],
                c["p"], c["right"], c["weight"], at(c["days"]), known, None,
            )
        )  # fmt: skip
        eligible.append(
            (
                name, c["agent"], c["cohort"], c["pool"], c["action"], c["p"], 6.0, c["reference"],
                at(c["days"]), due,
            )
        )  # fmt: skip
        error = None if c["right"] is None else (c["p"] - c["right"]) * (c["p"] - c["right"])
        flat = None if c["right"] is None else c["is_flat"]
        outcomes.append((name, c["status"], c["right"], _price(c), flat, error))
    for table, schema, rows in (
        ("scored_forecasts", SCORED, scored),
        ("eligible_calls", ELIGIBLE, eligible),
        ("resolved_outcomes", OUTCOMES, outcomes),
    ):
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        made = pa.table(
            [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema
        )
        store.connection.register("arena", made)
        store.connection.execute(f"CREATE OR REPLACE TABLE {table} AS FROM arena")
        store.connection.unregister("arena")
    store.run("augur_pipeline.forecasts", "episode_numbers")


def rows_of(store: Store, table: str, order: str = "ALL") -> list[dict[str, Any]]:
    """A work table as dicts."""
    cursor = store.connection.execute(f"FROM {table} ORDER BY {order}")
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
