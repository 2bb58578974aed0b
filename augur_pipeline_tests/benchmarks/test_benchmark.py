"""The benchmark itself: it prints its table, and fails where outcomes differ."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from augur_pipeline_tests.benchmarks import __main__ as benchmark

pytestmark = pytest.mark.slow

SMALL = ("--millions", "0.05", "--calls", "240000", "--rounds", "2")


def test_it_prints_steps_and_peers(tmp_path: Path) -> None:
    result = CliRunner().invoke(benchmark.main, [*SMALL, "--folder", str(tmp_path)])
    assert result.exception is None
    expected = (*benchmark.PEERS, *benchmark.CORE, "window SQL", "receipts", "augur: everything")
    assert [what for what in expected if what not in result.output] == []
    assert list(tmp_path.iterdir()) == []


def test_it_fails_where_outcomes_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "ours", lambda home, calls: "another digest")
    result = CliRunner().invoke(benchmark.main, [*SMALL, "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert "resolves other outcomes than augur" in result.output
