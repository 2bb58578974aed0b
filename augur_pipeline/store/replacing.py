"""Publishing: the new database and its exports appear whole, or not at all (engineering §2)."""

import filecmp
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from augur_pipeline.home import Home
from augur_pipeline.store.export_sets import export_sets, link_text
from augur_pipeline.store.exported_tables import season_files
from augur_pipeline.store.published import drop_foreign_log
from augur_pipeline.store.tables import (
    Model,
    columns_of,
    name_of,
    season_column_of,
    stored_order_of,
    table_ddl,
)

if TYPE_CHECKING:
    from augur_pipeline.store.resource import Store


logger = logging.getLogger(__name__)

NEW = "new"
"""Catalog name of the database being built."""


NOT_EXPORTED = ("run_id", "run_digest")
"""Columns that differ from run to run: exports of one content are the same bytes."""


def sync_file(path: Path) -> None:
    """Force a file's bytes to disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Force a folder's entries to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fill(connection: duckdb.DuckDBPyConnection, model: Model) -> None:
    """Make one table in the new database from the work table of its name, sorted by key."""
    logger.info("publishing %s", name_of(model))
    for statement in table_ddl(model, NEW):
        connection.execute(statement)
    columns = ", ".join(column.name for column in columns_of(model))
    connection.execute(
        f"INSERT INTO {NEW}.{name_of(model)} ({columns}) "
        f"SELECT {columns} FROM work.{name_of(model)} ORDER BY {', '.join(stored_order_of(model))}"
    )


def export_table(connection: duckdb.DuckDBPyConnection, model: Model, folder: Path) -> None:
    """One published table as Parquet, a call-level one a file a season.

    What differs from run to run is left out.
    """
    shown = [column.name for column in columns_of(model) if column.name not in NOT_EXPORTED]
    query = f"SELECT {', '.join(shown)} FROM {name_of(model)}"
    column = season_column_of(model)
    if column is None:
        _copy(connection, query, folder / f"{name_of(model)}.parquet")
        return
    seasons = connection.sql(f"SELECT DISTINCT {column} FROM {name_of(model)}").fetchall()
    files = season_files(name_of(model), column, [season for (season,) in seasons])
    for season, path in files.items():
        connection.execute("SET VARIABLE season = $season::VARCHAR", {"season": season})
        of_season = f"{query} WHERE {column} IS NOT DISTINCT FROM getvariable('season')"
        _copy(connection, of_season, folder / path)


def _copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection.execute(
        f"COPY ({query}) TO $path (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)",
        {"path": str(path)},
    )


def build_database(store: "Store", build: Callable[[duckdb.DuckDBPyConnection], None]) -> Path:
    """Let `build` fill a new database file; unqualified names mean the new tables in it."""
    path = store.paths.work / "new.duckdb"
    for stale in (path, path.with_suffix(".duckdb.wal")):
        stale.unlink(missing_ok=True)
    connection = store.connection
    connection.execute(f"ATTACH $path AS {NEW}", {"path": str(path)})
    try:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"SET search_path = '{NEW}.main,work.main'")
        build(connection)
        logger.info("closing the new database")
        connection.execute(f"CHECKPOINT {NEW}")
    finally:
        connection.execute("SET search_path = 'work.main'")
        connection.execute("SET preserve_insertion_order = false")
        connection.execute(f"DETACH {NEW}")
    sync_file(path)
    return path


def place_exports(final: Path, build: Callable[[Path], None]) -> None:
    """Let `build` fill an export set, then give it its name."""
    logger.info("writing tables and passports")
    final.parent.mkdir(parents=True, exist_ok=True)
    fresh = final.with_name(f"{final.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    build(fresh)
    logger.info("forcing exports to disk")
    for path in sorted(fresh.rglob("*")):
        (sync_folder if path.is_dir() else sync_file)(path)
    if final.exists() and not _same_files(fresh, final):
        # the set of this very night was altered after it was published: put it right
        shutil.rmtree(final)
    if final.exists():
        shutil.rmtree(fresh)
    else:
        fresh.rename(final)
    sync_folder(final.parent)
    sync_folder(final.parent.parent)


def _same_files(left: Path, right: Path) -> bool:
    names = [sorted(p.relative_to(root) for p in root.rglob("*")) for root in (left, right)]
    if names[0] != names[1]:
        return False
    files = [str(name) for name in names[0] if (left / name).is_file()]
    same, *_ = filecmp.cmpfiles(left, right, files, shallow=False)
    return len(same) == len(files)


def replace_database(home: Home, new: Path) -> None:
    """Put the new database in the published one's place in one step."""
    new.chmod(0o444)  # nobody but a run changes it, and a run replaces it as a whole
    drop_foreign_log(home.database)
    os.replace(new, home.database)
    sync_folder(home.root)


def link_exports(home: Home, current: Path) -> None:
    """Point `exports/latest` at a set, in one step."""
    if not current.is_dir():
        return
    target = link_text(home, current)
    if home.latest.is_symlink() and os.readlink(home.latest) == target:
        return
    if home.latest.is_dir() and not home.latest.is_symlink():
        # a copy or a backup that followed the link left a folder in its place
        shutil.rmtree(home.latest)
    fresh = home.exports / ".latest.new"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    os.replace(fresh, home.latest)
    sync_folder(home.exports)


def drop_old_exports(home: Home, current: Path) -> None:
    """Remove export sets other than the current one."""
    for path in export_sets(home):
        if path != current:
            shutil.rmtree(path, ignore_errors=True)
