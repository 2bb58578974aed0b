"""What a receipt and its row file hold, and how they are read and written.

The row file's columns from call_id to loss are written by SQL: `receipt_rows` and `receipt_cells`.

Standard library only, so that a receipt can be verified where nothing else is installed.
"""

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from augur_pipeline.arithmetic import (
    BINS,
    DAY_US,
    block_days,
    decimal_text,
    horizon_us,
    instant_of,
    iso,
    micros,
    seal_text,
    units_of,
)

RECEIPT_VERSION = "2"
CONVENTION = (
    "Brier score, binary convention: 0 best, 1 worst. The forecast is the stated confidence that "
    "the call proves right, the outcome is 1 right or 0 wrong."
)
STATEMENT = (
    "Scores say how good the stated probabilities were; they say nothing about profit, execution "
    "or tool use."
)

COLUMNS: tuple[tuple[str, str], ...] = (
    # the sealed fields; `_text` is what was given where it is no number
    ("call_id", "text"),
    ("agent_id", "text"),
    ("pool_id", "text"),
    ("action", "text"),
    ("decider", "text"),
    ("confidence", "number"),
    ("confidence_text", "text"),
    ("horizon_hours", "number"),
    ("horizon_hours_text", "text"),
    ("reference_price", "number"),
    ("reference_price_text", "text"),
    ("decided_at", "time"),
    ("seal", "text"),
    # what decides the call's standing
    ("recorded_at", "time"),
    ("order_status", "text"),
    ("first_seen_as_of", "time"),
    ("is_backfilled", "flag"),
    ("standing", "text"),
    ("reason", "text"),
    # the outcome
    ("due_at", "time"),
    ("window_closes_at", "time"),
    ("expires_at", "time"),
    ("status", "text"),
    ("price", "number"),
    ("price_recorded_at", "time"),
    ("settled_at", "time"),
    ("outcome", "count"),
    ("is_flat", "flag"),
    ("loss", "number"),
    ("bin", "count"),
    ("episode_id", "text"),
)
"""Columns of a row file and what each holds; the benchmarks' columns follow."""

Row = dict[str, Any]
Benchmark = tuple[str, str]
"""A benchmark's id and version."""

_QUOTED = re.compile(r'[",\r\n]')
_DIGEST = re.compile(rb'"receipt_digest": "([0-9a-f]{64})"')


@dataclass(frozen=True)
class Facts:
    """What a receipt states that its rows do not tell."""

    season: str
    agent: str
    as_of: datetime
    starts_at: datetime
    ends_at: datetime
    max_horizon_hours: float
    policy: Mapping[str, Any]
    versions: Mapping[str, str]
    inputs: Mapping[str, str | None]
    rows_file: str
    benchmarks: Sequence[Benchmark]


# --- the row file ---------------------------------------------------------------------------------


def rows_name(receipt: str) -> str:
    """Name of the row file beside a receipt, whose name is given without suffix."""
    return f"{receipt}.rows.csv"


def benchmark_columns(number: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two columns of the receipt's benchmark of that number, counted from 1."""
    name = f"benchmark_{number}"
    return (name, "number"), (f"{name}_undefined_reason", "text")


def columns_with(benchmarks: int) -> list[tuple[str, str]]:
    """All columns of a row file with so many benchmarks."""
    more = [pair for n in range(1, benchmarks + 1) for pair in benchmark_columns(n)]
    return [*COLUMNS, *more]


_FORMATS: dict[type, Callable[[Any], str]] = {
    str: str,
    float: repr,
    int: str,
    bool: lambda value: "true" if value else "false",
    datetime: iso,
    type(None): lambda _: "",
}


def cell(value: Any) -> str:
    """A value as the row file holds it; None is empty, a double its shortest exact text."""
    return _FORMATS[type(value)](value)


def value_of(kind: str, text: str) -> Any:
    """The value of a cell; raises ValueError where it is not written as `cell` writes it."""
    if not text:
        return None
    value: Any = text
    if kind == "number":
        value = float(text)
    elif kind == "count":
        value = int(text)
    elif kind == "time":
        value = instant_of(text)
    elif kind == "flag":
        value = text == "true"
    if cell(value) != text:
        raise ValueError(f"{text!r} is no {kind} as receipts write it")
    return value


def field_text(value: Any) -> str:
    """A value as a field of the row file: its cell, quoted where it must be (RFC 4180)."""
    text = cell(value)
    return f'"{text.replace(chr(34), 2 * chr(34))}"' if _QUOTED.search(text) else text


def rows_bytes(benchmarks: int, lines: Iterable[str]) -> bytes:
    """The row file: RFC 4180, UTF-8. `lines` hold the fields of a row each."""
    header = ",".join(name for name, _ in columns_with(benchmarks))
    return "".join(f"{line}\r\n" for line in (header, *lines)).encode("utf-8")


def read_rows(content: bytes, benchmarks: int) -> list[Row]:
    """The rows of a row file; raises ValueError where it is none."""
    columns = columns_with(benchmarks)
    limit = csv.field_size_limit(sys.maxsize)
    try:
        lines = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    finally:
        csv.field_size_limit(limit)
    if not lines or lines[0] != [name for name, _ in columns]:
        raise ValueError("its header is not that of a row file with these benchmarks")
    rows = []
    for number, line in enumerate(lines[1:], start=1):
        if len(line) != len(columns):
            raise ValueError(f"row {number} has {len(line)} fields, not {len(columns)}")
        try:
            rows.append({n: value_of(k, t) for (n, k), t in zip(columns, line, strict=True)})
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from error
    return rows


# --- the receipt ----------------------------------------------------------------------------------


def document(
    facts: Facts, rows: Sequence[Row], rows_sha256: str, loss_sum: str, scores: Mapping[str, Any]
) -> dict[str, Any]:
    """The receipt of these rows, its digest still empty.

    loss_sum: the exact sum of the resolved rows' losses, with eighteen decimals.
    scores:   the agent's row of agent_season_brier, without its key.
    """
    policy = facts.policy
    policy_text = json.dumps(policy, sort_keys=True)
    resolved = [row for row in rows if row["status"] == "resolved"]
    days = block_days(facts.max_horizon_hours, policy)
    return {
        "receipt_version": RECEIPT_VERSION,
        "season": facts.season,
        "agent": facts.agent,
        "as_of": iso(facts.as_of),
        "season_bounds": {
            "starts_at": iso(facts.starts_at),
            "ends_at": iso(facts.ends_at),
            "max_horizon_hours": facts.max_horizon_hours,
            "rule": "half-open, by decided_at; a call due later than ends_at + max_horizon_hours "
            "is due_after_final: counted, in no score",
        },
        "policy": dict(policy),
        "policy_digest": hashlib.sha256(policy_text.encode("utf-8")).hexdigest(),
        "convention": CONVENTION,
        "statement": STATEMENT,
        "scaling": (
            f"calibration = 100 × skill clamped to [0, 1], skill = 1 − mean ÷ "
            f"{policy['brier_reference']!r}; null below {policy['min_resolved']} resolved calls"
        ),
        "weights": "none",
        "calls": {
            "file": facts.rows_file,
            "sha256": rows_sha256,
            "rows": len(rows),
            "grain": "one directional call: eligible, rejected (contract §4, test 4) or missing "
            "a value (test 5); sorted by call_id",
            "seal": "SHA-256 of the lines augur-seal-1 and name=value of call_id to decided_at, "
            "numbers as %.17g of the double or else as given, times in microseconds since 1970",
        },
        "label": (
            "outcome 1: a buy whose price is above its reference price, a sell whose price is "
            "below; else 0, equal included (is_flat)"
        ),
        "price": (
            f"the first usable price of the call's pool in [due_at, due_at + "
            f"{policy['window_hours']} h]; price_recorded_at: when it became available; "
            "settled_at: as_of of the run that settled the call by it"
        ),
        "left_out": [_left_out(row) for row in rows if _why_left_out(row)],
        "benchmarks": [
            _benchmark(number, benchmark, rows)
            for number, benchmark in enumerate(facts.benchmarks, start=1)
        ],
        "losses": {
            "column": "loss",
            "rule": "(confidence − outcome)², an IEEE double; the sum takes each × 1e18 rounded "
            "to a whole number, halves away from zero, and is exact from there",
        },
        "sum": loss_sum,
        "n": scores["resolved_calls"],
        "mean": scores["brier"],
        "calibration": scores["calibration"],
        "agent_season_brier": dict(scores),
        "bins": {
            "rule": f"equal width: bin k of {BINS} holds k/{BINS} ≤ confidence < (k+1)/{BINS}, "
            "the last bin 1 too; counts are of resolved calls",
            "counts": [_bin(number, resolved) for number in range(BINS)],
        },
        "episodes": {
            "rule": f"blocks of {days} days from the season's first 00:00 UTC, all pools "
            "together: twice (horizon bound + window), in whole days; a call with a longer "
            "horizon has none. Counts are of resolved calls",
            "days": days,
            "without": sum(row["episode_id"] is None for row in resolved),
            "counts": _episode_counts(resolved),
        },
        "versions": dict(facts.versions),
        "inputs": dict(facts.inputs),
        "worked": {name: _worked(facts, row) for name, row in worked_rows(rows).items()},
        "receipt_digest": "",
    }


_LEFT_OUT = {"expired": "no_price_in_window", "due_after_final": "due_after_final"}
"""Statuses of eligible calls that leave the denominator for good, and why."""


def _why_left_out(row: Row) -> str | None:
    if row["standing"] != "eligible":
        return str(row["reason"])
    return _LEFT_OUT.get(row["status"])


def _left_out(row: Row) -> dict[str, Any]:
    is_eligible = row["standing"] == "eligible"
    return {
        "call_id": row["call_id"],
        "what": row["status"] if is_eligible else row["standing"],
        "reason": _why_left_out(row),
        "counts_as_directional": True,
        "counts_as_eligible": is_eligible,
        "counts_in_mean": False,
    }


def _benchmark(number: int, benchmark: Benchmark, rows: Sequence[Row]) -> dict[str, Any]:
    (column, _), (reason, _) = benchmark_columns(number)
    common = [r for r in rows if r["status"] == "resolved" and r[column] is not None]
    theirs = sum(units_of((r[column] - r["outcome"]) * (r[column] - r["outcome"])) for r in common)
    return {
        "benchmark_id": benchmark[0],
        "version": benchmark[1],
        "column": column,
        "predictions": sum(row[column] is not None for row in rows),
        "undefined": sum(row[reason] is not None for row in rows),
        "n_common": len(common),
        "sum_of_losses": decimal_text(sum(units_of(row["loss"]) for row in common)),
        "sum_of_benchmark_losses": decimal_text(theirs),
    }


def _bin(number: int, resolved: Sequence[Row]) -> dict[str, Any]:
    inside = [row for row in resolved if row["bin"] == number]
    return {
        "bin": number,
        "lower": number / BINS,
        "upper": (number + 1) / BINS,
        "n": len(inside),
        "correct": sum(row["outcome"] for row in inside),
    }


def _episode_counts(resolved: Sequence[Row]) -> list[dict[str, Any]]:
    counts: dict[str, int] = {}
    for row in resolved:
        if row["episode_id"] is not None:
            counts[row["episode_id"]] = counts.get(row["episode_id"], 0) + 1
    numbered = sorted(counts.items(), key=lambda item: int(item[0]))
    return [{"episode_id": episode, "n": n} for episode, n in numbered]


def worked_rows(rows: Sequence[Row]) -> dict[str, Row | None]:
    """The resolved rows of the least and the greatest loss; the first of equals."""
    resolved = [row for row in rows if row["status"] == "resolved"]
    return {
        "favourable": min(resolved, key=itemgetter("loss"), default=None),
        "unfavourable": max(resolved, key=itemgetter("loss"), default=None),
    }


def _worked(facts: Facts, row: Row | None) -> dict[str, Any] | None:
    """A resolved row, worked out step by step."""
    if row is None:
        return None
    policy = facts.policy
    horizon = horizon_us(row, policy)
    assert horizon is not None
    due = row["decided_at"] + timedelta(microseconds=horizon)
    closes = due + timedelta(hours=policy["window_hours"])
    confidence, outcome, price = row["confidence"], row["outcome"], row["price"]
    reference = row["reference_price"]
    sign = "=" if price == reference else (">" if price > reference else "<")
    difference = confidence - outcome
    days = micros(row["decided_at"]) // DAY_US - micros(facts.starts_at) // DAY_US
    length = block_days(facts.max_horizon_hours, policy)
    return {
        "call_id": row["call_id"],
        "steps": [
            {"step": "canonical text of the sealed fields", "result": seal_text(row)},
            {"step": "seal: SHA-256 of that text", "result": row["seal"]},
            {
                "step": f"horizon: {row['horizon_hours']!r} h × 3600000000, half to even",
                "result": f"{horizon} µs",
            },
            {"step": f"due: {iso(row['decided_at'])} + horizon", "result": iso(due)},
            {"step": f"window closes: due + {policy['window_hours']} h", "result": iso(closes)},
            {
                "step": "first usable price in the window: recorded "
                f"{cell(row['price_recorded_at'])}",
                "result": cell(price),
            },
            {
                "step": f"outcome of {row['action']}: {price!r} {sign} reference {reference!r}",
                "result": str(outcome),
            },
            {
                "step": f"confidence − outcome: {confidence!r} − {outcome}",
                "result": repr(difference),
            },
            {"step": "loss: its square", "result": repr(difference * difference)},
            {
                "step": "loss in units of 1e-18, as it is summed",
                "result": str(units_of(difference * difference)),
            },
            {"step": f"bin: the last k with k/{BINS} ≤ {confidence!r}", "result": str(row["bin"])},
            {
                "step": f"episode: whole days since the season's first 00:00 UTC: "
                f"{days}, ÷ {length}, rounded down; none beyond {facts.max_horizon_hours!r} h",
                "result": cell(row["episode_id"]) or "none",
            },
        ],
    }


def receipt_bytes(content: Mapping[str, Any]) -> bytes:
    """The receipt file: the document with the digest of its own bytes."""
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    raw = text.encode("utf-8")
    digest = hashlib.sha256(raw).hexdigest().encode("ascii")
    head, field, tail = raw.rpartition(b'"receipt_digest": "')
    return head + field + digest + tail


def digests_of(raw: bytes) -> tuple[str, str]:
    """The digest a receipt file states, and the one its bytes have with that field empty.

    Raises ValueError where it states none, or more than one.
    """
    found = list(_DIGEST.finditer(raw))
    if len(found) != 1:
        raise ValueError("it has no receipt_digest of 64 hexadecimal digits, or several")
    start, end = found[0].span(1)
    return (
        found[0].group(1).decode("ascii"),
        hashlib.sha256(raw[:start] + raw[end:]).hexdigest(),
    )
