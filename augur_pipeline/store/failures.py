"""From our errors to Dagster's: what a person sees of a failed step."""

import contextlib
from collections.abc import Iterator

import duckdb
from dagster import Failure

from augur_pipeline.errors import AugurError


@contextlib.contextmanager
def shown_as_failures() -> Iterator[None]:
    """Turn an `AugurError` into a step failure that says what to do and is never retried.

    A full disk or exhausted memory is the operator's to mend, so DuckDB's word on it passes
    in one line too; every other database error is a defect of ours and keeps its traceback.
    """
    try:
        yield
    except AugurError as error:
        raise Failure(description=str(error), allow_retries=False) from error
    except (duckdb.IOException, duckdb.OutOfMemoryException, OSError) as error:
        first_line = str(error).strip().splitlines()[0]
        raise Failure(
            description=f"{first_line} (nothing was published; check disk space, memory and "
            "permissions, then run again)",
            allow_retries=False,
        ) from error
