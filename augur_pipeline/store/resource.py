"""The store: one lock and one connection to the work database for the whole of a run."""

import contextlib
import logging
import os
import re
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb
from dagster import ConfigurableResource, InitResourceContext
from dagster_duckdb import DuckDBResource
from pydantic import PrivateAttr

from augur_pipeline.errors import PolicyError, PublishError
from augur_pipeline.home import Home
from augur_pipeline.policy import Policy
from augur_pipeline.store.event_log import engines_kept_open
from augur_pipeline.store.grammar import install_grammar
from augur_pipeline.store.lock import run_lock
from augur_pipeline.store.run_clock import RunClock
from augur_pipeline.store.sql import load_sql, parameters_of

logger = logging.getLogger(__name__)

MEMORY_SHARE = 0.75
"""Of DuckDB's own default, which is a share of what the machine or its container has: the frames
and pictures of a night need room beside the database."""

LOCK_WAIT_SECONDS = 3600.0
"""How long a run waits for another one on the same home."""

MOST_THREADS = 1024

_UNITS = ("B", "KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB")
_MEMORY = re.compile(rf"(\d{{1,12}}(?:\.\d{{1,6}})?)\s*({'|'.join(_UNITS)})", re.IGNORECASE)


def memory_limit_of(text: str) -> str | None:
    """DuckDB's memory limit as an environment variable states it; nothing there: None."""
    if not text:
        return None
    match = _MEMORY.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise PolicyError(
            f"AUGUR_MEMORY_LIMIT must be an amount of memory like 4GiB or 800MB, not {text!r}"
        )
    return match[0]


def threads_of(text: str) -> int | None:
    """DuckDB's threads as an environment variable states them; nothing there: None, all cores."""
    if not text:
        return None
    if not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_THREADS:
        raise PolicyError(
            f"AUGUR_THREADS must be a whole number of threads from 1 to {MOST_THREADS}, "
            f"not {text!r}"
        )
    return int(text)


class Store(ConfigurableResource["Store"]):
    """The work database of a home, opened by one run at a time through Dagster's `DuckDBResource`.

    Only a run opens `work/work.duckdb`; readers open only the published `augur.duckdb`. So
    neither ever blocks the other (DuckDB: one writing process or many readers).

    Which home, how much memory and how many threads come from the environment (`AUGUR_HOME`,
    `AUGUR_MEMORY_LIMIT`, `AUGUR_THREADS`) when the run begins, and from nowhere else: run config
    reaches only the clock, so nobody who may launch a run can point it at other files.
    """

    clock: RunClock
    _home: Home | None = PrivateAttr(default=None)
    _connections: contextlib.ExitStack = PrivateAttr(default_factory=contextlib.ExitStack)
    _connection: duckdb.DuckDBPyConnection | None = PrivateAttr(default=None)
    _state: tuple[datetime, Policy] | None = PrivateAttr(default=None)
    _run_id: str = PrivateAttr(default="")

    @contextlib.contextmanager
    def yield_for_execution(self, context: InitResourceContext) -> Iterator["Store"]:
        """Hold lock and connection from the run's first step to its last."""
        self._run_id = context.run.run_id if context.run else "no-run"
        self._home = Home.at()
        with (
            engines_kept_open(context.instance) if context.instance else contextlib.nullcontext(),
            run_lock(self.paths.work, self._run_id, LOCK_WAIT_SECONDS),
        ):
            try:
                yield self
            finally:
                self._close()

    @contextlib.contextmanager
    def get_connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The run's one connection (left open: it belongs to the run, not to the step)."""
        yield self.connection

    @property
    def paths(self) -> Home:
        """The home's paths."""
        return self._home or Home.at()

    @property
    def run_id(self) -> str:
        """Dagster's id of this run."""
        return self._run_id

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The run's connection, opened on first use."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> duckdb.DuckDBPyConnection:
        memory_limit = memory_limit_of(os.environ.get("AUGUR_MEMORY_LIMIT", ""))
        threads = threads_of(os.environ.get("AUGUR_THREADS", ""))
        database = DuckDBResource(
            database=str(self.paths.work_database),
            connection_config={
                "temp_directory": str(self.paths.work / "spill"),
                "autoinstall_known_extensions": "false",
                **({"memory_limit": memory_limit} if memory_limit else {}),
                **({"threads": str(threads)} if threads else {}),
            },
        )
        connection: duckdb.DuckDBPyConnection = self._connections.enter_context(
            database.get_connection()
        )
        if memory_limit is None:
            _take_share_of_memory(connection)
        connection.execute("SET TimeZone = 'UTC'")
        # the order of rows is stated where it matters; free order elsewhere spares memory
        connection.execute("SET preserve_insertion_order = false")
        install_grammar(connection)
        return connection

    def _close(self) -> None:
        self._connections.close()
        self._connection = None
        self._state = None

    def start_afresh(self) -> None:
        """Drop the work database: a run that takes in inputs owes nothing to earlier ones."""
        self._close()
        for path in (self.paths.work_database, self.paths.work_database.with_suffix(".duckdb.wal")):
            path.unlink(missing_ok=True)

    def has_table(self, table: str) -> bool:
        """Whether the work database holds a table."""
        return table in self._tables()

    def _tables(self) -> set[str]:
        found = self.connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = 'work'"
        )
        return {table for (table,) in found.fetchall()}

    def require(self, *tables: str) -> None:
        """Raise unless the run that this work database holds has made these tables."""
        made = self._tables()
        for table in tables:
            if table not in made:
                raise PublishError(
                    f"{self.paths.work_database}: no table {table} in it; materialise the assets "
                    "upstream first (inputs are taken in by raw_calls and raw_prices)"
                )

    # ---- the state of the run that took in inputs -------------------------------------------

    def state(self) -> tuple[datetime, Policy]:
        """The stored clock and policy of the intake that this work database stems from."""
        if self._state is None:
            self.require("run_state")
            ((as_of, policy),) = self.connection.execute(
                "SELECT as_of, policy FROM run_state"
            ).fetchall()
            self._state = as_of, Policy.from_json(policy)
        return self._state

    # ---- SQL --------------------------------------------------------------------------------

    def run(self, package: str, name: str) -> None:
        """Run the statement in a package's `<name>.sql`, binding what it names; log its time."""
        statement = load_sql(package, name)
        started = time.perf_counter()
        self.connection.execute(statement, self._bound(statement))
        logger.info("%s: %.2f s", name, time.perf_counter() - started)

    def rows(self, package: str, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and rows of the query in a package's `<name>.sql`."""
        statement = load_sql(package, name)
        cursor = self.connection.execute(statement, self._bound(statement))
        return [column[0] for column in cursor.description or []], cursor.fetchall()

    def examples(
        self, package: str, name: str, shown: int
    ) -> tuple[int, list[str], list[tuple[Any, ...]]]:
        """How many rows a package's query gives, their column names, and the first of them."""
        statement = load_sql(package, name)
        self.connection.execute(
            "CREATE OR REPLACE TEMP TABLE counter_examples AS " + statement, self._bound(statement)
        )
        relation = self.connection.table("counter_examples")
        return self.count("counter_examples"), relation.columns, relation.limit(shown).fetchall()

    def _bound(self, statement: str) -> dict[str, Any]:
        return parameters_of(statement, self.parameters()) if "$" in statement else {}

    def parameters(self) -> dict[str, Any]:
        """What statements may name: the run's clock, and the policy's numbers."""
        as_of, policy = self.state()
        return {"as_of": as_of, **policy.sql_parameters()}

    def count(self, table: str) -> int:
        """Rows of a table of ours (`table` is a name from our code, never a user's text)."""
        ((rows,),) = self.connection.table(table).count("*").fetchall()
        return int(rows)


def _take_share_of_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Set the limit to our share of DuckDB's default."""
    ((given,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    amount, unit = str(given).split()
    connection.execute(f"SET memory_limit = '{float(amount) * MEMORY_SHARE:.3f} {unit}'")
