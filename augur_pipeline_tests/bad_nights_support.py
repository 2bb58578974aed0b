"""Nights in processes of their own that die, halt or meet a full disk at a step we choose.

`python -m augur_pipeline_tests.bad_nights_support` imports the pipeline once, then forks a child
for every job it reads on stdin: the child is a real process (it takes the lock, it can be killed),
and costs no start-up. The pipeline knows nothing of it: the child wraps its functions, and the
calls by which it changes files, before the night begins.
"""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augur_pipeline_tests.conftest import ROOT

BALLAST = "ballast"
"""The file that fills the disk of a home."""

CHILD_SECONDS = 90
"""A child that hangs is ended by a signal of its own, SIGALRM."""


@dataclass(frozen=True)
class Ended:
    """How a job ended. `status`: exit code, minus the signal that killed it, None when halted."""

    pid: int
    status: int | None
    steps: list[str]
    stdout: str
    stderr: str

    @property
    def was_killed(self) -> bool:
        return self.status == -signal.SIGKILL


class Nights:
    """Forks nights; `at` is the step before which `action` is done (kill, halt, fill, deny)."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        scratch.mkdir(parents=True, exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if k not in ("AUGUR_HOME", "DAGSTER_HOME")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            env={**kept, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0

    def night(self, home: Path, as_of: str, at: str = "", action: str = "kill") -> Ended:
        """One night of `nights.night`."""
        return self._job(kind="night", home=str(home), as_of=as_of, at=at, action=action)

    def run(self, home: Path, as_of: str, at: str = "", action: str = "kill") -> Ended:
        """One `augur run`."""
        return self._job(kind="run", home=str(home), as_of=as_of, at=at, action=action)

    def end(self, pid: int) -> None:
        """Kill a halted child and wait until it is gone."""
        assert self._job(kind="end", pid=str(pid)).status == -signal.SIGKILL

    def _job(self, **job: str) -> Ended:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**job, "scratch": str(self._scratch)}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Ended(
            answer["pid"],
            answer["status"],
            (self._scratch / "steps").read_text(encoding="utf-8").splitlines(),
            (self._scratch / "stdout").read_text(encoding="utf-8"),
            (self._scratch / "stderr").read_text(encoding="utf-8"),
        )


# --- in the forked child --------------------------------------------------------------------------


class _Steps:
    """Names each step in a file as it begins; does the job's action before the chosen one."""

    def __init__(self, job: dict[str, str]) -> None:
        self._job = job
        self._home = job["home"]
        self._log = os.open(Path(job["scratch"]) / "steps", os.O_WRONLY | os.O_APPEND)
        self._is_done = False
        self._times: Counter[str] = Counter()

    def begin(self, step: str) -> None:
        step = step.replace(self._home + "/", "").replace(self._home, ".").replace("\n", " ")
        self._times[step] += 1
        if self._times[step] > 1:  # a step that comes again is a step of its own
            step = f"{step} #{self._times[step]}"
        os.write(self._log, f"{step}\n".encode())
        if self._is_done or step != self._job["at"]:
            return
        self._is_done = True
        if self._job["action"] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self._job["action"] == "halt":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif self._job["action"] == "fill":
            fill_disk(Path(self._home))
        elif self._job["action"] == "deny":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), step)

    def wrap(self, owner: Any, name: str, label: Callable[..., str]) -> None:
        honest = getattr(owner, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            self.begin(label(*arguments))
            return honest(*arguments, **named)

        setattr(owner, name, wrapped)

    def wrap_file_call(self, name: str, paths: int) -> None:
        """A call that changes files, where it changes them in the home (not Dagster's folder)."""
        honest = getattr(os, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            given = [os.fspath(a) for a in arguments[:paths] if not isinstance(a, int)]
            texts = [a if isinstance(a, str) else os.fsdecode(a) for a in given]
            if not named.get("dir_fd") and any(
                t.startswith(self._home) and not t.startswith(self._home + "/dagster")
                for t in texts
            ):
                self.begin(f"{name} {' '.join(texts)}")
            return honest(*arguments, **named)

        setattr(os, name, wrapped)


def fill_disk(folder: Path) -> None:
    """Write until the disk of `folder` is full."""
    descriptor = os.open(folder / BALLAST, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for size in (1 << 16, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while os.write(descriptor, b"\0" * size):
                    pass
    finally:
        os.close(descriptor)


def _hook(steps: _Steps) -> None:
    from augur_pipeline.exports import publish
    from augur_pipeline.intake import steps as intake
    from augur_pipeline.landing.files import Landing
    from augur_pipeline.store import replacing
    from augur_pipeline.store.resource import Store
    from augur_pipeline.store.tables import name_of

    steps.wrap(Store, "start_afresh", lambda *_: "start afresh")
    steps.wrap(Store, "run", lambda _, package, name: f"sql {name}")
    steps.wrap(intake, "take_ledger", lambda *_: "take the ledger")
    steps.wrap(intake, "land_settings", lambda *_: "land settings")
    steps.wrap(Landing, "add", lambda _, file: f"land {file.kind.name}/{file.name}")
    steps.wrap(Landing, "flush", lambda *_: "flush landed rows")
    steps.wrap(publish, "fill", lambda _, model: f"fill {name_of(model)}")
    steps.wrap(publish, "parts_of", lambda _, model: f"digest {name_of(model)}")
    steps.wrap(publish, "export_table", lambda _, model, *__: f"export {name_of(model)}")
    for name in (
        "build_database", "make_views", "_add_parts", "_add_run_info", "_check_rules", "_check_follows", "place_exports",
        "write_index", "write_passports", "write_receipts", "replace_database", "link_exports", "drop_old_exports",
    ):  # fmt: skip
        steps.wrap(publish, name, lambda *_, name=name: name.strip("_").replace("_", " "))
    for name in ("sync_file", "sync_folder"):
        steps.wrap(replacing, name, lambda path, name=name: f"{name} {path}")
    for name, paths in (
        ("replace", 2), ("rename", 2), ("symlink", 2), ("chmod", 1), ("unlink", 1), ("rmdir", 1),
        ("mkdir", 1),
    ):  # fmt: skip
        steps.wrap_file_call(name, paths)


def _child(job: dict[str, str]) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        descriptor = os.open(Path(job["scratch"]) / name, os.O_WRONLY | os.O_TRUNC)
        os.dup2(descriptor, number)
    steps = _Steps(job)
    _hook(steps)
    if job["kind"] == "night":
        from augur_pipeline_tests.nights import night

        night(Path(job["home"]), job["as_of"])
        steps.begin("end")
        return
    from augur_pipeline.cli import main

    main(["run", "--home", job["home"], "--as-of", job["as_of"]], prog_name="augur")


def _code(job: dict[str, str]) -> int:
    try:
        _child(job)
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _serve() -> None:
    import dagster  # noqa: F401
    import pandera.polars  # noqa: F401

    import augur_pipeline.cli  # noqa: F401
    import augur_pipeline_tests.nights  # noqa: F401

    # Nothing has been computed in this process when it forks: neither DuckDB nor polars has a
    # thread at work whose locks the child would inherit.
    for line in sys.stdin:
        job = json.loads(line)
        for name in ("steps", "stdout", "stderr"):
            (Path(job["scratch"]) / name).write_bytes(b"")
        pid = int(job["pid"]) if job["kind"] == "end" else os.fork()
        if job["kind"] == "end":
            os.kill(pid, signal.SIGKILL)
        elif pid == 0:
            signal.alarm(CHILD_SECONDS)
            code = _code(job)
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(pid, os.WUNTRACED)
        ended = None if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)
        print(json.dumps({"pid": pid, "status": ended}), flush=True)


# --- readers --------------------------------------------------------------------------------------

READER = """
import duckdb, json, sys, threading, time
seen, reads = set(), 0
database, wait = sys.argv[1], float(sys.argv[2])
print("reading", flush=True)
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
while not stop.is_set():
    with duckdb.connect(database, read_only=True) as connection:
        ((digest,),) = connection.execute("SELECT content_digest FROM run_info").fetchall()
        time.sleep(wait)
        ((sealed,),) = connection.execute("SELECT count(*) FROM sealed_calls").fetchall()
        ((rows,),) = connection.execute("SELECT sum(rows)::BIGINT FROM funnel").fetchall()
    seen.add((digest, sealed, rows))
    reads += 1
print(json.dumps({"reads": reads, "seen": sorted(seen)}))
"""
"""Opens, reads the digest, waits, recounts, closes; over and over until stdin ends."""


class Reader:
    """A reader in a loop in another process."""

    def __init__(self, home: Path, wait_seconds: float = 0.02) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", READER, str(home / "augur.duckdb"), str(wait_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "reading\n"

    def finish(self) -> tuple[int, set[tuple[Any, ...]]]:
        """How many reads, and the different (digest, sealed calls, rows of the funnel) seen."""
        stdout, stderr = self._process.communicate("", timeout=60)
        assert self._process.returncode == 0, stderr
        said = json.loads(stdout)
        return said["reads"], {tuple(row) for row in said["seen"]}


@contextlib.contextmanager
def reading(home: Path, count: int = 1) -> Iterator[list[Reader]]:
    """Readers that are stopped whatever happens."""
    readers = [Reader(home) for _ in range(count)]
    try:
        yield readers
    finally:
        for reader in readers:
            reader._process.kill()
            reader._process.wait()


if __name__ == "__main__":
    _serve()
