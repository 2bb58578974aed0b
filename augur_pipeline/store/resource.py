"""The store: one lock and one connection to the work database for the whole of a run."""

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import duckdb
from dagster import InitResourceContext
from dagster_duckdb import DuckDBResource
from pydantic import Field, PrivateAttr

from augur_pipeline.errors import PolicyError, PublishError
from augur_pipeline.home import Home
from augur_pipeline.policy import Policy
from augur_pipeline.store.clock import RunClock
from augur_pipeline.store.grammar import install_grammar
from augur_pipeline.store.lock import run_lock
from augur_pipeline.store.sql import load_sql, parameters_of

logger = logging.getLogger(__name__)

MEMORY_SHARE = 0.6


def default_memory_limit() -> str:
    """A share of the machine's memory, leaving room for the operating system's cache."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{int(total * MEMORY_SHARE / 2**20)}MiB"


def thread_count(text: str) -> int:
    """DuckDB's threads as an environment variable states them; nothing there: 0, all cores."""
    if text and not text.isdecimal():
        raise PolicyError(f"AUGUR_THREADS must be a whole number of threads, not {text!r}")
    return int(text or 0)


class Store(DuckDBResource):
    """The work database of a home, opened by one run at a time.

    Only a run opens `work/work.duckdb`; readers open only the published `augur.duckdb`. So
    neither ever blocks the other (DuckDB: one writing process or many readers).
    """

    database: str = Field(default="", description="Unused: the work database of `home`.")
    home: str = Field(default="", description="Home directory; empty: AUGUR_HOME, else data.")
    clock: RunClock
    memory_limit: str = Field(default="", description="DuckDB memory_limit; empty: 60 % of RAM.")
    threads: int = Field(default=0, description="DuckDB threads; 0: all cores.")
    lock_wait_seconds: float = Field(default=3600.0, description="How long to wait for the lock.")
    _connection: duckdb.DuckDBPyConnection | None = PrivateAttr(default=None)
    _run_id: str = PrivateAttr(default="")

    @contextlib.contextmanager
    def yield_for_execution(self, context: InitResourceContext) -> Iterator["Store"]:
        """Hold lock and connection from the run's first step to its last."""
        self._run_id = context.run.run_id if context.run else "no-run"
        with run_lock(self.paths.work, self._run_id, self.lock_wait_seconds):
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
        return Home.at(self.home)

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
        spill = self.paths.work / "spill"
        connection = duckdb.connect(
            str(self.paths.work_database),
            config={
                "memory_limit": self.memory_limit or default_memory_limit(),
                "temp_directory": str(spill),
                "autoinstall_known_extensions": "false",
                **({"threads": str(self.threads)} if self.threads else {}),
                **self.connection_config,
            },
        )
        connection.execute("SET TimeZone = 'UTC'")
        # the order of rows is stated where it matters; free order elsewhere spares memory
        connection.execute("SET preserve_insertion_order = false")
        install_grammar(connection)
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def start_afresh(self) -> None:
        """Drop the work database: a run that takes in inputs owes nothing to earlier ones."""
        self._close()
        for path in (self.paths.work_database, self.paths.work_database.with_suffix(".duckdb.wal")):
            path.unlink(missing_ok=True)

    def has_table(self, table: str) -> bool:
        """Whether the work database holds a table."""
        found = self.connection.execute(
            "SELECT 1 FROM information_schema.tables "
            "WHERE table_name = $table AND table_catalog = 'work'",
            {"table": table},
        ).fetchall()
        return bool(found)

    def require(self, *tables: str) -> None:
        """Raise unless the run that this work database holds has made these tables."""
        for table in tables:
            if not self.has_table(table):
                raise PublishError(
                    f"{self.paths.work_database}: no table {table} in it; materialise the assets "
                    "upstream first (inputs are taken in by raw_calls and raw_prices)"
                )

    # ---- the state of the run that took in inputs -------------------------------------------

    def state(self) -> tuple[datetime, Policy]:
        """The stored clock and policy of the intake that this work database stems from."""
        self.require("run_state")
        ((as_of, policy),) = self.connection.execute(
            "SELECT as_of, policy FROM run_state"
        ).fetchall()
        return as_of, Policy.from_json(policy)

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
        if "$" not in statement:
            return {}
        as_of, policy = self.state()
        return parameters_of(statement, {"as_of": as_of, **policy.sql_parameters()})

    def count(self, table: str) -> int:
        """Rows of a table of ours (`table` is a name from our code, never a user's text)."""
        ((rows,),) = self.connection.table(table).count("*").fetchall()
        return int(rows)
