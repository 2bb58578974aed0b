"""`augur query`: SQL over the published database."""

import csv
import json
import math
import sys
from datetime import UTC, datetime
from typing import Any

import click

from augur_pipeline.cli.shared import home_option
from augur_pipeline.errors import AugurError
from augur_pipeline.home import Home

SHOWN_ROWS = 200


@click.command()
@click.argument("sql")
@home_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help=f"table shows the first {SHOWN_ROWS} rows; csv and json (one object a line) give all.",
)
def query(sql: str, home_directory: str, output_format: str) -> None:
    """Read the published database with SQL; read-only, so it never blocks a run.

    Example: augur query "SELECT agent_id, brier, calibration FROM agent_season_brier"

    Tables and columns explain themselves: SELECT table_name, comment FROM duckdb_tables().
    """
    import duckdb

    from augur_pipeline.store.published import open_published

    with open_published(Home.at(home_directory).database) as connection:
        try:
            cursor = connection.execute(sql)
            if cursor is None:
                raise click.UsageError("there is no statement in the SQL given")
            names = [column[0] for column in cursor.description or []]
            rows = (
                cursor.fetchmany(SHOWN_ROWS + 1) if output_format == "table" else cursor.fetchall()
            )
        except duckdb.Error as error:
            raise AugurError(f"query: {error}") from error
    if output_format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([[_plain(value) for value in row] for row in rows])
    elif output_format == "json":
        for row in rows:
            values = {name: _plain(value) for name, value in zip(names, row, strict=True)}
            click.echo(json.dumps(values, ensure_ascii=False, default=str))
    else:
        _print_table(names, rows)


def _plain(value: Any) -> Any:
    """A value as JSON and CSV hold it: times in ISO 8601, no NaN or infinity."""
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return value.isoformat() + "Z"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from augur_pipeline.cli.display import console, plain_table

    console.print(plain_table(names, rows[:SHOWN_ROWS]))
    if len(rows) > SHOWN_ROWS:
        console.print(f"… more rows; the first {SHOWN_ROWS} are shown (--format csv gives all)")
