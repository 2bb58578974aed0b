"""`augur` as a process of its own, and a small home whose results are worked out by hand."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from augur_pipeline_tests.nights import GOOD_CALL, make_home

COMMAND = (sys.executable, "-c", "from augur_pipeline.cli import main; main(prog_name='augur')")
HOSTILE_AGENT = "\x1b[31mred\x1b[0m"
"""Paints a terminal red where it is printed as it is."""


def environment(**more: str) -> dict[str, str]:
    """Ours without the variables that name a home or an instance."""
    kept = {k: v for k, v in os.environ.items() if k not in ("AUGUR_HOME", "DAGSTER_HOME")}
    return {**kept, **more}


def augur(
    *arguments: str | Path, cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run `augur` to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment(**more),
        cwd=cwd,
        timeout=100,
    )


def last_line(text: str) -> str:
    return text.rstrip("\n").split("\n")[-1]


def hand_calls() -> list[dict[str, Any]]:
    """Ten rows: `five` has five resolved calls at 0.70, four of them right (Brier 0.17)."""
    five = [
        {**GOOD_CALL, "call_id": f"f{n}", "agent_id": "five", "confidence": "0.7"} for n in range(4)
    ]
    wrong = {**five[0], "call_id": "f4", "action": "sell"}
    two = [{**GOOD_CALL, "call_id": f"w{n}", "agent_id": HOSTILE_AGENT} for n in range(2)]
    hold = {**GOOD_CALL, "call_id": "h", "agent_id": "holder", "action": "hold"}
    restated = {**five[0], "confidence": "0.9"}
    future = {**GOOD_CALL, "call_id": "later", "decided_at": "2199-01-01T00:00:00Z"}
    return [*five, wrong, *two, hold, restated, future]


HAND_PRICES = [("P", "2024-01-02T01:00:00Z", "101"), ("P", "2024-01-02T01:10:00Z", "-1")]


def hand_home(root: Path, calls: Sequence[Mapping[str, Any]] | None = None) -> Path:
    return make_home(root, hand_calls() if calls is None else calls, HAND_PRICES)


def exported_files(home: Path) -> dict[str, bytes]:
    """Every file of the current export set, by its path in it."""
    latest = home / "exports/latest"
    return {
        str(path.relative_to(latest)): path.read_bytes()
        for path in sorted(latest.rglob("*"))
        if path.is_file()
    }
