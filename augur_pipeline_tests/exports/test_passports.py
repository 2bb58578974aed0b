"""Passports: their schema, their file names, and counts that equal what SQL counts."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from augur_pipeline.exports.catalog import PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.file_names import file_name, file_names
from augur_pipeline.exports.passports.files import passport_schema
from augur_pipeline.exports.publish import publish
from augur_pipeline.sample import SampleSize, write_sample
from augur_pipeline.store.exported_tables import exported_files
from augur_pipeline.store.tables import name_of, season_column_of
from augur_pipeline_tests.nights import (
    GOOD_CALL,
    LATER,
    SEASON,
    make_home,
    night,
    open_store,
    query,
    work_night,
    write_csv,
)

RUN_ID = "5eed1dea-0000-4000-8000-00000000babe"
SAMPLE_AS_OF = "2024-01-20T00:00:00Z"
"""Amid the sample: calls are pending, open, resolved and expired."""


class Sample:
    """A home of the sample after one night, and the night's wall time."""

    def __init__(self, home: Path) -> None:
        self.home = home
        write_sample(home, SampleSize(agents=5, calls=300, pools=2, days=21))
        self.started = datetime.now(UTC).replace(tzinfo=None)
        with open_store(home, SAMPLE_AS_OF) as store:
            store._run_id = RUN_ID
            work_night(store)
            publish(store)
        self.ended = datetime.now(UTC).replace(tzinfo=None)
        self.latest = home / "exports/latest"
        self.passports: dict[str, Any] = {}
        for path in (self.latest / "passports").iterdir():
            document = json.loads(path.read_text(encoding="utf-8"))
            assert document["agent_id"] not in self.passports
            assert path.name == f"{file_name(document['agent_id'])}.json"
            self.passports[document["agent_id"]] = document


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return Sample(tmp_path_factory.mktemp("passports") / "home")


def passport(home: Path, agent: str) -> Any:
    path = home / "exports/latest/passports" / f"{file_name(agent)}.json"
    return json.loads(path.read_text(encoding="utf-8"))


# --- the schema -----------------------------------------------------------------------------------


def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(passport_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )


def test_every_passport_of_the_sample_is_valid(sample: Sample) -> None:
    assert len(sample.passports) > 20
    for agent, document in sample.passports.items():
        errors = [error.message for error in validator().iter_errors(document)]
        assert errors == [], agent
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", document["as_of"])


def test_the_schema_is_exported_as_shipped(sample: Sample) -> None:
    assert (sample.latest / "passport.schema.json").read_text("utf-8") == passport_schema()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("lifetime", "resolved_calls"), -1),
        (("lifetime", "resolved_calls"), 1.5),
        (("lifetime", "rejected_by_reason"), {"restated": 0}),
        (("agent_id",), ""),
        (("statement",), None),
        (("seasons", 0, "calls", "brier"), 1.1),
        (("seasons", 0, "calls", "calibration"), 101),
        (("seasons", 0, "calls", "calibration_status"), "unknown"),
        (("seasons", 0, "score", "score"), -1),
        (("run_id",), RUN_ID),
    ],
    ids=str,
)
def test_the_schema_refuses(sample: Sample, path: tuple[Any, ...], value: Any) -> None:
    document = json.loads(json.dumps(next(p for p in sample.passports.values() if p["seasons"])))
    if document["seasons"][0]["calls"] is None:
        pytest.fail("the chosen passport has no calls")
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not validator().is_valid(document)


def test_every_passport_says_what_scores_do_not_say(sample: Sample) -> None:
    for document in sample.passports.values():
        assert "nothing about profit, execution or tool use" in " ".join(
            document["statement"].split()
        )
        assert "0 best, 1 worst" in document["convention"]


# --- counts ---------------------------------------------------------------------------------------


def test_one_passport_for_every_agent_anywhere(sample: Sample) -> None:
    agents = query(
        sample.home,
        "SELECT agent_id FROM sealed_calls UNION SELECT agent_id FROM season_scores "
        "UNION SELECT agent_id FROM rejected_rows WHERE kind = 'calls' AND agent_id IS NOT NULL",
    )
    assert set(sample.passports) == {agent for (agent,) in agents}


def test_lifetime_counts_equal_sums_over_the_calls(sample: Sample) -> None:
    expected = {
        agent: dict(zip(("resolved", "correct", "expired", "open", "pending"), counts, strict=True))
        for agent, *counts in query(
            sample.home,
            """SELECT agent_id, count(*) FILTER (status = 'resolved'),
                      coalesce(sum(outcome) FILTER (status = 'resolved'), 0),
                      count(*) FILTER (status = 'expired'), count(*) FILTER (status = 'open'),
                      count(*) FILTER (status = 'pending')
               FROM resolved_outcomes GROUP BY agent_id""",
        )
    }
    eligible = dict(query(sample.home, "SELECT agent_id, count(*) FROM eligible_calls GROUP BY 1"))
    refused = dict(
        query(
            sample.home,
            "SELECT agent_id, count(*) FROM eligible_calls "
            "WHERE order_status = 'refused' GROUP BY 1",
        )
    )
    backfilled = dict(
        query(
            sample.home,
            "SELECT agent_id, count(*) FROM sealed_calls "
            "WHERE fate = 'eligible' AND is_backfilled GROUP BY 1",
        )
    )
    totals: Counter[str] = Counter()
    for agent, document in sample.passports.items():
        lifetime = document["lifetime"]
        for status, calls in expected.get(agent, {}).items():
            assert lifetime[f"{status}_calls"] == calls, (agent, status)
            totals[status] += calls
        assert lifetime["eligible_calls"] == eligible.get(agent, 0), agent
        assert lifetime["refused_calls"] == refused.get(agent, 0), agent
        assert lifetime["backfilled_calls"] == backfilled.get(agent, 0), agent
        if agent not in expected:
            assert not any(
                lifetime[f"{status}_calls"]
                for status in ("resolved", "correct", "expired", "open", "pending")
            )
    # the sample must hold what is compared
    assert all(totals[status] for status in ("resolved", "correct", "expired", "pending")), totals
    assert refused
    assert backfilled


def test_reasons_equal_the_rows(sample: Sample) -> None:
    rejected: dict[str, Counter[str]] = defaultdict(Counter)
    for agent, reason in query(
        sample.home,
        "SELECT agent_id, reason FROM rejected_rows WHERE kind = 'calls' AND agent_id IS NOT NULL",
    ):
        rejected[agent][reason] += 1
    excluded: dict[str, Counter[str]] = defaultdict(Counter)
    for agent, reason in query(sample.home, "SELECT agent_id, reason FROM excluded_calls"):
        excluded[agent][reason] += 1
    assert len(rejected["trap-agent"]) > 8
    assert len(excluded["trap-agent"]) > 3
    for agent, document in sample.passports.items():
        assert document["lifetime"]["rejected_by_reason"] == rejected[agent], agent
        assert document["lifetime"]["excluded_by_reason"] == excluded[agent], agent


def test_season_blocks_equal_the_tables(sample: Sample) -> None:
    with duckdb.connect(str(sample.home / "augur.duckdb"), read_only=True) as connection:
        cursor = connection.execute("FROM agent_season_brier")
        names = [column[0] for column in cursor.description or []]
        briers = {
            (row["season_id"], row["agent_id"]): row
            for row in (dict(zip(names, r, strict=True)) for r in cursor.fetchall())
        }
        scores = {
            (season, agent): (score, measured, waiting, json.loads(weights))
            for season, agent, score, measured, waiting, weights in connection.execute(
                "SELECT season_id, agent_id, score, measured_terms, waiting_terms, "
                "effective_weights FROM season_scores"
            ).fetchall()
        }
    seen = set()
    for agent, document in sample.passports.items():
        for block in document["seasons"]:
            key = (block["season_id"], agent)
            seen.add(key)
            if key in briers:
                assert {"season_id": key[0], "agent_id": agent, **block["calls"]} == briers[key]
            else:
                assert block["calls"] is None
            assert tuple(block["score"].values()) == scores[key]
    assert seen == set(scores)
    assert set(briers) <= seen


def call(number: int, **changes: Any) -> Mapping[str, Any]:
    return {**GOOD_CALL, "call_id": f"c{number}", **changes}


def test_counts_by_hand(tmp_path: Path) -> None:
    calls = [
        call(1),  # right
        call(2, action="sell", order_status="refused"),  # wrong
        call(3, pool_id="Q"),  # no price in seven days: expired
        call(4, decided_at="2024-01-09T22:00:00Z", pool_id="Q"),  # due, no price yet: open
        call(5, decided_at="2024-01-09T23:30:00Z"),  # due 2024-01-10T00:30Z: pending
        call(6, action="hold"),
        call(7, decider="system"),
        call(8, confidence=""),
        call(9, confidence="80"),
        call(10, action="up"),
        call(1, confidence="0.9"),  # restated
        call(1, agent_id="other"),  # restated, by another agent
        call(11, agent_id="unsealed", decided_at="soon"),
        call(1),  # a duplicate counts nowhere
    ]
    home = make_home(tmp_path, calls, [("P", "2024-01-02T01:00:00Z", "101")])
    night(home, "2024-01-10T00:00:00Z")
    assert passport(home, "a")["lifetime"] == {
        "directional_calls": 7,
        "eligible_calls": 5,
        "resolved_calls": 2,
        "correct_calls": 1,
        "expired_calls": 1,
        "open_calls": 1,
        "pending_calls": 1,
        "due_after_final": 0,
        "refused_calls": 1,
        # first seen on the 10th: all but the pending one were due before
        "backfilled_calls": 4,
        "rejected_by_reason": {"confidence_out_of_range": 1, "restated": 1, "unknown_action": 1},
        "excluded_by_reason": {"hold": 1, "missing_confidence": 1, "not_own_decider": 1},
    }
    nothing = dict.fromkeys(
        (
            "directional_calls", "eligible_calls", "resolved_calls", "correct_calls",
            "expired_calls", "open_calls", "pending_calls", "refused_calls", "backfilled_calls",
            "due_after_final",
        ),
        0,
    )  # fmt: skip
    assert passport(home, "other") == {
        **passport(home, "a"),
        "agent_id": "other",
        "lifetime": {
            **nothing,
            "rejected_by_reason": {"restated": 1},
            "excluded_by_reason": {},
        },
        "seasons": [],
        "inputs": passport(home, "a")["inputs"],
    }
    assert list(passport(home, "a")["inputs"]) == ["calls/calls.csv"]
    assert passport(home, "unsealed")["lifetime"]["rejected_by_reason"] == {"bad_decided_at": 1}
    assert passport(home, "unsealed")["seasons"] == []
    assert len(list((home / "exports/latest/passports").iterdir())) == 3
    (block,) = passport(home, "a")["seasons"]
    assert block["season_id"] == "S1"
    assert block["calls"]["resolved_calls"] == 2
    assert block["calls"]["calibration"] is None
    # 0.8 right and 0.8 wrong: (0.04 + 0.64) ÷ 2
    assert block["calls"]["brier"] == pytest.approx(0.34, abs=1e-12)
    assert block["score"]["score"] is None


def test_a_lifetime_spans_seasons_and_an_agent_may_have_terms_alone(tmp_path: Path) -> None:
    second = {"season_id": "S2", "starts_at": "2024-02-01", "ends_at": "2024-03-01"}
    calls = [call(1), call(2, decided_at="2024-02-02T00:00:00Z")]
    prices = [("P", "2024-01-02T01:00:00Z", "101"), ("P", "2024-02-02T01:00:00Z", "99")]
    home = make_home(tmp_path, calls, prices, [second, SEASON])
    term = {"season_id": "S2", "agent_id": "quiet", "term": "pnl", "weight": "0.9", "value": "50"}
    write_csv(home / "inputs/score_terms.csv", [term])
    night(home, LATER)
    document = passport(home, "a")
    assert [block["season_id"] for block in document["seasons"]] == ["S1", "S2"]
    assert document["lifetime"]["resolved_calls"] == 2
    assert document["lifetime"]["correct_calls"] == 1
    (block,) = passport(home, "quiet")["seasons"]
    assert block["calls"] is None
    assert block["score"]["score"] == pytest.approx(50, abs=1e-12)


def test_a_rejected_call_whose_row_has_vanished_still_counts_once(tmp_path: Path) -> None:
    home = make_home(tmp_path, [call(1), call(2, confidence="80")])
    night(home, "2024-01-10T00:00:00Z")
    make_home(tmp_path, [call(1)])
    night(home, "2024-01-11T00:00:00Z")
    assert passport(home, "a")["lifetime"]["rejected_by_reason"] == {"confidence_out_of_range": 1}


# --- file names -----------------------------------------------------------------------------------

HOSTILE = (
    "a", "A", "%61", "%41", "%", "%25", "", ".", "..", "a.", "a ", " a", "a/b", "a\\b", "a%2Fb",
    "CON", "con", "nul", "a:b", "a\0b", "a\nb", "é", "e\u0301", "ß", "ss", "ſ", "s", "İ", "i", "K",
    "k", "~", "a~b", "x" * 120, "x" * 121, "x" * 40 + "~" + "0" * 64, "é" * 20, "é" * 21, "-", "_",
)  # fmt: skip
ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
close_ids = st.text("aA%~.x2F5", max_size=12)


def folded(name: str) -> str:
    return name.casefold()


@given(st.one_of(st.tuples(ids, ids), st.tuples(close_ids, close_ids)))
@example(("A", "a"))
@example(("A", "%41"))
@example(("x" * 200, "x" * 201))
def test_two_ids_never_share_a_name(pair: tuple[str, str]) -> None:
    names = file_names(pair)
    assert len({folded(name) for name in names.values()}) == len(set(pair))


def test_a_shared_name_is_told_apart_by_more_digits() -> None:
    """Two ids of one slug whose digests begin alike (found by trying 100 000)."""
    first, second = "a+!**!!*+b", "a*!?!+?*+b"
    assert file_name(first) == file_name(second) == "a-b~f605c905"
    names = file_names([first, second, "other"])
    assert all(re.fullmatch("a-b~f605c905[0-9a-f]{8}", names[one]) for one in (first, second))
    assert names[first] != names[second]
    assert names["other"] == "other"


def test_hostile_ids_have_names_of_their_own() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE)
    assert len({folded(name) for name in file_names(HOSTILE).values()}) == len(HOSTILE)


@given(st.one_of(ids, st.sampled_from(HOSTILE)))
def test_names_are_short_and_plain(identifier: str) -> None:
    name = f"{file_name(identifier)}.json"
    assert len(name.encode()) < 100
    assert re.fullmatch(r"[a-z0-9~_-]+\.json", name)


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("agent-7_b", "agent-7_b"),
        ("GPT-5", "gpt-5~ff2529f8"),
        ("a b", "a-b~c8687a08"),
        ("../x", "x~d6b96a97"),
        ("é", "~4a99557e"),
        ("50%", "50~28fdae8d"),
        ("con", "con~1143da2b"),
        ("-", "~3973e022"),
    ],
)
def test_names_by_hand(identifier: str, name: str) -> None:
    assert file_name(identifier) == name


def test_hostile_ids_become_files_inside_the_folder(tmp_path: Path) -> None:
    # an id is trimmed, never empty, and CSV holds no NUL
    agents = sorted({one.strip(" \t\r\n\v\f") for one in HOSTILE if "\0" not in one} - {""})
    home = make_home(tmp_path / "home", [call(n, agent_id=agent) for n, agent in enumerate(agents)])
    night(home, LATER)
    folder = home / "exports/latest/passports"
    found = {json.loads(path.read_text("utf-8"))["agent_id"] for path in folder.iterdir()}
    assert found == set(agents)
    assert {path.name for path in tmp_path.iterdir()} == {"home"}


# --- the export set -------------------------------------------------------------------------------


def test_each_table_is_exported_with_equal_content(sample: Sample) -> None:
    names = {name_of(model) for model in PUBLISHED_TABLES}
    parted = {name_of(model) for model in PUBLISHED_TABLES if season_column_of(model)}
    assert parted
    files = {path.name for path in (sample.latest / "tables").iterdir()}
    assert files == {f"{name}.parquet" for name in names - parted} | parted
    with duckdb.connect(str(sample.home / "augur.duckdb"), read_only=True) as connection:
        published = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
        assert published == names | {name_of(model) for model in VIEWS}
        for name in sorted(names):
            path = [str(p) for p in exported_files(sample.latest / "tables", name)]
            table = (
                f"(SELECT * EXCLUDE (run_id, run_digest) FROM {name})"
                if name == "run_info"
                else name
            )
            shapes = [
                connection.execute(f"DESCRIBE FROM {source}", given).fetchall()
                for source, given in ((table, []), ("read_parquet($1)", [path]))
            ]
            assert [row[:2] for row in shapes[0]] == [row[:2] for row in shapes[1]], name
            differing = connection.execute(
                f"""WITH file AS (FROM read_parquet($1)), stored AS (FROM {table})
                SELECT count(*) FROM (
                    (FROM file EXCEPT ALL FROM stored) UNION ALL (FROM stored EXCEPT ALL FROM file)
                )""",
                [path],
            ).fetchall()
            assert differing == [(0,)], name
            # and in the same order
            rows = connection.execute(f"FROM {table}").fetchall()
            assert repr(rows) == repr(
                connection.execute("FROM read_parquet($1)", [path]).fetchall()
            ), name


def test_no_run_id_in_the_exports(sample: Sample) -> None:
    assert query(sample.home, "SELECT run_id FROM run_info") == [(RUN_ID,)]
    files = [path for path in sample.latest.rglob("*") if path.is_file()]
    for path in files:
        assert RUN_ID.encode() not in path.read_bytes(), path
    for path in (sample.latest / "tables").rglob("*.parquet"):
        # Parquet is compressed: look at the values, too
        rows = duckdb.execute("FROM read_parquet($1)", [str(path)]).fetchall()
        assert RUN_ID not in repr(rows), path
        names = {
            column[0] for column in duckdb.execute("FROM read_parquet($1)", [str(path)]).description
        }
        assert "run_id" not in names


def test_no_wall_time_in_the_exports(sample: Sample) -> None:
    day = f"{sample.started:%Y-%m-%d}"
    for path in sample.latest.rglob("*.json"):
        assert day not in path.read_text("utf-8"), path
    for path in (sample.latest / "tables").rglob("*.parquet"):
        cursor = duckdb.execute("FROM read_parquet($1)", [str(path)])
        for row in cursor.fetchall():
            for value in row:
                if isinstance(value, datetime):
                    assert not sample.started <= value <= sample.ended, path
                assert day not in str(value), path
