"""Between the work database and numpy: columns out, columns in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from augur_pipeline.store.resource import Store

IntArray = NDArray[np.int64]


def fetch(cursor: duckdb.DuckDBPyConnection) -> dict[str, NDArray[Any]]:
    """The columns of a result without NULLs, as plain arrays."""
    return {name: np.asarray(values) for name, values in cursor.fetchnumpy().items()}


def keep(store: Store, table: str, columns: Mapping[str, NDArray[Any] | Sequence[Any]]) -> None:
    """Columns as a work table; NaN becomes NULL (`table` is a name of ours)."""
    made = pa.table(
        {
            name: pa.array(values, from_pandas=True)
            if isinstance(values, np.ndarray)
            else pa.array(values, pa.string())
            for name, values in columns.items()
        }
    )
    keep_arrow(store, table, made)


def keep_arrow(store: Store, table: str, made: pa.Table) -> None:
    """An Arrow table as a work table (`table` is a name of ours)."""
    store.connection.register("made_rows", made)
    store.connection.execute(f"CREATE OR REPLACE TABLE {table} AS FROM made_rows")
    store.connection.unregister("made_rows")


def spans(*keys: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Half-open spans of rows with the same keys, of rows sorted by them."""
    rows = len(keys[0])
    is_first = np.zeros(rows, dtype=bool)
    is_first[:1] = True
    for key in keys:
        is_first[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(is_first)
    ends = [*starts[1:].tolist(), rows][: len(starts)]
    yield from zip(starts.tolist(), ends, strict=True)
