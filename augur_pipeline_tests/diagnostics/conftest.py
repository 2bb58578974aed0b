"""A store that a test fills with tables of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from augur_pipeline.store.resource import Store
from augur_pipeline_tests.nights import intake_night, make_home, open_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The work database of an empty home: clock and policy are there, and no call."""
    home: Path = make_home(tmp_path_factory.mktemp("arena"))
    with open_store(home) as opened:
        intake_night(opened)
        yield opened
