"""Intake's steps: begin a run, read settings and landing files."""

import json
import logging
import math
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from augur_pipeline.home import has_file
from augur_pipeline.intake.kinds import CALLS
from augur_pipeline.intake.settings import land_settings
from augur_pipeline.landing.columns import LandingKind
from augur_pipeline.landing.files import (
    Landing,
    LandingFile,
    changed_while_read,
    create_landing_table,
    landing_files,
    unread_names,
)
from augur_pipeline.policy import Policy
from augur_pipeline.prices.kinds import PRICES
from augur_pipeline.prices.steps import install_price_finding, judge_prices
from augur_pipeline.store.arrays import keep_arrow
from augur_pipeline.store.continuity import file_to_retire
from augur_pipeline.store.digests import file_digest
from augur_pipeline.store.export_sets import existing_export_set
from augur_pipeline.store.published import Published
from augur_pipeline.store.replacing import link_exports
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import transaction
from augur_pipeline.store.taking_over import take_ledger

logger = logging.getLogger(__name__)
LEDGER_TABLES = ("sealed_calls", "settlements")
SETTINGS = ("seasons.csv", "score_terms.csv", "policy.toml", "benchmarks.csv")

_Row = tuple[Any, ...]


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
        current = existing_export_set(store.paths, published.content_digest, published.as_of)
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
        install_price_finding(store.connection)
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
    judge_prices(store)


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
    keep_arrow(store, name, pa.Table.from_arrays(arrays, schema=schema))


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
