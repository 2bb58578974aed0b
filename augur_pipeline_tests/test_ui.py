"""`augur ui` on a home: what Dagster's UI is given to show, and that it stops cleanly."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline_tests.conftest import ROOT
from augur_pipeline_tests.nights import make_home
from augur_pipeline_tests.ui_support import (
    COMMAND,
    STOP_SECONDS,
    Server,
    descendants_of,
    free_port,
    served,
    still_running,
)

GROUPS = {
    "raw_calls": "intake",
    "raw_prices": "intake",
    "settings": "intake",
    "sealed_calls": "ledger",
    "eligible_calls": "ledger",
    "resolved_outcomes": "ledger",
    "agent_season_brier": "scores",
    "season_scores": "scores",
    **dict.fromkeys(
        (
            "calibration_diagnostics",
            "benchmark_forecasts",
            "benchmark_skill",
            "agent_comparisons",
            "agent_comparisons_by_episode",
            "orientation_audit",
            "missingness",
            "brier_bounds",
            "episode_weighted_brier",
        ),
        "diagnostics",
    ),
    "scored_forecasts": "forecasts",
    "questions": "forecasts",
    "passports": "exports",
    "published": "exports",
}
BLOCKING = {
    "funnel_sums": "sealed_calls",
    "call_ids_unique": "eligible_calls",
    "seven_day_expiry": "resolved_outcomes",
    "no_look_ahead": "resolved_outcomes",
    "finality": "resolved_outcomes",
    "every_call_has_a_status": "resolved_outcomes",
    "five_call_threshold": "agent_season_brier",
    "scores_in_range": "agent_season_brier",
    "calls_add_up": "agent_season_brier",
}
WARNING = {
    "unread_files": "raw_calls",
    "price_conflicts": "raw_prices",
    "rejected_share": "sealed_calls",
    "backfilled_calls": "sealed_calls",
    "vanished_rows": "sealed_calls",
    "lookalike_ids": "sealed_calls",
    "low_confidence": "eligible_calls",
    "late_prices": "resolved_outcomes",
    "starved_pools": "resolved_outcomes",
    "calls_expiring_soon": "resolved_outcomes",
}

QUESTION = """{
  repositoriesOrError { ... on RepositoryConnection { nodes {
    location { name }
    assetNodes {
      assetKey { path } groupName isMaterializable kinds
      owners { __typename }
      assetChecksOrError { ... on AssetChecks { checks { name blocking } } }
    }
    jobs { name isAssetJob }
    schedules {
      name executionTimezone pipelineName cronSchedule scheduleState { status }
    }
  } } }
  runsOrError { ... on Runs { results { runId } } }
  instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } }
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("ui")
    shutil.copytree(ROOT / "data/inputs", folder / "home/inputs")
    with served(folder / "home") as found:
        yield found


@pytest.fixture(scope="module")
def shown(server: Server) -> Any:
    return server.ask(QUESTION)


@pytest.fixture(scope="module")
def repository(shown: Any) -> Any:
    (node,) = shown["repositoriesOrError"]["nodes"]
    return node


def test_location(repository: Any) -> None:
    assert repository["location"]["name"] == "augur_pipeline"


def test_assets_in_their_groups(repository: Any) -> None:
    nodes = repository["assetNodes"]
    assert {"/".join(n["assetKey"]["path"]): n["groupName"] for n in nodes} == GROUPS
    for node in nodes:
        assert node["isMaterializable"], node
        assert node["kinds"], node
        assert node["owners"], node


@pytest.mark.parametrize(("rules", "is_blocking"), [(BLOCKING, True), (WARNING, False)])
def test_checks_stand_at_their_assets(
    repository: Any, rules: dict[str, str], is_blocking: bool
) -> None:
    found = {
        check["name"]: node["assetKey"]["path"][-1]
        for node in repository["assetNodes"]
        for check in node["assetChecksOrError"].get("checks", [])
        if check["blocking"] == is_blocking
    }
    # further checks may join them
    assert {name: found.get(name) for name in rules} == rules


def test_job_and_schedule(repository: Any) -> None:
    assert "nightly" in {job["name"] for job in repository["jobs"]}
    (schedule,) = repository["schedules"]
    assert schedule["name"] == "nightly_schedule"
    assert schedule["pipelineName"] == "nightly"
    assert schedule["executionTimezone"] == "UTC"
    assert schedule["scheduleState"]["status"] == "RUNNING"


def test_nothing_ran(shown: Any) -> None:
    assert shown["runsOrError"]["results"] == []


def test_starts_without_warnings(server: Server, shown: Any) -> None:
    log = server.log.read_text()
    assert f"http://127.0.0.1:{server.port}" in log
    assert "Traceback" not in log
    assert "Warning" not in log


def test_stops_cleanly_on_sigterm(server: Server, shown: Any) -> None:
    """The last test of this file: it ends the server."""
    below = descendants_of(server.process.pid)
    assert len(below) >= 2, "a code server, the daemon"
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(STOP_SECONDS) == 0, server.log.read_text()
    deadline = time.monotonic() + 2
    while still_running(below) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert still_running(below) == []
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", server.port))
    assert "Traceback" not in server.log.read_text()


def test_refuses_a_place_that_is_no_home(tmp_path: Path) -> None:
    process = subprocess.run(
        [*COMMAND, "ui", "--home", str(tmp_path / "nowhere"), "--port", str(free_port())],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 1
    assert len(process.stderr.splitlines()) == 1
    assert "augur sample" in process.stderr


def one_line(*arguments: str, status: int) -> str:
    process = subprocess.run(
        [*COMMAND, "ui", *arguments], capture_output=True, text=True, timeout=60
    )
    assert process.returncode == status, process.stderr
    assert "Traceback" not in process.stderr
    assert "http://" not in process.stderr
    return process.stderr.splitlines()[-1]


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        line = one_line("--home", str(home), "--port", port, status=1)
    assert line.startswith(f"augur: 127.0.0.1:{port}: cannot be served on")
    assert "--port" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to a directory without permission")
def test_a_home_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    home.chmod(0o555)
    try:
        assert "cannot be written" in one_line("--home", str(home), status=1)
    finally:
        home.chmod(0o755)


@pytest.mark.parametrize("name", ["dagster.yaml", "workspace.yaml"])
@pytest.mark.parametrize("content", [b": [", b"storage: 5\nload_from: 5\n", b"\xff\xfe", b"x"])
def test_garbage_in_dagsters_settings_is_one_line(
    tmp_path: Path, name: str, content: bytes
) -> None:
    home = make_home(tmp_path / "home")
    (home / "dagster").mkdir()
    (home / "dagster" / name).write_bytes(content)
    line = one_line("--home", str(home), "--port", str(free_port()), status=1)
    assert line.startswith(f"augur: {home}/dagster/{name}: no ")
    assert "mend it, or remove it" in line


@pytest.mark.parametrize(
    "options", [("--allow-host", "a b"), ("--allow-host", "a*"), ("--path-prefix", "augur"),
                ("--path-prefix", "/augur/"), ("--port", "0")],
)  # fmt: skip
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    one_line("--home", str(make_home(tmp_path / "home")), *options, status=2)
