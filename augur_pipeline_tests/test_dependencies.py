"""What is imported is declared, with an upper bound; what is declared is imported."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline_tests.conftest import ROOT

USED_OTHERWISE = {
    "mypy", "ruff", "pre-commit", "pytest-xdist", "pytest-timeout",  # programs and plugins
}  # fmt: skip


@cache
def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def name_in(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match
    return normal(match[0])


def imported_by(folder: str) -> set[str]:
    """The distributions that a folder's modules import from, anywhere in them."""
    modules: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                modules.add(node.module.partition(".")[0])
    foreign = modules - sys.stdlib_module_names - {"augur_pipeline", "augur_pipeline_tests"}
    distributions = packages_distributions()
    return {normal(distributions[module][0]) for module in foreign}


RUNTIME = {name_in(requirement): requirement for requirement in project()["dependencies"]}
DEVELOPMENT = {name_in(r): r for r in project()["optional-dependencies"]["dev"]}


def test_what_is_imported_is_declared() -> None:
    assert imported_by("augur_pipeline") == set(RUNTIME)
    assert imported_by("augur_pipeline_tests") - set(RUNTIME) == set(DEVELOPMENT) - USED_OTHERWISE


@pytest.mark.parametrize("name", RUNTIME)
def test_every_dependency_has_an_upper_bound(name: str) -> None:
    assert re.search(r"<\d", RUNTIME[name]), RUNTIME[name]


def test_the_reasons_stand_beside_them() -> None:
    text = Path(ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for requirement in RUNTIME.values():
        (line,) = [line for line in text.splitlines() if f'"{requirement}"' in line]
        assert "#" in line, line
