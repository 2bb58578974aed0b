"""The orientation audit: who would score better turned round, and where orientations disagree."""

import random
from typing import Any

import numpy as np
import pytest

from augur_pipeline.diagnostics.comparisons.rules import RULES as ORIENTATION_RULES
from augur_pipeline.diagnostics.comparisons.steps import audit_orientation
from augur_pipeline.forecasts.steps import number_forecasts
from augur_pipeline.store.resource import Store
from augur_pipeline.verification import difference_interval
from augur_pipeline.verification.paired import holm_adjusted
from augur_pipeline_tests.diagnostics.arena import call, fill, rows_of

SUSPECT, AGREES = ORIENTATION_RULES


def audit(store: Store, calls: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    fill(store, calls)
    number_forecasts(store)
    audit_orientation(store)
    rows = rows_of(store, "orientation_audit", "cohort_id, agent_id, side")
    return {(row["agent_id"], row["side"]): row for row in rows}


def calls_of(
    agent: str, hit_rates: dict[str, float], seed: int, rows: int = 240
) -> list[dict[str, Any]]:
    """Calls at 0.8 over 30 blocks, right at a rate of each action."""
    rng = random.Random(seed)
    made = []
    for n in range(rows):
        action = rng.choice(["buy", "sell"])
        right = int(rng.random() < hit_rates[action])
        is_flat = right == 0 and rng.random() < 0.1
        made.append(
            call(agent=agent, action=action, p=0.8, right=right, is_flat=is_flat, block=n // 8)
        )
    return made


HONEST = {"buy": 0.8, "sell": 0.8}
INVERTED = {"buy": 0.2, "sell": 0.2}
SELLS_INVERTED = {"buy": 0.8, "sell": 0.2}


def test_inverted_sides_are_found_and_honest_ones_are_not(store: Store) -> None:
    rows = audit(
        store,
        [
            *calls_of("honest", HONEST, 1),
            *calls_of("inverted", INVERTED, 2),
            *calls_of("sells inverted", SELLS_INVERTED, 3),
        ],
    )
    suspects = {key for key, row in rows.items() if row["is_suspect"]}
    assert suspects == {
        ("inverted", "all"), ("inverted", "buys"), ("inverted", "sells"),
        ("sells inverted", "sells"),
    }  # fmt: skip
    finding = SUSPECT.find(store)
    assert finding.broken_rows == 4
    assert finding.examples[-1][:3] == ("S1", "sells inverted", "sells")
    # a difference the other way is as significant, but no ground for suspicion
    assert rows["honest", "all"]["difference"] < 0
    assert rows["honest", "all"]["p_value_adjusted"] < 0.05


def test_numbers_are_those_of_difference_interval(store: Store) -> None:
    calls = [*calls_of("x", HONEST, 4), *calls_of("y", SELLS_INVERTED, 5)]
    rows = audit(store, calls)
    p_values = []
    for (agent, side), row in rows.items():
        mine = [
            c
            for c in calls
            if c["agent"] == agent
            and side in ("all", {"buy": "buys", "sell": "sells"}[c["action"]])
        ]
        p = np.array([c["p"] for c in mine])
        y = np.array([c["right"] for c in mine])
        flat = np.array([c["is_flat"] for c in mine])
        assert flat.any()
        flipped = np.where(flat, p, 1 - p)
        expected = difference_interval(p, y, flipped, y, [c["block"] for c in mine])
        assert (row["n"], row["n_episodes"]) == (len(mine), expected.episodes)
        assert row["mean_loss"] == pytest.approx(np.mean((p - y) ** 2), abs=1e-12)
        assert row["flipped_mean_loss"] == pytest.approx(np.mean((flipped - y) ** 2), abs=1e-12)
        for name, value in (
            ("difference", expected.estimate), ("low", expected.low), ("high", expected.high),
            ("p_value", expected.p_value),
        ):  # fmt: skip
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12)
        p_values.append(row["p_value"])
    adjusted = [row["p_value_adjusted"] for row in rows.values()]
    assert adjusted == pytest.approx(holm_adjusted(p_values).tolist(), rel=1e-9)


def test_little_evidence_flags_nobody(store: Store) -> None:
    rows = audit(store, [call(p=0.9, right=0, block=n) for n in range(4)])
    row = rows["a", "all"]
    assert row["difference"] == pytest.approx(0.8)
    assert (row["is_suspect"], row["p_value"], row["undefined_reason"]) == (
        False, None, "few_episodes"
    )  # fmt: skip
    assert set(rows) == {("a", "all"), ("a", "buys")}


def test_a_coin_flipped_is_a_coin(store: Store) -> None:
    row = audit(store, [call(p=0.5, right=n % 2, block=n) for n in range(20)])["a", "all"]
    assert (row["difference"], row["p_value"], row["is_suspect"]) == (0.0, 1.0, False)


def test_orientations_agree_but_for_flat_sells(store: Store) -> None:
    calls = [
        call(action=action, p=p, right=right, is_flat=is_flat)
        for action in ("buy", "sell")
        for p in (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)
        for right, is_flat in ((1, False), (0, False), (0, True), (None, False))
    ]
    audit(store, calls)
    assert AGREES.find(store).broken_rows == 0
    flat = rows_of(store, "flat_sells", "confidence")
    assert [row["confidence"] for row in flat] == [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
    # at 0.7 a flat sell is a miss by the contract; P(price ≥ reference) = 0.3 came true
    assert flat[4]["squared_error"] == pytest.approx(0.49, abs=1e-15)
    assert flat[4]["oriented_squared_error"] == pytest.approx(0.09, abs=1e-15)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE resolved_outcomes SET squared_error = squared_error + 1e-11 WHERE outcome = 1",
        "UPDATE resolved_outcomes SET squared_error = NULL WHERE outcome = 1",
        "UPDATE resolved_outcomes SET price = 99 WHERE outcome = 1",
        "UPDATE eligible_calls SET action = 'sell'",
        "DELETE FROM flat_sells",
    ],
)
def test_a_loss_in_another_orientation_is_found(store: Store, damage: str) -> None:
    audit(store, [call(p=0.7, right=1), call(p=0.7, right=0, is_flat=True, action="sell")])
    assert AGREES.find(store).broken_rows == 0
    store.connection.execute(damage)
    assert AGREES.find(store).broken_rows == 1
