"""Fixtures: `augur run` inside this process, and what it leaves behind tidied up."""

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main

DEFINITIONS = "augur_pipeline.definitions"


@pytest.fixture
def definitions_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Any]:
    """Load the definitions bound to a home; they read AUGUR_HOME when they are imported."""

    def load(home: Path) -> Any:
        import importlib

        monkeypatch.setenv("AUGUR_HOME", str(home))
        monkeypatch.delitem(sys.modules, DEFINITIONS, raising=False)
        return importlib.import_module(DEFINITIONS)

    return load


@pytest.fixture
def run_inside(
    definitions_of: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """`augur run --home HOME …` in this process."""
    logger = logging.getLogger("augur_pipeline")
    before = (logger.level, logger.propagate, list(logger.handlers))

    def run(home: Path, *arguments: str) -> Result:
        definitions_of(home)
        return CliRunner().invoke(main, ["run", "--home", str(home), *arguments])

    yield run
    logger.level, logger.propagate, logger.handlers = before
    # the next test that loads the definitions binds them to its own home
    monkeypatch.delitem(sys.modules, DEFINITIONS, raising=False)
