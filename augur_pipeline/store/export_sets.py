"""How the folder of an export set is named: by the content and the clock of its publication."""

import re
from datetime import datetime
from pathlib import Path

from augur_pipeline.home import Home

_NAME = re.compile(r"\.([0-9a-f]{64})-([0-9T]+)(\.new)?")


def export_set(home: Home, digest: str, as_of: datetime) -> Path:
    """The folder of an export set: its name says content and clock, as `run_info` does."""
    return home.exports / f".{digest}-{as_of:%Y%m%dT%H%M%S%f}"


def is_export_set(folder: Path) -> bool:
    """Whether a folder is one of ours, finished or not: whatever else lies in exports/ is not."""
    return _NAME.fullmatch(folder.name) is not None


def publication_of(folder: str) -> tuple[datetime, str] | None:
    """Clock and content digest that the name of a finished set states; None for other names."""
    match = _NAME.fullmatch(folder)
    if match is None or match[3]:
        return None
    try:
        return datetime.strptime(match[2], "%Y%m%dT%H%M%S%f"), match[1]
    except ValueError:
        return None
