"""The columns of the landing files, and how each becomes typed (contract §3)."""

from dataclasses import dataclass
from typing import Literal

ColumnKind = Literal["id", "word", "time", "number", "integer", "pool"]


@dataclass(frozen=True)
class LandingColumn:
    """A column of a landing file.

    `id` is trimmed text, `word` trimmed and case-folded; `time`, `number` and `integer` become
    typed, and `<name>_text` keeps what was given where it is none. `pool` is an id of which only
    the number in the table `pools` is kept: millions of rows then join on integers.
    """

    name: str
    kind: ColumnKind
    is_required: bool = True


@dataclass(frozen=True)
class LandingKind:
    """One kind of landing file: its folder, its columns and the table its rows go to.

    Rows with a finding go to `unusable_table`, where a kind has one: `table` then keeps no text
    beside its values, which counts where there are millions of rows.
    """

    name: str
    table: str
    columns: tuple[LandingColumn, ...]
    unusable_table: str | None = None
    finding: str = "NULL"

    @property
    def column_names(self) -> tuple[str, ...]:
        """All columns we read."""
        return tuple(column.name for column in self.columns)

    @property
    def required_names(self) -> tuple[str, ...]:
        """The columns a file must have."""
        return tuple(column.name for column in self.columns if column.is_required)


CALLS = LandingKind(
    "calls",
    "raw_calls",
    (
        LandingColumn("call_id", "id"),
        LandingColumn("agent_id", "id"),
        LandingColumn("pool_id", "id"),
        LandingColumn("action", "word"),
        LandingColumn("decider", "word"),
        LandingColumn("confidence", "number"),
        LandingColumn("horizon_hours", "number"),
        LandingColumn("reference_price", "number"),
        LandingColumn("decided_at", "time"),
        LandingColumn("recorded_at", "time", is_required=False),
        LandingColumn("order_status", "word", is_required=False),
        LandingColumn("mandate_id", "id", is_required=False),
        LandingColumn("model_version", "id", is_required=False),
        LandingColumn("question_id", "id", is_required=False),
    ),
)

PRICES = LandingKind(
    "prices",
    "usable_prices",
    (
        LandingColumn("pool_id", "pool"),
        LandingColumn("recorded_at", "time"),
        LandingColumn("price", "number"),
        LandingColumn("sequence", "integer", is_required=False),
    ),
    unusable_table="unusable_prices",
    finding="price_finding(malformed_text, pool_number, recorded_at, price, sequence_text)",
)

SEASONS = LandingKind(
    "seasons",
    "landed_seasons",
    (
        LandingColumn("season_id", "id"),
        LandingColumn("starts_at", "time"),
        LandingColumn("ends_at", "time"),
        LandingColumn("max_horizon_hours", "number", is_required=False),
    ),
)

SCORE_TERMS = LandingKind(
    "score_terms",
    "landed_score_terms",
    (
        LandingColumn("season_id", "id"),
        LandingColumn("agent_id", "id"),
        LandingColumn("term", "id"),
        LandingColumn("weight", "number"),
        LandingColumn("value", "number"),
    ),
)

BENCHMARKS = LandingKind(
    "benchmarks",
    "landed_benchmarks",
    (
        LandingColumn("benchmark_id", "id"),
        LandingColumn("kind", "word"),
        LandingColumn("probability", "number", is_required=False),
        LandingColumn("scope", "word", is_required=False),
        LandingColumn("window_days", "number", is_required=False),
        LandingColumn("min_resolved", "integer", is_required=False),
        LandingColumn("locked_at", "time"),
        LandingColumn("version", "id"),
        LandingColumn("description", "id", is_required=False),
    ),
)
