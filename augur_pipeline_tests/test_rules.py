"""Every rule of contract §8 seen failing on tables that break it, and what a failure stops."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from augur_pipeline.errors import PublishError
from augur_pipeline.exports.catalog import BLOCKING_RULES
from augur_pipeline.exports.publish import publish
from augur_pipeline.intake.rules import RULES as INTAKE_RULES
from augur_pipeline.ledger.rules import RULES as LEDGER_RULES
from augur_pipeline.prices.rules import RULES as PRICE_RULES
from augur_pipeline.scores.rules import RULES as SCORES_RULES
from augur_pipeline.store.resource import Store
from augur_pipeline_tests.nights import (
    CALL_COLUMNS,
    GOOD_CALL,
    PRICE_COLUMNS,
    make_home,
    night,
    open_store,
    query,
    work_night,
    write_csv,
)

AS_OF = "2024-01-12T00:00:00Z"
ALL_RULES = (*PRICE_RULES, *INTAKE_RULES, *LEDGER_RULES, *SCORES_RULES)
BY_NAME = {rule.name: rule for rule in ALL_RULES}
WARNINGS = [rule.name for rule in ALL_RULES if not rule.is_blocking]
RIGHT = "WHERE call_id = 'c0'"
EXPIRED = "WHERE call_id = 'expired'"
FIVE = "WHERE agent_id = 'a'"
FEW = "WHERE agent_id = 'few'"

# one statement each that breaks the rule in another way; the first is also tried to be published
BREAKS: dict[str, list[str]] = {
    "funnel_sums": [
        "DELETE FROM funnel WHERE kind = 'calls'",
        "DELETE FROM funnel WHERE kind = 'prices'",
        "UPDATE funnel SET rows = rows + 1 WHERE kind = 'calls'",
        "UPDATE input_files SET rows = rows - 1 WHERE kind = 'prices'",
        "INSERT INTO funnel VALUES ('calls', 'unknown.csv', 'eligible', NULL, 1)",
        # the sum over all files still holds
        "UPDATE funnel SET rows = rows + (CASE kind WHEN 'calls' THEN 1 ELSE -1 END)",
    ],
    "call_ids_unique": [
        "INSERT INTO sealed_calls FROM sealed_calls LIMIT 1",
        "INSERT INTO eligible_calls FROM eligible_calls LIMIT 1",
    ],
    "seven_day_expiry": [
        # open past expiry
        f"UPDATE resolved_outcomes SET status = 'open', settled_at = NULL {EXPIRED}",
        f"UPDATE resolved_outcomes SET status = 'pending', settled_at = NULL {EXPIRED}",
        # expired one microsecond early
        "UPDATE resolved_outcomes SET settled_at = expires_at - INTERVAL 1 MICROSECOND FROM "
        "eligible_calls AS e WHERE e.call_id = resolved_outcomes.call_id AND e.call_id = 'expired'",
        f"UPDATE resolved_outcomes SET outcome = 0 {EXPIRED}",
        f"UPDATE resolved_outcomes SET squared_error = 0.25 {EXPIRED}",
        # resolved from outside the window
        f"UPDATE resolved_outcomes SET price_recorded_at = '2024-01-02 03:00:00.000001' {RIGHT}",
        f"UPDATE resolved_outcomes SET price_recorded_at = '2024-01-02 00:59:59.999999' {RIGHT}",
        f"UPDATE resolved_outcomes SET price_recorded_at = NULL {RIGHT}",
    ],
    "no_look_ahead": [
        f"UPDATE resolved_outcomes SET price_recorded_at = '2024-01-02 00:59:59.999999' {RIGHT}",
        f"UPDATE resolved_outcomes SET settled_at = '2024-01-02 01:29:59.999999' {RIGHT}",
        f"UPDATE resolved_outcomes SET settled_at = NULL {RIGHT}",
        f"UPDATE sealed_calls SET recorded_at = '2024-01-02 01:00:00' {RIGHT}",
        "UPDATE eligible_calls SET due_at = decided_at WHERE call_id = 'pending'",
    ],
    "outcomes_follow_settlements": [
        f"UPDATE resolved_outcomes SET outcome = 1 - outcome {RIGHT}",
        f"UPDATE resolved_outcomes SET price = 5, squared_error = 0 {RIGHT}",
        f"UPDATE resolved_outcomes SET squared_error = squared_error / 2 {RIGHT}",
        "UPDATE resolved_outcomes SET status = 'expired', outcome = NULL, price = NULL, "
        f"price_recorded_at = NULL, is_flat = NULL, squared_error = NULL {RIGHT}",
        # both agree with each other, but not with the price
        f"UPDATE eligible_calls SET reference_price = 1e9 {RIGHT}",
    ],
    "finality": [
        f"UPDATE settlements SET outcome = 1 - outcome {RIGHT}",
        f"DELETE FROM settlements {EXPIRED}",
        f"UPDATE settlements SET status = 'resolved', outcome = 1 {EXPIRED}",
        f"UPDATE settlements SET price = price + 1 {RIGHT}",
        f"UPDATE settlements SET is_flat = TRUE {RIGHT}",
        f"UPDATE settlements SET settled_at = settled_at + INTERVAL 1 MICROSECOND {RIGHT}",
        "UPDATE settlements SET price_recorded_at = price_recorded_at + INTERVAL 1 MICROSECOND "
        f"{RIGHT}",
    ],
    "every_call_has_a_status": [
        f"DELETE FROM resolved_outcomes {RIGHT}",
        "INSERT INTO resolved_outcomes FROM resolved_outcomes WHERE call_id = 'c0'",
        f"UPDATE resolved_outcomes SET status = 'lost' {RIGHT}",
    ],
    "five_call_threshold": [
        f"UPDATE agent_season_brier SET calibration = 64 {FEW}",
        f"UPDATE agent_season_brier SET calibration = NULL {FIVE}",
        f"UPDATE agent_season_brier SET calibration_status = 'measured' {FEW}",
        f"UPDATE agent_season_brier SET calls_needed = 0 {FEW}",
        f"UPDATE agent_season_brier SET resolved_calls = 4 {FIVE}",
    ],
    "season_scores_in_range": [
        "UPDATE season_scores SET score = 100.00000000000001",
        "UPDATE season_scores SET score = 'nan'::DOUBLE",
        "UPDATE season_scores SET score = NULL WHERE len(measured_terms) > 0",
    ],
    "scores_in_range": [
        f"UPDATE agent_season_brier SET brier = 'nan'::DOUBLE {FIVE}",
        f"UPDATE agent_season_brier SET brier = 1.0000000000000002 {FIVE}",
        f"UPDATE agent_season_brier SET brier = -5e-324 {FIVE}",
        f"UPDATE agent_season_brier SET brier = NULL {FIVE}",
        f"UPDATE agent_season_brier SET calibration = 'nan'::DOUBLE {FIVE}",
        f"UPDATE agent_season_brier SET calibration = 100.00000000000001 {FIVE}",
        f"UPDATE agent_season_brier SET calibration = -1 {FIVE}",
    ],
    "calls_add_up": [
        f"UPDATE agent_season_brier SET pending_calls = pending_calls + 1 {FIVE}",
        f"UPDATE agent_season_brier SET eligible_calls = eligible_calls - 1 {FEW}",
        f"UPDATE agent_season_brier SET directional_calls = directional_calls + 1 {FEW}",
    ],
}


def calls_of_the_night() -> list[dict[str, str]]:
    return [
        *({**GOOD_CALL, "call_id": f"c{n}"} for n in range(5)),
        {**GOOD_CALL, "call_id": "few", "agent_id": "few"},
        {**GOOD_CALL, "call_id": "expired", "agent_id": "few", "pool_id": "Q"},
        {
            **GOOD_CALL,
            "call_id": "pending",
            "agent_id": "few",
            "decided_at": "2024-01-11T23:30:00Z",
        },
    ]


@pytest.fixture(scope="module")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five resolved calls of one agent; one resolved, one expired, one pending of another."""
    home = make_home(
        tmp_path_factory.mktemp("rules"), calls_of_the_night(), [("P", "2024-01-02T01:30:00Z", 101)]
    )
    night(home, AS_OF)
    assert query(home, "SELECT status, count(*) FROM resolved_outcomes GROUP BY 1 ORDER BY 1") == [
        ("expired", 1), ("pending", 1), ("resolved", 6)
    ]  # fmt: skip
    return home


def published_bytes(home: Path) -> dict[str, bytes]:
    """Every byte that readers see."""
    latest = (home / "exports/latest").resolve()
    files = {str(path): path.read_bytes() for path in latest.rglob("*") if path.is_file()}
    return {**files, "database": (home / "augur.duckdb").read_bytes()}


@pytest.fixture(scope="module")
def worked(published_home: Path) -> Iterator[Store]:
    """The store after all steps of the same night but the publication."""
    with open_store(published_home, AS_OF) as store:
        work_night(store)
        yield store


@pytest.fixture
def undone(worked: Store) -> Iterator[Store]:
    """The store in a transaction that is rolled back."""
    worked.connection.execute("BEGIN")
    yield worked
    worked.connection.execute("ROLLBACK")


def test_every_blocking_rule_has_a_case() -> None:
    assert set(BREAKS) == {rule.name for rule in BLOCKING_RULES}
    assert {rule.name for rule in BLOCKING_RULES} == {r.name for r in ALL_RULES if r.is_blocking}
    assert len(BY_NAME) == len(ALL_RULES)


@pytest.mark.parametrize("name", [rule.name for rule in ALL_RULES if rule.is_blocking])
def test_blocking_rule_holds_on_a_good_night(worked: Store, name: str) -> None:
    assert BY_NAME[name].find(worked).broken_rows == 0


@pytest.mark.parametrize(
    ("name", "statement"),
    [(rule.name, s) for rule in BLOCKING_RULES for s in BREAKS.get(rule.name, ["no case"])],
)
def test_blocking_rule_finds_what_breaks_it(undone: Store, name: str, statement: str) -> None:
    undone.connection.execute(statement)
    finding = BY_NAME[name].find(undone)
    assert finding.broken_rows > 0
    assert finding.examples
    assert name in finding.sentence()


BREAKS_OF_VIEWS = {
    "seven_day_expiry": f"DELETE FROM settlements {EXPIRED}",
    "no_look_ahead": f"UPDATE settlements SET price_recorded_at = '2024-01-02 00:59:59' {RIGHT}",
    "every_call_has_a_status": "UPDATE sealed_calls SET season_id = 'gone' WHERE call_id = 'c0'",
}
"""`resolved_outcomes` is published as a view: what breaks the rule must lie in the tables it reads."""

CANNOT_BREAK = {"outcomes_follow_settlements"}
"""Of a view over settlements it says nothing: it is a rule about the night's own table."""


@pytest.mark.parametrize(
    "name", [rule.name for rule in BLOCKING_RULES if rule.name not in CANNOT_BREAK]
)
def test_a_broken_rule_stops_the_publication(
    published_home: Path, worked: Store, name: str
) -> None:
    before = published_bytes(published_home)
    # the statement changes one or two of these tables: put them back afterwards
    tables = ("funnel", "input_files", "sealed_calls", "eligible_calls", "resolved_outcomes",
              "settlements", "agent_season_brier", "season_scores")  # fmt: skip
    for table in tables:
        worked.connection.execute(f"CREATE OR REPLACE TEMP TABLE kept_{table} AS FROM work.{table}")
    worked.connection.execute(BREAKS_OF_VIEWS.get(name, BREAKS[name][0]))
    try:
        with pytest.raises(PublishError, match=name):
            publish(worked)
    finally:
        for table in tables:
            worked.connection.execute(f"DELETE FROM work.{table}")
            worked.connection.execute(f"INSERT INTO work.{table} FROM kept_{table}")
    assert published_bytes(published_home) == before


def test_the_mended_night_is_published_after_all_those_refusals(
    published_home: Path, worked: Store
) -> None:
    ((before,),) = query(published_home, "SELECT content_digest FROM run_info")
    assert publish(worked) == before


# ---- warnings --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A night in which every warning finds something."""
    starved = [
        {**GOOD_CALL, "call_id": f"starved{n}", "agent_id": "starved", "pool_id": "Q"}
        for n in range(5)
    ]
    calls = [
        {**GOOD_CALL, "call_id": "gone", "pool_id": "P"},
        {**GOOD_CALL, "call_id": "stays", "pool_id": "P", "confidence": "0.49"},
        *starved,
        # due 2024-01-05 00:30, so it expires 30 minutes after AS_OF
        {**GOOD_CALL, "call_id": "soon", "pool_id": "R", "decided_at": "2024-01-04T23:30:00Z"},
        # due 2024-01-06 00:00, so it expires exactly 24 h after AS_OF
        {**GOOD_CALL, "call_id": "a day", "pool_id": "R", "decided_at": "2024-01-05T23:00:00Z"},
        {
            **GOOD_CALL,
            "call_id": "later",
            "pool_id": "R",
            "decided_at": "2024-01-05T23:00:00.000001Z",
        },
        {**GOOD_CALL, "call_id": "bad", "confidence": "80"},
        {**GOOD_CALL, "call_id": "alike", "agent_id": "Starved", "action": "hold"},
    ]
    home = make_home(tmp_path_factory.mktemp("warnings"), calls)
    prices = [("P", "2024-01-02T02:00:00Z", 101)]
    write_csv(
        home / "inputs/prices/prices.csv",
        [dict(zip(PRICE_COLUMNS, row, strict=True)) for row in prices],
        PRICE_COLUMNS,
    )
    night(home, AS_OF)
    write_csv(home / "inputs/calls/calls.csv", calls[1:], CALL_COLUMNS)
    prices += [
        ("P", "2024-01-02T01:30:00Z", 99),
        ("S", "2024-01-02T01:30:00Z", 1),
        ("S", "2024-01-02T01:30:00Z", 2),
    ]
    write_csv(
        home / "inputs/prices/prices.csv",
        [dict(zip(PRICE_COLUMNS, row, strict=True)) for row in prices],
        PRICE_COLUMNS,
    )
    for name in ("calls/calls.CSV", "calls/.hidden", "prices/prices.csv.gz", "prices/prices.json"):
        (home / "inputs" / name).write_text("call_id\n", encoding="utf-8")
    (home / "inputs/prices/2024").mkdir()
    with open_store(home, AS_OF) as store:
        work_night(store)
        yield store


# what each warning finds, by the first column (or the two first) of its rows
FOUND: dict[str, list[tuple[object, ...]]] = {
    "unread_files": [
        ("calls", "calls.CSV"),
        ("prices", "2024"),
        ("prices", "prices.csv.gz"),
        ("prices", "prices.json"),
    ],
    "price_conflicts": [("S",)],
    "rejected_share": [("calls", "calls.csv")],
    "backfilled_calls": [("S1", "a"), ("S1", "starved")],
    "vanished_rows": [("gone",)],
    "low_confidence": [("S1", "a")],
    "lookalike_ids": [("agent", "Starved", "starved")],
    "late_prices": [("gone",), ("stays",)],
    "starved_pools": [("Q",)],
    "calls_expiring_soon": [("soon",), ("a day",)],
}


@pytest.mark.parametrize("name", WARNINGS)
def test_warning_finds_its_rows(warned: Store, name: str) -> None:
    expected = FOUND[name]
    finding = BY_NAME[name].find(warned)
    assert finding.broken_rows == len(expected)
    width = len(expected[0])
    assert [row[:width] for row in finding.examples] == expected


@pytest.mark.parametrize("name", [n for n in WARNINGS if n != "backfilled_calls"])
def test_warning_is_silent_on_a_good_night(worked: Store, name: str) -> None:
    assert BY_NAME[name].find(worked).broken_rows == 0


def test_warnings_block_no_publication(warned: Store) -> None:
    assert len(publish(warned)) == 64
