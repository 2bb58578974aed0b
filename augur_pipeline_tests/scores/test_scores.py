"""Brier, calibration and season scores: the worked numbers, and the same bits (contract §6, §10)."""

import json
import random
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from augur_pipeline.policy import Policy
from augur_pipeline.store.sql import load_sql, parameters_of
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, table, write_csv

SEASONS = [
    {"season_id": "terms", "starts_at": "2024-01-01", "ends_at": "2024-01-10"},
    {"season_id": "plain", "starts_at": "2024-01-10", "ends_at": "2024-01-20"},
    {"season_id": "only terms", "starts_at": "2023-01-01", "ends_at": "2023-02-01"},
]
NONE = None

# (confidence, outcome) of each call; outcome None: expired
AGENTS: dict[str, list[tuple[str, int | None]]] = {
    "0.90 right": [("0.90", 1)],
    "0.90 wrong": [("0.90", 0)],
    "0.60 right": [("0.60", 1)],
    "0.60 wrong": [("0.60", 0)],
    "0.50 right": [("0.50", 1)],
    "0.50 wrong": [("0.50", 0)],
    "0.70 four of five": [("0.70", 1)] * 4 + [("0.70", 0)],
    "always 0.5": [("0.5", 1), ("0.5", 0)] * 3,
    "all right at 1": [("1.0", 1)] * 5,
    "all wrong at 1": [("1", 0)] * 5,
    "all wrong at 0": [("0", 0)] * 5,
    "0.60 at 60 %": [("0.60", 1)] * 3 + [("0.60", 0)] * 2,
    "0.80 at 80 %": [("0.80", 1)] * 4 + [("0.80", 0)],
    "0.90 at 90 %": [("0.90", 1)] * 9 + [("0.90", 0)],
    "0.90 at 60 %": [("0.90", 1)] * 3 + [("0.90", 0)] * 2,
    "five mixed": [("0.80", 1), ("0.60", 0), ("0.30", 0), ("0.20", 1), ("0.70", 1)],
    "three mixed": [("0.8", 1), ("0.8", 0), ("0.2", 0)],
    "four": [("0.7", 1)] * 4,
    "four and three expired": [("0.7", 1)] * 4 + [("0.9", NONE)] * 3,
    "five and three expired": [("0.7", 1)] * 5 + [("0.1", NONE)] * 3,
    "expired alone": [("0.7", NONE)] * 6,
}

# brier, skill, calibration, calls_needed, by hand
WORKED: dict[str, tuple[float | None, float | None, float | None, int]] = {
    "0.90 right": (0.01, 0.96, None, 4),
    "0.90 wrong": (0.81, -2.24, None, 4),
    "0.60 right": (0.16, 0.36, None, 4),
    "0.60 wrong": (0.36, -0.44, None, 4),
    "0.50 right": (0.25, 0.0, None, 4),
    "0.50 wrong": (0.25, 0.0, None, 4),
    "0.70 four of five": (0.17, 0.32, 32.0, 0),
    "always 0.5": (0.25, 0.0, 0.0, 0),
    "all right at 1": (0.0, 1.0, 100.0, 0),
    "all wrong at 1": (1.0, -3.0, 0.0, 0),
    "all wrong at 0": (0.0, 1.0, 100.0, 0),
    "0.60 at 60 %": (0.24, 0.04, 4.0, 0),
    "0.80 at 80 %": (0.16, 0.36, 36.0, 0),
    "0.90 at 90 %": (0.09, 0.64, 64.0, 0),
    "0.90 at 60 %": (0.33, -0.32, 0.0, 0),
    "five mixed": (0.244, 0.024, 2.4, 0),
    "three mixed": (0.24, 0.04, None, 2),
    "four": (0.09, 0.64, None, 1),
    "four and three expired": (0.09, 0.64, None, 1),
    "five and three expired": (0.09, 0.64, 64.0, 0),
    "expired alone": (None, None, None, 5),
}

TERMS = [  # season "terms": profit 0.6, risk 0.3; calibration brings 0.1
    ("all three", "profit", "0.6", "50"),
    ("all three", "risk", "0.3", "80"),
    ("waiting", "profit", "0.6", "40"),
    ("waiting", "risk", "0.3", "10"),
    ("one row", "profit", "0.6", "70"),
    ("no value", "profit", "0.6", ""),
    ("no value", "risk", "0.3", "33.3"),
    ("stranger", "profit", "0.6", "10"),
    ("stranger", "risk", "0.3", "20"),
    ("empty", "profit", "0.6", ""),
]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    calls: list[dict[str, str]] = []
    prices: list[tuple[str, str, Any]] = []

    def add(agent: str, day: str, stated: list[tuple[str, int | None]]) -> None:
        for confidence, outcome in stated:
            name = f"call {len(calls)}"
            direction = ("buy", "sell")[len(calls) % 2]
            calls.append({
                **GOOD_CALL, "call_id": name, "agent_id": agent, "pool_id": name,
                "confidence": confidence, "decided_at": day, "action": direction,
            })  # fmt: skip
            if outcome is not None:
                is_up = (outcome == 1) == (direction == "buy")
                prices.append((name, f"{day}T02:00:00Z", 101 if is_up else 99))

    for agent, stated in AGENTS.items():
        add(agent, "2024-01-12", stated)
    for agent in ("all three", "one row"):
        add(agent, "2024-01-02", AGENTS["0.70 four of five"])
    for agent in ("waiting", "no value", "no terms"):
        add(agent, "2024-01-02", AGENTS["four"])
    home = make_home(tmp_path_factory.mktemp("scores"), calls, prices, SEASONS)
    names = ("agent_id", "term", "weight", "value")
    rows = [{"season_id": "terms", **dict(zip(names, row, strict=True))} for row in TERMS]
    rows.append(
        {"season_id": "only terms", "agent_id": "s", "term": "all", "weight": "0.9", "value": "7.7"}
    )
    write_csv(home / "inputs/score_terms.csv", rows)
    night(home)
    return home


def near(expected: float | None) -> Any:
    return None if expected is None else pytest.approx(expected, abs=1e-12, rel=0)


@pytest.mark.parametrize("agent", AGENTS)
def test_worked_numbers(scored: Path, agent: str) -> None:
    brier, skill, calibration, calls_needed = WORKED[agent]
    (row,) = query(
        scored,
        "SELECT brier, skill, calibration, calls_needed, calibration_status, resolved_calls, "
        "expired_calls, eligible_calls FROM agent_season_brier WHERE agent_id = ? "
        "AND season_id = 'plain'",
        [agent],
    )
    assert row[:3] == (near(brier), near(skill), near(calibration))
    assert row[3] == calls_needed
    assert row[4] == ("measured" if calibration is not None else "waiting")
    expired = sum(outcome is None for _, outcome in AGENTS[agent])
    assert row[5:] == (len(AGENTS[agent]) - expired, expired, len(AGENTS[agent]))


def test_losses_of_the_five_mixed_calls(scored: Path) -> None:
    losses = query(
        scored,
        "SELECT confidence, squared_error FROM resolved_outcomes JOIN eligible_calls USING (call_id) "
        "WHERE resolved_outcomes.agent_id = 'five mixed' ORDER BY 1 DESC",
    )
    assert losses == [
        (0.8, near(0.04)), (0.7, near(0.09)), (0.6, near(0.36)), (0.3, near(0.09)), (0.2, near(0.64)),
    ]  # fmt: skip
    assert sum(loss for _, loss in losses) == near(1.22)
    # against constant 0.5
    ((brier, skill),) = query(
        scored, "SELECT brier, skill FROM agent_season_brier WHERE agent_id = 'five mixed'"
    )
    assert 0.25 - brier == near(0.006)
    assert skill == near(0.024)


def test_rates_are_over_resolved_calls(scored: Path) -> None:
    found = {
        agent: rest
        for agent, *rest in query(
            scored,
            "SELECT agent_id, hit_rate, mean_confidence, correct_calls, flat_calls "
            "FROM agent_season_brier WHERE season_id = 'plain'",
        )
    }
    assert found["five and three expired"] == [1.0, near(0.7), 5, 0]
    assert found["five mixed"] == [0.6, near(0.52), 3, 0]
    assert found["0.90 wrong"] == [0.0, near(0.9), 0, 0]
    assert found["expired alone"] == [None, None, 0, 0]


def test_flat_calls_are_wrong(tmp_path: Path) -> None:
    calls = [{**GOOD_CALL, "call_id": f"c{n}", "action": a} for n, a in enumerate(("buy", "sell"))]
    home = make_home(tmp_path, calls, [("P", "2024-01-02T01:00:00Z", "100.0")])
    night(home)
    assert query(
        home, "SELECT flat_calls, correct_calls, hit_rate, brier FROM agent_season_brier"
    ) == [(2, 0, 0.0, near(0.64))]


# ---- season scores ---------------------------------------------------------------------------

SCORES: dict[str, tuple[float | None, list[str], list[str], dict[str, float]]] = {
    # 0.6·50 + 0.3·80 + 0.1·32
    "all three": (57.2, ["calibration", "profit", "risk"], [],
                  {"calibration": 0.1, "profit": 0.6, "risk": 0.3}),
    # (0.6·40 + 0.3·10) / 0.9
    "waiting": (30.0, ["profit", "risk"], ["calibration"], {"profit": 2 / 3, "risk": 1 / 3}),
    # (0.6·70 + 0.1·32) / 0.7 = 45.2 / 0.7
    "one row": (64.57142857142857, ["calibration", "profit"], ["risk"],
                {"calibration": 1 / 7, "profit": 6 / 7}),
    "no value": (33.3, ["risk"], ["calibration", "profit"], {"risk": 1.0}),
    # (0.6·10 + 0.3·20) / 0.9, an agent without a call
    "stranger": (13.333333333333334, ["profit", "risk"], ["calibration"],
                 {"profit": 2 / 3, "risk": 1 / 3}),
    "no terms": (None, [], ["calibration", "profit", "risk"], {}),
    "empty": (None, [], ["calibration", "profit", "risk"], {}),
}  # fmt: skip


def season_rows(home: Path, season: str) -> dict[str, dict[str, Any]]:
    return {r["agent_id"]: r for r in table(home, "season_scores") if r["season_id"] == season}


def test_season_scores(scored: Path) -> None:
    rows = season_rows(scored, "terms")
    assert set(rows) == set(SCORES)
    for agent, (score, measured, waiting, weights) in SCORES.items():
        row = rows[agent]
        assert row["score"] == near(score), agent
        assert row["measured_terms"] == measured, agent
        assert row["waiting_terms"] == waiting, agent
        found = json.loads(row["effective_weights"])
        assert found == pytest.approx(weights, abs=1e-12), agent
        assert list(found) == measured, agent
        if measured:
            assert sum(found.values()) == near(1.0)


def test_a_single_measured_term_is_the_score_to_the_bit(scored: Path) -> None:
    assert season_rows(scored, "terms")["no value"]["score"] == 33.3
    row = season_rows(scored, "only terms")["s"]
    assert (row["score"], row["measured_terms"], row["waiting_terms"]) == (
        7.7, ["all"], ["calibration"]
    )  # fmt: skip


def test_a_season_without_terms_scores_its_calibration(scored: Path) -> None:
    rows = season_rows(scored, "plain")
    calibrations = dict(
        query(
            scored, "SELECT agent_id, calibration FROM agent_season_brier WHERE season_id = 'plain'"
        )
    )
    assert {agent: row["score"] for agent, row in rows.items()} == calibrations
    assert json.loads(rows["five mixed"]["effective_weights"]) == {"calibration": 1.0}
    assert rows["four"]["waiting_terms"] == ["calibration"]
    assert json.loads(rows["four"]["effective_weights"]) == {}


# ---- bit for bit -----------------------------------------------------------------------------


def exact_sum(losses: list[float]) -> float:
    """The contract's rule in integers: IEEE product × 1e18, halves away from zero; exact Σ."""
    units = sum(int(Decimal(x * 1e18).to_integral_value(ROUND_HALF_UP)) for x in losses)
    return float(Fraction(units, 10**18))


def random_calls(count: int, seed: int) -> list[tuple[float, int]]:
    source = random.Random(seed)
    odd = [0.0, 1.0, 0.1, 0.7, 1 - 1e-16, 1e-9, 5e-324, 0.30000000000000004]
    confidences = [source.random() for _ in range(count)] + odd * 20
    confidences += [round(source.random(), 2) for _ in range(count)]
    return [(confidence, source.randint(0, 1)) for confidence in confidences]


@pytest.mark.parametrize(
    "loss", [0.5e-18, 1.5e-18, 2.5e-18, 3.5e-18, 0.49e-18, 5e-324, 0.0, 1.0, 0.1, 0.3, 1 / 3, 1e-18]
)
def test_the_cast_rounds_halves_away_from_zero(loss: float) -> None:
    ((found,),) = duckdb.execute(
        "SELECT CAST($loss::DOUBLE AS DECIMAL(38, 18))", {"loss": loss}
    ).fetchall()
    assert found == Decimal(loss * 1e18).to_integral_value(ROUND_HALF_UP).scaleb(-18)


def test_the_cast_by_hand() -> None:
    assert duckdb.execute(
        "SELECT CAST(2.5e-18::DOUBLE AS DECIMAL(38, 18)), CAST(0.49e-18::DOUBLE AS DECIMAL(38, 18))"
    ).fetchall() == [(Decimal("0.000000000000000003"), Decimal("0E-18"))]
    assert exact_sum([2.5e-18, 0.25, 0.49e-18]) == 0.25 + 3e-18


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_decimal_sum_is_the_integer_sum(seed: int) -> None:
    calls = random_calls(2000, seed)
    losses = [(confidence - outcome) * (confidence - outcome) for confidence, outcome in calls]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE calls (confidence DOUBLE, outcome INTEGER)")
        connection.execute(
            "INSERT INTO calls SELECT unnest($c), unnest($o)",
            {"c": [c for c, _ in calls], "o": [o for _, o in calls]},
        )
        ((found,),) = connection.execute(
            "SELECT CAST(sum(CAST((confidence - outcome) * (confidence - outcome) "
            "AS DECIMAL(38, 18))) AS DOUBLE) FROM calls"
        ).fetchall()
    assert found == exact_sum(losses)


def score_table(calls: list[tuple[float, int]], threads: int, order: int) -> list[tuple[Any, ...]]:
    """agent_season_brier.sql over synthetic ledger tables, rows in a shuffled order."""
    numbered = [(f"c{n}", f"a{n % 3}", *row) for n, row in enumerate(calls)]
    random.Random(order).shuffle(numbered)
    ids, agents, confidences, outcomes = map(list, zip(*numbered, strict=True))
    with duckdb.connect(config={"threads": threads}) as connection:
        given = {"i": ids, "a": agents, "c": confidences, "o": outcomes}
        connection.execute(
            "CREATE TABLE given AS SELECT unnest($i) AS call_id, unnest($a) AS agent_id, "
            "unnest($c)::DOUBLE AS confidence, unnest($o) AS outcome",
            given,
        )
        connection.execute(
            "CREATE TABLE sealed_calls AS SELECT call_id, agent_id, 'S' AS season_id, confidence, "
            "NULL::VARCHAR AS order_status, FALSE AS is_backfilled, 'eligible' AS fate, "
            "NULL::VARCHAR AS reason FROM given"
        )
        connection.execute(
            "CREATE TABLE resolved_outcomes AS SELECT call_id, 'resolved' AS status, outcome, "
            "FALSE AS is_flat, (confidence - outcome) * (confidence - outcome) AS squared_error "
            "FROM given"
        )
        connection.execute(
            "CREATE TABLE seasons AS SELECT 'S' AS season_id, TIMESTAMP '2024-02-01' AS ends_at"
        )
        statement = load_sql("augur_pipeline.scores", "agent_season_brier")
        known = {"as_of": "2024-06-01", **Policy().sql_parameters()}
        statement = statement.replace("$as_of", "$as_of::TIMESTAMP")
        connection.execute(statement, parameters_of(statement, known))
        return connection.execute(
            "SELECT agent_id, resolved_calls, brier, skill, calibration, mean_confidence "
            "FROM agent_season_brier ORDER BY agent_id"
        ).fetchall()


def test_scores_are_the_same_bits_for_any_order_and_threads() -> None:
    calls = random_calls(30_000, 4)
    expected = []
    for agent in range(3):
        own = calls[agent::3]
        brier = exact_sum([(c - o) * (c - o) for c, o in own]) / len(own)
        skill = 1 - brier / 0.25
        mean = exact_sum([c for c, _ in own]) / len(own)
        calibration = max(0.0, min(1.0, skill)) * 100
        expected.append((f"a{agent}", len(own), brier, skill, calibration, mean))
    for threads, order in ((1, 0), (4, 1), (4, 2)):
        assert score_table(calls, threads, order) == expected
