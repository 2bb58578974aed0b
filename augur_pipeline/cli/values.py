"""How every command writes values for machines: JSON and CSV.

Numbers are exact: a DECIMAL keeps its digits. JSON has no infinity and no NaN, so they are the
texts "inf", "-inf" and "nan" there, as in CSV; a missing value is null, in CSV an empty field.
Times are ISO 8601 in UTC. Columns of equal names are told apart by a number: x, x_2.
"""

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import click


def json_value(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return value.isoformat() + "Z"
    if isinstance(value, Decimal):
        return value if value.is_finite() else str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


def json_text(value: Any) -> str:
    """A value as JSON text on one line, in UTF-8 as people read it."""
    if isinstance(value, dict):
        items = (f"{json_text(str(key))}: {json_text(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(json_text, value))}]"
    plain = json_value(value)
    if isinstance(plain, Decimal):
        return format(plain, "f")  # json knows no decimals, and a float would round them
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names without a repetition: a later equal one gets a number that none has."""
    distinct: list[str] = []
    for name in names:
        shown, number = name, 1
        while shown in distinct or (number > 1 and shown in names):
            number += 1
            shown = f"{name}_{number}"
        distinct.append(shown)
    return distinct


def write_json_lines(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """One JSON object a line on stdout."""
    keys = distinct_names(names)
    for row in rows:
        click.echo(json_text(dict(zip(keys, row, strict=True))))


def write_csv(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV on stdout; what is nested is its JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(distinct_names(names))
    for row in rows:
        writer.writerow([_csv_value(value) for value in row])


def _csv_value(value: Any) -> Any:
    plain = json_value(value)
    return json_text(plain) if isinstance(plain, (list, dict)) else plain
