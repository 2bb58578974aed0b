"""Small published homes of released ledger versions, for `test_upgrades`.

Before a change to what is published is released, `python -m augur_pipeline_tests.store.ledgers`
is run with the version that is out, and its archive is kept for good.
"""

import tarfile
from pathlib import Path

LEDGERS = Path(__file__).parent
AS_OF = "2024-02-10T00:00:00Z"
"""The clock of the archived nights."""


def unpack(version: int, folder: Path) -> Path:
    """The home that a version of the ledger has published."""
    with tarfile.open(LEDGERS / f"v{version}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "home"
