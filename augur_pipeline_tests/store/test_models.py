"""Every statement of every published table's model seen failing, by pandera and by SQL alike."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from augur_pipeline.errors import PublishError
from augur_pipeline.exports.catalog import CONTENT_TABLES, MODEL_RULES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.publish import publish
from augur_pipeline.store import rules
from augur_pipeline.store.rules import breaches_by_pandera, breaches_by_sql, breaches_of
from augur_pipeline.store.tables import Model, asset_of, columns_of, key_of, name_of
from augur_pipeline_tests.nights import GOOD_CALL, make_home, open_store, query, work_night

ALL = (*PUBLISHED_TABLES, *VIEWS)
PLAIN = {"VARCHAR": "0" * 64, "BIGINT": 1, "DOUBLE": 1.0, "BOOLEAN": True,
         "TIMESTAMP": "2024-01-01", "VARCHAR[]": ["x"]}  # fmt: skip


def good_value(column: Any, type_: str) -> Any:
    for check in column.checks:
        if check.name == "isin":
            return sorted(check.statistics["allowed_values"])[0]
    return PLAIN[type_]


def bad_values(column: Any) -> Iterator[Any]:
    """A value per statement that breaks this one."""
    if not column.nullable:
        yield None
    for check in column.checks:
        given = check.statistics
        match check.name:
            case "isin":
                is_text = isinstance(next(iter(given["allowed_values"])), str)
                yield "other" if is_text else 99
            case "greater_than_or_equal_to":
                yield given["min_value"] - 1
            case "greater_than":
                yield given["min_value"]
            case "less_than_or_equal_to":
                yield given["max_value"] + 1
            case "str_length":
                yield ""
            case "str_matches":
                yield "no digest"
            case other:
                raise AssertionError(f"no case for {other}")


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def fill(connection: duckdb.DuckDBPyConnection, model: Model, times: int = 1) -> None:
    schema = model.to_schema().columns
    shapes = columns_of(model)
    connection.execute(
        f"CREATE TABLE {name_of(model)} ({', '.join(f'{c.name} {c.type}' for c in shapes)})"
    )
    row = {c.name: good_value(schema[c.name], c.type) for c in shapes}
    values = ", ".join(f"${name}" for name in row)
    for _ in range(times):
        connection.execute(f"INSERT INTO {name_of(model)} VALUES ({values})", row)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_good_row_follows_its_model(model: Model) -> None:
    with duckdb.connect() as connection:
        fill(connection, model)
        assert breaches_by_pandera(connection, model) == []
        assert breaches_by_sql(connection, model) == []
        assert breaches_of(connection, model) == []


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_broken_statement_is_found_by_both(
    connection: duckdb.DuckDBPyConnection, model: Model
) -> None:
    """Each statement by itself: no other is named, and the row is counted once."""
    fill(connection, model)
    for name, column in model.to_schema().columns.items():
        for value in bad_values(column):
            connection.begin()
            connection.execute(f"UPDATE {name_of(model)} SET {name} = $value", {"value": value})
            for by in (breaches_by_pandera, breaches_by_sql):
                found = by(connection, model)
                places = {(table, broken) for table, broken, *_ in found}
                assert places == {(name_of(model), name)}, (name, value)
                assert all(rows == 1 for *_, rows in found), (name, value)
            connection.rollback()


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_key_given_twice_is_found_by_both(model: Model) -> None:
    with duckdb.connect() as connection:
        fill(connection, model, times=2)
        for by in (breaches_by_pandera, breaches_by_sql):
            found = by(connection, model)
            assert found
            assert all(table == name_of(model) and "uniq" in rule for table, _, rule, _, _ in found)


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_wrong_type_and_a_missing_column_are_found(model: Model) -> None:
    first = columns_of(model)[0].name
    with duckdb.connect() as connection:
        fill(connection, model)
        connection.execute(f"ALTER TABLE {name_of(model)} ALTER {first} TYPE BLOB USING NULL")
        ((table, column, *_),) = breaches_of(connection, model)
        assert (table, column) == (name_of(model), first)
        connection.execute(f"ALTER TABLE {name_of(model)} DROP {first}")
        ((table, column, _, found, _),) = breaches_of(connection, model)
        assert (table, column, found) == (name_of(model), first, "no such column")


def test_no_model_allows_the_letters_of_a_word() -> None:
    """`isin=("call",)` means one of c, a, l, l to pandera: a tuple is unpacked."""
    for model in ALL:
        for name, column in model.to_schema().columns.items():
            for check in column.checks:
                allowed = check.statistics.get("allowed_values", ())
                assert not isinstance(allowed, str), f"{name_of(model)}.{name}"


def test_each_asset_has_one_blocking_rule_over_all_its_tables() -> None:
    covered = [model for rule in MODEL_RULES for model in rule.models]
    assert sorted(map(name_of, covered)) == sorted(map(name_of, (*CONTENT_TABLES, *VIEWS)))
    assert all(rule.is_blocking for rule in MODEL_RULES)
    assert all(asset_of(model) == rule.asset for rule in MODEL_RULES for model in rule.models)


def test_what_breaks_its_model_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_ROWS_BY_PANDERA", 100_000)
    home = make_home(tmp_path, calls=[GOOD_CALL], prices=[("P", "2024-01-02T01:00:00Z", "101")])
    with open_store(home) as store:
        work_night(store)
        for rule in MODEL_RULES:
            assert rule.find(store).broken_rows == 0, rule.find(store).sentence()
        store.connection.execute("UPDATE sealed_calls SET action = 'short' WHERE call_id = 'c1'")
        (rule,) = [rule for rule in MODEL_RULES if rule.asset == "sealed_calls"]
        finding = rule.find(store)
        assert finding.broken_rows == 1
        assert "column_name=action" in finding.sentence()
        with pytest.raises(PublishError, match=r"sealed_calls\.action breaks its model"):
            publish(store)
    assert not (home / "augur.duckdb").exists()


def test_large_tables_are_published_by_the_same_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_ROWS_BY_PANDERA", 0)
    home = make_home(tmp_path, calls=[GOOD_CALL], prices=[("P", "2024-01-02T01:00:00Z", "101")])
    with open_store(home) as store:
        work_night(store)
        publish(store)
        assert query(home, "SELECT count(*) FROM sealed_calls") == [(1,)]
        store.connection.execute("UPDATE settlements SET status = 'void'")
        with pytest.raises(PublishError, match=r"settlements\.status breaks its model"):
            publish(store)


def test_the_key_is_what_the_model_says() -> None:
    """A guard of the tests above: a model without a key would be unique by nothing."""
    assert all(key_of(model) for model in CONTENT_TABLES)
