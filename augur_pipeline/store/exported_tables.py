"""Where a published table lies in an export set: one Parquet file, or one for each season.

Season files lie Hive style, `<table>/<column>=<season>/data.parquet`, so that a season that has not
changed keeps its file. Each also holds the column itself.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

NO_SEASON = "__HIVE_DEFAULT_PARTITION__"
"""Hive's name for the part whose rows have no value in the column."""

EXPORTED_ROWS = "read_parquet(getvariable('exported'), hive_partitioning = false)"
"""The rows of the files that the variable lists."""

_LONGEST = 200
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def exported_files(folder: Path, table: str) -> list[Path]:
    """The files of a table, whichever way it was exported; none where it was not."""
    whole = folder / f"{table}.parquet"
    if whole.is_file():
        return [whole]
    return sorted((folder / table).glob("*/*.parquet"))


def season_files(table: str, column: str, seasons: Iterable[str | None]) -> dict[str | None, str]:
    """For each season the path of its file below the tables' folder; without any, one for NULL."""
    listed = list(seasons) or [None]
    folded = Counter(season.lower() for season in listed if season is not None)
    return {season: f"{table}/{column}={_value(season, folded)}/data.parquet" for season in listed}


def _value(season: str | None, folded: Counter[str]) -> str:
    """A season as the value in a folder's name: what readers of Hive partitions decode to the id.

    Capitals are encoded too where another id differs from this one by them alone, for file systems
    that fold case. An id too long for a folder's name is its start, `~` and its SHA-256: only there
    the decoded value is not the id, which the file's own column holds.
    """
    if season is None:
        return NO_SEASON
    has_twin = folded[season.lower()] > 1
    encoded = "".join(
        letter
        if letter in _PLAIN and not (has_twin and letter.isupper())
        else "".join(f"%{byte:02X}" for byte in letter.encode("utf-8"))
        for letter in season
    )
    if len(encoded) <= _LONGEST and season != NO_SEASON:
        return encoded
    return f"{encoded[:40]}~{hashlib.sha256(season.encode('utf-8')).hexdigest()}"
