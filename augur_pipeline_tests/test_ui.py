"""`augur ui` on a home: what Dagster's UI is given to show, and that it stops cleanly."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from augur_pipeline_tests.conftest import ROOT

START_SECONDS = 60
STOP_SECONDS = 15
COMMAND = (sys.executable, "-c", "from augur_pipeline.cli import main; main(prog_name='augur')")

GROUPS = {
    "raw_calls": "intake",
    "raw_prices": "intake",
    "sealed_calls": "ledger",
    "eligible_calls": "ledger",
    "resolved_outcomes": "ledger",
    "agent_season_brier": "scores",
    "season_scores": "scores",
    **dict.fromkeys(
        (
            "scored_forecasts",
            "calibration_diagnostics",
            "benchmark_forecasts",
            "benchmark_skill",
            "questions",
            "agent_comparisons",
            "agent_comparisons_by_episode",
            "orientation_audit",
            "missingness",
            "brier_bounds",
            "episode_weighted_brier",
        ),
        "diagnostics",
    ),
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


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def ask(self, question: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql",
            json.dumps({"query": question}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def descendants_of(pid: int) -> dict[int, str]:
    """Processes below one, with their start times (a number alone may be used again)."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = (int(fields[1]), fields[19])
    found: dict[int, str] = {}
    wanted = {pid}
    while wanted:
        below = {p: start for p, (parent, start) in parents.items() if parent in wanted}
        wanted = set(below) - set(found)
        found.update(below)
    return found


def still_running(processes: dict[int, str]) -> list[int]:
    alive = []
    for pid, start in processes.items():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and fields[19] == start:
            alive.append(pid)
    return alive


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("ui")
    shutil.copytree(ROOT / "data/inputs", folder / "home/inputs")
    port = free_port()
    log = folder / "log"
    kept = {k: v for k, v in os.environ.items() if k not in ("AUGUR_HOME", "DAGSTER_HOME")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "ui", "--home", str(folder / "home"), "--port", str(port)],
            stdout=output,
            stderr=output,
            cwd=folder,
            env=kept,
        )
    found = Server(process, port, log)
    try:
        _wait_for(found)
        yield found
    finally:
        below = descendants_of(process.pid)
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        for pid in still_running(below):
            os.kill(pid, signal.SIGKILL)


def _wait_for(server: Server) -> None:
    question = "{ repositoriesOrError { ... on RepositoryConnection { nodes { name } } } }"
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.process.poll() is None, server.log.read_text()
        try:
            if server.ask(question)["repositoriesOrError"].get("nodes"):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.3)
    pytest.fail(f"no answer within {START_SECONDS} s: {server.log.read_text()}")


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
