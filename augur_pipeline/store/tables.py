"""From a table's pandera model to everything that states its shape.

The model is the one source: Dagster's column schema, the published table's types and comments,
and the data dictionary in `data/README.md` are made from it here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import pandera.polars as pa
import polars as pl

Time = Annotated[pl.Datetime, "us", None]
"""A UTC instant in whole microseconds (TIMESTAMP without zone)."""

Words = Annotated[pl.List, pl.String]
"""A list of texts (VARCHAR[])."""

_DUCKDB_TYPES: dict[str, str] = {
    "String": "VARCHAR",
    "Int64": "BIGINT",
    "Float64": "DOUBLE",
    "Boolean": "BOOLEAN",
    "Datetime(time_unit='us', time_zone=None)": "TIMESTAMP",
    "List(String)": "VARCHAR[]",
}


@dataclass(frozen=True)
class ColumnShape:
    """One column: its DuckDB type, whether it may be NULL, what it means, what it may hold."""

    name: str
    type: str
    is_nullable: bool
    description: str
    limits: tuple[str, ...]


class TableModel(pa.DataFrameModel):
    """Base of all table models: strict columns, `Config.name`, `Config.metadata['key']`.

    `Config.metadata['asset']` where the asset that makes the table has another name,
    `['season']` for the column that parts a call-level table by season.
    """

    class Config:
        strict = True


Model = type[TableModel]


def name_of(model: Model) -> str:
    """The table's name."""
    return str(model.to_schema().name)


@cache
def key_of(model: Model) -> tuple[str, ...]:
    """The columns that make a row unique and give the published order."""
    metadata = model.get_metadata() or {}
    return tuple(metadata[name_of(model)]["dataframe"]["key"])


@cache
def asset_of(model: Model) -> str:
    """The asset that makes the table: of its own name, unless the model states another."""
    metadata = model.get_metadata() or {}
    return str(metadata[name_of(model)]["dataframe"].get("asset", name_of(model)))


@cache
def season_column_of(model: Model) -> str | None:
    """The column that parts a call-level table by season; None for tables that stay whole."""
    metadata = model.get_metadata() or {}
    column = metadata[name_of(model)]["dataframe"].get("season")
    return None if column is None else str(column)


@cache
def stored_order_of(model: Model) -> tuple[str, ...]:
    """How the published rows lie: season by season, in each by key."""
    season = season_column_of(model)
    return (f"{season} NULLS LAST", *key_of(model)) if season else key_of(model)


def description_of(model: Model) -> str:
    """What one row is: the first paragraph of the model's docstring."""
    return " ".join((model.__doc__ or "").split("\n\n")[0].split())


def _limits(checks: Sequence[Any]) -> tuple[str, ...]:
    signs = {
        "greater_than_or_equal_to": ("≥", "min_value"),
        "greater_than": (">", "min_value"),
        "less_than_or_equal_to": ("≤", "max_value"),
        "isin": ("one of", "allowed_values"),
    }
    found = []
    for check in checks:
        if check.name in signs:
            sign, statistic = signs[check.name]
            value = check.statistics[statistic]
            shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple, set)) else value
            found.append(f"{sign} {shown}")
    return tuple(found)


def columns_of(model: Model) -> list[ColumnShape]:
    """The table's columns in order."""
    return [
        ColumnShape(
            name=name,
            type=_DUCKDB_TYPES[str(column.dtype)],
            is_nullable=column.nullable,
            description=column.description or "",
            limits=_limits(column.checks),
        )
        for name, column in model.to_schema().columns.items()
    ]


def _literal(text: str) -> str:
    """A text of ours as an SQL literal (DDL takes no bound parameters)."""
    return "'" + text.replace("'", "''") + "'"


def table_ddl(model: Model, catalog: str) -> list[str]:
    """Statements that make the empty table in an attached database and comment on it."""
    shape = ", ".join(
        f"{column.name} {column.type}{'' if column.is_nullable else ' NOT NULL'}"
        for column in columns_of(model)
    )
    return [
        f"CREATE TABLE {catalog}.{name_of(model)} ({shape})",
        *_comments(model, catalog, "TABLE"),
    ]


def view_ddl(model: Model, catalog: str, query: str) -> list[str]:
    """Statements that make a view of a query in an attached database and comment on it."""
    columns = ", ".join(column.name for column in columns_of(model))
    return [
        f"CREATE VIEW {catalog}.{name_of(model)} AS SELECT {columns} FROM ({query})",
        *_comments(model, catalog, "VIEW"),
    ]


def _comments(model: Model, catalog: str, kind: str) -> list[str]:
    table = f"{catalog}.{name_of(model)}"
    return [
        f"COMMENT ON {kind} {table} IS {_literal(description_of(model))}",
        *(
            f"COMMENT ON COLUMN {table}.{column.name} IS {_literal(column.description)}"
            for column in columns_of(model)
        ),
    ]


def data_dictionary(models: Sequence[Model]) -> str:
    """Markdown that describes every table: what `data/README.md` holds."""
    parts = []
    for model in models:
        parts += [
            f"## {name_of(model)}",
            "",
            f"{description_of(model)} Key: {', '.join(f'`{name}`' for name in key_of(model))}.",
            "",
            "| column | type | NULL | meaning |",
            "|---|---|---|---|",
        ]
        for column in columns_of(model):
            limits = f" ({'; '.join(column.limits)})" if column.limits else ""
            nullable = "yes" if column.is_nullable else ""
            parts.append(
                f"| `{column.name}` | {column.type} | {nullable} | {column.description}{limits} |"
            )
        parts.append("")
    return "\n".join(parts)
