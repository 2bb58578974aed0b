"""Building and publishing one night's result."""

import json
import logging
from dataclasses import astuple
from datetime import datetime
from importlib import metadata
from pathlib import Path

import duckdb

from augur_pipeline import __version__
from augur_pipeline.errors import PublishError
from augur_pipeline.exports.catalog import BLOCKING_RULES, CONTENT_TABLES, PUBLISHED_TABLES, VIEWS
from augur_pipeline.exports.index import names_of, write_index
from augur_pipeline.exports.passports.files import write_passports
from augur_pipeline.exports.receipts.files import write_receipts
from augur_pipeline.exports.tables import ContentDigests, RunInfo
from augur_pipeline.exports.views import make_views
from augur_pipeline.pictures import diagram_files
from augur_pipeline.pictures.drawn import Drawn
from augur_pipeline.store.clock import iso
from augur_pipeline.store.continuity import file_to_retire, retire
from augur_pipeline.store.digests import (
    PARTS_TABLE,
    Part,
    content_digest,
    parts_of,
    run_digest,
)
from augur_pipeline.store.export_sets import export_set
from augur_pipeline.store.published import LEDGER_VERSION, last_published
from augur_pipeline.store.replacing import (
    NEW,
    build_database,
    drop_old_exports,
    export_table,
    fill,
    link_exports,
    place_exports,
    replace_database,
)
from augur_pipeline.store.resource import Store
from augur_pipeline.store.rules import breaches_of
from augur_pipeline.store.sql import transaction
from augur_pipeline.store.tables import name_of, table_ddl

logger = logging.getLogger(__name__)


def publish(store: Store) -> str:
    """Check and publish what the work database holds; returns its content digest.

    Raises `PublishError` where a blocking rule is broken or the work database does not follow
    the published one; then nothing changes for readers. Once the database is replaced the night
    is published: what fails after that is a warning.
    """
    store.require(*(name_of(model) for model in CONTENT_TABLES))
    as_of, _ = store.state()
    digest = ""

    def build(connection: duckdb.DuckDBPyConnection) -> None:
        nonlocal digest
        with transaction(connection):
            for model in CONTENT_TABLES:
                fill(connection, model)
            make_views(connection, NEW, store.parameters())
        logger.info("taking the content digest")
        parts = [part for model in CONTENT_TABLES for part in parts_of(connection, model)]
        digest = content_digest(parts)
        _add_parts(connection, parts)
        _add_run_info(store, connection, as_of, digest)
        logger.info("checking the blocking rules on what is to be published")
        _check_rules(store)
        _check_follows(store, as_of, digest)
        exports = export_set(store.paths, digest, as_of)
        place_exports(exports, lambda folder: _export(store, connection, folder))

    new = build_database(store, build)
    ((retires,),) = store.connection.execute("SELECT retires FROM run_state").fetchall()
    if retires and store.paths.database.exists():
        retire(store.paths.database, retires)
    replace_database(store.paths, new)
    current = export_set(store.paths, digest, as_of)
    try:
        link_exports(store.paths, current)
        drop_old_exports(store.paths, current)
    except OSError as error:
        logger.warning(
            "%s: the database is published, but its exports are not linked (%s); check disk space "
            "and permissions: the next run links them",
            store.paths.latest,
            error.strerror,
        )
    return digest


def _export(store: Store, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    tables = folder / "tables"
    tables.mkdir()
    for model in PUBLISHED_TABLES:
        export_table(connection, model, tables)
    names = names_of(connection)
    write_index(names, folder)
    write_passports(connection, folder / "passports", names)
    logger.info("writing receipts")
    write_receipts(connection, folder / "receipts", names)
    if diagram_files.MOST_A_SEASON:
        logger.info("drawing reliability diagrams")
        store.require("season_pictures")
        of_seasons = connection.execute("SELECT season_id, picture FROM work.season_pictures")
        diagram_files.write_diagrams(
            connection,
            folder / "diagrams",
            diagram_files.MOST_A_SEASON,
            names,
            dict(of_seasons.fetchall()),
            Drawn(store.paths.work / "pictures" / "agents"),
        )


def _add_parts(connection: duckdb.DuckDBPyConnection, parts: list[Part]) -> None:
    for statement in table_ddl(ContentDigests, NEW):
        connection.execute(statement)
    ordered = sorted(parts, key=lambda part: (part.table_name, part.season_id or ""))
    connection.executemany(
        f"INSERT INTO {NEW}.{PARTS_TABLE} VALUES (?, ?, ?, ?, ?)", [astuple(p) for p in ordered]
    )


def _add_run_info(
    store: Store, connection: duckdb.DuckDBPyConnection, as_of: datetime, digest: str
) -> None:
    _, policy = store.state()
    files = connection.execute(
        "SELECT kind || '/' || source_file, sha256 FROM input_files ORDER BY kind, file_number"
    ).fetchall()
    for statement in table_ddl(RunInfo, NEW):
        connection.execute(statement)
    columns = {
        "as_of": as_of,
        "run_id": store.run_id,
        "policy": policy.to_json(),
        "policy_version": policy.version,
        "ledger_version": LEDGER_VERSION,
        "code_version": __version__,
        "duckdb_version": duckdb.__version__,
        "dagster_version": metadata.version("dagster"),
        "numpy_version": metadata.version("numpy"),
        "input_digests": json.dumps(dict(files)),
        "content_digest": digest,
    }
    columns["run_digest"] = run_digest(columns)
    connection.execute(
        f"INSERT INTO {NEW}.run_info ({', '.join(columns)}) "
        f"VALUES ({', '.join(f'${name}' for name in columns)})",
        columns,
    )


def _check_rules(store: Store) -> None:
    """The blocking rules once more, on the very tables that are to be published."""
    found = [rule.find(store) for rule in BLOCKING_RULES]
    broken = [finding.sentence() for finding in found if finding.broken_rows]
    broken += [
        f"{table}.{column} breaks its model ({rule}): {rows} row(s), first: {example}"
        for model in (*PUBLISHED_TABLES, *VIEWS)
        for table, column, rule, example, rows in breaches_of(store.connection, model)
    ]
    if broken:
        raise PublishError(f"nothing published, a rule is broken: {'; '.join(broken)}")


def _check_follows(store: Store, as_of: datetime, digest: str) -> None:
    """The work database must add to what is published now, not to something older."""
    ((base_digest, retires),) = store.connection.execute(
        "SELECT base_digest, retires FROM work.run_state"
    ).fetchall()
    if retires is not None and file_to_retire(store.paths.database) == retires:
        return  # begins a new ledger in the place of this very file
    published = last_published(store.paths.database)
    if published is None:
        return
    if published.content_digest not in (base_digest, digest) or as_of < published.as_of:
        raise PublishError(
            f"{store.paths.database}: published as_of {iso(published.as_of)} by a run that this "
            "work database does not know; materialise raw_calls and raw_prices again"
        )
