"""The contract's arithmetic in plain Python: what `augur verify` holds published numbers against.

Nothing here comes from the SQL that made the numbers, nor from any other module of ours: the
standard library only, sums in exact integers. Times are whole microseconds since 1970 (int).
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Call = Mapping[str, Any]
"""Columns of a sealed call: numbers as float or None, times as naive UTC datetimes or None."""

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
UNITS = 10**18
"""The decimal rule counts in units of 1e-18."""

SEALED_FIELDS = (
    "call_id", "agent_id", "pool_id", "action", "decider", "confidence", "horizon_hours",
    "reference_price", "decided_at",
)  # fmt: skip
MISSING = ("missing_confidence", "missing_horizon", "missing_reference_price")
REJECTED = (
    "confidence_out_of_range", "horizon_not_positive", "horizon_too_long",
    "reference_price_not_positive", "sealed_late", "recorded_before_decided",
)  # fmt: skip

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def micros(instant: datetime) -> int:
    """Whole microseconds since 1970-01-01 UTC."""
    return (instant - _EPOCH) // _MICROSECOND


def instant_at(microseconds: int) -> datetime:
    """The naive UTC instant so many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)


def iso(instant: datetime) -> str:
    """An instant as all exports write it: ISO 8601 with Z."""
    return instant.isoformat() + "Z"


def instant_of(text: str) -> datetime:
    """The instant such a text gives; raises ValueError where it is not written that way."""
    instant = datetime.fromisoformat(text.removesuffix("Z"))
    if instant.tzinfo is not None or iso(instant) != text:
        raise ValueError(f"{text!r} is no time as exports write them")
    return instant


# --- the seal (contract §4) -----------------------------------------------------------------------


def seal_text(call: Call) -> str:
    """The canonical text of a call's sealed fields."""
    lines = ["augur-seal-1"]
    for name in SEALED_FIELDS:
        value = call[name]
        if value is None:
            value = call.get(f"{name}_text") or ""
        if isinstance(value, datetime):
            value = str(micros(value))
        elif isinstance(value, float):
            value = f"{value + 0.0:.17g}"  # adding 0 makes −0 a 0
        escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        lines.append(f"{name}={escaped}")
    return "\n".join(lines) + "\n"


def seal_of(call: Call) -> str:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(seal_text(call).encode("utf-8")).hexdigest()


def texts_of(call: Call) -> dict[str, Any]:
    """The `_text` columns as they must be: none where there is a number."""
    return {
        f"{name}_text": None if call[name] is not None else call[f"{name}_text"]
        for name in ("confidence", "horizon_hours", "reference_price")
    }


# --- times, fate, outcome (contract §3 to §5) -----------------------------------------------------


def horizon_us(call: Call, policy: Mapping[str, Any]) -> int | None:
    """The horizon in whole microseconds, half to even; None where there is no due time."""
    hours = call["horizon_hours"]
    if hours is None or not 0 <= hours <= policy["max_horizon_hours"]:
        return None
    whole = round(hours * 3.6e9)
    return whole if whole >= 1 else None


def due_at(call: Call, policy: Mapping[str, Any]) -> datetime | None:
    """decided_at + horizon."""
    horizon = horizon_us(call, policy)
    return None if horizon is None else call["decided_at"] + timedelta(microseconds=horizon)


def is_due_after_final(due: datetime, ends_at: datetime, max_horizon_hours: float) -> bool:
    """Due later than the season's end plus its horizon bound: in no score of the season."""
    return due > ends_at + timedelta(microseconds=round(max_horizon_hours * 3.6e9))


def is_backfilled(call: Call, due: datetime | None) -> bool:
    """First seen at or after its due time."""
    return due is not None and call["first_seen_as_of"] >= due


def reason_of(
    call: Call, due: datetime | None, is_in_season: bool, policy: Mapping[str, Any]
) -> str | None:
    """The first of the contract's tests 3 to 6 that applies; None: the call is eligible."""
    confidence, hours = call["confidence"], call["horizon_hours"]
    price, recorded = call["reference_price"], call["recorded_at"]
    if call["action"] == "hold":
        return "hold"
    if call["decider"] in ("protective_exit", "system"):
        return "not_own_decider"
    if call["confidence_text"] or (confidence is not None and not 0 <= confidence <= 1):
        return "confidence_out_of_range"
    if hours is not None and hours > policy["max_horizon_hours"]:
        return "horizon_too_long"
    if call["horizon_hours_text"] or (hours is not None and due is None):
        return "horizon_not_positive"
    if call["reference_price_text"] or (price is not None and price <= 0):
        return "reference_price_not_positive"
    if due is not None and (recorded or call["decided_at"]) >= due:
        return "sealed_late"
    if policy["backfill"] == "exclude" and is_backfilled(call, due):
        return "sealed_late"
    if recorded is not None and recorded < call["decided_at"]:
        return "recorded_before_decided"
    for name, reason in zip(
        ("confidence", "horizon_hours", "reference_price"), MISSING, strict=True
    ):
        if call[name] is None:
            return reason
    return None if is_in_season else "outside_season"


def fate_of(reason: str | None) -> str:
    """eligible, rejected or excluded."""
    if reason is None:
        return "eligible"
    return "rejected" if reason in REJECTED else "excluded"


def standing_of(reason: str | None) -> str | None:
    """A directional call's part in its agent-season: eligible, rejected, missing; else None."""
    if reason is None:
        return "eligible"
    if reason in REJECTED:
        return "rejected"
    return "missing" if reason in MISSING else None


def outcome_of(action: str, price: float, reference: float) -> int:
    """1 right, 0 wrong; equal is wrong for both directions."""
    return int(price > reference) if action == "buy" else int(price < reference)


def status_of(
    due: datetime,
    price: float | None,
    settled_at: datetime | None,
    as_of: datetime,
    is_after_final: bool,
) -> str:
    """pending, open, resolved, expired or due_after_final."""
    if is_after_final:
        return "due_after_final"
    if price is not None:
        return "resolved"
    if settled_at is not None:
        return "expired"
    return "pending" if as_of < due else "open"


def settlement_fault(
    due: datetime,
    price: float | None,
    price_recorded_at: datetime | None,
    settled_at: datetime | None,
    as_of: datetime,
    policy: Mapping[str, Any],
) -> str | None:
    """What of a call's times breaks the contract's §5; None where all is well."""
    expires = due + timedelta(hours=policy["expiry_hours"])
    if (price is None) != (price_recorded_at is None):
        return "a price and its time stand together or not at all"
    if settled_at is None:
        if price is not None:
            return "a price without a settlement"
        return "neither settled nor expired in time" if as_of >= expires else None
    if settled_at > as_of:
        return "settled after as_of"
    if price_recorded_at is None:
        return "expired early" if settled_at < expires else None
    if not due <= price_recorded_at <= due + timedelta(hours=policy["window_hours"]):
        return "the price lies outside the window"
    return "settled before the price was recorded" if price_recorded_at > settled_at else None


def loss_of(confidence: float, outcome: int) -> float:
    """The squared error, an IEEE product."""
    return (confidence - outcome) * (confidence - outcome)


# --- sums and scores (contract §6) ----------------------------------------------------------------


def units_of(value: float) -> int:
    """A double in units of 1e-18: the IEEE product value × 1e18, halves away from zero."""
    product = value * 1e18
    size = abs(product)
    whole = math.floor(size)
    if size - whole >= 0.5:  # exact: from 2^53 on a double has no fraction
        whole += 1
    return whole if product >= 0 else -whole


def double_of(units: int) -> float:
    """units ÷ 10^18 as the nearest double (Python's int division rounds correctly)."""
    return units / UNITS


def decimal_text(units: int) -> str:
    """An exact sum with its eighteen decimals."""
    sign, size = ("-", -units) if units < 0 else ("", units)
    return f"{sign}{size // UNITS}.{size % UNITS:018d}"


@dataclass
class Tally:
    """What is counted and summed over an agent's directional calls of one season."""

    directional: int = 0
    eligible: int = 0
    rejected: int = 0
    missing: int = 0
    refused: int = 0
    backfilled: int = 0
    pending: int = 0
    open: int = 0
    resolved: int = 0
    expired: int = 0
    due_after_final: int = 0
    correct: int = 0
    flat: int = 0
    loss_units: int = 0
    confidence_units: int = 0

    def count(self, standing: str, call: Call, status: str | None) -> None:
        """Count one directional call; `call` has order_status and is_backfilled."""
        self.directional += 1
        setattr(self, standing, getattr(self, standing) + 1)
        if standing == "eligible":
            self.refused += call["order_status"] == "refused"
            self.backfilled += call["is_backfilled"]
            assert status is not None
            setattr(self, status, getattr(self, status) + 1)

    def add(self, confidence: float, outcome: int, is_flat: bool) -> None:
        """Add one resolved call to the sums."""
        self.correct += outcome
        self.flat += is_flat
        self.loss_units += units_of(loss_of(confidence, outcome))
        self.confidence_units += units_of(confidence)

    def scores(
        self, policy: Mapping[str, Any], as_of: datetime, ends_at: datetime
    ) -> dict[str, Any]:
        """The row of agent_season_brier, without its key."""
        n = self.resolved
        brier = double_of(self.loss_units) / n if n else None
        skill = None if brier is None else 1 - brier / policy["brier_reference"]
        is_measured = n >= policy["min_resolved"]
        return {
            "directional_calls": self.directional,
            "eligible_calls": self.eligible,
            "rejected_calls": self.rejected,
            "missing_calls": self.missing,
            "refused_calls": self.refused,
            "backfilled_calls": self.backfilled,
            "pending_calls": self.pending,
            "open_calls": self.open,
            "resolved_calls": n,
            "expired_calls": self.expired,
            "due_after_final": self.due_after_final,
            "correct_calls": self.correct,
            "flat_calls": self.flat,
            "coverage": self.eligible / self.directional,
            "hit_rate": self.correct / n if n else None,
            "mean_confidence": double_of(self.confidence_units) / n if n else None,
            "brier": brier,
            "skill": skill,
            "calibration": max(0.0, min(1.0, skill)) * 100
            if is_measured and skill is not None
            else None,
            "calibration_status": "measured" if is_measured else "waiting",
            "calls_needed": max(0, policy["min_resolved"] - n),
            "is_final": as_of >= ends_at and self.pending + self.open == 0,
        }


def season_score(terms: Mapping[str, tuple[float, float | None]]) -> dict[str, Any]:
    """The row of season_scores, without its key, of the terms `{term: (weight, value)}`.

    Σ w·v ÷ Σ w, kept within the least and greatest v: a mean never leaves its values by rounding.
    """
    measured = {
        term: (weight, value)
        for term, (weight, value) in sorted(terms.items())
        if value is not None
    }
    weight_sum = double_of(sum(units_of(weight) for weight, _ in measured.values()))
    score = None
    if measured:
        values = [value for _, value in measured.values()]
        mean = double_of(sum(units_of(w * v) for w, v in measured.values())) / weight_sum
        score = max(min(values), min(max(values), mean))
    return {
        "score": score,
        "measured_terms": list(measured),
        "waiting_terms": sorted(set(terms) - set(measured)),
        "effective_weights": {term: w / weight_sum for term, (w, _) in measured.items()},
    }


# --- bins and episodes (verification §2, §5) ------------------------------------------------------

BINS = 10


def bin_of(probability: float) -> int:
    """Number of the equal-width bin: the last k with k/K ≤ p, the last bin closed."""
    number = BINS - 1
    while number > 0 and probability < number / BINS:
        number -= 1
    return number


def block_days(max_horizon_hours: float, policy: Mapping[str, Any]) -> int:
    """Length of a season's episodes: twice the horizon bound and the window, in whole days."""
    window_us: int = policy["window_hours"] * HOUR_US
    return math.ceil(2 * (max_horizon_hours * 3.6e9 + window_us) / 86.4e9)


def episode_of(
    call: Call, starts_at: datetime, max_horizon_hours: float, policy: Mapping[str, Any]
) -> str | None:
    """The block of days a call was decided in; None beyond the horizon bound."""
    if call["horizon_hours"] > max_horizon_hours:
        return None
    first_midnight = starts_at.replace(hour=0, minute=0, second=0, microsecond=0)
    block_us = block_days(max_horizon_hours, policy) * DAY_US
    return str((micros(call["decided_at"]) - micros(first_midnight)) // block_us)


def same(left: Any, right: Any) -> bool:
    """Equal to the bit: of one type, and doubles with the same sign and digits."""
    if type(left) is not type(right):
        return False
    # doubles, and lists and objects of them: −0 is not 0 here
    return (
        bool(left == right) if isinstance(left, (str, int, datetime)) else repr(left) == repr(right)
    )
