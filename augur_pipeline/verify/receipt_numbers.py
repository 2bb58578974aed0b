"""The auditor's own arithmetic of a receipt: every number in it once more, from its rows.

Shares nothing with what wrote the receipt but its words, so that a fault of the writer shows.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from augur_pipeline.arithmetic import (
    BINS,
    DAY_US,
    Tally,
    bin_of,
    block_days,
    decimal_text,
    due_at,
    iso,
    loss_of,
    micros,
    outcome_of,
    seal_of,
    seal_text,
    units_of,
)

Row = Mapping[str, Any]


def receipt_numbers(
    given: Mapping[str, Any],
    rows: Sequence[Row],
    rows_file: bytes,
    tally: Tally,
    scores: Mapping[str, Any],
) -> dict[str, Any]:
    """What the receipt must say, by the names it says it under; words are left out.

    given:  the receipt, for what it states: season, policy, benchmarks
    rows:   its rows, with everything derived computed anew
    tally:  what they add up to; scores: the same as a row of agent_season_brier
    """
    policy, bounds = given["policy"], given["season_bounds"]
    resolved = [row for row in rows if row["status"] == "resolved"]
    days = block_days(bounds["max_horizon_hours"], policy)
    in_episode = Counter(row["episode_id"] for row in resolved if row["episode_id"] is not None)
    in_bin = Counter(bin_of(row["confidence"]) for row in resolved)
    right = Counter(bin_of(row["confidence"]) for row in resolved if row["outcome"] == 1)
    policy_text = json.dumps(policy, sort_keys=True).encode("utf-8")
    return {
        "policy_digest": hashlib.sha256(policy_text).hexdigest(),
        "calls.sha256": hashlib.sha256(rows_file).hexdigest(),
        "calls.rows": len(rows),
        "left_out": [
            {"call_id": row["call_id"], "what": what, "reason": reason}
            for row in rows
            for what, reason in _left_out(row)
        ],
        "benchmarks": [
            _benchmark(number, rows, resolved) for number in range(1, len(given["benchmarks"]) + 1)
        ],
        "sum": decimal_text(tally.loss_units),
        "n": len(resolved),
        "mean": scores["brier"],
        "calibration": scores["calibration"],
        "agent_season_brier": dict(scores),
        "bins.counts": [
            {
                "bin": number,
                "lower": number / BINS,
                "upper": (number + 1) / BINS,
                "n": in_bin[number],
                "correct": right[number],
            }
            for number in range(BINS)
        ],
        "episodes.days": days,
        "episodes.without": len(resolved) - in_episode.total(),
        "episodes.counts": [
            {"episode_id": episode, "n": in_episode[episode]}
            for episode in sorted(in_episode, key=int)
        ],
        "worked.favourable": _worked(resolved, True, bounds, policy),
        "worked.unfavourable": _worked(resolved, False, bounds, policy),
    }


def stated_numbers(given: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The same of the receipt itself: what it says under those names."""
    stated: dict[str, Any] = {}
    for name in wanted:
        value: Any = given
        for step in name.split("."):
            value = value[step]
        stated[name] = value
    names = ("call_id", "what", "reason")
    stated["left_out"] = [{name: row[name] for name in names} for row in given["left_out"]]
    known = ("predictions", "undefined", "n_common", "sum_of_losses", "sum_of_benchmark_losses")
    stated["benchmarks"] = [{name: one[name] for name in known} for one in given["benchmarks"]]
    for name in ("worked.favourable", "worked.unfavourable"):
        if stated[name] is not None:
            results = [step["result"] for step in stated[name]["steps"]]
            stated[name] = {"call_id": stated[name]["call_id"], "results": results}
    return stated


def _left_out(row: Row) -> list[tuple[str, str]]:
    if row["standing"] != "eligible":
        return [(row["standing"], row["reason"])]
    reasons = {"expired": "no_price_in_window", "due_after_final": "due_after_final"}
    return [(row["status"], reasons[row["status"]])] if row["status"] in reasons else []


def _benchmark(number: int, rows: Sequence[Row], resolved: Sequence[Row]) -> dict[str, Any]:
    column = f"benchmark_{number}"
    common = [row for row in resolved if row[column] is not None]
    return {
        "predictions": len([row for row in rows if row[column] is not None]),
        "undefined": len([row for row in rows if row[f"{column}_undefined_reason"] is not None]),
        "n_common": len(common),
        "sum_of_losses": decimal_text(
            sum(units_of(loss_of(row["confidence"], row["outcome"])) for row in common)
        ),
        "sum_of_benchmark_losses": decimal_text(
            sum(units_of(loss_of(row[column], row["outcome"])) for row in common)
        ),
    }


def _worked(
    resolved: Sequence[Row], is_favourable: bool, bounds: Mapping[str, Any], policy: Row
) -> dict[str, Any] | None:
    """The first row of the least or the greatest loss, and the result of each of its steps."""
    row: Row | None = None
    for other in resolved:
        loss = loss_of(other["confidence"], other["outcome"])
        best = loss if row is None else loss_of(row["confidence"], row["outcome"])
        if row is None or (loss < best if is_favourable else loss > best):
            row = other
    if row is None:
        return None
    due = due_at(row, policy)
    assert due is not None
    outcome = outcome_of(row["action"], row["price"], row["reference_price"])
    loss = loss_of(row["confidence"], outcome)
    episode = "none"
    if row["horizon_hours"] <= bounds["max_horizon_hours"]:
        first = datetime.fromisoformat(bounds["starts_at"].removesuffix("Z"))
        days = micros(row["decided_at"]) // DAY_US - micros(first) // DAY_US
        episode = str(days // block_days(bounds["max_horizon_hours"], policy))
    return {
        "call_id": row["call_id"],
        "results": [
            seal_text(row),
            seal_of(row),
            f"{(due - row['decided_at']) // timedelta(microseconds=1)} µs",
            iso(due),
            iso(due + timedelta(hours=policy["window_hours"])),
            repr(row["price"]),
            str(outcome),
            repr(row["confidence"] - outcome),
            repr(loss),
            str(units_of(loss)),
            str(bin_of(row["confidence"])),
            episode,
        ],
    }
