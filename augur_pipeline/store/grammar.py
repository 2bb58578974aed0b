"""The contract's grammar of times for the few places outside SQL (one rule: `grammar.sql`)."""

from datetime import datetime

import duckdb

from augur_pipeline.errors import ClockError
from augur_pipeline.store.sql import load_sql


def install_grammar(connection: duckdb.DuckDBPyConnection) -> None:
    """Define the grammar's macros on a connection."""
    connection.execute(load_sql(__package__, "grammar"))


def parse_time(text: str) -> datetime:
    """The UTC instant a text names by the contract's grammar (naive, whole microseconds).

    Raises `ClockError` where the text is no such time.
    """
    with duckdb.connect() as connection:
        install_grammar(connection)
        ((instant,),) = connection.execute(
            "SELECT time_of(trimmed($given))", {"given": text}
        ).fetchall()
    if instant is None:
        raise ClockError(
            f"as_of {text!r} is no time of the contract; write it like 2026-06-10T00:00:00Z"
        )
    assert isinstance(instant, datetime)
    return instant
