"""Lineage tells the truth: headers name the tables a statement reads, `deps` the assets they are of."""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from dagster import AssetKey, AssetsDefinition

from augur_pipeline.definitions import defs
from augur_pipeline.exports.catalog import CONTENT_TABLES, VIEWS
from augur_pipeline.exports.publish import publish
from augur_pipeline.store.sql import load_sql
from augur_pipeline.store.tables import Model, asset_of, name_of
from augur_pipeline_tests.nights import GOOD_CALL, intake_night, make_home, open_store
from augur_pipeline_tests.test_architecture import MACRO_FILES, SQL_FILES, without_comments
from augur_pipeline_tests.test_architecture import name_of as path_name

QUERIES = [path for path in SQL_FILES if path not in MACRO_FILES]
TAKEN_IN = {
    "raw_calls": {"raw_calls", "input_files", "unread_files"},
    "raw_prices": {
        "usable_prices", "unusable_prices", "pools", "crowded_prices", "price_spacing",
        "raw_prices", "price_fates", "rejected_prices", "price_conflicts", "hourly_ranges",
    },
    "settings": {
        "landed_seasons", "landed_score_terms", "landed_benchmarks", "seasons", "score_terms",
        "benchmarks", "run_state", "published_sealed_calls", "published_settlements",
    },
}  # fmt: skip
"""One step takes all of it in; which of its assets a table is of, nothing but this says."""


def header_inputs(text: str) -> set[str]:
    """The tables that a statement's header says it reads."""
    header = " ".join(line[2:] for line in text.split("\n") if line.startswith("--"))
    found = re.search(r"inputs: ((?:\w+, *)*\w+)", header)
    return set(re.findall(r"\w+", found[1])) if found else set()


def tables_read(path: Path) -> set[str]:
    """The tables that a statement reads, by DuckDB's own parser."""
    query = re.sub(r"^CREATE OR REPLACE (TEMP )?(TABLE|VIEW) \w+ AS", "", without_comments(path))
    ((parsed,),) = duckdb.execute("SELECT json_serialize_sql($query)", {"query": query}).fetchall()
    tree = json.loads(parsed)
    assert not tree["error"], tree
    tables: set[str] = set()
    steps: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                tables.add(node["table_name"])
            if "cte_map" in node:
                steps.update(step["key"] for step in node["cte_map"]["map"])
            node = list(node.values())
        if isinstance(node, list):
            for value in node:
                walk(value)

    walk(tree)
    return tables - steps


@pytest.mark.parametrize("path", QUERIES, ids=path_name)
def test_headers_name_the_tables_that_are_read(path: Path) -> None:
    if path.parent.name == "checks":
        pytest.skip("a check's header says the rule alone")
    read = tables_read(path)
    assert read
    assert header_inputs(path.read_text(encoding="utf-8")) == read


class Recorder:
    """Which asset ran which statement, and which asset made which table."""

    def __init__(self) -> None:
        self.asset = ""
        self.read: defaultdict[str, set[str]] = defaultdict(set)
        self.owner = {table: asset for asset, tables in TAKEN_IN.items() for table in tables}

    def load_sql(self, package: str, name: str) -> str:
        text = load_sql(package, name)
        self.read[self.asset] |= header_inputs(text)
        return text


def assets_in_order() -> Iterator[tuple[str, AssetsDefinition]]:
    graph = defs.resolve_asset_graph()
    by_key = {
        key: a for a in defs.assets or () if isinstance(a, AssetsDefinition) for key in a.keys
    }
    for key in graph.toposorted_asset_keys:
        yield key.to_user_string(), by_key[key]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    recorder = Recorder()
    home = make_home(tmp_path_factory.mktemp("lineage") / "home", calls=[GOOD_CALL])
    with pytest.MonkeyPatch.context() as patched, open_store(home) as store:
        for module in [m for n, m in sys.modules.items() if n.startswith("augur_pipeline.")]:
            if getattr(module, "load_sql", None) is load_sql:
                patched.setattr(module, "load_sql", recorder.load_sql)
        recorder.asset = "intake"
        intake_night(store)
        for name, asset in assets_in_order():
            if name in TAKEN_IN:
                continue
            recorder.asset = name
            before = tables_of(store.connection)
            if name == "published":
                publish(store)
            else:
                asset.op.compute_fn.decorated_fn(store)  # type: ignore[union-attr]
            for table in tables_of(store.connection) - before:
                recorder.owner.setdefault(table, name)
    return recorder


def tables_of(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
    return {table for (table,) in rows}


@pytest.mark.parametrize("name", [name for name, _ in assets_in_order() if name not in TAKEN_IN])
def test_deps_are_the_assets_whose_tables_are_read(recorded: Recorder, name: str) -> None:
    read = {name_of(model) for model in CONTENT_TABLES} if name == "published" else set()
    read |= recorded.read[name]
    made = {table for table, owner in recorded.owner.items() if owner == name}
    expected = {recorded.owner[table] for table in read - made if table in recorded.owner}
    expected -= {name}
    graph = defs.resolve_asset_graph()
    found = {key.to_user_string() for key in graph.get(AssetKey(name)).parent_keys}
    assert found == expected


@pytest.mark.parametrize("model", [*CONTENT_TABLES, *VIEWS], ids=name_of)
def test_a_models_asset_is_the_one_that_makes_its_table(recorded: Recorder, model: Model) -> None:
    assert recorded.owner[name_of(model)] == asset_of(model)
