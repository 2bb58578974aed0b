"""One run at a time: a file lock held from a run's first read to its last write."""

import contextlib
import json
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from augur_pipeline.errors import LockError

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2


@contextlib.contextmanager
def run_lock(work: Path, run_id: str, wait_seconds: float) -> Iterator[None]:
    """Hold the home's lock; wait for another run, naming it, and give up after `wait_seconds`.

    The kernel drops the lock of a process that dies, so a stale lock file blocks nobody.
    """
    work.mkdir(parents=True, exist_ok=True)
    lock = FileLock(work / "run.lock")
    holder = work / "run.holder.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        logger.info("waiting for %s", _describe(holder))
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=_POLL_SECONDS)
        except Timeout:
            raise LockError(
                f"{work / 'run.lock'}: still held after {wait_seconds:.0f} s by "
                f"{_describe(holder)}; let it finish or stop it, then run again"
            ) from None
    try:
        holder.write_text(
            json.dumps({"pid": os.getpid(), "run_id": run_id, "since": int(time.time())}),
            encoding="utf-8",
        )
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _describe(holder: Path) -> str:
    """Who holds the lock, for people; the file is a note, not the lock."""
    try:
        note = json.loads(holder.read_text(encoding="utf-8"))
        return f"run {note['run_id']} of process {note['pid']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another run"
