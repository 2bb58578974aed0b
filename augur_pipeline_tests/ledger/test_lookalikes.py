"""Ids that look alike are told apart by a warning; those that differ for a reader are not."""

import itertools
import unicodedata
from pathlib import Path

import pytest

from augur_pipeline.ledger.lookalikes import escaped, skeleton
from augur_pipeline.ledger.rules import RULES
from augur_pipeline_tests.nights import GOOD_CALL, make_home, open_store, work_night

RULE = next(rule for rule in RULES if rule.name == "lookalike_ids")

ALIKE = [
    ("caf\u00e9", "cafe\u0301"),  # composed and not
    ("Alice", "alice"),
    ("alice", "al\u200bice"),  # zero width
    ("alice", "\u202ealice"),  # a mark of direction
    ("alice", "аlice"),  # Cyrillic а
    ("PEPE", "РЕРЕ"),  # all Cyrillic
    ("omega", "οmega"),  # Greek ο
    ("bot 1", "bot\u00a01"),
    ("bot1", "botl"),
    ("o1", "01"),
    ("agent", "ａｇｅｎｔ"),  # full width
    ("stra\u00dfe", "STRASSE"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_looks_alike_has_one_skeleton(one: str, other: str) -> None:
    assert one != other
    assert skeleton(one) == skeleton(other)
    assert escaped(one) != escaped(other)
    assert escaped(other).isascii()


def test_what_differs_for_a_reader_has_two() -> None:
    names = [
        "alice",
        "alicia",
        "cafe",
        "café",
        "bot-1",
        "bot-2",
        "bot1",
        "бот",
        "日本",
        "日木",
        "a.b",
    ]
    for one, other in itertools.combinations(names, 2):
        assert skeleton(one) != skeleton(other), (one, other)


def test_pairs_are_warned_of_with_escapes(tmp_path: Path) -> None:
    agents = ["alice", "Alice", "аlice", "bob", unicodedata.normalize("NFD", "é"), "é"]
    calls = [
        {**GOOD_CALL, "call_id": f"c{n}", "agent_id": agent, "pool_id": ("P", "Р")[n % 2]}
        for n, agent in enumerate(agents)
    ]
    with open_store(make_home(tmp_path, calls)) as store:
        work_night(store)
        finding = RULE.find(store)
    assert not RULE.is_blocking
    assert finding.broken_rows == 4
    assert finding.examples == [
        ("agent", "Alice", "\\u0430lice"),
        ("agent", "Alice", "alice"),
        ("agent", "e\\u0301", "\\xe9"),
        ("pool", "P", "\\u0420"),
    ]


def test_a_home_without_calls_has_none(tmp_path: Path) -> None:
    with open_store(make_home(tmp_path)) as store:
        work_night(store)
        assert RULE.find(store).broken_rows == 0
