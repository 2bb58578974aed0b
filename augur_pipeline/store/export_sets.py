"""How the folder of an export set is named: by the content and the clock of its publication."""

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from augur_pipeline.home import Home

_NAME = re.compile(r"(?:sets/|\.)([0-9a-f]{64})-([0-9T]+)(\.new)?")
"""Below `exports/`; up to version 2 of the ledger sets lay in it as hidden folders."""


def export_set(home: Home, digest: str, as_of: datetime) -> Path:
    """The folder of an export set: its name says content and clock, as `run_info` does."""
    return home.exports / "sets" / f"{digest}-{as_of:%Y%m%dT%H%M%S%f}"


def existing_export_set(home: Home, digest: str, as_of: datetime) -> Path:
    """The same of whichever version of the ledger was published."""
    current = export_set(home, digest, as_of)
    hidden = home.exports / f".{current.name}"
    return hidden if hidden.is_dir() and not current.is_dir() else current


def link_text(home: Home, folder: Path) -> str:
    """What `exports/latest` says where it points to a set."""
    return os.path.relpath(folder, home.exports)


def export_sets(home: Home) -> Iterator[Path]:
    """All sets of ours, finished or not: whatever else lies in exports/ is not."""
    for folder in (home.exports, home.exports / "sets"):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if _NAME.fullmatch(link_text(home, path)):
                    yield path


def publication_of(link: str) -> tuple[datetime, str] | None:
    """Clock and content digest that a link to a finished set states; None for other links."""
    match = _NAME.fullmatch(link)
    if match is None or match[3]:
        return None
    try:
        return datetime.strptime(match[2], "%Y%m%dT%H%M%S%f"), match[1]
    except ValueError:
        return None
