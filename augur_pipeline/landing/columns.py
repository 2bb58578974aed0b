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
