"""Assets `raw_calls` and `raw_prices`: one step that takes in every landing file."""

import json
import logging
import math
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from dagster import (
    AssetExecutionContext,
    AssetSpec,
    MaterializeResult,
    TableMetadataValue,
    multi_asset,
)

from augur_pipeline.errors import ClockError
from augur_pipeline.home import has_file
from augur_pipeline.intake.columns import CALLS, PRICES, LandingKind
from augur_pipeline.intake.landing import (
    Landing,
    LandingFile,
    changed_while_read,
    create_landing_table,
    landing_files,
    unread_names,
)
from augur_pipeline.intake.settings import land_settings
from augur_pipeline.intake.tables import RawCalls, RawPrices
from augur_pipeline.policy import Policy
from augur_pipeline.store.clock import iso, machine_time
from augur_pipeline.store.continuity import (
    begins_new_ledger,
    file_to_retire,
    refuse_lost_ledger,
    traces_of,
)
from augur_pipeline.store.digests import file_digest
from augur_pipeline.store.display import OWNERS, describe, table_metadata
from augur_pipeline.store.export_sets import export_set
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.published import Published, last_published, take_ledger
from augur_pipeline.store.publishing import link_exports
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import transaction

logger = logging.getLogger(__name__)
LEDGER_TABLES = ("sealed_calls", "settlements")
SETTINGS = ("seasons.csv", "score_terms.csv", "policy.toml", "benchmarks.csv")
SCHEDULE_TAG = "dagster/schedule_name"

_Row = tuple[Any, ...]


def refuse_lead(as_of: datetime, policy: Policy) -> None:
    """Raise `ClockError` where the run's clock leads the machine's by more than admitted."""
    if as_of > machine_time() + timedelta(minutes=policy.clock_lead_minutes):
        raise ClockError(
            f"as_of {iso(as_of)} lies in the future (the machine says {iso(machine_time())}); "
            "a run cannot know what has not happened"
        )


def refuse_backwards(as_of: datetime, published: Published | None) -> None:
    """Raise `ClockError` where the run's clock lies before the last published one."""
    if published is not None and as_of < published.as_of:
        raise ClockError(
            f"as_of {iso(as_of)} is before the last published as_of {iso(published.as_of)}"
        )


@multi_asset(
    name="intake",
    specs=[
        AssetSpec(
            "raw_calls",
            description="Every row of inputs/calls as its file gives it, trimmed and typed.",
            group_name="intake",
            kinds={"duckdb", "sql"},
            owners=OWNERS,
            skippable=True,
        ),
        AssetSpec(
            "raw_prices",
            description="Every row of inputs/prices, typed, with its fate "
            "(usable, duplicate, rejected, not_yet).",
            group_name="intake",
            kinds={"duckdb", "sql"},
            owners=OWNERS,
            skippable=True,
        ),
    ],
    can_subset=False,
)
def intake(context: AssetExecutionContext, store: Store) -> Iterator[MaterializeResult[None]]:
    """Fix the run's clock, load the ledger, and read all landing files."""
    with shown_as_failures():
        store.paths.require_inputs()
        policy = Policy.from_toml(store.paths.inputs / "policy.toml")
        as_of = store.clock.reading()
        refuse_lead(as_of, policy)
        is_new = begins_new_ledger(store.run_id)
        if is_new:
            published = None
            context.log.warning("a new ledger begins: what was sealed and settled is left aside")
        else:
            published = last_published(store.paths.database)
            refuse_lost_ledger(store.paths, published, traces_of(store.paths, context.instance))
        if context.run.tags.get(SCHEDULE_TAG) and published and as_of < published.as_of:
            context.log.warning(
                f"tick {iso(as_of)} is behind the last published as_of {iso(published.as_of)}: "
                "nothing to do, nothing published"
            )
            return
        refuse_backwards(as_of, published)
        start_run(store, as_of, policy, published, is_new_ledger=is_new)
        take_in(store)
        yield MaterializeResult(
            asset_key="raw_calls",
            metadata={**describe(store, RawCalls), "as_of": iso(as_of), **_files(store, "calls")},
        )
        yield MaterializeResult(
            asset_key="raw_prices",
            metadata={
                **describe(store, RawPrices),
                "fates": table_metadata(*store.rows(__package__, "price_fates")),
                **_files(store, "prices"),
            },
        )


def start_run(
    store: Store,
    as_of: datetime,
    policy: Policy,
    published: Published | None,
    is_new_ledger: bool = False,
) -> None:
    """A fresh work database that knows its clock, its policy and the ledger it adds to."""
    if published is not None:
        # a run may have died between the database and the link
        current = export_set(store.paths, published.content_digest, published.as_of)
        link_exports(store.paths, current)
    store.start_afresh()
    store.connection.execute(
        "CREATE TABLE run_state AS SELECT $as_of::TIMESTAMP AS as_of, $run_id AS run_id, "
        "$policy AS policy, $base_digest::VARCHAR AS base_digest, $retires::VARCHAR AS retires",
        {
            "as_of": as_of,
            "run_id": store.run_id,
            "policy": policy.to_json(),
            "base_digest": published.content_digest if published else None,
            "retires": file_to_retire(store.paths.database) if is_new_ledger else None,
        },
    )
    if not is_new_ledger:
        take_ledger(store, LEDGER_TABLES)


def take_in(store: Store) -> None:
    """Read settings and landing files; give every price row its fate."""
    _, policy = store.state()
    land_settings(store, policy)
    # one transaction: a commit a file would wait for the disk thousands of times
    with transaction(store.connection):
        calls, unread_calls = _take_in_files(store, CALLS)
        prices, unread_prices = _take_in_files(store, PRICES)
        read = [*calls, *prices]
        for number, name in enumerate(SETTINGS):
            path = store.paths.inputs / name
            if has_file(path):
                size = path.stat().st_size
                read.append(("settings", name, number, file_digest(path), size, 0, None))
        _make_table(store, "input_files", _INPUT_FILES, read)
        _make_table(store, "unread_files", _UNREAD_FILES, [*unread_calls, *unread_prices])
    for name in ("crowded_prices", "price_spacing", "raw_prices"):
        store.run(__package__, name)


def _take_in_files(store: Store, kind: LandingKind) -> tuple[list[_Row], list[_Row]]:
    """Take in the files of a kind; returns the rows of `input_files` and of `unread_files`."""
    folder = store.paths.inputs / kind.name
    create_landing_table(store.connection, kind)
    landing = Landing(store.connection, store.paths.work, kind)
    files = landing_files(folder, kind)
    progress = _Progress(len(files))
    records: list[_Row] = []
    for file in files:
        progress.before(file)
        digest, size, rows, extra = _take_in_file(landing, file)
        progress.after(rows)
        ignored = json.dumps(sorted(extra)) if extra else None
        records.append((kind.name, file.name, file.number, digest, size, rows, ignored))
    landing.flush()
    logger.info("%s: %s rows of %s files", kind.name, f"{progress.rows:,}", f"{len(files):,}")
    return records, [(kind.name, name) for name in unread_names(folder)]


_INPUT_FILES = pa.schema(
    [
        ("kind", pa.string()),
        ("source_file", pa.string()),
        ("file_number", pa.int64()),
        ("sha256", pa.string()),
        ("bytes", pa.int64()),
        ("rows", pa.int64()),
        ("ignored_columns", pa.string()),
    ]
)
_UNREAD_FILES = pa.schema([("kind", pa.string()), ("name", pa.string())])


def _make_table(store: Store, name: str, schema: pa.Schema, rows: list[_Row]) -> None:
    """A table of our own from rows in memory, in one statement."""
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    store.connection.register("rows_in_memory", pa.Table.from_arrays(arrays, schema=schema))
    store.connection.execute(f"CREATE OR REPLACE TABLE {name} AS FROM rows_in_memory")
    store.connection.unregister("rows_in_memory")


class _Progress:
    """A line before a file that is read, but of thousands of small ones only every few seconds."""

    EVERY_SECONDS = 2.0

    def __init__(self, files: int) -> None:
        self._files = files
        self._said_at = -math.inf
        self.rows = 0

    def before(self, file: LandingFile) -> None:
        now = time.monotonic()
        if now - self._said_at >= self.EVERY_SECONDS:
            self._said_at = now
            logger.info(
                "reading %s/%s (%d of %d)",
                file.kind.name, file.name, file.number + 1, self._files,
            )  # fmt: skip

    def after(self, rows: int) -> None:
        self.rows += rows


def _take_in_file(landing: Landing, file: LandingFile) -> tuple[str, int, int, set[str]]:
    """Digest, bytes, rows and unread columns of a file: all of one state of it."""
    before = _state_of(file.path)
    digest = file_digest(file.path)
    rows, extra = landing.add(file)
    if _state_of(file.path) != before:
        raise changed_while_read(file)
    return digest, file.path.stat().st_size, rows, extra


def _state_of(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file was replaced or written to; None where it cannot be told."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _files(store: Store, kind: str) -> dict[str, TableMetadataValue]:
    relation = store.connection.table("input_files").filter(f"kind = '{kind}'").order("file_number")
    shown = relation.select("source_file", "rows", "sha256", "ignored_columns")
    return {"files": table_metadata(shown.columns, shown.fetchall())} if len(shown) else {}
