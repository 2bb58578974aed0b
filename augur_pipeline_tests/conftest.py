"""Fixtures: where the real data lies, a home made from it, a home of the sample."""

import shutil
from pathlib import Path

import pytest

from augur_pipeline.sample import SampleSize, write_sample

ROOT = Path(__file__).resolve().parent.parent

SLOW_TEST_SECONDS = 7200


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests a limit of their own: simulations and storms last longer than ten minutes."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_TEST_SECONDS))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """`../shared/data` beside the project; tests that need it skip where it is absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"no real data at {path}: it is not part of the project")
    return path


@pytest.fixture
def real_home(shared_data: Path, tmp_path: Path) -> Path:
    """A home of the real log, its own copy."""
    home = tmp_path / "real"
    inputs = home / "inputs"
    for source in sorted((shared_data / "llm_trading_lab" / "inputs").rglob("*.csv")):
        target = inputs / source.relative_to(shared_data / "llm_trading_lab" / "inputs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return home


@pytest.fixture(scope="session")
def sample_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default sample's `inputs`, made once; copy before you run on it."""
    home = tmp_path_factory.mktemp("sample")
    write_sample(home, SampleSize())
    return home / "inputs"


@pytest.fixture
def sample_home(sample_inputs: Path, tmp_path: Path) -> Path:
    """A home of the default sample, its own copy."""
    home = tmp_path / "sample"
    shutil.copytree(sample_inputs, home / "inputs")
    return home
