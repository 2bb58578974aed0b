"""Every raw call has exactly one fate, by the first test that applies (contract §4)."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline_tests.nights import (
    GOOD_CALL,
    fate_of,
    jsonl,
    make_home,
    night,
    query,
    table,
    write_csv,
)

LATE = "2199-01-01T00:00:00Z"
SEASONS = [
    {"season_id": "S1", "starts_at": "2024-01-01", "ends_at": "2024-02-01"},
    {"season_id": "S2", "starts_at": "2024-02-01", "ends_at": "2024-03-01"},
]

# what differs from GOOD_CALL, the fate, the reason, the column it names; as_of is 2024-06-01
REJECTED = "rejected"
EXCLUDED = "excluded"
MISSING_ALL = {"confidence": "", "horizon_hours": "", "reference_price": ""}
ROWS: list[tuple[dict[str, str], str, str | None, str | None]] = [
    # test 0: not_yet comes before whatever else is wrong
    ({"decided_at": LATE}, "not_yet", None, None),
    ({"recorded_at": LATE}, "not_yet", None, None),
    ({"decided_at": "2024-06-01T00:00:00.000001Z"}, "not_yet", None, None),
    ({"decided_at": "never", "recorded_at": LATE, "action": "short"}, "not_yet", None, None),
    ({"decided_at": LATE, "recorded_at": "never", "agent_id": ""}, "not_yet", None, None),
    ({"call_id": "", "decided_at": LATE}, "not_yet", None, None),
    # test 1, in this order
    ({"call_id": "", "agent_id": "", "pool_id": ""}, REJECTED, "missing_call_id", "call_id"),
    ({"call_id": " \t", "decided_at": "x"}, REJECTED, "missing_call_id", "call_id"),
    ({"agent_id": "\x0b", "pool_id": "", "action": "x"}, REJECTED, "missing_agent_id", "agent_id"),
    ({"pool_id": "", "decided_at": "x"}, REJECTED, "missing_pool_id", "pool_id"),
    ({"decided_at": "", "recorded_at": "x"}, REJECTED, "bad_decided_at", "decided_at"),
    ({"decided_at": "2024-1-2", "action": "x"}, REJECTED, "bad_decided_at", "decided_at"),
    ({"recorded_at": "soon", "action": "x"}, REJECTED, "bad_recorded_at", "recorded_at"),
    ({"action": "short", "decider": "x"}, REJECTED, "unknown_action", "action"),
    ({"action": "", "confidence": "80"}, REJECTED, "unknown_action", "action"),
    ({"action": "buy sell"}, REJECTED, "unknown_action", "action"),
    ({"decider": "human", "order_status": "x"}, REJECTED, "unknown_decider", "decider"),
    ({"decider": "", "action": "hold"}, REJECTED, "unknown_decider", "decider"),
    ({"order_status": "filled", "action": "hold"}, REJECTED, "unknown_order_status", "order_status"),
    # test 3: whatever the numbers are
    ({"action": "hold"}, EXCLUDED, "hold", None),
    ({"action": " HOLD ", "decider": "system", "confidence": "80"}, EXCLUDED, "hold", None),
    ({"action": "hold", "decided_at": "2020-01-01"}, EXCLUDED, "hold", None),
    ({"decider": "protective_exit", "horizon_hours": "0"}, EXCLUDED, "not_own_decider", None),
    ({"decider": "System", "recorded_at": "2020-01-01"}, EXCLUDED, "not_own_decider", None),
    # test 4, in this order
    ({"confidence": "80", "horizon_hours": "0"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"confidence": "1.0000000000000002"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"confidence": "-5e-324"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"confidence": "nan"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"confidence": "inf"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"confidence": "0,8"}, REJECTED, "confidence_out_of_range", "confidence"),
    ({"horizon_hours": "0", "reference_price": "0"}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "-1"}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "-1e300"}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "day"}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "1e-10"}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "-0", "confidence": ""}, REJECTED, "horizon_not_positive", "horizon_hours"),
    ({"horizon_hours": "87600.0001", "reference_price": "0"}, REJECTED, "horizon_too_long",
     "horizon_hours"),
    ({"horizon_hours": "1e300"}, REJECTED, "horizon_too_long", "horizon_hours"),
    ({"reference_price": "0", "recorded_at": "2024-01-03"}, REJECTED, "reference_price_not_positive",
     "reference_price"),
    ({"reference_price": "-1"}, REJECTED, "reference_price_not_positive", "reference_price"),
    ({"reference_price": "1,020"}, REJECTED, "reference_price_not_positive", "reference_price"),
    ({"recorded_at": "2024-01-02T01:00:00Z"}, REJECTED, "sealed_late", "recorded_at"),
    ({"recorded_at": "2024-01-03", "reference_price": ""}, REJECTED, "sealed_late", "recorded_at"),
    ({"recorded_at": "2024-01-01T23:59:59.999999Z"}, REJECTED, "recorded_before_decided",
     "recorded_at"),
    ({"recorded_at": "2024-01-01", **MISSING_ALL}, REJECTED, "recorded_before_decided",
     "recorded_at"),
    ({"decided_at": "2020-01-01", "confidence": "2"}, REJECTED, "confidence_out_of_range",
     "confidence"),
    # test 5, in this order
    (MISSING_ALL, EXCLUDED, "missing_confidence", None),
    ({**MISSING_ALL, "confidence": "0.5"}, EXCLUDED, "missing_horizon", None),
    ({"reference_price": " ", "decided_at": "2020-01-01"}, EXCLUDED, "missing_reference_price", None),
    # test 6: half-open seasons
    ({"decided_at": "2023-12-31T23:59:59.999999Z"}, EXCLUDED, "outside_season", None),
    ({"decided_at": "2024-03-01T00:00:00Z"}, EXCLUDED, "outside_season", None),
    # test 7: legal, if unusual
    ({}, "eligible", None, None),
    ({"confidence": "0"}, "eligible", None, None),
    ({"confidence": "-0"}, "eligible", None, None),
    ({"confidence": "1"}, "eligible", None, None),
    ({"confidence": "1.", "action": "SELL", "decider": " Deterministic "}, "eligible", None, None),
    ({"confidence": "0.49"}, "eligible", None, None),
    ({"confidence": "5e-324"}, "eligible", None, None),
    ({"horizon_hours": "87600"}, "eligible", None, None),
    ({"horizon_hours": "2.8e-10"}, "eligible", None, None),  # 1.008 µs
    ({"recorded_at": "2024-01-02T00:59:59.999999Z"}, "eligible", None, None),
    ({"recorded_at": "2024-01-02"}, "eligible", None, None),
    ({"order_status": "refused"}, "eligible", None, None),
    ({"order_status": " Accepted"}, "eligible", None, None),
    ({"decided_at": "2024-01-01T00:00:00Z"}, "eligible", None, None),
    ({"decided_at": "2024-01-31T23:59:59.999999Z"}, "eligible", None, None),
    ({"decided_at": "2024-02-01T00:00:00Z"}, "eligible", None, None),
    ({"decided_at": "2024-02-29T23:59:59.999999Z"}, "eligible", None, None),
]  # fmt: skip


def call(place: int, changes: dict[str, str]) -> dict[str, str]:
    return {**GOOD_CALL, "call_id": f"c{place}", **changes}


@pytest.fixture(scope="module")
def fates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    calls = [call(place, row[0]) for place, row in enumerate(ROWS, start=2)]
    home = make_home(tmp_path_factory.mktemp("fates"), calls, seasons=SEASONS)
    night(home)
    return home


def test_every_row_has_the_fate_of_the_first_test_that_applies(fates: Path) -> None:
    sealed = {
        line: (fate, reason)
        for line, fate, reason in query(fates, "SELECT source_line, fate, reason FROM sealed_calls")
    }
    rejected = {
        line: (reason, column)
        for line, reason, column in query(
            fates, "SELECT source_line, reason, column_name FROM rejected_rows"
        )
    }
    for line, (changes, fate, reason, column) in enumerate(ROWS, start=2):
        if fate == "not_yet":
            assert line not in sealed, changes
            assert line not in rejected, changes
        elif fate == REJECTED:
            assert rejected.get(line) == (reason, column), changes
        else:
            assert line not in rejected, changes
            assert sealed.get(line) == (fate, reason), changes


def test_what_passes_test_1_is_sealed_and_nothing_else(fates: Path) -> None:
    unsealed = {
        "missing_call_id", "missing_agent_id", "missing_pool_id", "bad_decided_at",
        "bad_recorded_at", "unknown_action", "unknown_decider", "unknown_order_status",
    }  # fmt: skip
    lines = [
        line
        for line, (_, fate, reason, _) in enumerate(ROWS, start=2)
        if fate != "not_yet" and reason not in unsealed
    ]
    assert [n for (n,) in query(fates, "SELECT source_line FROM sealed_calls ORDER BY 1")] == lines
    assert query(
        fates, "SELECT source_line FROM sealed_calls WHERE fate = 'rejected' ORDER BY 1"
    ) == [(n,) for n in lines if ROWS[n - 2][1] == REJECTED]


def test_the_funnel_counts_every_row_once(fates: Path) -> None:
    expected = Counter((fate, reason) for _, fate, reason, _ in ROWS)
    found = {
        (fate, reason): rows
        for fate, reason, rows in query(
            fates, "SELECT fate, reason, rows FROM funnel WHERE kind = 'calls'"
        )
    }
    assert found == dict(expected)
    assert query(fates, "SELECT rows FROM input_files WHERE kind = 'calls'") == [(len(ROWS),)]
    assert sum(found.values()) == len(ROWS)


def test_excluded_calls_lists_the_excluded(fates: Path) -> None:
    expected = {
        (f"c{place}", "a", reason)
        for place, (_, fate, reason, _) in enumerate(ROWS, start=2)
        if fate == EXCLUDED
    }
    assert set(query(fates, "SELECT call_id, agent_id, reason FROM excluded_calls")) == expected


def test_seasons_are_half_open(fates: Path) -> None:
    assert query(
        fates,
        "SELECT CAST(decided_at AS VARCHAR), season_id FROM eligible_calls "
        "WHERE decided_at NOT BETWEEN '2024-01-02' AND '2024-01-03' ORDER BY 1",
    ) == [
        ("2024-01-01 00:00:00", "S1"),
        ("2024-01-31 23:59:59.999999", "S1"),
        ("2024-02-01 00:00:00", "S2"),
        ("2024-02-29 23:59:59.999999", "S2"),
    ]


def test_a_percentage_is_named_and_never_rescaled(fates: Path) -> None:
    messages = dict(
        query(
            fates,
            "SELECT value, message FROM rejected_rows WHERE reason = 'confidence_out_of_range'",
        )
    )
    assert "80 for 0.80" in messages["80.0"] or "percent" in messages["80.0"]
    assert "percent" not in messages["-5e-324"]
    assert "percent" not in messages["nan"]
    assert messages["0,8"]
    assert query(fates, "SELECT DISTINCT confidence FROM sealed_calls WHERE confidence > 1.5 ORDER BY 1") == [
        (2.0,), (80.0,)
    ]  # fmt: skip


def test_counts_by_season_and_coverage(fates: Path) -> None:
    """Tests 4 and 5 count in the season of decided_at; tests 0 to 3 and 6 in none."""
    in_season = [row for row in ROWS if not row[0].get("decided_at", "").startswith("2020")]
    s1 = Counter(
        fate if fate != EXCLUDED else reason
        for changes, fate, reason, _ in in_season
        if not changes.get("decided_at", "").startswith("2024-02")
        and reason not in ("outside_season", "hold", "not_own_decider")
        and (fate != REJECTED or reason in (
            "confidence_out_of_range", "horizon_not_positive", "horizon_too_long",
            "reference_price_not_positive", "sealed_late", "recorded_before_decided",
        ))
    )  # fmt: skip
    assert s1 == {
        "not_yet": 6, "rejected": 21, "eligible": 15, "missing_confidence": 1, "missing_horizon": 1
    }  # fmt: skip
    assert query(
        fates,
        "SELECT season_id, agent_id, directional_calls, eligible_calls, rejected_calls, "
        "missing_calls, refused_calls, coverage FROM agent_season_brier ORDER BY 1",
    ) == [("S1", "a", 38, 15, 21, 2, 1, 15 / 38), ("S2", "a", 2, 2, 0, 0, 0, 1.0)]


def test_an_agent_season_needs_a_directional_call(tmp_path: Path) -> None:
    calls = [
        {**GOOD_CALL, "call_id": "h", "agent_id": "holder", "action": "hold"},
        {**GOOD_CALL, "call_id": "s", "agent_id": "engine", "decider": "system"},
        {**GOOD_CALL, "call_id": "m", "agent_id": "silent", "confidence": ""},
        {**GOOD_CALL, "call_id": "r", "agent_id": "percent", "confidence": "80"},
        {**GOOD_CALL, "call_id": "u", "agent_id": "unknown", "action": "short"},
    ]
    home = make_home(tmp_path, calls)
    night(home)
    assert query(
        home,
        "SELECT agent_id, directional_calls, missing_calls, rejected_calls, coverage "
        "FROM agent_season_brier ORDER BY 1",
    ) == [("percent", 1, 0, 1, 0.0), ("silent", 1, 1, 0, 0.0)]


# ---- duplicates and restatements ------------------------------------------------------------


@pytest.fixture(scope="module")
def repeats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files in bytewise order: A.csv, a.csv, b.csv."""
    home = make_home(tmp_path_factory.mktemp("repeats"))
    folder = home / "inputs/calls"
    (folder / "calls.csv").unlink()

    def repeat(call_id: str, **changes: str) -> dict[str, str]:
        return {**GOOD_CALL, "call_id": call_id, "recorded_at": "", "order_status": "", **changes}

    write_csv(folder / "A.csv", [
        repeat("good"),                                                        # 2 eligible
        repeat("percent", confidence="80"),                                    # 3 rejected
        repeat("percent", confidence="0.80"),                                  # 4 restated
        repeat("percent", confidence="80.0"),                                  # 5 duplicate
        repeat("broken", action="short"),                                      # 6 unknown_action
        repeat("hold", action="hold", confidence="0", horizon_hours="0"),      # 7 excluded
    ])  # fmt: skip
    write_csv(folder / "a.csv", [
        repeat(" good\t", confidence="+8e-1", horizon_hours="1.", reference_price=" 100.000 ",
               action=" BUY", decider="LLM", decided_at="2024-01-02 02:00+02",
               order_status="refused", recorded_at="2024-01-02T00:30:00Z"),    # 2 duplicate
        repeat("good", agent_id="b"),                                          # 3 restated
        repeat("good", pool_id="p"),                                           # 4 restated
        repeat("good", action="sell"),                                         # 5 restated
        repeat("good", decider="deterministic"),                               # 6 restated
        repeat("good", confidence="0.80000000000000004"),                      # 7 same double
        repeat("good", confidence="0.8000000000000002"),                       # 8 restated
        repeat("good", horizon_hours="2"),                                     # 9 restated
        repeat("good", reference_price=""),                                    # 10 restated
        repeat("good", decided_at="2024-01-02T00:00:00.000001Z"),              # 11 restated
        repeat("good", decided_at="2024-01-02T00:00:00.0000009Z"),             # 12 duplicate
        repeat("good", action="short"),                                        # 13 unknown_action
        repeat("good", decided_at=LATE),                                       # 14 not_yet
        repeat("GOOD"),                                                        # 15 another call
    ])  # fmt: skip
    write_csv(folder / "b.csv", [
        repeat("good", agent_id="b", confidence="0.1"),                        # 2 restated
        repeat("broken"),                                                      # 3 the seal
        repeat("broken", confidence="0.9"),                                    # 4 restated
        repeat("hold", action="hold", confidence="-0", horizon_hours="0.0"),   # 5 duplicate
        repeat("hold", action="hold", confidence="", horizon_hours="0"),       # 6 restated
        repeat("hold", action="buy"),                                          # 7 restated
    ])  # fmt: skip
    night(home)
    return home


def test_repeats_are_duplicates_or_restated(repeats: Path) -> None:
    assert query(
        repeats,
        "SELECT source_file, fate, reason, rows FROM funnel WHERE kind = 'calls' ORDER BY ALL",
    ) == [
        ("A.csv", "duplicate", None, 1),
        ("A.csv", "eligible", None, 1),
        ("A.csv", "excluded", "hold", 1),
        ("A.csv", "rejected", "confidence_out_of_range", 1),
        ("A.csv", "rejected", "restated", 1),
        ("A.csv", "rejected", "unknown_action", 1),
        ("a.csv", "duplicate", None, 3),
        ("a.csv", "eligible", None, 1),
        ("a.csv", "not_yet", None, 1),
        ("a.csv", "rejected", "restated", 8),
        ("a.csv", "rejected", "unknown_action", 1),
        ("b.csv", "duplicate", None, 1),
        ("b.csv", "eligible", None, 1),
        ("b.csv", "rejected", "restated", 4),
    ]


def test_the_sealed_call_stands_also_when_it_counts_for_nothing(repeats: Path) -> None:
    assert query(
        repeats,
        "SELECT call_id, source_file, source_line, fate, reason, confidence, order_status "
        "FROM sealed_calls ORDER BY 1",
    ) == [
        ("GOOD", "a.csv", 15, "eligible", None, 0.8, None),
        ("broken", "b.csv", 3, "eligible", None, 0.8, None),
        ("good", "A.csv", 2, "eligible", None, 0.8, None),
        ("hold", "A.csv", 7, "excluded", "hold", 0.0, None),
        ("percent", "A.csv", 3, "rejected", "confidence_out_of_range", 80.0, None),
    ]


def test_restated_rows_name_the_column_that_differs(repeats: Path) -> None:
    assert query(
        repeats,
        "SELECT source_file, source_line, call_id, agent_id, column_name FROM rejected_rows "
        "WHERE reason = 'restated' ORDER BY ALL",
    ) == [
        ("A.csv", 4, "percent", "a", "confidence"),
        ("a.csv", 3, "good", "b", "agent_id"),
        ("a.csv", 4, "good", "a", "pool_id"),
        ("a.csv", 5, "good", "a", "action"),
        ("a.csv", 6, "good", "a", "decider"),
        ("a.csv", 8, "good", "a", "confidence"),
        ("a.csv", 9, "good", "a", "horizon_hours"),
        ("a.csv", 10, "good", "a", "reference_price"),
        ("a.csv", 11, "good", "a", "decided_at"),
        ("b.csv", 2, "good", "b", "agent_id"),
        ("b.csv", 4, "broken", "a", "confidence"),
        ("b.csv", 6, "hold", "a", "confidence"),
        ("b.csv", 7, "hold", "a", "action"),
    ]


def test_restated_rows_stand_in_the_passport_and_in_no_season(repeats: Path) -> None:
    passports = {
        row["agent_id"]: json.loads(row["rejected_by_reason"])
        for row in table(repeats, "passports")
    }
    assert passports == {
        "a": {"confidence_out_of_range": 1, "restated": 11, "unknown_action": 2},
        "b": {"restated": 2},
    }
    assert query(repeats, "SELECT agent_id, directional_calls FROM agent_season_brier") == [
        ("a", 4)
    ]


def test_a_later_night_keeps_the_seal_against_rows_that_come_first(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    night(home, "2024-01-02T00:10:00Z")
    ((seal, first_seen),) = query(home, "SELECT seal, first_seen_as_of FROM sealed_calls")
    write_csv(home / "inputs/calls/AAA.csv", [{**GOOD_CALL, "confidence": "0.99"}, GOOD_CALL])
    night(home, "2024-01-02T00:20:00Z")
    assert query(home, "SELECT seal, first_seen_as_of, confidence FROM sealed_calls") == [
        (seal, first_seen, 0.8)
    ]
    # within this run the first row that equals the seal carries the fate
    assert query(
        home, "SELECT source_file, fate, reason, rows FROM funnel WHERE kind = 'calls' ORDER BY ALL"
    ) == [
        ("AAA.csv", "eligible", None, 1),
        ("AAA.csv", "rejected", "restated", 1),
        ("calls.csv", "duplicate", None, 1),
    ]


def test_a_vanished_row_keeps_counting(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL], [("P", "2024-01-02T01:30:00Z", 101)])
    night(home, "2024-01-02T00:10:00Z")
    (home / "inputs/calls/calls.csv").unlink()
    night(home)
    assert fate_of(home) == ("eligible", None)
    assert query(home, "SELECT status, outcome FROM resolved_outcomes") == [("resolved", 1)]
    assert query(home, "SELECT directional_calls, resolved_calls FROM agent_season_brier") == [
        (1, 1)
    ]
    assert query(home, "SELECT count(*) FROM funnel WHERE kind = 'calls'") == [(0,)]


def test_fates_follow_seasons_and_seals_do_not(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    night(home, "2024-01-02T00:10:00Z")
    before = query(home, "SELECT seal FROM sealed_calls")
    write_csv(home / "inputs/seasons.csv", [
        {"season_id": "T", "starts_at": "2025-01-01", "ends_at": "2025-02-01"}])  # fmt: skip
    night(home, "2024-01-02T00:20:00Z")
    assert fate_of(home) == ("excluded", "outside_season")
    assert query(home, "SELECT count(*) FROM agent_season_brier") == [(0,)]
    write_csv(home / "inputs/seasons.csv", [{**SEASONS[0], "season_id": "renamed"}])
    night(home, "2024-01-02T00:30:00Z")
    assert query(home, "SELECT season_id FROM eligible_calls") == [("renamed",)]
    assert query(home, "SELECT seal FROM sealed_calls") == before


def test_not_yet_is_sealed_once_its_time_has_come(tmp_path: Path) -> None:
    calls = [GOOD_CALL, {**GOOD_CALL, "call_id": "c2", "recorded_at": "2024-01-02T00:30:00Z"}]
    home = make_home(tmp_path, calls)
    seen = []
    for as_of in ("2024-01-01T23:59:59.999999Z", "2024-01-02T00:00:00Z", "2024-01-02T00:30:00Z"):
        night(home, as_of)
        seen.append([row for (row,) in query(home, "SELECT call_id FROM sealed_calls ORDER BY 1")])
    assert seen == [[], ["c1"], ["c1", "c2"]]


# ---- backfill -------------------------------------------------------------------------------


def test_backfill_counts_from_the_due_instant_on(tmp_path: Path) -> None:
    for as_of, is_backfilled in (
        ("2024-01-02T00:59:59.999999Z", False),
        ("2024-01-02T01:00:00Z", True),
    ):
        home = make_home(tmp_path / str(is_backfilled), [GOOD_CALL])
        night(home, as_of)
        assert query(home, "SELECT is_backfilled, fate FROM sealed_calls") == [
            (is_backfilled, "eligible")
        ]
        assert query(home, "SELECT backfilled_calls, eligible_calls FROM agent_season_brier") == [
            (int(is_backfilled), 1)
        ]
        # it stays what it was when first seen
        night(home)
        assert query(home, "SELECT is_backfilled FROM sealed_calls") == [(is_backfilled,)]


def test_backfill_excluded_by_policy_is_sealed_late(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    (home / "inputs/policy.toml").write_text('backfill = "exclude"\n')
    night(home, "2024-01-02T00:10:00Z")
    write_csv(home / "inputs/calls/later.csv", [
        {**GOOD_CALL, "call_id": "late"},
        {**GOOD_CALL, "call_id": "late-silent", "confidence": ""},
        {**GOOD_CALL, "call_id": "late-percent", "confidence": "80"},
        {**GOOD_CALL, "call_id": "late-hold", "action": "hold"},
        {**GOOD_CALL, "call_id": "no-due", "horizon_hours": ""},
    ])  # fmt: skip
    night(home, "2024-01-02T01:00:00Z")
    assert query(home, "SELECT call_id, fate, reason FROM sealed_calls ORDER BY 1") == [
        ("c1", "eligible", None),
        ("late", "rejected", "sealed_late"),
        ("late-hold", "excluded", "hold"),
        ("late-percent", "rejected", "confidence_out_of_range"),
        ("late-silent", "rejected", "sealed_late"),
        ("no-due", "excluded", "missing_horizon"),
    ]
    assert query(
        home, "SELECT eligible_calls, rejected_calls, missing_calls, backfilled_calls "
        "FROM agent_season_brier"
    ) == [(1, 3, 1, 0)]  # fmt: skip


# ---- hostile text ---------------------------------------------------------------------------

HOSTILE = [
    "../../etc/passwd", "/", "\\", ".", "..", "a/b\\c", "C:\\x", "CON", "nul.json", "%2F", "$as_of",
    "'; DROP TABLE sealed_calls; --", '" OR 1=1 --', "'", '"', "''", "`", "a,b", "a;b", "=1+1", "@x",
    "<script>alert('x')</script>", "<b>&amp;</b>", "]]>", "{{7*7}}", "${x}", "line\nbreak", "cr\rcr",
    "crlf\r\nx", "tab\tx", "\\n", "\\", "\x1b[31mred\x1b[0m", "nul\x00byte", "\x7f", "агент", "エージェント",
    "🙂", "e\u0301", "\u00e9", "\u202eright-to-left", "zero\u200bwidth", "\u2028", "\u00a0nbsp\u00a0",
    "NULL", "null", "None", "nan", "0", "-1", "1e5", "true", "2024-01-01", "x" * 3000, "Ä", "ä", "ß", "İ",
]  # fmt: skip


def test_hostile_ids_survive_unchanged(tmp_path: Path) -> None:
    names = list(dict.fromkeys(HOSTILE))
    calls = [
        {**GOOD_CALL, "call_id": name, "agent_id": name, "pool_id": name, "question_id": name,
         "mandate_id": name, "model_version": name}
        for name in names
    ]  # fmt: skip
    prices = [
        {"pool_id": name, "recorded_at": "2024-01-02T01:30:00Z", "price": 100 + place}
        for place, name in enumerate(names)
    ]
    seasons = [{**SEASONS[0], "season_id": "'; DROP TABLE seasons; --\n<i>"}]
    home = make_home(tmp_path, seasons=seasons)
    # as JSON: Python's csv module before 3.13 leaves a lone CR unquoted
    (home / "inputs/calls/hostile.jsonl").write_text(jsonl(calls))
    (home / "inputs/prices/hostile.jsonl").write_text(jsonl(prices))
    night(home)
    assert query(
        home,
        "SELECT call_id, agent_id, pool_id, question_id, mandate_id, model_version, season_id "
        "FROM eligible_calls ORDER BY call_id",
    ) == [(name,) * 6 + (seasons[0]["season_id"],) for name in sorted(names, key=str.encode)]
    found = {row["call_id"]: row["price"] for row in table(home, "resolved_outcomes")}
    assert found == {name: 100 + place for place, name in enumerate(names)}
    documents = [
        json.loads(path.read_text("utf-8"))["agent_id"]
        for path in (home / "exports/latest/passports").iterdir()
    ]
    assert sorted(documents) == sorted(names)
    # nothing was written outside the home's own folders
    assert {path.name for path in home.iterdir()} == {"inputs", "work", "exports", "augur.duckdb"}
    assert {path.name for path in (home / "exports/latest/passports").resolve().parent.iterdir()} >= {
        "passports", "tables"
    }  # fmt: skip


def test_hostile_rejected_values_are_shown_as_given(tmp_path: Path) -> None:
    calls = [
        {**GOOD_CALL, "call_id": f"c{place}", "confidence": text}
        for place, text in enumerate(HOSTILE[:30])
    ]
    home = make_home(tmp_path)
    (home / "inputs/calls/hostile.jsonl").write_text(jsonl(calls))
    night(home)
    rows = query(
        home,
        "SELECT source_line, value FROM rejected_rows WHERE column_name = 'confidence' ORDER BY 1",
    )
    assert [value for _, value in rows] == HOSTILE[:30]


# ---- the shipped sample's traps -------------------------------------------------------------


@pytest.fixture(scope="module")
def sample_night(sample_inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("traps")
    shutil.copytree(sample_inputs, home / "inputs")
    night(home, "2025-01-01T00:00:00Z")
    return home


def trap_rows(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(source line, note, row) of each well-formed row of a trap file."""
    if path.suffix == ".jsonl":
        for number, text in enumerate(path.read_bytes().split(b"\n"), start=1):
            try:
                row = json.loads(text)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield number, row["note"], row
        return
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        start = reader.line_num + 1
        for fields in reader:
            is_utf8 = not any("\udc80" <= sign <= "\udcff" for sign in "".join(fields))
            if len(fields) == len(header) and is_utf8:
                row = dict(zip(header, fields, strict=True))
                yield start, row["note"], row
            start = reader.line_num + 1


@pytest.mark.parametrize("name", ["traps.csv", "traps.jsonl"])
def test_every_trap_call_has_the_fate_its_note_says(sample_night: Path, name: str) -> None:
    sealed = {
        line: rest
        for line, *rest in query(
            sample_night,
            "SELECT source_line, fate, reason, status, outcome FROM sealed_calls "
            "LEFT JOIN resolved_outcomes USING (call_id) WHERE source_file = $name",
            {"name": name},
        )
    }
    rejected = dict(
        query(
            sample_night,
            "SELECT source_line, reason FROM rejected_rows "
            "WHERE kind = 'calls' AND source_file = $name",
            {"name": name},
        )
    )
    notes: Counter[tuple[str, str | None]] = Counter()
    for line, note, row in trap_rows(sample_night / "inputs/calls" / name):
        fate, *details = note.split(" ")
        notes[fate, details[0] if fate in (REJECTED, EXCLUDED) else None] += 1
        if fate == REJECTED:
            assert rejected.get(line) == details[0], (line, row)
            continue
        assert line not in rejected, (line, row)
        if fate == EXCLUDED:
            assert sealed[line][:2] == [EXCLUDED, details[0]], (line, row)
        elif fate == "eligible":
            status, *outcome = details
            expected = ["eligible", None, status, int(outcome[0]) if outcome else None]
            assert sealed[line] == expected, (line, row)
        else:
            assert fate in ("duplicate", "not_yet")
            assert line not in sealed, (line, row)
    malformed = {"traps.csv": 3, "traps.jsonl": 5}[name]
    notes[REJECTED, "malformed_row"] += malformed
    found = {
        (fate, reason): rows
        for fate, reason, rows in query(
            sample_night,
            "SELECT fate, reason, rows FROM funnel WHERE kind = 'calls' AND source_file = $name",
            {"name": name},
        )
    }
    assert found == dict(notes)
    assert len(notes) >= {"traps.csv": 25, "traps.jsonl": 5}[name]


def test_every_trap_price_has_the_fate_its_note_says(sample_night: Path) -> None:
    rejected = dict(
        query(
            sample_night,
            "SELECT source_line, reason FROM rejected_rows "
            "WHERE kind = 'prices' AND source_file = 'traps.csv'",
        )
    )
    notes: Counter[tuple[str, str | None]] = Counter({(REJECTED, "malformed_row"): 3})
    for line, note, row in trap_rows(sample_night / "inputs/prices/traps.csv"):
        fate, *details = note.split(" ")
        reason = details[0] if fate == REJECTED else None
        notes[fate, reason] += 1
        assert rejected.get(line) == reason, (line, row)
    found = {
        (fate, reason): rows
        for fate, reason, rows in query(
            sample_night,
            "SELECT fate, reason, rows FROM funnel WHERE kind = 'prices' AND source_file = 'traps.csv'",
        )
    }
    assert found == dict(notes)


def test_the_sample_funnel_sums_to_the_rows_read(sample_night: Path) -> None:
    assert query(
        sample_night,
        "SELECT kind, source_file, rows FROM input_files WHERE kind <> 'settings' ORDER BY 1, 2",
    ) == query(
        sample_night,
        "SELECT kind, source_file, CAST(sum(rows) AS BIGINT) FROM funnel GROUP BY ALL ORDER BY 1, 2",
    )
