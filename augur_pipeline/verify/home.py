"""Verifying a home: every published table and export file, recomputed or held against another.

In plain Python from the sealed fields, settlements and settings; the SQL that made the tables is
not used, only the statement that defines a table's digest. What cannot be recomputed from what
is published (which prices were seen, rejected landing rows, file digests) stands under
`content_digest`, which covers every table, and must equal the exported Parquet files.
"""

import contextlib
import csv
import io
import json
import os
import tempfile
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.arithmetic import (
    Tally,
    due_at,
    episode_of,
    fate_of,
    is_backfilled,
    is_due_after_final,
    loss_of,
    micros,
    outcome_of,
    reason_of,
    same,
    seal_of,
    season_score,
    settlement_fault,
    standing_of,
    status_of,
    texts_of,
)
from augur_pipeline.errors import AugurError
from augur_pipeline.exports.catalog import CONTENT_TABLES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.index import Names, index_bytes, names_of
from augur_pipeline.exports.passports.files import passport_files, passport_schema
from augur_pipeline.exports.receipts.files import receipt_files, receipt_schema
from augur_pipeline.exports.views import make_views
from augur_pipeline.home import Home
from augur_pipeline.policy import Policy
from augur_pipeline.store.digests import content_digest, parts_of, run_digest, stored_parts
from augur_pipeline.store.export_sets import export_set, link_text
from augur_pipeline.store.exported_tables import EXPORTED_ROWS, season_files
from augur_pipeline.store.published import LEDGER_VERSION, open_published, read_run_info
from augur_pipeline.store.replacing import NOT_EXPORTED
from augur_pipeline.store.tables import (
    Model,
    columns_of,
    key_of,
    name_of,
    season_column_of,
    table_ddl,
)
from augur_pipeline.verify.export_rows import check_passports, check_row_files
from augur_pipeline.verify.findings import ABSENT, Findings
from augur_pipeline.verify.receipt import NoReceiptError, verify_receipt

Row = dict[str, Any]

_AT_ONCE = 10_000
_UNUSABLE = (ValueError, TypeError, KeyError, ArithmeticError, AttributeError, AssertionError)
"""What arithmetic on values that cannot be raises: an altered table may hold anything."""

_FATES = {
    "prices": ("usable", "duplicate", "rejected", "not_yet"),
    "calls": ("eligible", "excluded", "rejected", "duplicate", "not_yet"),
}
"""Of the rows of each kind of landing file."""

_CALL_TABLES = (
    "sealed_calls", "eligible_calls", "excluded_calls", "settlements", "resolved_outcomes",
    "late_prices", "late_outcomes",
)  # fmt: skip


class UnverifiableError(AugurError):
    """The published database cannot be read."""


@dataclass
class Run:
    """What the run states, and the settings everything else follows from."""

    as_of: datetime
    policy: Row
    content_digest: str
    seasons: dict[str, Row]

    def season_of(self, instant: datetime) -> str | None:
        """The season an instant lies in."""
        in_order = sorted(self.seasons.values(), key=lambda season: season["starts_at"])
        place = bisect_right([season["starts_at"] for season in in_order], instant) - 1
        if place < 0 or instant >= in_order[place]["ends_at"]:
            return None
        return str(in_order[place]["season_id"])


@dataclass
class Counts:
    """What the calls add up to, for the tables that count them."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=lambda: defaultdict(Tally))
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    rejected_calls: set[tuple[str, str]] = field(default_factory=set)
    excluded: Counter[tuple[str, str]] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)


def verify_home(home: Home) -> Findings:
    """Check everything published in a home; raises `AugurError` where nothing can be read."""
    findings = Findings()
    with open_published(home.database) as connection:
        connection.execute("SET enable_progress_bar = false")
        try:
            version = read_run_info(connection, home.database).get("ledger_version", 1)
            if version != LEDGER_VERSION:
                raise UnverifiableError(
                    f"{home.database}: published with ledger version {version}, and this augur "
                    f"recomputes version {LEDGER_VERSION}; run a night, or verify with the augur "
                    "that published it"
                )
            if _check_shapes(connection, findings):
                _verify(connection, home, findings)
        except (duckdb.Error, UnicodeDecodeError) as error:
            first_line = str(error).strip().splitlines()[0]
            raise UnverifiableError(
                f"{home.database}: cannot be read ({first_line}); restore it from a backup"
            ) from error
    return findings


def _verify(connection: duckdb.DuckDBPyConnection, home: Home, findings: Findings) -> None:
    run = _check_run(connection, findings)
    names = names_of(connection)
    _check_views(connection, run, findings)
    _check_digests(connection, run, findings)
    with tempfile.TemporaryDirectory(prefix="augur-verify-") as scratch:
        _check_tables(connection, home, Path(scratch), findings)
    _check_funnel(connection, findings)
    counts = _check_calls(connection, run, findings)
    _check_scores(connection, run, counts, findings)
    _check_passports(connection, counts, findings)
    _check_files(connection, home, run, names, findings)


# --- reading --------------------------------------------------------------------------------------


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[Row]:
    """Rows of a query, streamed, so that several tables can be read side by side."""
    cursor = connection.cursor()
    cursor.execute("SET enable_progress_bar = false")
    cursor.execute(query)
    names = [column[0] for column in cursor.description or []]
    while rows := cursor.fetchmany(_AT_ONCE):
        for row in rows:
            yield dict(zip(names, row, strict=True))


def _side_by_side(
    streams: Mapping[str, Iterator[Row]], keys: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, Row]]]:
    """Merge streams sorted by key: each key once, with the row of every table that has it."""
    heads = {name: next(stream, None) for name, stream in streams.items()}
    while present := {name: row for name, row in heads.items() if row is not None}:
        key = min(row[keys[name]] for name, row in present.items())
        group = {name: row for name, row in present.items() if row[keys[name]] == key}
        yield key, group
        for name in group:
            heads[name] = next(streams[name], None)


def _key(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return ", ".join(f"{name}={row[name]}" for name in names)


def _json(text: str) -> Any:
    """The value of a JSON text, or the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


# --- shapes, and the run itself -------------------------------------------------------------------


def _check_shapes(connection: duckdb.DuckDBPyConnection, findings: Findings) -> bool:
    """Every table is there with its columns; without them there is nothing to recompute."""
    before = findings.found
    stored: dict[str, dict[str, str]] = defaultdict(dict)
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE database_name = current_database() AND NOT internal "
        "ORDER BY table_name, column_index"
    ).fetchall():
        stored[table][column] = kind
    for model in (*PUBLISHED_TABLES, *VIEWS):
        shape = {column.name: column.type for column in columns_of(model)}
        found = stored.pop(name_of(model), {})
        for column in dict.fromkeys([*shape, *found]):
            if shape.get(column, ABSENT) != found.get(column, ABSENT):
                findings.add(
                    name_of(model), "", column, found.get(column, ABSENT), shape.get(column, ABSENT)
                )
    for table in stored:
        findings.add(table, "", "", "a table", ABSENT)
    findings.checked["tables"] = len(PUBLISHED_TABLES) + len(VIEWS)
    return findings.found == before


def _check_run(connection: duckdb.DuckDBPyConnection, findings: Findings) -> Run:
    runs = list(_rows(connection, "FROM run_info"))
    if len(runs) != 1:
        raise UnverifiableError(f"run_info: {len(runs)} rows; it must have one")
    (info,) = runs
    others = {name: value for name, value in info.items() if name != "run_digest"}
    findings.compare("run_info", "", info, {"run_digest": run_digest(others)})
    inputs = {
        f"{row['kind']}/{row['source_file']}": row["sha256"]
        for row in _rows(connection, "FROM input_files ORDER BY kind, file_number")
    }
    findings.compare("run_info", "", info, {"input_digests": json.dumps(inputs)})
    known = json.loads(Policy().to_json())
    try:
        policy = json.loads(info["policy"])
        used = {**known, **policy}
        Policy(**used)
    except _UNUSABLE as error:
        raise UnverifiableError(f"run_info: policy cannot be read ({error})") from error
    findings.compare("run_info", "", info, {"policy_version": policy.get("version")})
    if policy.get("version") == known["version"]:
        for name, value in known.items():
            if name in policy and name != "backfill" and policy[name] != value:
                findings.add("run_info", "", f"policy.{name}", policy[name], value)
    seasons = {row["season_id"]: row for row in _rows(connection, "FROM seasons")}
    return Run(info["as_of"], used, info["content_digest"], seasons)


def _check_views(connection: duckdb.DuckDBPyConnection, run: Run, findings: Findings) -> None:
    """Tables are tables, and views say what they are said to: a view could lie at another time."""
    policy = {name: run.policy[name] for name in asdict(Policy())}
    known = {"as_of": run.as_of, **Policy(**policy).sql_parameters()}
    with duckdb.connect() as scratch:
        for model in CONTENT_TABLES:
            scratch.execute(table_ddl(model, "memory.main")[0])
        make_views(scratch, "memory.main", known)
        expected, found = _definitions(scratch), _definitions(connection)
    for name in sorted(expected | found):
        wanted, stated = expected.get(name, "a table"), found.get(name, "a table")
        if wanted != stated:
            findings.add(name, "", "definition", stated, wanted)


def _definitions(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The statements of a database's views, as this DuckDB writes them."""
    rows = connection.execute(
        "SELECT view_name, sql FROM duckdb_views() "
        "WHERE NOT internal AND database_name = current_database()"
    ).fetchall()
    return dict(rows)


def _check_digests(connection: duckdb.DuckDBPyConnection, run: Run, findings: Findings) -> None:
    """Every part of the content digest's tree, and the digest over them."""
    stored = {(part.table_name, part.season_id): part for part in stored_parts(connection)}
    parts = [part for model in CONTENT_TABLES for part in parts_of(connection, model)]
    for part in parts:
        key = f"table_name={part.table_name}, season_id={part.season_id}"
        found = stored.pop((part.table_name, part.season_id), None)
        if found is None:
            findings.add("content_digests", key, "", ABSENT, "a row")
        else:
            findings.compare("content_digests", key, asdict(found), asdict(part))
    for table, season in stored:
        key = f"table_name={table}, season_id={season}"
        findings.add("content_digests", key, "", "a row", "none")
    digest = content_digest(parts)
    if digest != run.content_digest:
        findings.add("run_info", "", "content_digest", run.content_digest, digest)


# --- calls ----------------------------------------------------------------------------------------


def _check_calls(connection: duckdb.DuckDBPyConnection, run: Run, findings: Findings) -> Counts:
    """Recompute every call's row in every table that has one, and count."""
    counts = Counts()
    streams = {name: _rows(connection, f"FROM {name} ORDER BY call_id") for name in _CALL_TABLES}
    streams["scored_forecasts"] = _rows(
        connection, "FROM scored_forecasts WHERE kind = 'call' ORDER BY forecast_id"
    )
    keys = {name: "forecast_id" if name == "scored_forecasts" else "call_id" for name in streams}
    for call_id, published in _side_by_side(streams, keys):
        key = f"call_id={call_id}"
        call = published.get("sealed_calls")
        if call is None:
            for table in published:
                findings.add(table, key, "", "a row", "none: no such sealed call, or a second row")
            continue
        try:
            expected = _expected(call, published, run, counts, findings, key)
        except _UNUSABLE as error:
            findings.add("sealed_calls", key, "", "values that cannot be", f"({error})")
            continue
        for table, row in expected.items():
            if row is None and table in published:
                findings.add(table, key, "", "a row", "none")
            elif row is not None and table not in published:
                findings.add(table, key, "", ABSENT, "a row")
            elif row is not None:
                findings.compare(table, key, published[table], row)
        findings.checked["calls"] += 1
    return counts


def _expected(
    call: Row,
    published: Mapping[str, Row],
    run: Run,
    counts: Counts,
    findings: Findings,
    key: str,
) -> dict[str, Row | None]:
    """What every table must say of a call (None: nothing), from its sealed row and settlement."""
    due = due_at(call, run.policy)
    season = run.season_of(call["decided_at"])
    reason = reason_of(call, due, season is not None, run.policy)
    fate = fate_of(reason)
    is_eligible = fate == "eligible"
    if call["first_seen_as_of"] > run.as_of:
        findings.add("sealed_calls", key, "first_seen_as_of", call["first_seen_as_of"], "≤ as_of")
    expected: dict[str, Row | None] = {
        "sealed_calls": {
            **texts_of(call),
            "seal": seal_of(call),
            "due_at": due,
            "is_backfilled": is_backfilled(call, due),
            "fate": fate,
            "reason": reason,
            "season_id": season,
        },
        "eligible_calls": None,
        "resolved_outcomes": None,
        "late_outcomes": None,
        "scored_forecasts": None,
        "excluded_calls": None
        if fate != "excluded"
        else {
            "agent_id": call["agent_id"],
            "season_id": season,
            "reason": reason,
        },
    }
    settlement = published.get("settlements")
    if settlement is not None:
        expected["settlements"] = _settlement(call, settlement, due, run, findings, key)
    if "late_prices" in published:
        expected["late_prices"] = _late(call, published["late_prices"], settlement, due, run)
    status = None
    if is_eligible:
        assert due is not None
        assert season is not None
        bounds = run.seasons[season]
        is_after_final = is_due_after_final(due, bounds["ends_at"], bounds["max_horizon_hours"])
        counted = None if is_after_final else settlement
        outcome = _outcome(call, counted, due, season, run, is_after_final)
        status = outcome["status"]
        if is_after_final and settlement is not None:
            late = _outcome(call, settlement, due, season, run, False)
            del late["pool_id"]
            expected["late_outcomes"] = {**late, "due_at": due}
        if settlement is None and run.as_of >= due + timedelta(hours=run.policy["expiry_hours"]):
            findings.add("resolved_outcomes", key, "status", status, "expired")
        expected["resolved_outcomes"] = outcome
        expected["eligible_calls"] = _eligible(call, due, season, run)
        forecast = published.get("scored_forecasts")
        expected["scored_forecasts"] = _forecast(call, outcome, due, run, forecast)
    _count(call, reason, season, due, status, expected["resolved_outcomes"], counts)
    return expected


def _eligible(call: Row, due: datetime, season: str, run: Run) -> Row:
    copied = (
        "agent_id", "pool_id", "question_id", "action", "decider", "order_status", "confidence",
        "horizon_hours", "reference_price", "decided_at", "model_version", "mandate_id",
    )  # fmt: skip
    return {
        **{name: call[name] for name in copied},
        "season_id": season,
        "due_at": due,
        "window_closes_at": due + timedelta(hours=run.policy["window_hours"]),
        "expires_at": due + timedelta(hours=run.policy["expiry_hours"]),
        "seal": seal_of(call),
    }


def _settlement(
    call: Row, settlement: Row, due: datetime | None, run: Run, findings: Findings, key: str
) -> Row:
    """Status and outcome by the settled price; its times must keep to the contract."""
    assert due is not None
    price = settlement["price"]
    fault = settlement_fault(
        due, price, settlement["price_recorded_at"], settlement["settled_at"], run.as_of, run.policy
    )
    if fault:
        findings.add("settlements", key, "settled_at", settlement["settled_at"], fault)
    is_resolved = price is not None
    return {
        "status": "resolved" if is_resolved else "expired",
        "outcome": outcome_of(call["action"], price, call["reference_price"])
        if is_resolved
        else None,
        "is_flat": price == call["reference_price"] if is_resolved else None,
    }


def _late(
    call: Row, late: Row, settlement: Row | None, due: datetime | None, run: Run
) -> Row | None:
    """A late price lies in the window, is known, and is not the settled one; else no row."""
    if settlement is None or due is None:
        return None
    recorded = late["price_recorded_at"]
    closes = due + timedelta(hours=run.policy["window_hours"])
    is_settled_one = (late["price"], recorded) == (
        settlement["price"],
        settlement["price_recorded_at"],
    )
    if is_settled_one or recorded > run.as_of or not due <= recorded <= closes:
        return None
    return {
        "outcome_it_would_give": outcome_of(call["action"], late["price"], call["reference_price"]),
        "settled_status": settlement["status"],
        "settled_outcome": settlement["outcome"],
    }


def _outcome(
    call: Row,
    settlement: Row | None,
    due: datetime,
    season: str,
    run: Run,
    is_after_final: bool,
) -> Row:
    settled = settlement or dict.fromkeys(("price", "price_recorded_at", "settled_at"))
    price = settled["price"]
    outcome = None if price is None else outcome_of(call["action"], price, call["reference_price"])
    return {
        "agent_id": call["agent_id"],
        "season_id": season,
        "pool_id": call["pool_id"],
        "status": status_of(due, price, settled["settled_at"], run.as_of, is_after_final),
        "outcome": outcome,
        "is_flat": None if price is None else price == call["reference_price"],
        "price": price,
        "price_recorded_at": settled["price_recorded_at"],
        "settled_at": settled["settled_at"],
        "squared_error": None if outcome is None else loss_of(call["confidence"], outcome),
    }


def _forecast(call: Row, outcome: Row, due: datetime, run: Run, published: Row | None) -> Row:
    season = run.seasons[outcome["season_id"]]
    question = call["question_id"]
    if question is None and published is not None:
        # the words for its numbers are the database's: hold the numbers against each other
        stated = published["question_id"]
        question = stated if _is_question(stated, call, due) else "that of its pool and times"
    return {
        "cohort_id": outcome["season_id"],
        "forecaster_id": call["agent_id"],
        "event_id": question,
        "question_id": question,
        "episode_id": episode_of(
            call, season["starts_at"], season["max_horizon_hours"], run.policy
        ),
        "status": outcome["status"],
        "probability": call["confidence"],
        "outcome": outcome["outcome"],
        "weight": 1.0,
        "issued_at": call["decided_at"],
        "resolved_at": outcome["price_recorded_at"],
        "model_version": call["model_version"],
    }


def _is_question(text: str, call: Row, due: datetime) -> bool:
    parts = _json(text)
    if not isinstance(parts, list) or len(parts) != 5:
        return False
    with contextlib.suppress(ValueError, TypeError):
        pool, due_us, hours, reference, decided_us = parts
        return (
            [pool, due_us, decided_us]
            == [call["pool_id"], str(micros(due)), str(micros(call["decided_at"]))]
            and float(hours) == call["horizon_hours"]
            and float(reference) == call["reference_price"]
        )
    return False


def _count(
    call: Row,
    reason: str | None,
    season: str | None,
    due: datetime | None,
    status: str | None,
    outcome: Row | None,
    counts: Counts,
) -> None:
    agent = call["agent_id"]
    counts.agents.add(agent)
    fate = fate_of(reason)
    if fate == "rejected":
        counts.rejected[agent, str(reason)] += 1
        counts.rejected_calls.add((call["call_id"], str(reason)))
    elif fate == "excluded":
        counts.excluded[agent, str(reason)] += 1
    standing = standing_of(reason)
    if season is None or standing is None:
        return
    tally = counts.tallies[season, agent]
    tally.count(standing, {**call, "is_backfilled": is_backfilled(call, due)}, status)
    if status == "resolved":
        assert outcome is not None
        tally.add(call["confidence"], outcome["outcome"], outcome["is_flat"])


# --- tables that count ----------------------------------------------------------------------------


def _hold(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    keys: tuple[str, ...],
    expected: dict[tuple[Any, ...], Row],
    findings: Findings,
    json_columns: tuple[str, ...] = (),
) -> None:
    """Compare a whole table with the rows it must have; the JSON columns by their values."""
    left = dict(expected)
    for row in _rows(connection, f"FROM {table}"):
        shown = _key(row, keys)
        wanted = left.pop(tuple(row[name] for name in keys), None)
        if wanted is None:
            findings.add(table, shown, "", "a row", "none")
        else:
            values = {n: _json(v) if n in json_columns else v for n, v in row.items()}
            findings.compare(table, shown, values, wanted)
    for key, _ in left.items():
        findings.add(table, _key(dict(zip(keys, key, strict=True)), keys), "", ABSENT, "a row")


def _check_scores(
    connection: duckdb.DuckDBPyConnection, run: Run, counts: Counts, findings: Findings
) -> None:
    keys = ("season_id", "agent_id")
    calls: dict[tuple[Any, ...], Row] = {
        (season, agent): tally.scores(run.policy, run.as_of, run.seasons[season]["ends_at"])
        for (season, agent), tally in counts.tallies.items()
    }
    _hold(connection, "agent_season_brier", keys, calls, findings)
    findings.checked["agent-seasons"] = len(calls)

    weights: dict[str, dict[str, float]] = defaultdict(dict)
    values: dict[tuple[str, str], dict[str, float | None]] = defaultdict(dict)
    for row in _rows(connection, "FROM score_terms"):
        season, term = row["season_id"], row["term"]
        if weights[season].setdefault(term, row["weight"]) != row["weight"]:
            findings.add("score_terms", _key(row, keys), "weight", row["weight"], "one per term")
        values[season, row["agent_id"]][term] = row["value"]
    for season, terms in weights.items():
        total = sum(terms.values())
        if not abs(total - run.policy["terms_weight"]) <= run.policy["terms_weight_tolerance"]:
            findings.add("score_terms", f"season_id={season}", "weight", total, "a sum of 0.90")
    scores: dict[tuple[Any, ...], Row] = {}
    for season, agent in {*calls, *values}:
        terms_of: dict[str, tuple[float, float | None]] = {
            term: (weight, values[season, agent].get(term))
            for term, weight in weights[season].items()
        }
        own = calls.get((season, agent), {}).get("calibration")
        terms_of["calibration"] = (run.policy["calibration_weight"], own)
        try:
            scores[season, agent] = season_score(terms_of)
        except _UNUSABLE as error:
            findings.add("score_terms", f"season_id={season}", "", "values that cannot be", error)
    _hold(connection, "season_scores", keys, scores, findings, ("effective_weights",))


def _check_passports(
    connection: duckdb.DuckDBPyConnection, counts: Counts, findings: Findings
) -> None:
    rejected = Counter(counts.rejected)
    for row in _rows(connection, "FROM rejected_rows WHERE kind = 'calls'"):
        is_counted = (row["call_id"], row["reason"]) in counts.rejected_calls
        if row["agent_id"] is not None and not is_counted:
            rejected[row["agent_id"], row["reason"]] += 1
    seasons: dict[str, list[str]] = defaultdict(list)
    for row in _rows(connection, "FROM season_scores ORDER BY season_id"):
        seasons[row["agent_id"]].append(row["season_id"])
    lifetimes: dict[str, Counter[str]] = defaultdict(Counter)
    names = {
        "due_after_final": "due_after_final",
        **{
            f"{name}_calls": name
            for name in (
                "directional", "eligible", "resolved", "correct", "expired", "open", "pending",
                "refused", "backfilled",
            )
        },
    }  # fmt: skip
    for (_, agent), tally in counts.tallies.items():
        lifetimes[agent].update({name: getattr(tally, name) for name in names.values()})
    agents = counts.agents | set(seasons) | {agent for agent, _ in rejected}
    by_agent: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for column, counter in (("rejected", rejected), ("excluded", counts.excluded)):
        for (agent, reason), rows in sorted(counter.items()):
            by_agent[agent][column][reason] = rows
    expected: dict[tuple[Any, ...], Row] = {
        (agent,): {
            "seasons": seasons[agent],
            **{column: lifetimes[agent][name] for column, name in names.items()},
            "rejected_by_reason": by_agent[agent]["rejected"],
            "excluded_by_reason": by_agent[agent]["excluded"],
        }
        for agent in agents
    }
    json_columns = ("rejected_by_reason", "excluded_by_reason")
    _hold(connection, "passports", ("agent_id",), expected, findings, json_columns)


def _check_funnel(connection: duckdb.DuckDBPyConnection, findings: Findings) -> None:
    """The funnel sums to the rows read, and lists as many rejected ones as are kept."""
    keys = ("kind", "source_file")
    rows_read: Counter[tuple[str, str]] = Counter()
    rejected: Counter[tuple[str, str, str]] = Counter()
    for row in _rows(connection, "FROM funnel"):
        rows_read[row["kind"], row["source_file"]] += row["rows"]
        if row["fate"] == "rejected":
            rejected[row["kind"], row["source_file"], str(row["reason"])] += row["rows"]
        if row["fate"] not in _FATES.get(row["kind"], ()):
            findings.add("funnel", _key(row, keys), "fate", row["fate"], "one of the contract's")
        if (row["reason"] is None) != (row["fate"] not in ("rejected", "excluded")):
            findings.add("funnel", _key(row, keys), "reason", row["reason"], "as its fate asks")
    for row in _rows(connection, "FROM input_files WHERE kind <> 'settings'"):
        total = rows_read.pop((row["kind"], row["source_file"]), 0)
        if total != row["rows"]:
            findings.add("input_files", _key(row, keys), "rows", row["rows"], total)
            findings.add("funnel", _key(row, keys), "rows", total, row["rows"])
    for kind, source_file in rows_read:
        findings.add("funnel", f"kind={kind}, source_file={source_file}", "", "rows", "none read")
    kept = Counter(
        (row["kind"], row["source_file"], row["reason"])
        for row in _rows(connection, "SELECT kind, source_file, reason FROM rejected_rows")
    )
    for kind, source_file, reason in sorted({*rejected, *kept}):
        one = (kind, source_file, reason)
        if rejected[one] != kept[one]:
            key = f"kind={kind}, source_file={source_file}, reason={reason}"
            findings.add("funnel", key, "rows", rejected[one], kept[one])
            findings.add("rejected_rows", key, "", f"{kept[one]} rows", f"{rejected[one]} rows")


# --- export files ---------------------------------------------------------------------------------


def _check_tables(
    connection: duckdb.DuckDBPyConnection, home: Home, scratch: Path, findings: Findings
) -> None:
    """Each exported file holds what the published table does, or its season, to the bit."""
    folder = home.latest / "tables"
    expected: set[str] = set()
    for model in PUBLISHED_TABLES:
        for season, name in _files_of(connection, model).items():
            expected.add(name)
            place = f"exports/latest/tables/{name}"
            try:
                part = _Part(model, season, folder / name, place)
                _check_part(connection, part, scratch, findings)
            except duckdb.Error as error:
                why = str(error).strip().splitlines()[0]
                findings.add(place, "", "", f"a file that cannot be read ({why})", name_of(model))
    _check_names(folder, "exports/latest/tables", expected, findings)


def _files_of(connection: duckdb.DuckDBPyConnection, model: Model) -> dict[str | None, str]:
    """The files a table must have, by season: one alone where it is not parted."""
    column = season_column_of(model)
    if column is None:
        return {None: f"{name_of(model)}.parquet"}
    rows = connection.execute(f"SELECT DISTINCT {column} FROM {name_of(model)}").fetchall()
    return season_files(name_of(model), column, [season for (season,) in rows])


@dataclass(frozen=True)
class _Part:
    """A published table, or a season of it, and the file that must hold the same."""

    model: Model
    season: str | None
    path: Path
    place: str

    @property
    def columns(self) -> list[str]:
        return [c.name for c in columns_of(self.model) if c.name not in NOT_EXPORTED]

    def query(self, connection: duckdb.DuckDBPyConnection) -> str:
        """The published rows; sets the variables that the queries of a part name."""
        connection.execute("SET VARIABLE season = $season::VARCHAR", {"season": self.season})
        connection.execute("SET VARIABLE exported = [$path]", {"path": str(self.path)})
        column = season_column_of(self.model)
        of_season = f" WHERE {column} IS NOT DISTINCT FROM getvariable('season')" if column else ""
        return f"SELECT {', '.join(self.columns)} FROM {name_of(self.model)}{of_season}"


def _check_part(
    connection: duckdb.DuckDBPyConnection, part: _Part, scratch: Path, findings: Findings
) -> None:
    stored = part.query(connection)
    shape = {c.name: c.type for c in columns_of(part.model) if c.name in part.columns}
    described = connection.execute(f"DESCRIBE FROM {EXPORTED_ROWS}").fetchall()
    found = {row[0]: row[1] for row in described}
    if list(found.items()) != list(shape.items()):
        findings.add(part.place, "", "", f"columns {found}", f"columns {shape}")
        return
    texts = []
    for number, query in enumerate((stored, f"FROM {EXPORTED_ROWS}")):
        target = scratch / f"{number}.csv"
        connection.execute(
            f"COPY ({query} ORDER BY {', '.join(key_of(part.model))}) TO $target (FORMAT csv)",
            {"target": str(target)},
        )
        texts.append(target)
    if not _same_bytes(*texts):
        _find_cells(connection, part, findings)


def _same_bytes(left: Path, right: Path) -> bool:
    if left.stat().st_size != right.stat().st_size:
        return False
    with left.open("rb") as one, right.open("rb") as other:
        while block := one.read(1 << 20):
            if block != other.read(1 << 20):
                return False
    return True


def _find_cells(connection: duckdb.DuckDBPyConnection, part: _Part, findings: Findings) -> None:
    """Name the cells in which a table and its exported file differ."""
    keys = key_of(part.model)
    table = name_of(part.model)
    before = findings.found
    stored = part.query(connection)
    exported = connection.execute(f"FROM {EXPORTED_ROWS}").fetchall()
    filed = {}
    for values in exported:
        row = dict(zip(part.columns, values, strict=True))
        filed[_key(row, keys)] = row
    for values in connection.execute(stored).fetchall():
        row = dict(zip(part.columns, values, strict=True))
        key = _key(row, keys)
        other = filed.pop(key, None)
        if other is None:
            findings.add(table, key, "", "a row", f"none in {part.place}")
            continue
        for name, value in row.items():
            if not same(value, other[name]):
                findings.add(table, key, name, value, f"{other[name]!r} in {part.place}")
    for key in filed:
        findings.add(table, key, "", ABSENT, f"a row in {part.place}")
    if findings.found == before:
        findings.add(table, "", "", "other rows", f"those in {part.place}")


def _check_names(folder: Path, place: str, expected: set[str], findings: Findings) -> None:
    """A folder holds no other files than it must."""
    found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    for name in sorted(found - expected):
        findings.add(f"{place}/{name}", "", "", "a file", "none")


def _check_files(
    connection: duckdb.DuckDBPyConnection,
    home: Home,
    run: Run,
    names: Names,
    findings: Findings,
) -> None:
    """Passports, receipts and schemas are what the published tables give, byte for byte."""
    latest = home.latest
    expected_set = link_text(home, export_set(home, run.content_digest, run.as_of))
    if latest.is_symlink() and os.readlink(latest) != expected_set:
        findings.add("exports/latest", "", "", os.readlink(latest), expected_set)
    for name, text in (
        ("passport.schema.json", passport_schema().encode("utf-8")),
        ("receipt.schema.json", receipt_schema().encode("utf-8")),
        ("index.json", index_bytes(names)),
    ):
        _compare_file(latest / name, f"exports/latest/{name}", text, findings)
    for folder, files in (
        ("passports", passport_files(connection, names)),
        ("receipts", receipt_files(connection, names)),
    ):
        place = f"exports/latest/{folder}"
        expected = set()
        try:
            for name, content in files:
                expected.add(name)
                _compare_file(latest / folder / name, f"{place}/{name}", content, findings)
                findings.checked["export files"] += 1
        except _UNUSABLE as error:
            findings.add(place, "", "", "tables they cannot be made from", f"({error!r})")
        else:
            _check_names(latest / folder, place, expected, findings)
    check_passports(connection, latest / "passports", names.agents, findings)
    check_row_files(connection, latest / "receipts", names.agents, names.seasons, findings)
    for path in sorted((latest / "receipts").rglob("*.json")):
        place = f"exports/latest/{path.relative_to(latest)}"
        try:
            verify_receipt(path, findings, place)
        except NoReceiptError as error:
            findings.add(place, "", "", str(error), "a receipt")


def _compare_file(path: Path, place: str, expected: bytes, findings: Findings) -> None:
    try:
        content = path.read_bytes()
    except OSError:
        findings.add(place, "", "", ABSENT, "a file")
        return
    if content == expected:
        return
    before = findings.found
    with contextlib.suppress(ValueError, csv.Error):
        if path.suffix == ".json":
            findings.compare_trees(place, "", json.loads(content), json.loads(expected))
        else:
            findings.compare_trees(place, "", _table_of(content), _table_of(expected))
    if findings.found == before:
        findings.add(place, "", "", "other bytes", "those of the published tables")


def _table_of(content: bytes) -> list[dict[str, str]]:
    text = io.StringIO(content.decode("utf-8"), newline="")
    return list(csv.DictReader(text, restkey="beyond", strict=True))
