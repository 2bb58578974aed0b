"""What an asset shows in Dagster: row count, column schema, a preview, small tables."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from dagster import (
    MetadataValue,
    TableColumn,
    TableColumnConstraints,
    TableMetadataValue,
    TableRecord,
    TableSchema,
)

from augur_pipeline.store.clock import iso
from augur_pipeline.store.resource import Store
from augur_pipeline.store.tables import (
    Model,
    columns_of,
    key_of,
    name_of,
)

OWNERS = ["team:augur"]
PREVIEW_ROWS = 5
MOST_LETTERS = 200
"""Of a text in a table on an asset's page. Dagster keeps every night's tables, several times each:
rows and texts are bounded, or the history outgrows the inputs."""


def _cell(value: Any) -> str | int | float | bool | None:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # Dagster's page drops rows that are no JSON
    if value is None or isinstance(value, (int, float, bool)):
        return value
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def table_metadata(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> TableMetadataValue:
    """Rows as a table on the asset's page."""
    return MetadataValue.table(
        [TableRecord({c: _cell(v) for c, v in zip(columns, row, strict=True)}) for row in rows],
        # without rows Dagster cannot tell the columns by itself
        schema=None if rows else TableSchema([TableColumn(name) for name in columns]),
    )


def column_schema(model: Model) -> TableSchema:
    """The table's shape as Dagster shows it."""
    return TableSchema(
        columns=[
            TableColumn(
                name=column.name,
                type=column.type,
                description=column.description,
                constraints=TableColumnConstraints(
                    nullable=column.is_nullable, other=list(column.limits)
                ),
            )
            for column in columns_of(model)
        ]
    )


def describe(store: Store, model: Model) -> dict[str, Any]:
    """Row count, column schema and preview of a table."""
    names = [column.name for column in columns_of(model)]
    relation = store.connection.table(name_of(model)).select(*names)
    rows = relation.order(", ".join(key_of(model))).limit(PREVIEW_ROWS).fetchall()
    metadata: dict[str, Any] = {
        "dagster/row_count": store.count(name_of(model)),
        "dagster/column_schema": column_schema(model),
    }
    if rows:
        metadata["preview"] = table_metadata(names, rows)
    return metadata
