"""`augur explain`: one screen for every kind of call."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, write_csv

# GOOD_CALL: due 2024-01-02T01:00Z, window until 03:00Z, expires 2024-01-09T01:00Z
CALLS = [
    {**GOOD_CALL, "call_id": "right"},
    {**GOOD_CALL, "call_id": "flat", "pool_id": "F"},
    {**GOOD_CALL, "call_id": "expired", "pool_id": "nowhere"},
    {**GOOD_CALL, "call_id": "open", "pool_id": "Q", "decided_at": "2024-01-09T00:00:00Z"},
    {**GOOD_CALL, "call_id": "pending", "horizon_hours": "240"},
    {**GOOD_CALL, "call_id": "hold", "action": "hold"},
    {**GOOD_CALL, "call_id": "percent", "confidence": "80"},
    {**GOOD_CALL, "call_id": "no-price", "reference_price": ""},
    {**GOOD_CALL, "call_id": "early", "decided_at": "2023-12-01T00:00:00Z"},
    {**GOOD_CALL, "call_id": "right"},
    {**GOOD_CALL, "call_id": "right", "confidence": "0.9"},
    {**GOOD_CALL, "call_id": "unknown-word", "action": "short"},
    {**GOOD_CALL, "call_id": "tomorrow", "decided_at": "2024-01-11T00:00:00Z"},
]
PRICES = [
    ("P", "2024-01-02T00:59:59.999999Z", 90),
    ("P", "2024-01-02T01:00:00Z", 101.5),
    ("P", "2024-01-02T02:00:00Z", 99),
    ("P", "2024-01-02T02:30:00Z", 0),
    ("F", "2024-01-02T01:30:00Z", 100),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_home(tmp_path_factory.mktemp("explain"), CALLS, PRICES)
    night(root, "2024-01-10T00:00:00Z")
    return root


def explain(home: Path, call_id: str) -> Result:
    return CliRunner().invoke(main, ["explain", call_id, "--home", str(home)])


@pytest.mark.parametrize(
    ("call_id", "sentences"),
    [
        (
            "right",
            [
                "buy P, confidence 0.8, horizon 1.0 h, reference price 100.0, by llm",
                "window     2024-01-02 01:00:00Z to 2024-01-02 03:00:00Z, both in",
                "expires    2024-01-09 01:00:00Z",
                "resolved: right: price 101.5 > reference 100.0, first in the window, recorded "
                "2024-01-02 01:00:00Z, settled as_of 2024-01-10 00:00:00Z; squared error 0.04",
                "settled the call",
                "rejected, price_not_positive",
                "calls.csv line 2: carries the sealed call",
                "calls.csv line 11: duplicate of the sealed call",
                "calls.csv line 12: rejected, restated (confidence '0.9')",
            ],
        ),
        ("flat", ["resolved: wrong (flat: equal is wrong for both directions): price 100.0 ="]),
        (
            "expired",
            [
                "expired: no price was known in the window seven days after it was due",
                "no price of nowhere lies within six hours of the window",
            ],
        ),
        (
            "open",
            [
                "open: due, but no price of Q is known in the window; only a price recorded in the "
                "window, delivered late, can still settle it; else it expires in 145 h 0 min",
            ],
        ),
        (
            "pending",
            ["pending: not due for another 48 h 0 min; the first price of P in the window"],
        ),
        ("hold", ["does not count: excluded, hold: a hold states no direction"]),
        ("percent", ["does not count: rejected, confidence_out_of_range", "80 for 0.80"]),
        ("no-price", ["does not count: excluded, missing_reference_price"]),
        ("early", ["season     none", "does not count: excluded, outside_season"]),
        ("unknown-word", ["calls.csv line 13: rejected, unknown_action (action 'short')"]),
        ("tomorrow", ["not sealed as of then", "not yet: its time lies after the published as_of"]),
    ],
)
def test_every_kind_of_call(home: Path, call_id: str, sentences: list[str]) -> None:
    result = explain(home, call_id)
    assert result.exit_code == 0, result.output
    for sentence in sentences:
        assert sentence in result.output
    assert len(result.output.splitlines()) <= 30, "one screen"


def test_an_unknown_id_suggests_near_ones(home: Path) -> None:
    result = explain(home, "expird")
    assert result.exit_code == 1
    assert "call 'expird' is not known" in result.output
    assert "did you mean 'expired'" in result.output


def test_a_new_price_will_settle_an_open_call(home: Path) -> None:
    extra = home / "inputs/prices/late.csv"
    write_csv(extra, [{"pool_id": "Q", "recorded_at": "2024-01-09T02:00:00Z", "price": 7}])
    try:
        result = explain(home, "open")
    finally:
        extra.unlink()
    assert "the landing zone now has 7.0 of 2024-01-09 02:00:00Z: the next run resolves it" in (
        result.output
    )


def test_a_late_price_is_told(tmp_path: Path) -> None:
    home = make_home(tmp_path, CALLS[:1], PRICES[2:3])
    night(home, "2024-01-10T00:00:00Z")
    write_csv(
        home / "inputs/prices/late.csv",
        [{"pool_id": "P", "recorded_at": "2024-01-02T01:00:00Z", "price": 101}],
    )
    night(home, "2024-01-11T00:00:00Z")
    result = explain(home, "right")
    assert "resolved: wrong: price 99.0 < reference 100.0" in result.output
    assert "late price: all prices now known would choose 101.0 of 2024-01-02 01:00:00Z" in (
        result.output
    )


def test_a_vanished_row_is_told(tmp_path: Path) -> None:
    home = make_home(tmp_path, CALLS[:1], PRICES)
    night(home, "2024-01-10T00:00:00Z")
    (home / "inputs/calls/calls.csv").unlink()
    assert "its row has vanished from the landing zone" in explain(home, "right").output


def test_hostile_ids_reach_no_terminal(tmp_path: Path) -> None:
    hostile = {**GOOD_CALL, "call_id": "\x1b[31mred", "agent_id": "a\x1b]0;x\x07"}
    home = make_home(tmp_path, [hostile], PRICES)
    night(home, "2024-01-10T00:00:00Z")
    result = explain(home, "\x1b[31mred")
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\\x1b[31mred" in result.output


def test_nothing_published_yet(tmp_path: Path) -> None:
    result = explain(make_home(tmp_path), "c1")
    assert result.exit_code == 1
    assert "nothing published yet" in result.output
