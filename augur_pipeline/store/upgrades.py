"""Versions of the published ledger, and how a run takes in an older one.

How a ledger change is released: raise `LEDGER_VERSION` in `store/published.py`, keep a small home
that the version before has published (`augur_pipeline_tests/store/ledgers`), and fill here what the
new models need beyond what is filled by name.
"""

from augur_pipeline.errors import LedgerError
from augur_pipeline.store.resource import Store
from augur_pipeline.store.tables import Model, columns_of, name_of


def make_previous(store: Store, model: Model) -> None:
    """Make `previous_<table>` as today's model has it from the table as it was published.

    Columns are filled by name; what the published version did not have is NULL, and a table it did
    not have is empty. Raises `LedgerError` where a column that cannot be NULL is missing.
    """
    table = name_of(model)
    if store.has_table(f"previous_{table}"):
        return  # made by an earlier run of the step on the same intake
    columns = columns_of(model)
    source = f"published_{table}"
    if not store.has_table(source):
        shape = ", ".join(f"{column.name} {column.type}" for column in columns)
        store.connection.execute(f"CREATE TABLE previous_{table} ({shape})")
        return
    present = set(store.connection.table(source).columns)
    absent = [c.name for c in columns if c.name not in present and not c.is_nullable]
    if absent:
        raise LedgerError(
            f"{store.paths.database}: table {table} has no column {absent[0]}, which no version of "
            "the ledger lacks; restore the file from a backup"
        )
    values = ", ".join(
        f"{c.name if c.name in present else 'NULL'}::{c.type} AS {c.name}" for c in columns
    )
    # in one statement: a run that dies here leaves no half of a ledger
    store.connection.execute(f"CREATE TABLE previous_{table} AS SELECT {values} FROM {source}")
