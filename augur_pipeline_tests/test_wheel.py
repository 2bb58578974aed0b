"""An installed wheel, outside the checkout, runs the sample."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from augur_pipeline_tests.conftest import ROOT
from augur_pipeline_tests.nights import query

BUILD_NEEDS = 77
"""The setuptools of pyproject's [build-system]."""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("AUGUR", "PYTHON"))}
    environment.pop("DAGSTER_HOME", None)
    return subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
        timeout=150,
    )


def _has_setuptools() -> bool:
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        return False
    return int(version.split(".")[0]) >= BUILD_NEEDS


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # a copy: building leaves folders behind, and old ones would leak into the wheel
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source / name)
    for name in ("augur_pipeline", "augur_pipeline_tests"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    isolation = ["--no-build-isolation"] if _has_setuptools() else []
    process = run(
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", *isolation),
        *("-w", folder, source),
        cwd=folder,
    )
    if process.returncode and not isolation and "setuptools" in process.stderr:
        pytest.skip("building needs setuptools >= 77, which is neither here nor to be had")
    assert process.returncode == 0, process.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel in it, and our dependencies within reach."""
    root = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(root, with_pip=False)
    process = run(
        *(sys.executable, "-m", "pip", "--python", root / "bin/python", "install", "-q"),
        *("--no-deps", "--no-index", wheel),
        cwd=root,
    )
    assert process.returncode == 0, process.stderr
    # a path in a .pth file does not run the .pth files (of an editable install) at that path
    (packages,) = root.glob("lib/python*/site-packages")
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("".join(f"{path}\n" for path in sorted(ours)))
    return root


def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    kept = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "augur_pipeline").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == kept
    assert any(name.endswith(".sql") for name in held)
    assert "augur_pipeline/exports/passports/passport.schema.json" in held


def test_the_wheel_names_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [n for n in archive.namelist() if n.endswith("entry_points.txt")]
        assert "augur = augur_pipeline.cli:main" in archive.read(name).decode()


def test_the_installed_wheel_runs_the_sample(installed: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    where = run(
        *(installed / "bin/python", "-c"),
        "import augur_pipeline; print(augur_pipeline.__file__)",
        cwd=elsewhere,
    )
    assert Path(where.stdout.strip()).is_relative_to(installed), where.stdout + where.stderr

    home = tmp_path / "home"
    sample = run(
        *(installed / "bin/augur", "sample", "--out", home, "--calls", "60", "--pools", "1"),
        *("--days", "15"),
        cwd=elsewhere,
    )
    assert sample.returncode == 0, sample.stderr
    process = run(
        installed / "bin/augur", "run", "--home", home, "--as-of", "2025-01-01", cwd=elsewhere
    )
    assert process.returncode == 0, process.stderr
    # 60 calls of the sample's bulk, one fate each
    assert query(
        home, "SELECT sum(rows) FROM funnel WHERE kind = 'calls' AND source_file = 'calls.csv'"
    ) == [(60,)]
    assert list((home / "exports/latest/passports").glob("*.json"))
    assert (home / "exports/latest/passport.schema.json").exists()
    assert list(elsewhere.iterdir()) == []
