"""Landing files into the work database: every file in full, on every run."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from augur_pipeline.errors import InputError
from augur_pipeline.intake.columns import LandingColumn, LandingKind
from augur_pipeline.intake.text_files import READERS, text_batches
from augur_pipeline.store.sql import load_sql, quoted_identifier

logger = logging.getLogger(__name__)

SUFFIXES = (*READERS, ".parquet")


@dataclass(frozen=True)
class LandingFile:
    """A file of the landing zone. `number` is its place in bytewise order of the names."""

    kind: LandingKind
    number: int
    path: Path

    @property
    def name(self) -> str:
        """The plain file name as text (a byte that is no UTF-8 shows as an escape)."""
        return os.fsencode(self.path.name).decode("utf-8", "backslashreplace")


def landing_files(folder: Path, kind: LandingKind) -> list[LandingFile]:
    """The landing files of a kind, in bytewise order of their names; hidden files are not ours."""
    if not folder.is_dir():
        return []
    paths = [
        path
        for path in folder.iterdir()
        # a broken link is a file that cannot be read, and says so
        if path.suffix in SUFFIXES and not path.name.startswith(".") and not path.is_dir()
    ]
    paths.sort(key=lambda path: os.fsencode(path.name))
    return [LandingFile(kind, number, path) for number, path in enumerate(paths)]


def unread_names(folder: Path) -> list[str]:
    """What lies in a landing folder and is not read (another suffix, a folder), in name order.

    Hidden entries are left out: editors and copying tools make them.
    """
    if not folder.is_dir():
        return []
    names = [
        os.fsencode(path.name)
        for path in folder.iterdir()
        if (path.suffix not in SUFFIXES or path.is_dir()) and not path.name.startswith(".")
    ]
    return [name.decode("utf-8", "backslashreplace") for name in sorted(names)]


def create_landing_table(connection: duckdb.DuckDBPyConnection, kind: LandingKind) -> None:
    """An empty table for a kind's rows (two, where it parts them), its columns typed."""
    types = {"id": "VARCHAR", "word": "VARCHAR", "time": "TIMESTAMP"}
    types |= {"number": "DOUBLE", "integer": "BIGINT", "pool": "INTEGER"}
    places = ["file_number INTEGER", "source_line BIGINT"]
    values = [f"{_kept_name(column)} {types[column.kind]}" for column in kind.columns]
    texts = [f"{name} VARCHAR" for name in _text_names(kind)]
    if any(column.kind == "pool" for column in kind.columns):
        connection.execute("CREATE OR REPLACE TABLE pools (pool_id VARCHAR, pool_number INTEGER)")
    shape = [*places, *values]
    if kind.unusable_table is None:
        shape += texts
    else:
        connection.execute(load_sql(__package__, "price_finding"))
        unusable = ", ".join([*shape, *texts, "finding VARCHAR"])
        connection.execute(f"CREATE OR REPLACE TABLE {kind.unusable_table} ({unusable})")
    connection.execute(f"CREATE OR REPLACE TABLE {kind.table} ({', '.join(shape)})")


def land(
    connection: duckdb.DuckDBPyConnection, scratch: Path, file: LandingFile
) -> tuple[int, set[str]]:
    """Read one file into its kind's table; returns its rows and the columns we do not read.

    `scratch` is a folder of the caller's own, for a link of a moment.
    """
    extra: set[str] = set()
    if file.path.suffix == ".parquet":
        rows = _land_parquet(connection, scratch, file, extra)
    else:
        rows = 0
        names, required = file.kind.column_names, file.kind.required_names
        for batch in text_batches(file.path, names, required, extra):
            connection.register("landing_rows", batch)
            _insert(connection, file, dict.fromkeys(names, "VARCHAR"), batch.num_rows)
            connection.unregister("landing_rows")
            rows += batch.num_rows
    logger.info("%s/%s: %s rows", file.kind.name, file.name, f"{rows:,}")
    return rows, extra


def _land_parquet(
    connection: duckdb.DuckDBPyConnection, scratch: Path, file: LandingFile, extra: set[str]
) -> int:
    # read through a link of our own naming: DuckDB would take `*` or `[` in a name as a pattern
    link = scratch / "landing.parquet"
    link.unlink(missing_ok=True)
    link.symlink_to(file.path)
    try:
        relation = connection.read_parquet(str(link))
        place = "file_row_number"
        own = next((name for name in relation.columns if name.lower() == place), None)
        if own is not None:
            # the file's own column of that name hides DuckDB's: number the rows ourselves
            rows = pq.read_table(file.path).drop_columns(own)
            connection.register("numbered", rows.append_column(place, pa.array(range(len(rows)))))
            connection.execute("CREATE OR REPLACE TEMP TABLE landing_source AS FROM numbered")
            connection.unregister("numbered")
            relation = connection.table("landing_source")
            extra.add(own)
        given = {
            name.strip(): (name, str(type_))
            for name, type_ in zip(relation.columns, relation.types, strict=True)
        }
        _require_columns(file, given)
        extra.update(set(given) - set(file.kind.column_names) - {place})
        selected = [
            f"{quoted_identifier(given[name][0])} AS {name}"
            if name in given
            else f"NULL::VARCHAR AS {name}"
            for name in file.kind.column_names
        ]
        places = [f"{place} + 1 AS source_line", "NULL::VARCHAR AS malformed_text"]
        relation.project(", ".join(places + selected)).create_view("landing_rows", replace=True)
        types = {
            name: given[name][1] if name in given else "VARCHAR" for name in file.kind.column_names
        }
        ((rows,),) = connection.execute("SELECT count(*) FROM landing_rows").fetchall()
        _insert(connection, file, types, rows)
        return int(rows)
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException):
            raise
        first_line = str(error).strip().splitlines()[0]
        raise InputError(
            f"{file.path}: cannot be read as Parquet ({first_line}); write it anew or remove it"
        ) from error
    finally:
        connection.execute("DROP VIEW IF EXISTS landing_rows")
        link.unlink(missing_ok=True)


def _require_columns(file: LandingFile, given: dict[str, tuple[str, str]]) -> None:
    missing = [name for name in file.kind.required_names if name not in given]
    if missing:
        raise InputError(
            f"{file.path}: no column {', '.join(missing)}; add it (NULL is a missing value)"
        )


def _kept_name(column: LandingColumn) -> str:
    return "pool_number" if column.kind == "pool" else column.name


def _keeps_text(column: LandingColumn) -> bool:
    return column.kind in ("time", "number", "integer")


def _text_names(kind: LandingKind) -> list[str]:
    """Columns that hold what was given where it could not be read."""
    return ["malformed_text", *(f"{c.name}_text" for c in kind.columns if _keeps_text(c))]


def _insert(
    connection: duckdb.DuckDBPyConnection, file: LandingFile, types: dict[str, str], rows: int
) -> None:
    """Append the `rows` of `landing_rows` to the kind's tables, each column typed by its kind.

    The statements are put together from a fixed menu of expressions over our own column names.
    """
    kind = file.kind
    typed = ["$file_number AS file_number", "source_line", "malformed_text"]
    source = "landing_rows"
    for column in kind.columns:
        value, text = _typed(column, types[column.name])
        if column.kind == "pool":
            _number_pools(connection, text)
            source = "landing_rows LEFT JOIN given_pools ON given = landing_rows.pool_id"
        typed.append(f"{value} AS {_kept_name(column)}")
        if _keeps_text(column):
            typed.append(f"CASE WHEN ({value}) IS NULL THEN {text} END AS {column.name}_text")
    typed_rows = f"SELECT {', '.join(typed)} FROM {source}"
    number = {"file_number": file.number}
    if kind.unusable_table is None:
        _append(connection, kind.table, typed_rows, number)
        return
    judged = f"SELECT *, {kind.finding} AS finding FROM ({typed_rows})"
    if file.path.suffix != ".parquet":
        # text is costly to type: once a batch; typed files of millions of rows are read again
        connection.execute(f"CREATE OR REPLACE TEMP TABLE judged_rows AS {judged}", number)
        judged, number = "FROM judged_rows", {}
    texts = ", ".join(_text_names(kind))
    usable = f"SELECT * EXCLUDE (finding, {texts}) FROM ({judged}) WHERE finding IS NULL"
    unusable = f"FROM ({judged}) WHERE finding IS NOT NULL"
    left = rows - _append(connection, kind.table, usable, number)
    if left:
        left -= _append(connection, kind.unusable_table, unusable, number)
    if left:
        raise changed_while_read(file)


def _append(
    connection: duckdb.DuckDBPyConnection, table: str, rows: str, number: dict[str, int]
) -> int:
    ((appended,),) = connection.execute(f"INSERT INTO {table} BY NAME {rows}", number).fetchall()
    return int(appended)


def changed_while_read(file: LandingFile) -> InputError:
    """The error of a file that somebody still writes."""
    return InputError(f"{file.path}: it changed while it was read; run again when it is whole")


def _number_pools(connection: duckdb.DuckDBPyConnection, pool_id: str) -> None:
    """Give new pools of `landing_rows` a number; `given_pools` has the number of each text given.

    Text is trimmed once a pool, not once a row.
    """
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE given_pools AS
        SELECT pool_id AS given, any_value({pool_id}) AS pool_id FROM landing_rows GROUP BY pool_id
        """
    )
    connection.execute(
        """
        INSERT INTO pools
        SELECT pool_id, row_number() OVER () + (SELECT count(*) FROM pools)
        FROM (SELECT DISTINCT pool_id FROM given_pools WHERE pool_id IS NOT NULL)
        ANTI JOIN pools USING (pool_id)
        """
    )
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE given_pools AS
        SELECT given, pool_number FROM given_pools JOIN pools USING (pool_id)
        """
    )


_EXACT_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE")


def _typed(column: LandingColumn, type_: str) -> tuple[str, str]:
    """The expressions for a column's value and its text, by the type the file gives it."""
    name = f"landing_rows.{column.name}"
    text = f"trimmed(CAST({name} AS VARCHAR))"
    if column.kind == "pool":
        return "pool_number", text
    if column.kind == "id":
        return text, text
    if column.kind == "word":
        return f"lower({text})", text
    if column.kind == "time":
        if type_.startswith("TIMESTAMP") and type_.endswith("_NS"):
            return f"typed_time_ns({name})", text
        if type_ == "TIMESTAMP WITH TIME ZONE":
            return f"typed_time_tz({name})", text
        if type_ == "DATE" or type_.startswith("TIMESTAMP"):
            return f"typed_time({name})", text
        return f"time_of({text})", text
    if type_.removeprefix("U") in _EXACT_NUMBERS:
        if column.kind == "number":
            return f"finite(CAST({name} AS DOUBLE))", text
        if type_ in ("FLOAT", "DOUBLE"):
            return f"whole_number({name})", text
        return f"TRY_CAST({name} AS BIGINT)", text
    # text, and types whose text says it best (DECIMAL: read as the literal it shows)
    return (f"number_of({text})" if column.kind == "number" else f"integer_of({text})"), text
