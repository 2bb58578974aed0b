"""What an operator may archive, and when: a final season's price files."""

from pathlib import Path

from augur_pipeline_tests.nights import GOOD_CALL, SEASON, make_home, night, table, write_csv

SECOND = {
    "season_id": "S2",
    "starts_at": "2024-02-01T00:00:00Z",
    "ends_at": "2024-03-01T00:00:00Z",
}


def two_seasons(root: Path) -> Path:
    calls = [
        {
            **GOOD_CALL,
            "call_id": f"{season}-{day}",
            "decided_at": f"2024-{month}-{day:02}T00:00:00Z",
        }
        for season, month in (("S1", "01"), ("S2", "02"))
        for day in range(2, 9)
    ]
    # the last call of the first season finds no price: it expires
    prices = {
        season: [
            ("P", f"2024-{month}-{day:02}T01:00:00Z", 101 if day % 2 else 99)
            for day in range(2, 8 if season == "S1" else 9)
        ]
        for season, month in (("S1", "01"), ("S2", "02"))
    }
    home = make_home(root, calls, [], [SEASON, SECOND])
    (home / "inputs/prices/prices.csv").unlink()
    for season, rows in prices.items():
        write_csv(
            home / f"inputs/prices/{season}.csv",
            [{"pool_id": pool, "recorded_at": at, "price": price} for pool, at, price in rows],
        )
    return home


def test_archiving_a_final_season_s_prices_changes_no_published_outcome(tmp_path: Path) -> None:
    home = two_seasons(tmp_path)
    night(home, "2024-02-04T00:00:00Z")
    before = {name: table(home, name) for name in ("resolved_outcomes", "agent_season_brier")}
    first = [row for row in before["agent_season_brier"] if row["season_id"] == "S1"]
    assert [(row["is_final"], row["resolved_calls"], row["expired_calls"]) for row in first] == [
        (True, 6, 1)
    ]

    (home / "inputs/prices/S1.csv").rename(tmp_path / "archived.csv")
    night(home, "2024-02-20T00:00:00Z")

    def of_first_season(name: str, rows: list[dict[str, object]]) -> list[dict[str, object]]:
        return [row for row in rows if row["season_id"] == "S1"]

    for name, rows in before.items():
        assert of_first_season(name, table(home, name)) == of_first_season(name, rows)
    assert table(home, "late_prices") == []
    (second,) = [row for row in table(home, "agent_season_brier") if row["season_id"] == "S2"]
    assert second["resolved_calls"] == 7


def test_archiving_before_the_season_is_final_loses_outcomes(tmp_path: Path) -> None:
    """Why the season must be final: an open call whose price is archived expires."""
    home = two_seasons(tmp_path)
    night(home, "2024-01-02T00:30:00Z")
    (home / "inputs/prices/S1.csv").unlink()
    night(home, "2024-02-20T00:00:00Z")
    (first,) = [row for row in table(home, "agent_season_brier") if row["season_id"] == "S1"]
    assert (first["resolved_calls"], first["expired_calls"]) == (0, 7)


def test_archived_calls_keep_counting(tmp_path: Path) -> None:
    home = two_seasons(tmp_path)
    night(home, "2024-02-20T00:00:00Z")
    before = table(home, "agent_season_brier")
    (home / "inputs/calls/calls.csv").unlink()
    night(home, "2024-02-21T00:00:00Z")
    assert table(home, "agent_season_brier") == before
