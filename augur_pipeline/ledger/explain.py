"""The life of one call, gathered from the published database and the landing files."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.home import Home
from augur_pipeline.intake.kinds import CALLS
from augur_pipeline.landing.columns import LandingKind
from augur_pipeline.landing.files import create_landing_table, land, landing_files
from augur_pipeline.policy import Policy
from augur_pipeline.prices.kinds import PRICES
from augur_pipeline.prices.steps import install_price_finding, judged_prices
from augur_pipeline.store.grammar import install_grammar
from augur_pipeline.store.published import open_published, read_run_info
from augur_pipeline.store.sql import load_sql, rows_as_dicts

MARGIN = timedelta(hours=6)
"""How far around its window a call's prices are shown."""

Row = dict[str, Any]


@dataclass(frozen=True)
class CallLife:
    """All that is known of one call id; `sealed` is None where none was ever sealed."""

    call_id: str
    as_of: datetime
    policy: Policy
    sealed: Row | None
    outcome: Row | None
    late_price: Row | None
    rejections: list[Row]
    landing_rows: list[Row]
    prices: list[Row]
    near_matches: list[str]


def call_life(home: Home, call_id: str) -> CallLife:
    """Gather the life of a call as last published, with its rows and prices as they lie now."""
    with open_published(home.database) as published:
        run = read_run_info(published, home.database)
        policy = Policy.from_json(run["policy"])

        def one(statement: str) -> Row | None:
            return next(iter(rows_as_dicts(published, statement, {"call_id": call_id})), None)

        sealed = one("FROM sealed_calls WHERE call_id = $call_id")
        outcome = one(
            """
            SELECT outcomes.*, window_closes_at, expires_at
            FROM resolved_outcomes AS outcomes JOIN eligible_calls USING (call_id)
            WHERE call_id = $call_id
            """
        )
        if outcome is not None and outcome["status"] == "due_after_final":
            # what became of it counts nowhere, and is told all the same
            outcome |= {"late_status": None, **_late_outcome(one)}
        late_price = one("FROM late_prices WHERE call_id = $call_id")
        rejections = rows_as_dicts(
            published,
            "FROM rejected_rows WHERE call_id = $call_id ORDER BY source_file, source_line",
            {"call_id": call_id},
        )
        near_matches = []
        if sealed is None and not rejections:
            near_matches = [row["call_id"] for row in _near_matches(published, call_id)]

    with tempfile.TemporaryDirectory() as scratch, duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        install_grammar(connection)
        connection.execute(load_sql(__package__, "seal"))
        # prices are judged as if all were known
        connection.execute(
            "CREATE TABLE run_state AS SELECT $as_of::TIMESTAMP AS as_of", {"as_of": datetime.max}
        )
        names = _land_wanted(
            connection, Path(scratch), home, CALLS, "call_id = $call_id", {"call_id": call_id}
        )
        landing_rows = _landed_calls(connection, names)
        prices: list[Row] = []
        if sealed is not None and outcome is not None:
            closes_at = sealed["due_at"] + timedelta(hours=policy.window_hours)
            install_price_finding(connection)
            _land_wanted(
                connection,
                Path(scratch),
                home,
                PRICES,
                "recorded_at BETWEEN $first AND $last AND pool_number = "
                "(SELECT pool_number FROM pools WHERE pool_id = $pool_id)",
                {
                    "pool_id": sealed["pool_id"],
                    "first": sealed["due_at"] - MARGIN,
                    "last": closes_at + MARGIN,
                },
            )
            prices = judged_prices(connection)
    return CallLife(
        call_id,
        run["as_of"],
        policy,
        sealed,
        outcome,
        late_price,
        rejections,
        landing_rows,
        prices,
        near_matches,
    )


def _late_outcome(one: Callable[[str], Row | None]) -> Row:
    late = one("FROM late_outcomes WHERE call_id = $call_id")
    return (
        {} if late is None else {**late, "status": "due_after_final", "late_status": late["status"]}
    )


def _near_matches(connection: duckdb.DuckDBPyConnection, call_id: str) -> list[Row]:
    return rows_as_dicts(
        connection,
        """
        SELECT call_id FROM sealed_calls
        WHERE jaro_winkler_similarity(call_id, $call_id) > 0.8
        ORDER BY jaro_winkler_similarity(call_id, $call_id) DESC, call_id
        LIMIT 5
        """,
        {"call_id": call_id},
    )


def _land_wanted(
    connection: duckdb.DuckDBPyConnection,
    scratch: Path,
    home: Home,
    kind: LandingKind,
    wanted: str,
    parameters: Row,
) -> dict[int, str]:
    """Land a kind's files and keep the rows that are wanted; the names of the files by number."""
    create_landing_table(connection, kind)
    names: dict[int, str] = {}
    for file in landing_files(home.inputs / kind.name, kind):
        land(connection, scratch, file)
        names[file.number] = file.name
        for table in filter(None, (kind.table, kind.unusable_table)):
            connection.execute(f"DELETE FROM {table} WHERE ({wanted}) IS NOT TRUE", parameters)
    return names


def _landed_calls(connection: duckdb.DuckDBPyConnection, names: dict[int, str]) -> list[Row]:
    """The landed rows of calls with their seals, in the order that counts."""
    rows = rows_as_dicts(
        connection,
        """
        SELECT
            *,
            call_seal(
                call_id, agent_id, pool_id, action, decider, confidence, confidence_text,
                horizon_hours, horizon_hours_text, reference_price, reference_price_text, decided_at
            ) AS seal
        FROM raw_calls
        ORDER BY file_number, source_line
        """,
    )
    return [{**row, "source_file": names[row["file_number"]]} for row in rows]


def shown_prices(life: CallLife, before: int = 2, inside: int = 4) -> tuple[list[Row], int]:
    """The prices to show, in order, and how many in the window are left out.

    The last ones before the window, the first ones in it, and the next one after it.
    """
    assert life.sealed is not None
    due_at = life.sealed["due_at"]
    closes_at = due_at + timedelta(hours=life.policy.window_hours)
    prices = [row for row in life.prices if row["fate"] != "duplicate"]
    earlier = [row for row in prices if row["recorded_at"] < due_at]
    window = [row for row in prices if due_at <= row["recorded_at"] <= closes_at]
    later = [row for row in prices if row["recorded_at"] > closes_at]
    shown = earlier[-before:] + window[:inside] + later[:1]
    return shown, max(0, len(window) - inside)
