"""How the command line shows tables; text from inputs is shown as it is, never as markup."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from augur_pipeline.cli.shared import printable

_WIDEST_COLUMN = 60

# piped output is not wrapped to a terminal nobody sees
console = Console(width=None if sys.stdout.isatty() else 160, highlight=False, soft_wrap=False)


def safe_text(value: Any) -> Text:
    """A value as plain text: no markup, control characters (terminal escapes) made visible."""
    if value is None:
        return Text("")
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return Text(value.isoformat(sep=" ") + "Z")
    return Text(printable(str(value)))


def plain_table(
    names: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None
) -> Table:
    """A table of values, numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for at, name in enumerate(names):
        numbers = [row[at] for row in rows if row[at] is not None]
        is_number = bool(numbers) and all(isinstance(v, (int, float)) for v in numbers)
        table.add_column(
            safe_text(name),
            justify="right" if is_number else "left",
            max_width=_WIDEST_COLUMN,
            no_wrap=True,
        )
    for row in rows:
        table.add_row(*(safe_text(value) for value in row))
    return table
