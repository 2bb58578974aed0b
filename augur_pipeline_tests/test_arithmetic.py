"""The auditor's arithmetic against the SQL that publishes: the same bits, ties forced.

Each test feeds generated rows to the very statement of the night and to the function of
`arithmetic` that `augur verify` holds its result against.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from augur_pipeline import arithmetic
from augur_pipeline.cli import main
from augur_pipeline.intake.tables import RawCalls
from augur_pipeline.ledger.tables import SealedCalls
from augur_pipeline.policy import Policy
from augur_pipeline.store.sql import load_sql, parameters_of, rows_as_dicts
from augur_pipeline.store.tables import columns_of, name_of
from augur_pipeline.verification.bins import equal_width_bin
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, write_csv

POLICY = Policy()
AS_OF = datetime(2024, 3, 1)
STARTS, ENDS = datetime(2024, 1, 1, 5), datetime(2024, 2, 1)
BOUND_HOURS = 24.0
US = timedelta(microseconds=1)

RULES = {
    "default_season_max_horizon_hours": BOUND_HOURS,
    "max_horizon_hours": float(POLICY.max_horizon_hours),
    "window_hours": POLICY.window_hours,
    "expiry_hours": POLICY.expiry_hours,
    "brier_reference": POLICY.brier_reference,
    "min_resolved": POLICY.min_resolved,
}

property_settings = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# few values, so that ties, edges and equal sums come often
PROBABILITIES = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.3, 0.45, 0.5, 0.7, 0.7999999999999999, 0.8, 1.0, 5e-324]),
    st.floats(0, 1),
)
TERM_VALUES = st.none() | st.sampled_from([0.0, 13.0, 13.0, 50.0, 99.9, 100.0]) | st.floats(0, 100)
WEIGHTS = st.sampled_from([0.45, 0.3, 0.1, 0.15, 1 / 3, 0.9])
TEXTS = st.sampled_from(["a", "b\\", "c\nd", "e\rf", "=\\n", "ä'\"", "\u200b", "\x00"])


def connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    return connection


def make_table(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    types: Mapping[str, str],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """A table of these columns, with the rows' values (NULL where a row names none)."""
    columns = ", ".join(f"{column} {kind}" for column, kind in types.items())
    connection.execute(f"CREATE TABLE {name} ({columns})")
    if rows:
        places = ", ".join("?" * len(types))
        connection.executemany(
            f"INSERT INTO {name} VALUES ({places})",
            [[row.get(column) for column in types] for row in rows],
        )


def run(connection: duckdb.DuckDBPyConnection, package: str, name: str) -> None:
    statement = load_sql(f"augur_pipeline.{package}", name)
    known = {**POLICY.sql_parameters(), "as_of": AS_OF}
    parameters = parameters_of(statement, known)
    connection.execute(statement, parameters or None)


def table_types(model: Any) -> dict[str, str]:
    return {column.name: column.type for column in columns_of(model)}


def assert_same(recomputed: Mapping[str, Any], published: Mapping[str, Any]) -> None:
    for name, value in recomputed.items():
        assert arithmetic.same(published[name], value), (name, published[name], value)


# --- terms ----------------------------------------------------------------------------------------


@st.composite
def weighted_terms(draw: st.DrawFn) -> tuple[dict[str, tuple[float, float | None]], float | None]:
    """Terms by name as (weight, value), and the calibration; in half of them all values are one."""
    names = draw(st.lists(st.sampled_from(["p", "q", "r", "A", "'"]), unique=True))
    one = draw(TERM_VALUES)
    values = st.just(one) if draw(st.booleans()) else TERM_VALUES
    terms = {name: (draw(WEIGHTS), draw(values)) for name in names}
    return terms, draw(values | st.none())


@property_settings
@given(weighted_terms())
def test_season_scores(
    drawn: tuple[dict[str, tuple[float, float | None]], float | None],
) -> None:
    terms, calibration = drawn
    with connect() as connection:
        make_table(
            connection,
            "agent_season_brier",
            {"season_id": "VARCHAR", "agent_id": "VARCHAR", "calibration": "DOUBLE"},
            [{"season_id": "S", "agent_id": "a", "calibration": calibration}],
        )
        make_table(
            connection,
            "score_terms",
            {
                "season_id": "VARCHAR",
                "agent_id": "VARCHAR",
                "term": "VARCHAR",
                "weight": "DOUBLE",
                "value": "DOUBLE",
            },
            [
                {"season_id": "S", "agent_id": "a", "term": term, "weight": weight, "value": value}
                for term, (weight, value) in terms.items()
            ],
        )
        run(connection, "scores", "season_scores")
        (published,) = rows_as_dicts(connection, "FROM season_scores")
    published["effective_weights"] = json.loads(published["effective_weights"])
    all_terms = {**terms, "calibration": (POLICY.calibration_weight, calibration)}
    recomputed = arithmetic.season_score(all_terms)
    assert_same(recomputed, published)
    measured = [value for _, value in all_terms.values() if value is not None]
    assert not measured or min(measured) <= published["score"] <= max(measured)


def test_a_score_of_equal_values_is_that_value_to_the_auditor_too(tmp_path: Path) -> None:
    """Two terms of weight 0.45 and value 13: Σw·v ÷ Σw alone is 13.000000000000004."""
    home = tmp_path / "home"
    terms = [
        {"season_id": "S1", "agent_id": "a", "term": term, "weight": "0.45", "value": "13"}
        for term in ("profit", "risk")
    ]
    make_home(home, calls=[GOOD_CALL])
    write_csv(home / "inputs/score_terms.csv", terms)
    night(home)
    assert query(home, "SELECT score FROM season_scores") == [(13.0,)]
    result = CliRunner().invoke(main, ["verify", "--home", str(home)])
    assert result.exit_code == 0, result.output


# --- seals, times and fates -----------------------------------------------------------------------

# on, just before and just after each edge of the season, the bound and the longest horizon
HOURS = st.none() | st.sampled_from(
    [0.0, -0.0, -1.0, 1e-10, 1.388e-10, 1.389e-10, 1.0, BOUND_HOURS, 24.000000001, 87600.0, 87601.0]
)
TIMES = st.sampled_from(
    [
        edge + shift
        for edge in (STARTS, ENDS, AS_OF - timedelta(hours=1), AS_OF - timedelta(hours=24))
        for shift in (-US, timedelta(), US)
    ]
)


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    call: dict[str, Any] = {
        "agent_id": draw(TEXTS),
        "pool_id": draw(TEXTS),
        "action": draw(st.sampled_from(["buy", "sell", "hold"])),
        "decider": draw(st.sampled_from(["llm", "deterministic", "protective_exit", "system"])),
        "decided_at": draw(TIMES),
        "recorded_at": draw(st.none() | TIMES),
        "order_status": draw(st.sampled_from([None, "accepted", "refused"])),
    }
    numbers = {
        "confidence": st.none() | PROBABILITIES | st.sampled_from([-0.1, 1.0000000000000002]),
        "horizon_hours": HOURS,
        "reference_price": st.none() | st.sampled_from([0.0, -0.0, -1.0, 100.0, 1e-320, 1e300]),
    }
    for name, values in numbers.items():
        call[name] = draw(values)
        call[f"{name}_text"] = draw(st.none() | TEXTS) if call[name] is None else None
    return call


@property_settings
@given(st.lists(calls(), min_size=1, max_size=12))
def test_seals_times_fates_and_episodes(rows: list[dict[str, Any]]) -> None:
    given_rows = [
        {**row, "call_id": f"c{number}\\", "file_number": 0, "source_line": number + 2}
        for number, row in enumerate(rows)
    ]
    with connect() as connection:
        make_table(connection, name_of(RawCalls), table_types(RawCalls), given_rows)
        make_table(connection, "previous_sealed_calls", table_types(SealedCalls), [])
        connection.execute(
            "CREATE TABLE input_files AS "
            "SELECT 'calls' AS kind, 0 AS file_number, 'calls.csv' AS source_file"
        )
        make_seasons(connection)
        run(connection, "ledger", "seal")
        run(connection, "ledger", "screened_calls")
        run(connection, "ledger", "sealed_calls")
        published = rows_as_dicts(connection, "FROM sealed_calls")
        run(connection, "ledger", "eligible_calls")
        connection.execute(
            "CREATE TABLE resolved_outcomes AS SELECT call_id, NULL AS status, NULL AS outcome, "
            "NULL AS price_recorded_at FROM eligible_calls"
        )
        run(connection, "forecasts", "scored_forecasts")
        episodes = dict(
            connection.execute("SELECT forecast_id, episode_id FROM scored_forecasts").fetchall()
        )
    rules = {**RULES, "backfill": POLICY.backfill}
    in_time = [row for row in given_rows if max_time(row) <= AS_OF]
    assert len(published) == len(in_time)
    for row in published:
        due = arithmetic.due_at(row, rules)
        in_season = STARTS <= row["decided_at"] < ENDS
        reason = arithmetic.reason_of(row, due, in_season, rules)
        assert_same(
            {
                "seal": arithmetic.seal_of(row),
                "due_at": due,
                "is_backfilled": arithmetic.is_backfilled(row, due),
                "reason": reason,
                "fate": arithmetic.fate_of(reason),
                **arithmetic.texts_of(row),
            },
            row,
        )
        if reason is None:
            episode = arithmetic.episode_of(row, STARTS, BOUND_HOURS, rules)
            assert episodes.pop(row["call_id"]) == episode
    assert not episodes


def max_time(row: Mapping[str, Any]) -> datetime:
    return max(row["decided_at"], row["recorded_at"] or row["decided_at"])


def make_seasons(connection: duckdb.DuckDBPyConnection) -> None:
    make_table(
        connection,
        "seasons",
        {
            "season_id": "VARCHAR",
            "starts_at": "TIMESTAMP",
            "ends_at": "TIMESTAMP",
            "max_horizon_hours": "DOUBLE",
        },
        [
            {
                "season_id": "S",
                "starts_at": STARTS,
                "ends_at": ENDS,
                "max_horizon_hours": BOUND_HOURS,
            }
        ],
    )


# --- outcomes, statuses, sums and scores ----------------------------------------------------------

PRICES = st.sampled_from([99.99999999999999, 100.0, 100.00000000000001, 1e-320, 1e300])
LAST_DUE = ENDS + timedelta(hours=BOUND_HOURS)


@st.composite
def directional_calls(draw: st.DrawFn) -> dict[str, Any]:
    standing = draw(st.sampled_from(["eligible"] * 8 + ["rejected", "missing"]))
    settled = draw(st.sampled_from(["resolved"] * 4 + ["expired", None]))
    return {
        "season_id": "S",
        "agent_id": draw(st.sampled_from(["a", "b"])),
        "pool_id": "P",
        "action": draw(st.sampled_from(["buy", "sell"])),
        "order_status": draw(st.sampled_from([None, "accepted", "refused"])),
        "confidence": draw(PROBABILITIES),
        "reference_price": draw(PRICES),
        "is_backfilled": draw(st.booleans()),
        "due_at": draw(
            st.sampled_from([LAST_DUE - US, LAST_DUE, LAST_DUE + US, AS_OF, AS_OF + US])
        ),
        "fate": standing if standing != "missing" else "excluded",
        "reason": {"eligible": None, "rejected": "sealed_late", "missing": "missing_horizon"}[
            standing
        ],
        "settled": settled,
        "price": draw(PRICES) if settled == "resolved" else None,
    }


@property_settings
@given(st.lists(directional_calls(), min_size=1, max_size=24))
def test_outcomes_statuses_sums_and_scores(rows: list[dict[str, Any]]) -> None:
    given_rows = [{**row, "call_id": f"c{number:02}"} for number, row in enumerate(rows)]
    with connect() as connection:
        make_seasons(connection)
        run(connection, "ledger", "outcome")
        make_table(connection, "sealed_calls", table_types(SealedCalls), given_rows)
        connection.execute(
            "CREATE TABLE eligible_calls AS FROM sealed_calls WHERE fate = 'eligible'"
        )
        make_table(
            connection,
            "priced",
            {"call_id": "VARCHAR", "settled": "VARCHAR", "price": "DOUBLE"},
            given_rows,
        )
        connection.execute(
            "CREATE TABLE settlements AS SELECT call_id, settled AS status, price, "
            "outcome_of(action, price, reference_price) AS outcome, "
            "price = reference_price AS is_flat, $at AS price_recorded_at, $at AS settled_at "
            "FROM priced JOIN eligible_calls USING (call_id) WHERE settled IS NOT NULL",
            {"at": AS_OF},
        )
        run(connection, "ledger", "resolved_outcomes")
        run(connection, "scores", "agent_season_brier")
        run(connection, "exports.receipts", "receipt_sums")
        sums = {row["agent_id"]: row["loss_sum"] for row in connection_rows(connection)}
        outcomes = {
            row["call_id"]: row for row in rows_as_dicts(connection, "FROM resolved_outcomes")
        }
        published = {
            row["agent_id"]: row for row in rows_as_dicts(connection, "FROM agent_season_brier")
        }
    tallies: dict[str, arithmetic.Tally] = {}
    for row in given_rows:
        tally = tallies.setdefault(row["agent_id"], arithmetic.Tally())
        standing = arithmetic.standing_of(row["reason"])
        assert standing is not None
        if standing != "eligible":
            tally.count(standing, row, None)
            continue
        late = arithmetic.is_due_after_final(row["due_at"], ENDS, BOUND_HOURS)
        settled_at = AS_OF if row["settled"] else None
        status = arithmetic.status_of(row["due_at"], row["price"], settled_at, AS_OF, late)
        assert_same({"status": status}, outcomes[row["call_id"]])
        tally.count(standing, row, status)
        if status == "resolved":
            outcome = arithmetic.outcome_of(row["action"], row["price"], row["reference_price"])
            is_flat = row["price"] == row["reference_price"]
            loss = arithmetic.loss_of(row["confidence"], outcome)
            assert_same(
                {"outcome": outcome, "is_flat": is_flat, "squared_error": loss},
                outcomes[row["call_id"]],
            )
            tally.add(row["confidence"], outcome, is_flat)
    assert set(tallies) == set(published)
    for agent, tally in tallies.items():
        assert_same(tally.scores(RULES, AS_OF, ENDS), published[agent])
        if tally.eligible:
            assert arithmetic.decimal_text(tally.loss_units) == sums[agent]


def connection_rows(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    return rows_as_dicts(connection, load_sql("augur_pipeline.exports.receipts", "receipt_sums"))


@property_settings
@given(
    st.lists(
        PROBABILITIES
        | st.sampled_from([0.5e-18, 1.5e-18, 2.5e-18, -0.5e-18])
        | st.floats(-1e6, 1e6),
        min_size=1,
    )
)
def test_units_are_those_of_the_decimal_cast(values: list[float]) -> None:
    with connect() as connection:
        texts = [
            text
            for (text,) in connection.execute(
                "SELECT CAST(CAST(v AS DECIMAL(38, 18)) AS VARCHAR) FROM (SELECT unnest($v) AS v)",
                {"v": values},
            ).fetchall()
        ]
        ((total,),) = connection.execute(
            "SELECT CAST(sum(CAST(v AS DECIMAL(38, 18))) AS DOUBLE) FROM (SELECT unnest($v) AS v)",
            {"v": values},
        ).fetchall()
    units = [arithmetic.units_of(value) for value in values]
    assert texts == [arithmetic.decimal_text(unit) for unit in units]
    assert arithmetic.double_of(sum(units)) == total


@property_settings
@given(st.lists(PROBABILITIES | st.sampled_from([k / 10 for k in range(11)]), min_size=1))
def test_bins(values: list[float]) -> None:
    edges = [np.nextafter(value, side) for value in values for side in (0.0, 1.0)]
    probability = np.array([*values, *edges])
    bins = equal_width_bin(probability, arithmetic.BINS)
    assert bins.tolist() == [arithmetic.bin_of(value) for value in probability.tolist()]
