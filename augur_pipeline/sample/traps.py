"""The trap files of a sample: a few rows for every fate and reason of the contract (§3, §4).

Hand-written and the same at any size. Every well-formed row carries an extra column `note`, which
intake ignores, with the fate (and reason, or status and outcome) that the contract gives it, seen
from any as_of between 2025 and 2198. The rows that are no records stand last in their file.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

# A good call on a pool whose price is 100 + h at every full hour h of 2024-01-02: a buy comes
# right. Each trap says what differs from it.
GOOD_CALL = {
    "agent_id": "trap-agent",
    "pool_id": "trap-steady",
    "action": "buy",
    "decider": "llm",
    "confidence": "0.7",
    "horizon_hours": "1",
    "reference_price": "102",
    "decided_at": "2024-01-02T02:30:00Z",
}
ODD_IDS = (
    'he said "buy", twice',
    "line\nbreak",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a/b\\c",
    "..",
    "CON",
    "%2e%2e%2f",
    "'; DROP TABLE sealed_calls; --",
    "=1+1",
    "\x1b[31mred\x1b[0m",
    "агент π 🙂",
    "Trap-Agent",  # another agent than trap-agent, also on file systems that fold case
    "long-" + "x" * 295,  # longer than a file name may be
)
ODD_POOL = '../"trap"\npool'
RIGHT, WRONG, EXPIRED = "eligible resolved 1", "eligible resolved 0", "eligible expired"
BAD_CONFIDENCE = "rejected confidence_out_of_range"
BAD_PRICE = "rejected reference_price_not_positive"
Trap = tuple[str, dict[str, str]]


def trap_calls() -> list[Trap]:
    """(note, what differs from GOOD_CALL) for each well-formed row of calls/traps.csv, in order."""
    two = "2024-01-02T"
    zeros = dict.fromkeys(("confidence", "horizon_hours", "reference_price"), "0")
    minus = dict.fromkeys(zeros, "-0.0")
    edge = {"pool_id": "trap-edge", "reference_price": "100"}
    conflict = {"pool_id": "trap-conflict", "reference_price": "100"}
    question = {"question_id": "trap-question"}
    hourly = [
        {"decided_at": f"{two}{h:02d}:30:00Z", "reference_price": str(100 + h)} for h in range(6)
    ]
    # fmt: off
    traps: list[Trap] = [
        # One call, again in other words, and again with another value.
        (RIGHT, {"call_id": "trap-good", "model_version": "model-1.0", "mandate_id": "mandate-1"}),
        ("duplicate", {"call_id": " trap-good\t", "action": " BUY ", "confidence": "+.70e0",
                       "decided_at": "2024-01-02t04:30:00.0000009+02:00",
                       "order_status": "refused"}),
        ("rejected restated", {"call_id": "trap-good", "confidence": "0.71"}),
        # The sealed one stands, also when it counts for nothing.
        (BAD_CONFIDENCE, {"call_id": "trap-percent", "confidence": "80"}),
        ("rejected restated", {"call_id": "trap-percent", "confidence": "0.80"}),
        ("excluded hold", {"call_id": "trap-hold", "action": "hold", **zeros}),
        ("duplicate", {"call_id": "trap-hold", "action": "hold", **minus}),
        ("rejected restated", {"call_id": "trap-hold", "action": "sell", **zeros}),
        ("not_yet", {"decided_at": "2199-01-01T00:00:00Z"}),
        ("rejected missing_call_id", {"call_id": ""}),
        ("rejected missing_call_id", {"call_id": " \t "}),
        ("rejected missing_agent_id", {"agent_id": "", "decided_at": "never"}),
        ("rejected missing_pool_id", {"pool_id": " "}),
        *(("rejected bad_decided_at", {"decided_at": text}) for text in (
            "", "02/01/2024", "2024-02-30", "2024-01-02T24:00:00Z", "1969-12-31T23:59:59Z")),
        ("rejected bad_recorded_at", {"recorded_at": "soon"}),
        ("rejected bad_recorded_at", {"recorded_at": "2024-01-02T02:30:60Z"}),
        ("rejected unknown_action", {"action": "short"}),
        ("rejected unknown_action", {"action": ""}),
        ("rejected unknown_decider", {"decider": "human"}),
        ("rejected unknown_order_status", {"order_status": "pending"}),
        ("excluded hold", {"action": "Hold", "confidence": "", "horizon_hours": "none"}),
        ("excluded hold", {"action": "hold", "decider": "system", "recorded_at": "2024-01-01"}),
        ("excluded not_own_decider", {"decider": "protective_exit", **zeros}),
        ("excluded not_own_decider", {"decider": "System", "confidence": "80"}),
        *((BAD_CONFIDENCE, {"confidence": text}) for text in (
            "80", "nan", "-0.1", "high", "1.000001", "1e999")),
        *(("rejected horizon_not_positive", {"horizon_hours": text}) for text in (
            "0", "-4", "1e-12", "soon")),
        ("rejected horizon_not_positive", {"confidence": "", "horizon_hours": "-1"}),
        ("rejected horizon_too_long", {"horizon_hours": "87601"}),
        *((BAD_PRICE, {"reference_price": text}) for text in ("0", "-5", "1,020")),
        ("rejected sealed_late", {"recorded_at": "2024-01-02T03:30:00Z"}),
        (RIGHT, {"recorded_at": "2024-01-02T03:29:59.999999Z"}),
        ("rejected recorded_before_decided", {"recorded_at": "2024-01-02T02:29:59.999999Z"}),
        ("excluded missing_confidence", {"confidence": "", "horizon_hours": ""}),
        ("excluded missing_horizon", {"horizon_hours": " "}),
        ("excluded missing_reference_price", {"reference_price": ""}),
        ("excluded outside_season", {"decided_at": "2023-12-31T23:59:59.999999Z"}),
        ("excluded outside_season", {"decided_at": "2024-12-31T00:00:00Z"}),
        # Legal, if unusual.
        (RIGHT, {"confidence": "0"}),
        (WRONG, {"action": "SELL", "decider": "LLM", "confidence": "1."}),
        (RIGHT, {"confidence": "0.49", "order_status": "Refused"}),
        (EXPIRED, {"horizon_hours": "240"}),
        *((RIGHT, {"decided_at": text}) for text in (
            "2024-01-02T08:00:00+0530", "2024-01-02t02:30:00z", "2024-01-02 02:30",
            "2024-01-01T21:30:00-05", "2024-01-02T02:30:00.1234567")),
        (RIGHT, {"decided_at": "2024-01-02", "reference_price": "100"}),
        *((RIGHT, {"call_id": text, "agent_id": text}) for text in ODD_IDS),
        (RIGHT, {"pool_id": ODD_POOL}),
        (RIGHT, {**question, "agent_id": "waiting-four"}),
        (RIGHT, {**question, "reference_price": "103"}),  # so the question is a mismatch
        # Window edges: [due, due + 2 h], both ends in; the first price counts; equal is wrong.
        (RIGHT, {**edge, "decided_at": f"{two}00:00:00Z"}),
        (RIGHT, {**edge, "decided_at": f"{two}04:00:00Z"}),
        (EXPIRED, {**edge, "decided_at": f"{two}08:00:00Z"}),
        (EXPIRED, {**edge, "decided_at": f"{two}12:00:00Z"}),
        (WRONG, {**edge, "decided_at": f"{two}16:00:00Z"}),
        (WRONG, {**edge, "decided_at": f"{two}16:00:00Z", "action": "sell"}),
        (RIGHT, {**edge, "decided_at": f"{two}20:00:00Z", "horizon_hours": "1.5"}),
        # Different prices at one instant: by sequence (missing last), then by line.
        *((RIGHT, {**conflict, "decided_at": f"{two}{h}:00:00Z"}) for h in ("00", "04", "08")),
        # waiting-four: four resolved with the question above, one expired. certain-right: six.
        (EXPIRED, {"agent_id": "waiting-four", "decided_at": "2024-01-03T12:00:00Z"}),
        *((RIGHT, {"agent_id": "waiting-four", **call}) for call in hourly[:3]),
        *((RIGHT, {"agent_id": "certain-right", "confidence": "1", **call}) for call in hourly),
    ]
    # fmt: on
    return traps


def trap_objects() -> list[dict[str, object]]:
    """The JSON objects of calls/traps.jsonl, in order, numbers as numbers."""
    good = {**GOOD_CALL, "confidence": 0.7, "horizon_hours": 1, "reference_price": 102.0}
    silent = {name: value for name, value in good.items() if name != "confidence"}
    no_confidence = "excluded missing_confidence"
    odd = {"call_id": 'trap\t"json"\n6', "agent_id": "ligne\u2028<b>é</b>"}
    return [
        {**good, "call_id": "trap-good", "note": "duplicate"},
        {**good, "call_id": "trap-json-1", "recorded_at": None, "note": RIGHT},
        {**GOOD_CALL, "call_id": "trap-json-2", "note": RIGHT},
        {**good, "call_id": "trap-json-3", "confidence": None, "note": no_confidence},
        {**silent, "call_id": "trap-json-4", "note": no_confidence},
        {**good, "call_id": "trap-json-5", "action": None, "note": "rejected unknown_action"},
        {**good, **odd, "note": RIGHT},
    ]


def trap_prices() -> list[tuple[str, str, str, str, str]]:
    """pool_id, recorded_at, price, sequence, note of the well-formed rows of prices/traps.csv."""
    two = "2024-01-02T"
    edge, conflict, bad = "trap-edge", "trap-conflict", "trap-bad"
    return [
        *(("trap-steady", f"{two}{h:02d}:00:00Z", str(100 + h), "", "usable") for h in range(24)),
        ("trap-steady", "2024-01-02t02:00:00+01:00", "+1.01e2", "", "duplicate"),
        ("trap-steady", f"{two}23:00:00Z", "123", "1", "usable"),  # another sequence: no duplicate
        ("trap-steady", "2199-01-01T00:00:00Z", "100", "", "not_yet"),
        (edge, f"{two}01:00:00Z", "101", "", "usable exactly at due"),
        (edge, f"{two}07:00:00Z", "101", "", "usable exactly at due + 2 h"),
        (edge, f"{two}08:59:59.999999Z", "101", "", "usable one microsecond before due"),
        (edge, f"{two}15:00:00.000001Z", "101", "", "usable one microsecond after the window"),
        (edge, f"{two}17:10:00Z", "100", "", "usable equals the reference"),
        (edge, f"{two}17:20:00Z", "101", "", "usable not the first of its window"),
        (edge, f"{two}21:15:00Z", "99", "", "usable too early for a horizon of 1.5 h"),
        (edge, f"{two}21:45:00Z", "101", "", "usable"),
        (conflict, f"{two}01:00:00Z", "101", "", "usable conflict first by line"),
        (conflict, f"{two}01:00:00Z", "99", "", "usable conflict"),
        (conflict, f"{two}05:00:00Z", "99", "7", "usable conflict"),
        (conflict, f"{two}05:00:00Z", "101", "3", "usable conflict first by sequence"),
        (conflict, f"{two}09:00:00Z", "99", "", "usable conflict without sequence, so last"),
        (conflict, f"{two}09:00:00Z", "101", "1", "usable conflict first by sequence"),
        (ODD_POOL, f"{two}04:00:00Z", "103", "", "usable"),
        ("", f"{two}00:00:00Z", "1", "", "rejected missing_pool_id"),
        (" ", "never", "0", "first", "rejected missing_pool_id"),
        (bad, "yesterday", "0", "", "rejected bad_recorded_at"),
        (bad, "", "1", "", "rejected bad_recorded_at"),
        (bad, f"{two}23:59:60Z", "1", "", "rejected bad_recorded_at"),
        (bad, f"{two}00:00:00Z", "nan", "first", "rejected bad_price"),
        (bad, f"{two}00:00:00Z", "", "", "rejected bad_price"),
        (bad, f"{two}00:00:00Z", "1,5", "", "rejected bad_price"),
        (bad, f"{two}00:00:00Z", "1e999", "", "rejected bad_price"),
        (bad, f"{two}00:00:00Z", "0", "first", "rejected price_not_positive"),
        (bad, f"{two}00:00:00Z", "-1.5", "", "rejected price_not_positive"),
        (bad, f"{two}00:00:00Z", "1", "first", "rejected bad_sequence"),
        (bad, f"{two}00:00:00Z", "1", "1.5", "rejected bad_sequence"),
    ]


# Rows that are no records, all of them rejected as malformed_row: too few fields, too many, not
# UTF-8; in JSONL also no JSON, and JSON that is no object.
MALFORMED_CALLS = (
    b"trap-short,trap-agent,trap-steady,buy",
    b"trap-wide" + b"," * 20,
    b"trap-\xff\xfe,trap-agent,trap-steady,buy,llm,0.7,1,102,2024-01-02T02:30:00Z,,,,,,",
)
MALFORMED_OBJECTS = (
    b"no json at all",
    b'["trap-array", "trap-agent"]',
    b'"trap-text"',
    b'{"call_id": "trap-torn", "agent_id": "trap-a',
    b'{"call_id": "trap-\xff\xfe", "agent_id": "trap-agent"}',
)
MALFORMED_PRICES = (
    b"trap-bad,2024-01-02T00:00:00Z",
    b"trap-bad,2024-01-02T00:00:00Z,1,,,,",
    b"trap-\xff,2024-01-02T00:00:00Z,1,,",
)


def write_traps(inputs: Path, call_columns: Sequence[str]) -> tuple[int, int]:
    """Write the trap files below `inputs`; how many rows of calls and of prices they hold."""
    columns = [*call_columns, "note"]
    calls = [
        {"call_id": f"trap-{i:03d}", **GOOD_CALL, **trap, "note": note}
        for i, (note, trap) in enumerate(trap_calls(), start=1)
    ]
    rows = [[call.get(name, "") for name in columns] for call in calls]
    # A byte-order mark, CRLF and a blank line (no row) are legal and easily stumbled over.
    text = "\ufeff" + csv_text([columns, *rows], "\r\n") + "\r\n"
    _write_lines(inputs / "calls" / "traps.csv", text.encode(), MALFORMED_CALLS, b"\r\n")

    objects = trap_objects()
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in objects)
    _write_lines(inputs / "calls" / "traps.jsonl", text.encode(), MALFORMED_OBJECTS, b"\n")

    prices = trap_prices()
    text = csv_text([("pool_id", "recorded_at", "price", "sequence", "note"), *prices], "\n")
    _write_lines(inputs / "prices" / "traps.csv", text.encode(), MALFORMED_PRICES, b"\n")
    return (
        len(rows) + len(MALFORMED_CALLS) + len(objects) + len(MALFORMED_OBJECTS),
        len(prices) + len(MALFORMED_PRICES),
    )


def csv_text(rows: Iterable[Iterable[object]], line_end: str = "\n") -> str:
    """Rows as RFC 4180 text."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=line_end).writerows(rows)
    return buffer.getvalue()


def _write_lines(path: Path, start: bytes, lines: Sequence[bytes], line_end: bytes) -> None:
    path.write_bytes(start + b"".join(line + line_end for line in lines))
