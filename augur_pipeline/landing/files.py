"""Landing files into the work database: every file in full, on every run."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from augur_pipeline.errors import InputError
from augur_pipeline.home import has_file
from augur_pipeline.landing.columns import LandingColumn, LandingKind
from augur_pipeline.landing.text_files import (
    BATCH_ROWS,
    READERS,
    columns_there,
    refuse_header,
    text_batches,
)
from augur_pipeline.store.sql import quoted_identifier

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
        if path.suffix in SUFFIXES
        and not path.name.startswith(".")
        and not path.is_dir()
        and has_file(path)
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
        unusable = ", ".join([*shape, *texts, "finding VARCHAR"])
        connection.execute(f"CREATE OR REPLACE TABLE {kind.unusable_table} ({unusable})")
    connection.execute(f"CREATE OR REPLACE TABLE {kind.table} ({', '.join(shape)})")


class Landing:
    """Takes landing files of one kind into its tables; rows of small text files go in together.

    `scratch` is a folder of the caller's own, for a link of a moment.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, scratch: Path, kind: LandingKind
    ) -> None:
        self._connection = connection
        self._scratch = scratch
        self._kind = kind
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def add(self, file: LandingFile) -> tuple[int, set[str]]:
        """Read one file in full; returns its rows and the columns we do not read."""
        extra: set[str] = set()
        if file.path.suffix == ".parquet":
            return self._add_parquet(file, extra), extra
        rows = 0
        kind = self._kind
        for batch in text_batches(file.path, kind.column_names, kind.required_names, extra):
            number = pa.repeat(pa.scalar(file.number, pa.int32()), batch.num_rows)
            self._pending.append(batch.append_column("file_number", number))
            self._pending_rows += batch.num_rows
            rows += batch.num_rows
            if self._pending_rows >= BATCH_ROWS:
                self.flush()
        return rows, extra

    def flush(self) -> None:
        """Put the rows read so far into the tables."""
        if not self._pending_rows:
            return
        batch = pa.concat_tables(self._pending)
        self._pending, self._pending_rows = [], 0
        self._connection.register("landing_rows", batch)
        try:
            types = dict.fromkeys(self._kind.column_names, "VARCHAR")
            _insert(self._connection, self._kind, types, is_text=True)
        finally:
            self._connection.unregister("landing_rows")

    def _add_parquet(self, file: LandingFile, extra: set[str]) -> int:
        _refuse_repeated_columns(file)
        connection = self._connection
        # read through a link of our own naming: DuckDB would take `*` or `[` in a name as a pattern
        link = self._scratch / "landing.parquet"
        link.unlink(missing_ok=True)
        link.symlink_to(file.path)
        try:
            relation = connection.read_parquet(str(link))
            place = "file_row_number"
            own = next((name for name in relation.columns if name.lower() == place), None)
            if own is not None:
                # the file's own column of that name hides DuckDB's: number the rows ourselves
                rows = pq.read_table(file.path).drop_columns(own)
                numbered = rows.append_column(place, pa.array(range(len(rows))))
                connection.register("numbered", numbered)
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
            places = [
                f"{file.number}::INTEGER AS file_number",
                f"{place} + 1 AS source_line",
                "NULL::VARCHAR AS malformed_text",
            ]
            relation.project(", ".join(places + selected)).create_view("landing_rows", replace=True)
            types = {
                name: given[name][1] if name in given else "VARCHAR"
                for name in file.kind.column_names
            }
            ((count,),) = connection.execute("SELECT count(*) FROM landing_rows").fetchall()
            if _insert(connection, file.kind, types, is_text=False) != count:
                raise changed_while_read(file)
            return int(count)
        except duckdb.Error as error:
            if isinstance(error, duckdb.OutOfMemoryException):
                raise
            first_line = str(error).strip().splitlines()[0].replace(str(link), file.name)
            raise InputError(
                f"{file.path}: cannot be read as Parquet ({first_line}); write it anew or remove it"
            ) from error
        finally:
            with contextlib.suppress(duckdb.Error):  # in a transaction that failed
                connection.execute("DROP VIEW IF EXISTS landing_rows")
            link.unlink(missing_ok=True)


def land(
    connection: duckdb.DuckDBPyConnection, scratch: Path, file: LandingFile
) -> tuple[int, set[str]]:
    """Take one file in; returns its rows and the columns we do not read."""
    landing = Landing(connection, scratch, file.kind)
    read = landing.add(file)
    landing.flush()
    return read


def _refuse_repeated_columns(file: LandingFile) -> None:
    """DuckDB tells columns apart by more than case: it would give a repeated one another name."""
    try:
        names = pq.read_schema(file.path).names
    except (pa.ArrowException, OSError) as error:
        first_line = str(error).strip().splitlines()[0]
        raise InputError(
            f"{file.path}: cannot be read as Parquet ({first_line}); write it anew or remove it"
        ) from error
    refuse_header(file.path, names, lambda name: name.strip().lower())


def _require_columns(file: LandingFile, given: dict[str, tuple[str, str]]) -> None:
    missing = [name for name in file.kind.required_names if name not in given]
    if missing:
        raise InputError(
            f"{file.path}: no column {', '.join(missing)}; add it (NULL is a missing value); "
            f"{columns_there(given)}"
        )


def _kept_name(column: LandingColumn) -> str:
    return "pool_number" if column.kind == "pool" else column.name


def _keeps_text(column: LandingColumn) -> bool:
    return column.kind in ("time", "number", "integer")


def _text_names(kind: LandingKind) -> list[str]:
    """Columns that hold what was given where it could not be read."""
    return ["malformed_text", *(f"{c.name}_text" for c in kind.columns if _keeps_text(c))]


def _insert(
    connection: duckdb.DuckDBPyConnection, kind: LandingKind, types: dict[str, str], is_text: bool
) -> int:
    """Append `landing_rows` to the kind's tables, each column typed by its kind; returns the rows.

    The statements are put together from a fixed menu of expressions over our own column names.
    """
    typed = ["file_number", "source_line", "malformed_text"]
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
    if kind.unusable_table is None:
        return _append(connection, kind.table, typed_rows)
    judged = f"SELECT *, {kind.finding} AS finding FROM ({typed_rows})"
    if is_text:
        # text is costly to type: once a batch; typed files of millions of rows are read again
        connection.execute(f"CREATE OR REPLACE TEMP TABLE judged_rows AS {judged}")
        judged = "FROM judged_rows"
    texts = ", ".join(_text_names(kind))
    usable = f"SELECT * EXCLUDE (finding, {texts}) FROM ({judged}) WHERE finding IS NULL"
    unusable = f"FROM ({judged}) WHERE finding IS NOT NULL"
    return _append(connection, kind.table, usable) + _append(
        connection, kind.unusable_table, unusable
    )


def _append(connection: duckdb.DuckDBPyConnection, table: str, rows: str) -> int:
    ((appended,),) = connection.execute(f"INSERT INTO {table} BY NAME {rows}").fetchall()
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
