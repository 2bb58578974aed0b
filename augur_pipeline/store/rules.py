"""Rules about tables: what breaks one is counted and shown; nothing breaks it, and it holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb

from augur_pipeline.store.tables import Model, columns_of, key_of, name_of

if TYPE_CHECKING:
    from augur_pipeline.store.resource import Store

SHOWN_ROWS = 20

MOST_ROWS_BY_PANDERA = 100_000
"""A table of more rows is held to its model in SQL: pandera would copy all of it into memory."""


@dataclass(frozen=True)
class Finding:
    """What a rule found: how many rows break it, and the first of them."""

    rule: "AnyRule"
    broken_rows: int
    columns: list[str]
    examples: list[tuple[Any, ...]]

    def sentence(self) -> str:
        """The finding in one line."""
        if not self.broken_rows:
            return f"{self.rule.name}: holds"
        first = ", ".join(
            f"{column}={value}"
            for column, value in zip(self.columns, self.examples[0], strict=True)
        )
        return f"{self.rule.name}: {self.broken_rows} row(s), first: {first}"


@dataclass(frozen=True)
class Rule:
    """One rule about one asset: `<package>/checks/<name>.sql` selects the rows that break it."""

    package: str
    asset: str
    name: str
    description: str
    is_blocking: bool

    def find(self, store: "Store") -> Finding:
        """Run the rule's query."""
        return Finding(self, *store.examples(f"{self.package}.checks", self.name, SHOWN_ROWS))


@dataclass(frozen=True)
class ModelRule:
    """Every published table of an asset follows its pandera model; a breach is a defect of ours."""

    asset: str
    models: tuple[Model, ...]
    name: str = field(default="tables_follow_their_models", init=False)
    is_blocking: bool = field(default=True, init=False)

    @property
    def description(self) -> str:
        """What is checked, of which tables."""
        return (
            f"{', '.join(map(name_of, self.models))}: types, NULLs, ranges and unique keys as the "
            "pandera model states them. A breach is a defect of the pipeline: please report it."
        )

    def find(self, store: "Store") -> Finding:
        """Hold each table to its model, in SQL: cheap enough after every asset."""
        connection = store.connection
        breaches = [
            breach
            for model in self.models
            for breach in _wrong_types(connection, model) or breaches_by_sql(connection, model)
        ]
        rows = sum(breach[-1] for breach in breaches)
        return Finding(self, rows, list(_BREACH), breaches[:SHOWN_ROWS])


AnyRule = Rule | ModelRule

_BREACH = ("table_name", "column_name", "rule", "example", "rows")
Breach = tuple[str, str, str, str, int]
"""Table, column (or the columns of a key), what the model states, a value or key, rows."""


def breaches_of(connection: duckdb.DuckDBPyConnection, model: Model) -> list[Breach]:
    """Where a table does not follow its model: by pandera itself, or a large one by SQL."""
    wrong = _wrong_types(connection, model)
    if wrong:
        return wrong
    ((rows,),) = connection.table(name_of(model)).count("*").fetchall()
    by = breaches_by_pandera if rows <= MOST_ROWS_BY_PANDERA else breaches_by_sql
    return by(connection, model)


def _wrong_types(connection: duckdb.DuckDBPyConnection, model: Model) -> list[Breach]:
    table = connection.table(name_of(model))
    found = dict(zip(table.columns, map(str, table.types), strict=True))
    return [
        (name_of(model), column.name, column.type, found.get(column.name, "no such column"), 1)
        for column in columns_of(model)
        if found.get(column.name) != column.type
    ]


def breaches_by_pandera(connection: duckdb.DuckDBPyConnection, model: Model) -> list[Breach]:
    """Validate a table whose types are right; each column and check that fails is one breach."""
    import pandera.errors

    schema = model.to_schema()
    schema.unique = list(key_of(model))
    names = [column.name for column in columns_of(model)]
    try:
        schema.validate(connection.table(name_of(model)).select(*names).pl(), lazy=True)
    except pandera.errors.SchemaErrors as errors:
        cases: dict[tuple[str, str], list[Any]] = {}
        for case in errors.failure_cases.iter_rows(named=True):
            at = (str(case["column"]), str(case["check"]))
            cases.setdefault(at, []).append(case["failure_case"])
        return [
            (name_of(model), column, check, str(values[0]), len(values))
            for (column, check), values in cases.items()
        ]
    return []


def breaches_by_sql(connection: duckdb.DuckDBPyConnection, model: Model) -> list[Breach]:
    """The same of a table that is too large for pandera, in one pass and one per unique key."""
    table = name_of(model)
    stated = [
        (name, rule, condition)
        for name, column in model.to_schema().columns.items()
        for rule, condition in _broken_where(name, column)
    ]
    key = key_of(model)
    breaches: list[Breach] = []
    if stated and _any(connection, table, " OR ".join(where for _, _, where in stated)):
        breaches += _count_broken(connection, table, key[0], stated)
    unique = [(n,) for n, column in model.to_schema().columns.items() if column.unique]
    for names in [key, *unique]:
        columns = ", ".join(names)
        (found,) = connection.sql(
            f"SELECT sum(rows), any_value(concat_ws(', ', {columns})) FROM "
            f"(SELECT {columns}, count(*) AS rows FROM {table} GROUP BY {columns} HAVING rows > 1)"
        ).fetchall()
        if found[0]:
            breaches.append((table, columns, "unique", str(found[1]), int(found[0])))
    return breaches


def _any(connection: duckdb.DuckDBPyConnection, table: str, condition: str) -> bool:
    return bool(connection.execute(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1").fetchall())


def _count_broken(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    first_key: str,
    stated: Sequence[tuple[str, str, str]],
) -> list[Breach]:
    """Of each statement how many rows break it, and one of them by the key's first column."""
    counts = ", ".join(
        f"count(*) FILTER ({where}), any_value({first_key}::VARCHAR) FILTER ({where})"
        for _, _, where in stated
    )
    (found,) = connection.sql(f"SELECT {counts} FROM {table}").fetchall()
    return [
        (table, name, rule, f"{first_key} {example}", rows)
        for (name, rule, _), rows, example in zip(stated, found[::2], found[1::2], strict=True)
        if rows
    ]


_CONDITIONS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "greater_than_or_equal_to": lambda name, given: f"{name} >= {given['min_value']!r}",
    "greater_than": lambda name, given: f"{name} > {given['min_value']!r}",
    "less_than_or_equal_to": lambda name, given: f"{name} <= {given['max_value']!r}",
    "isin": lambda name, given: f"{name} IN ({', '.join(map(repr, given['allowed_values']))})",
    "str_length": lambda name, given: f"length({name}) >= {given['min_value']!r}",
    "str_matches": lambda name, given: f"regexp_matches({name}, '{given['pattern']}')",
}
"""What pandera's checks are in SQL; their values are of our models, never of inputs."""


def _broken_where(name: str, column: Any) -> Sequence[tuple[str, str]]:
    """What a column's model states, and where a row breaks it."""
    broken = [] if column.nullable else [("not_nullable", f"{name} IS NULL")]
    for check in column.checks:
        condition = _CONDITIONS[check.name](name, check.statistics)
        broken.append((check.error, f"NOT ({condition})"))
    return broken
