"""Calls due only after their season can be final (contract §6): counted, and in no score."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from augur_pipeline.cli import main
from augur_pipeline.exports.file_names import file_name
from augur_pipeline_tests.nights import GOOD_CALL, SEASON, make_home, night, query, table

ENDS = datetime(2024, 2, 1)  # of SEASON
LAST_DUE = ENDS + timedelta(hours=24)
FINAL = "2024-06-01T00:00:00Z"
TEN_YEARS_ON = "2034-06-01T00:00:00Z"

LATE = {**GOOD_CALL, "call_id": "late", "confidence": "0.9", "horizon_hours": "87600"}
"""Due ten years after 2024-01-02 (three leap days short): 2033-12-30T00:00Z."""

PRICES = [("P", "2024-01-02T01:30:00Z", 101), ("P", "2033-12-30T00:30:00Z", 99)]


def due_in(hours: float) -> dict[str, str]:
    """A call of the season's last hour, due so many hours after it."""
    return {
        **GOOD_CALL,
        "decided_at": (ENDS - timedelta(hours=1)).isoformat() + "Z",
        "horizon_hours": repr(hours),
    }


def row_of(home: Path) -> dict[str, Any]:
    (row,) = table(home, "agent_season_brier")
    return row


def receipt_of(home: Path) -> tuple[bytes, dict[str, Any]]:
    """The rows, and what is said of them, the night left out."""
    folder = home / "exports/latest/receipts" / file_name("S1")
    stated = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    return (folder / "a.rows.csv").read_bytes(), {**stated, "as_of": None, "receipt_digest": None}


@pytest.mark.parametrize(
    ("hours", "status"),
    [
        (25, "expired"),  # due with the season's last instant: counts
        (25 + 1 / 3.6e9, "due_after_final"),  # one microsecond later
        (26, "due_after_final"),
    ],
)
def test_the_last_due_time_that_counts(tmp_path: Path, hours: float, status: str) -> None:
    home = make_home(tmp_path / "home", [due_in(hours)])
    night(home, FINAL)
    late_by = timedelta(microseconds=round((hours - 25) * 3.6e9))
    assert query(home, "SELECT due_at FROM sealed_calls") == [(LAST_DUE + late_by,)]
    assert query(home, "SELECT status FROM resolved_outcomes") == [(status,)]
    row = row_of(home)
    assert (row["due_after_final"], row["expired_calls"]) == (
        (1, 0) if status == "due_after_final" else (0, 1)
    )
    assert row["is_final"]


def test_the_bound_is_the_seasons_own(tmp_path: Path) -> None:
    seasons = [{**SEASON, "max_horizon_hours": "48"}]
    home = make_home(tmp_path / "home", [due_in(49)], seasons=seasons)
    night(home, "2024-02-02T12:00:00Z")
    row = row_of(home)
    assert (row["pending_calls"], row["due_after_final"], row["is_final"]) == (1, 0, False)


def test_ten_years_do_not_hold_a_season_back_nor_change_it(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", [GOOD_CALL, LATE], PRICES)
    night(home, FINAL)
    final, receipt = row_of(home), receipt_of(home)
    scores = table(home, "season_scores")
    assert final["is_final"]
    assert (final["eligible_calls"], final["resolved_calls"], final["due_after_final"]) == (2, 1, 1)
    assert (final["brier"], final["mean_confidence"]) == (pytest.approx(0.04, abs=1e-15), 0.8)
    assert table(home, "late_outcomes") == []

    night(home, TEN_YEARS_ON)
    (late,) = table(home, "late_outcomes")
    assert (late["call_id"], late["status"], late["outcome"], late["price"]) == (
        "late",
        "resolved",
        0,
        99.0,
    )
    assert late["squared_error"] == 0.9 * 0.9
    assert row_of(home) == final
    assert table(home, "season_scores") == scores
    assert query(home, "SELECT forecast_id FROM scored_forecasts WHERE outcome IS NOT NULL") == [
        ("c1",)
    ]
    assert receipt_of(home) == receipt
    assert receipt[1]["left_out"] == [
        {
            "call_id": "late",
            "what": "due_after_final",
            "reason": "due_after_final",
            "counts_as_directional": True,
            "counts_as_eligible": True,
            "counts_in_mean": False,
        }
    ]
    result = CliRunner().invoke(main, ["verify", "--home", str(home)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("as_of", "words"),
    [
        (FINAL, "(pending: not due for another 83976 h 0 min"),
        (TEN_YEARS_ON, "(resolved: wrong: price 99.0 < reference 100.0"),
    ],
)
def test_explain_says_that_it_counts_in_no_score(tmp_path: Path, as_of: str, words: str) -> None:
    home = make_home(tmp_path / "home", [GOOD_CALL, LATE], PRICES)
    night(home, as_of)
    result = CliRunner().invoke(main, ["explain", "late", "--home", str(home)])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "due_after_final: due later than its season's end plus the season's bound" in said
    assert "it counts in no score, whatever becomes of it" in said
    assert words in said
