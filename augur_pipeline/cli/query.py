"""`augur query`: SQL over the published database."""

from typing import Any

import click

from augur_pipeline.cli.shared import home_option
from augur_pipeline.cli.values import write_csv, write_json_lines
from augur_pipeline.errors import AugurError
from augur_pipeline.home import Home

SHOWN_ROWS = 200

LOCKED = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""SQL of whoever may query must not write, read other files or load code; the home's own database
is attached already."""


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
        for setting in LOCKED:
            connection.execute(setting)
        try:
            cursor = connection.execute(sql)
            if cursor is None:
                raise click.UsageError("there is no statement in the SQL given")
            names = [column[0] for column in cursor.description or []]
            rows = (
                cursor.fetchmany(SHOWN_ROWS + 1) if output_format == "table" else cursor.fetchall()
            )
        except duckdb.PermissionException as error:
            raise AugurError(
                f"query: refused ({_first_line(error)}); a query reads the published database and "
                "nothing else: for files and extensions open it yourself with DuckDB, read-only"
            ) from error
        except duckdb.Error as error:
            raise AugurError(f"query: {error}") from error
    if output_format == "csv":
        write_csv(names, rows)
    elif output_format == "json":
        write_json_lines(names, rows)
    else:
        _print_table(names, rows)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0].removeprefix("Permission Error: ")


def _print_table(names: list[str], rows: list[tuple[Any, ...]]) -> None:
    from augur_pipeline.cli.display import console, plain_table

    console.print(plain_table(names, rows[:SHOWN_ROWS]))
    if len(rows) > SHOWN_ROWS:
        console.print(f"… more rows; the first {SHOWN_ROWS} are shown (--format csv gives all)")
