"""Loading SQL files and binding the parameters a statement names."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

import duckdb

_PARAMETER = re.compile(r"\$([a-z_]+)")
_COMMENT = re.compile(r"--[^\n]*")
_CREATE = re.compile(r"^\s*CREATE OR REPLACE TABLE \w+ AS\s")


@cache
def load_sql(package: str, name: str) -> str:
    """Text of `<name>.sql` beside a package's modules (`name` may lead into a subfolder)."""
    return resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def parameters_of(statement: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The `$name` parameters a statement uses, with their values out of `known`."""
    return {name: known[name] for name in _PARAMETER.findall(_COMMENT.sub("", statement))}


def query_of(statement: str, known: Mapping[str, Any]) -> str:
    """The query of a statement that makes a table, its `$name` parameters written as literals.

    For views, which take no bound parameters. Only whole numbers, doubles and times, which are of
    our policy and clock; raises TypeError for a text, which could be anybody's.
    """
    query = _CREATE.sub("", _COMMENT.sub("", statement)).strip()
    return _PARAMETER.sub(lambda found: _literal(known[found[1]]), query)


def _literal(value: Any) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if type(value) in (int, float):
        return repr(value)
    raise TypeError(f"{value!r} cannot stand in a view")


def rows_as_dicts(
    connection: duckdb.DuckDBPyConnection,
    statement: str,
    parameters: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The rows of a query, each by column name."""
    cursor = connection.execute(statement, dict(parameters or {}))
    names = [column[0] for column in cursor.description or []]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@contextlib.contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All of it or nothing; and one wait for the disk, where each statement's commit would wait."""
    connection.begin()
    try:
        yield
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # one that the error has ended already
            connection.rollback()
        raise
    connection.commit()


def quoted_identifier(name: str) -> str:
    """A column name of a user's file as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
