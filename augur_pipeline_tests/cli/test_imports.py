"""Commands that only read start without what only a night needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from augur_pipeline_tests.cli.processes import environment, hand_home
from augur_pipeline_tests.nights import night

HEAVY = ("dagster", "dagster_duckdb", "sqlalchemy", "matplotlib", "scipy", "pandera", "polars")
MAY = {"score": {"scipy"}, "verify": {"pandera", "polars"}}
"""The report is computed with scipy; what a published table looks like is a pandera model."""

RUN = """
import sys
from augur_pipeline.cli import main
try:
    main(sys.argv[1:], prog_name="augur")
finally:
    print("loaded:", *sorted(name for name in sys.modules if "." not in name), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = hand_home(tmp_path_factory.mktemp("imports") / "home")
    night(home)
    return home


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["query", "FROM agent_season_brier"],
        ["explain", "f0"],
        ["verify"],
        ["score", "forecasts.csv", "--probability", "p", "--outcome", "y"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_that_reads_loads_nothing_heavy(
    home: Path, tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "forecasts.csv").write_text("p,y\n0.7,1\n0.6,0\n")
    process = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(AUGUR_HOME=str(home)),
    )
    assert process.returncode == 0, process.stderr
    (line,) = [line for line in process.stderr.splitlines() if line.startswith("loaded: ")]
    loaded = set(HEAVY) & set(line.split())
    assert loaded == MAY.get(arguments[0], set())
