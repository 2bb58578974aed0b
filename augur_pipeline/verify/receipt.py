"""Verifying one receipt with its row file and nothing else: no database, no SQL, no numpy.

Every row is recomputed from its sealed fields, its price and its times, and from the recomputed
rows every number of the receipt. Then it is written anew, for its words, and compared leaf by leaf.
"""

import hashlib
import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from augur_pipeline.arithmetic import (
    Tally,
    bin_of,
    decimal_text,
    due_at,
    episode_of,
    instant_of,
    is_backfilled,
    is_due_after_final,
    loss_of,
    outcome_of,
    reason_of,
    seal_of,
    settlement_fault,
    standing_of,
    status_of,
    texts_of,
)
from augur_pipeline.errors import AugurError
from augur_pipeline.exports.receipts.layout import (
    RECEIPT_VERSION,
    Facts,
    Row,
    benchmark_columns,
    digests_of,
    document,
    read_rows,
    receipt_bytes,
    rows_name,
)
from augur_pipeline.policy import Policy
from augur_pipeline.verify.findings import Findings
from augur_pipeline.verify.receipt_numbers import receipt_numbers, stated_numbers

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COIN_FLIP = 0.5


class NoReceiptError(AugurError):
    """A receipt or its row file cannot be read as one."""


def verify_receipt(path: Path, findings: Findings, place: str = "") -> None:
    """Check one receipt and the row file beside it; differences go to `findings`.

    place: how to name the receipt in a difference; its path where empty. Raises `NoReceiptError`.
    """
    place = place or str(path)
    raw = _read(path)
    try:
        given = json.loads(raw.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_unique)
        stated, actual = digests_of(raw)
        facts = _facts(given, path)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NoReceiptError(f"{path}: is no receipt: {_why(error)}") from error
    if stated != actual:
        findings.add(place, "", "receipt_digest", stated, actual)

    rows_path = path.with_name(facts.rows_file)
    rows_place = f"{place.removesuffix(path.name)}{rows_path.name}"
    content = _read(rows_path)
    try:
        rows = read_rows(content, len(facts.benchmarks))
    except (ValueError, OverflowError) as error:
        raise NoReceiptError(f"{rows_path}: is no row file: {_why(error)}") from error

    try:
        recomputed, tally = _recompute(facts, rows, findings, rows_place)
        scores = tally.scores(facts.policy, facts.as_of, facts.ends_at)
        expected = document(
            facts,
            recomputed,
            hashlib.sha256(content).hexdigest(),
            decimal_text(tally.loss_units),
            scores,
        )
        numbers = receipt_numbers(given, recomputed, content, tally, scores)
        stated_there = stated_numbers(given, numbers)
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise NoReceiptError(f"{path}: cannot be recomputed: {_why(error)}") from error
    _check_policy(facts, findings, place)
    before = findings.found
    findings.compare_trees(place, "", stated_there, numbers)
    if findings.found == before:
        # the words, and how all of it is written
        findings.compare_trees(place, "", {**given, "receipt_digest": ""}, expected)
    if findings.found == before and raw != receipt_bytes(expected):
        findings.add(place, "", "bytes", "the same values, written otherwise", "as receipts are")
    findings.checked["receipts"] += 1
    findings.checked["receipt rows"] += len(rows)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NoReceiptError(f"{path}: cannot be read ({error.strerror}); put it back") from error


def _why(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _facts(given: Any, path: Path) -> Facts:
    """What the receipt states and its rows do not tell; raises where it is no receipt."""
    if not isinstance(given, dict):
        raise ValueError("it is no JSON object")
    try:
        json.dumps(given, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("a text holds half a character (a lone surrogate)") from error
    if given["receipt_version"] != RECEIPT_VERSION:
        raise ValueError(f"receipt_version {given['receipt_version']!r} is not known here")
    bounds, policy = given["season_bounds"], given["policy"]
    bound = bounds["max_horizon_hours"]
    if type(bound) is not float or not bound > 0:
        raise ValueError("season_bounds.max_horizon_hours is no positive number")
    numbers = ("window_hours", "expiry_hours", "max_horizon_hours", "brier_reference")
    for name in (*numbers, "min_resolved"):
        if type(policy[name]) not in (int, float) or not policy[name] > 0:
            raise ValueError(f"policy.{name} is no positive number")
    for name, digest in given["inputs"].items():
        if digest is not None and not _SHA256.fullmatch(digest):
            raise ValueError(f"the digest of {name} is none")
    if not all(isinstance(version, str) for version in given["versions"].values()):
        raise ValueError("a version is no text")
    facts = Facts(
        season=_text(given["season"]),
        agent=_text(given["agent"]),
        as_of=instant_of(given["as_of"]),
        starts_at=instant_of(bounds["starts_at"]),
        ends_at=instant_of(bounds["ends_at"]),
        max_horizon_hours=bound,
        policy=policy,
        versions=given["versions"],
        inputs=given["inputs"],
        rows_file=rows_name(path.stem),
        benchmarks=[
            (_text(one["benchmark_id"]), _text(one["version"])) for one in given["benchmarks"]
        ],
    )
    if not facts.starts_at < facts.ends_at:
        raise ValueError("the season does not end after its start")
    return facts


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no text")
    return value


def _check_policy(facts: Facts, findings: Findings, place: str) -> None:
    """The numbers of a policy version are fixed; only its choices are a home's."""
    known = json.loads(Policy().to_json())
    if facts.policy.get("version") == known["version"]:
        fixed = {n: v for n, v in known.items() if n != "backfill" and n in facts.policy}
        for name, value in fixed.items():
            if facts.policy[name] != value:
                findings.add(place, "", f"policy.{name}", facts.policy[name], value)


def _recompute(
    facts: Facts, rows: list[Row], findings: Findings, place: str
) -> tuple[list[Row], Tally]:
    """The rows with everything derived computed anew, and what they add up to."""
    tally = Tally()
    recomputed = []
    call_ids = [row["call_id"] for row in rows]
    if any(not call_id for call_id in call_ids):
        raise ValueError("a row has no call_id")
    if call_ids != sorted(set(call_ids)):
        findings.add(place, "", "call_id", "unsorted or repeated", "sorted, each once")
    for row in rows:
        key = f"call_id={row['call_id']}"
        new = {**row, **recomputed_row(facts, row)}
        findings.compare(place, key, row, new)
        if new["standing"] is None:
            findings.add(place, key, "standing", row["standing"], "no directional call")
            continue
        if not facts.starts_at <= row["decided_at"] < facts.ends_at:
            findings.add(place, key, "decided_at", row["decided_at"], "inside the season")
        if row["first_seen_as_of"] > facts.as_of:
            findings.add(place, key, "first_seen_as_of", row["first_seen_as_of"], "up to as_of")
        fault = _settlement_fault(facts, new)
        if fault:
            findings.add(place, key, "settled_at", row["settled_at"], fault)
        for number, (benchmark_id, _) in enumerate(facts.benchmarks, start=1):
            (column, _), (reason, _) = benchmark_columns(number)
            _check_prediction(benchmark_id, row[column], row[reason], findings, place, key, column)
        tally.count(new["standing"], new, new["status"])
        if new["status"] == "resolved":
            tally.add(new["confidence"], new["outcome"], new["is_flat"])
        recomputed.append(new)
    return recomputed, tally


def recomputed_row(facts: Facts, row: Row) -> Row:
    """All columns of a row that follow from others."""
    policy = facts.policy
    due = due_at(row, policy)
    reason = reason_of(row, due, True, policy)
    standing = standing_of(reason)
    new: Row = {
        "agent_id": facts.agent,
        **texts_of(row),
        "seal": seal_of(row),
        "is_backfilled": is_backfilled(row, due),
        "standing": standing,
        "reason": reason,
        "due_at": due,
        **dict.fromkeys(("window_closes_at", "expires_at", "status", "outcome", "is_flat")),
        **dict.fromkeys(("loss", "bin", "episode_id")),
    }
    if standing != "eligible":
        return {**new, **dict.fromkeys(("price", "price_recorded_at", "settled_at"))}
    assert due is not None
    is_after_final = is_due_after_final(due, facts.ends_at, facts.max_horizon_hours)
    if is_after_final:
        new |= dict.fromkeys(("price", "price_recorded_at", "settled_at"))
    price = new.get("price", row["price"])
    new |= {
        "window_closes_at": _later(due, policy["window_hours"]),
        "expires_at": _later(due, policy["expiry_hours"]),
        "status": status_of(due, price, row["settled_at"], facts.as_of, is_after_final),
        "bin": bin_of(row["confidence"]),
        "episode_id": episode_of(row, facts.starts_at, facts.max_horizon_hours, policy),
    }
    if price is not None:
        outcome = outcome_of(row["action"], price, row["reference_price"])
        new |= {
            "outcome": outcome,
            "is_flat": price == row["reference_price"],
            "loss": loss_of(row["confidence"], outcome),
        }
    return new


def _later(instant: datetime, hours: float) -> datetime:
    return instant + timedelta(hours=hours)


def _settlement_fault(facts: Facts, row: Row) -> str | None:
    if row["standing"] != "eligible" or row["status"] == "due_after_final":
        return None
    times = (row["due_at"], row["price"], row["price_recorded_at"], row["settled_at"])
    return settlement_fault(*times, facts.as_of, facts.policy)


def _check_prediction(
    benchmark_id: str,
    prediction: float | None,
    reason: str | None,
    findings: Findings,
    place: str,
    key: str,
    column: str,
) -> None:
    if prediction is None:
        return
    if reason is not None:
        findings.add(place, key, column, prediction, f"none, for {reason}")
    if benchmark_id == "coin_flip" and prediction != _COIN_FLIP:
        findings.add(place, key, column, prediction, _COIN_FLIP)
    if not 0 <= prediction <= 1:
        findings.add(place, key, column, prediction, "in [0, 1]")
