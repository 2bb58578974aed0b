"""The published views: what is columns and rows of `sealed_calls` and `settlements` again."""

from collections.abc import Mapping
from typing import Any

import duckdb

from augur_pipeline import ledger
from augur_pipeline.exports.catalog import VIEWS
from augur_pipeline.store.sql import load_sql, query_of
from augur_pipeline.store.tables import name_of, view_ddl


def make_views(
    connection: duckdb.DuckDBPyConnection, catalog: str, known: Mapping[str, Any]
) -> None:
    """Make them in an attached database, of the very statements that make a night's work tables.

    known: the clock and the numbers of the policy, as statements name them
    """
    for model in VIEWS:
        query = query_of(load_sql(ledger.__name__, name_of(model)), known)
        for statement in view_ddl(model, catalog, query):
            connection.execute(statement)
