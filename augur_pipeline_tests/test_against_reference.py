"""The SQL pipeline held against the independent plain-Python reference of the contract."""

import math
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from augur_pipeline_tests import reference
from augur_pipeline_tests.nights import night, table
from augur_pipeline_tests.strategies import GeneratedHome, homes

EPOCH = datetime(1970, 1, 1)
FLOATS_TO_1E_12 = {"score", "effective_weights"}

PROPERTY = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    # a night takes most of a second: report the first failing home, do not shrink it
    phases=[Phase.explicit, Phase.generate],
)


def comparable(value: Any) -> Any:
    """Times as the reference has them: microseconds since the epoch."""
    if isinstance(value, datetime):
        return (value - EPOCH).days * 86_400_000_000 + (
            (value - EPOCH).seconds * 1_000_000 + (value - EPOCH).microseconds
        )
    return value


def sort_key(row: dict[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in row.items()))


def assert_same_table(home: Path, name: str, expected: list[dict[str, Any]]) -> None:
    """Every column the reference states, to the bit (scores of several terms to 1e-12)."""
    columns = list(expected[0]) if expected else []
    found = [{column: comparable(row[column]) for column in columns} for row in table(home, name)]
    if name == "season_scores":
        compare_scores(found, expected)
        return
    assert len(found) == len(expected), name
    assert sorted(found, key=sort_key) == sorted(expected, key=sort_key), name


def compare_scores(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    import json

    assert [(r["season_id"], r["agent_id"]) for r in found] == [
        (r["season_id"], r["agent_id"])
        for r in sorted(expected, key=lambda r: (r["season_id"].encode(), r["agent_id"].encode()))
    ]
    by_key = {(row["season_id"], row["agent_id"]): row for row in expected}
    for row in found:
        other = by_key[(row["season_id"], row["agent_id"])]
        assert row["measured_terms"] == other["measured_terms"]
        assert row["waiting_terms"] == other["waiting_terms"]
        assert row["score"] == other["score"]
        weights = json.loads(row["effective_weights"])
        assert weights.keys() == other["effective_weights"].keys()
        for term, weight in weights.items():
            assert math.isclose(weight, other["effective_weights"][term], rel_tol=1e-12)


def assert_same_night(home: Path, result: reference.Result) -> None:
    for name, rows in result.tables.items():
        if name == "input_files":
            found = [r for r in table(home, name) if r["kind"] != "settings"]
            assert [(r["kind"], r["source_file"], r["rows"]) for r in found] == [
                (r["kind"], r["source_file"], r["rows"]) for r in rows
            ]
        else:
            assert_same_table(home, name, rows)


@PROPERTY
@given(homes())
def test_generated_seasons(generated: GeneratedHome) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        generated.write(home)
        night(home, shown(generated.as_of))
        assert_same_night(home, reference.run(home, generated.as_of))


def shown(as_of: Any) -> str:
    if isinstance(as_of, datetime):
        return as_of.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return str(as_of)


def test_the_real_season(real_home: Path) -> None:
    night(real_home, "2026-06-10T00:00:00Z")
    result = reference.run(real_home, "2026-06-10T00:00:00Z")
    assert len(result.tables["agent_season_brier"]) == 12
    assert_same_night(real_home, result)


def test_the_sample(sample_home: Path) -> None:
    night(sample_home, "2026-01-01T00:00:00Z")
    assert_same_night(sample_home, reference.run(sample_home, "2026-01-01T00:00:00Z"))
