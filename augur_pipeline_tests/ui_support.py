"""`augur ui` as a process of its own, and what can be asked of it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

START_SECONDS = 60
STOP_SECONDS = 15
COMMAND = (sys.executable, "-c", "from augur_pipeline.cli import main; main(prog_name='augur')")


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    log: Path
    prefix: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def ask(self, question: str) -> Any:
        request = urllib.request.Request(
            f"{self.url}/graphql",
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


@contextmanager
def served(home: Path, *options: str, prefix: str = "") -> Iterator[Server]:
    """`augur ui` on a home until the block ends; its log lies beside the home."""
    port = free_port()
    log = home.parent / "log"
    kept = {k: v for k, v in os.environ.items() if k not in ("AUGUR_HOME", "DAGSTER_HOME")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "ui", "--home", str(home), "--port", str(port), *options],
            stdout=output,
            stderr=output,
            cwd=home.parent,
            env=kept,
        )
    found = Server(process, port, log, prefix)
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
