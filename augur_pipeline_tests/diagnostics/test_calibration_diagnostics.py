"""The diagnostics' tables held against the verification functions, row by row."""

import math
from pathlib import Path

import numpy as np
import pytest

from augur_pipeline import verification
from augur_pipeline.diagnostics.calibration.report import ForecastRows, report
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, table


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty days, three calls a day at .6, .7, .9; one call beyond the horizon bound; a novice."""
    calls, prices = [], []
    for day in range(1, 21):
        for number, confidence in enumerate(("0.6", "0.7", "0.9")):
            calls.append(
                {
                    **GOOD_CALL,
                    "call_id": f"{day:02}-{number}",
                    "pool_id": f"P{number}",
                    "confidence": confidence,
                    "decided_at": f"2024-01-{day:02}T0{number}:00:00Z",
                }
            )
            is_right = (day * (number + 2)) % 10 < (6, 7, 8)[number]
            prices.append(
                (f"P{number}", f"2024-01-{day:02}T0{number + 1}:00:00Z", 101 if is_right else 99)
            )
    calls.append({**calls[0], "call_id": "long", "horizon_hours": "25"})
    prices.append(("P0", "2024-01-02T01:30:00Z", 99))
    calls.append({**calls[0], "call_id": "novice", "agent_id": "novice"})
    calls.append({**calls[0], "call_id": "pending", "agent_id": "late", "horizon_hours": "9999"})
    root = make_home(tmp_path_factory.mktemp("diagnostics"), calls, prices)
    night(root, "2024-02-10T00:00:00Z")
    return root


def test_blocks_of_days(home: Path) -> None:
    """24 h bound + 2 h window, twice, is 52 h: blocks of three days from the season's start."""
    blocks = query(
        home,
        "SELECT forecast_id, episode_id FROM scored_forecasts WHERE forecast_id IN "
        "('01-0', '03-2', '04-0', '20-0', 'long') ORDER BY forecast_id",
    )
    assert blocks == [("01-0", "0"), ("03-2", "0"), ("04-0", "1"), ("20-0", "6"), ("long", None)]


def test_the_row_of_a_forecaster_is_what_the_functions_say(home: Path) -> None:
    rows = query(
        home,
        "SELECT probability, outcome, CAST(episode_id AS BIGINT) FROM scored_forecasts "
        "WHERE forecaster_id = 'a' AND status = 'resolved' AND episode_id IS NOT NULL",
    )
    p, y, episodes = (np.array(column) for column in zip(*rows, strict=True))
    everything = query(
        home,
        "SELECT probability, outcome FROM scored_forecasts WHERE forecaster_id = 'a' "
        "AND status = 'resolved'",
    )
    all_p, all_y = (np.array(column) for column in zip(*everything, strict=True))
    (found,) = [
        row
        for row in table(home, "calibration_diagnostics")
        if row["forecaster_id"] == "a" and row["scope"] == "forecaster"
    ]
    interval = verification.brier_interval(p, y, episodes)
    tests = verification.calibration_tests(p, y, episodes)
    corp = verification.corp(all_p, all_y)
    assert (found["n"], found["n_without_episode"], found["episodes"]) == (61, 1, 7)
    assert found["brier"] == verification.brier_score(all_p, all_y)
    assert (found["brier_low"], found["brier_high"]) == (interval.low, interval.high)
    assert found["p_worse"] == tests.p_worse
    assert found["mcb_p_value"] == tests.mcb_p_value
    assert (found["mcb"], found["dsc"]) == (corp.miscalibration, corp.discrimination)
    assert found["hl_p_independent"] == verification.hosmer_lemeshow(all_p, all_y).p_value
    assert found["slope"] == verification.calibration_line(all_p, all_y).slope
    assert math.isclose(
        found["brier"],
        found["reliability"]
        - found["resolution"]
        + found["uncertainty"]
        + found["within_bin_variance"]
        - found["within_bin_covariance"],
        abs_tol=1e-12,
    )
    assert "beyond_horizon_bound" in found["flags"]


def test_the_brier_score_is_the_leaderboard_s(home: Path) -> None:
    """Two ways to sum the same losses: exactly rounded, they may differ in the last bit only."""
    scores = dict(query(home, "SELECT agent_id, brier FROM agent_season_brier"))
    for row in table(home, "calibration_diagnostics"):
        if row["scope"] == "forecaster":
            assert math.isclose(row["brier"], scores[row["forecaster_id"]], rel_tol=1e-12)


def test_small_samples_keep_their_row_with_reasons(home: Path) -> None:
    (novice,) = [
        row for row in table(home, "calibration_diagnostics") if row["forecaster_id"] == "novice"
    ]
    assert (novice["n"], novice["episodes"]) == (1, 1)
    assert novice["brier_low"] is None
    assert novice["interval_undefined_reason"] == "few_episodes"
    assert novice["p_worse"] is None
    assert novice["tests_undefined_reason"] == "few_episodes"
    assert novice["ece_band"] == "not distinguishable from calibrated"
    assert "few_episodes" in novice["flags"]


def test_a_forecaster_without_resolved_rows_has_no_row(home: Path) -> None:
    assert [r for r in table(home, "calibration_diagnostics") if r["forecaster_id"] == "late"] == []


def test_the_cohort_is_all_its_rows(home: Path) -> None:
    (cohort,) = [row for row in table(home, "calibration_diagnostics") if row["scope"] == "cohort"]
    assert cohort["forecaster_id"] is None
    assert cohort["n"] == 62


def test_bins_and_curve(home: Path) -> None:
    bins = [
        row
        for row in table(home, "reliability_bins")
        if row["forecaster_id"] == "a" and row["scheme"] == "equal_width"
    ]
    assert len(bins) == 10
    assert sum(row["n"] for row in bins) == 61
    assert {row["bin"]: row["n"] for row in bins if row["n"]} == {6: 21, 7: 20, 9: 20}
    assert all(row["observed_rate"] is None for row in bins if not row["n"])
    curve = [row for row in table(home, "reliability_curve") if row["forecaster_id"] == "a"]
    assert [row["probability"] for row in curve] == [0.6, 0.7, 0.9]
    assert [row["n"] for row in curve] == [21, 20, 20]
    heights = [row["recalibrated"] for row in curve]
    assert heights == sorted(heights)


def test_unequal_weights_leave_unweighted_numbers_out() -> None:
    rows = ForecastRows(
        np.array([0.2, 0.8, 0.6, 0.4]),
        np.array([0, 1, 1, 0]),
        np.array(["a", "b", "c", "d"]),
        np.ones(4, bool),
        np.array([1.0, 2.0, 1.0, 1.0]),
    )
    found = report(rows, 10, 1999, 0)
    assert found["brier"] == pytest.approx((0.04 + 2 * 0.04 + 0.16 + 0.16) / 5, abs=1e-15)
    assert found["ece"] is None
    assert found["tests_undefined_reason"] == "weighted"
    assert "weighted" in found["flags"]
    equal = report(
        ForecastRows(
            rows.probability, rows.outcome, rows.episode, rows.in_episode, np.full(4, 2.0)
        ),
        10,
        1999,
        0,
    )
    assert equal["ece"] is not None


def test_a_home_without_resolved_calls(tmp_path: Path) -> None:
    home = make_home(tmp_path, [GOOD_CALL])
    night(home, "2024-01-02T00:30:00Z")
    for name in ("calibration_diagnostics", "reliability_bins", "reliability_curve"):
        assert table(home, name) == []
