"""The server of `augur ui`: Dagster's own app behind our guard, and its daemon."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import FrameType

import click
import uvicorn
from dagster import DagsterInstance
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.middleware.trustedhost import TrustedHostMiddleware

from augur_pipeline.cli.ui_guard import CrossSiteGuard
from augur_pipeline.errors import AugurError
from augur_pipeline.home import Home
from augur_pipeline.store.instance import open_instance

POLL_SECONDS = 0.5
STOP_SECONDS = 10


@dataclass(frozen=True)
class Address:
    """Where the UI is served, and under which names it may be asked for."""

    host: str
    port: int
    allowed_hosts: Sequence[str]
    path_prefix: str

    @property
    def url(self) -> str:
        """What to open in a browser on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{self.path_prefix}"

    @property
    def trusted_hosts(self) -> list[str]:
        """Host headers that are answered."""
        return ["localhost", "127.0.0.1", "::1", "[::1]", self.host, *self.allowed_hosts]


def serve(home: Home, address: Address, read_only: bool) -> None:
    """Serve the UI until a signal; returns after server, daemon and code servers have stopped.

    Raises `AugurError` where the port is taken, the home cannot be written, or the daemon dies.
    """
    listener = _listen(address)
    settings = home.prepare_instance()
    os.environ["AUGUR_HOME"], os.environ["DAGSTER_HOME"] = str(home.root), str(settings)
    for name in ("dagster", "dagster-webserver", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
    stop = _Stop()
    workspace = str(settings / "workspace.yaml")
    with ExitStack() as stack:
        stack.enter_context(listener)
        instance = stack.enter_context(open_instance(home))
        context = stack.enter_context(_workspace(instance, workspace, read_only))
        app = create_app_from_workspace_process_context(context, address.path_prefix)
        # the last added is asked first: the host, then the origin
        app.add_middleware(CrossSiteGuard)
        app.add_middleware(
            TrustedHostMiddleware, allowed_hosts=address.trusted_hosts, www_redirect=False
        )
        daemon = None if read_only else stack.enter_context(_Daemon(workspace))
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_level="warning", access_log=False, lifespan="off",
                timeout_graceful_shutdown=3,
            )
        )  # fmt: skip
        thread = threading.Thread(target=server.run, args=([listener],), name="webserver")
        thread.start()
        said = False
        while thread.is_alive() and not stop.wait(POLL_SECONDS if said else 0.05):
            if server.started and not said:
                said = True
                mode = "read-only, " if read_only else ""
                click.echo(
                    f"Dagster's UI on {home.root}: {address.url} ({mode}Ctrl-C stops it)", err=True
                )
            if daemon is not None and daemon.code() is not None:
                break
        server.should_exit = True
        thread.join()
        if not stop.is_set():
            died = "the webserver" if daemon is None or daemon.code() is None else "dagster-daemon"
            raise AugurError(
                f"{died} stopped by itself; its own lines above say why (port, disk, permissions)"
            )


def _workspace(
    instance: DagsterInstance, workspace: str, read_only: bool
) -> WorkspaceProcessContext:
    try:
        return WorkspaceProcessContext(
            instance,
            WorkspaceFileTarget([workspace]),
            read_only=read_only,
            code_server_log_level="WARNING",
        )
    except Exception as error:
        # what is wrong in the file shows in many ways
        first_line = next(iter(str(error).strip().splitlines()), repr(error))
        raise AugurError(
            f"{workspace}: no workspace of Dagster ({first_line}); mend it, or remove it and it is "
            "written anew"
        ) from error


def _listen(address: Address) -> socket.socket:
    """A listening socket; so a taken port is known before anything is started."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AugurError(f"{address.host}: no address to serve on ({error.strerror})") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise AugurError(
            f"{address.host}:{address.port}: cannot be served on ({error.strerror}); stop what "
            "uses it or name another with --port"
        ) from error
    return listener


class _Stop:
    """Set by a signal. Handlers are installed before any child starts: a background job of a script
    ignores SIGINT, and a child would inherit that and never stop."""

    def __init__(self) -> None:
        self._event = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._handle)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        self._event.set()

    def wait(self, seconds: float) -> bool:
        return self._event.wait(seconds)

    def is_set(self) -> bool:
        return self._event.is_set()


class _Daemon:
    """Dagster's daemon, which starts queued runs and ticks the schedule."""

    def __init__(self, workspace: str) -> None:
        self._command = [
            *(sys.executable, "-m", "dagster._daemon", "run", "--workspace", workspace),
            *("--log-level", "warning", "--code-server-log-level", "warning"),
        ]

    def __enter__(self) -> "_Daemon":
        # a session of its own: Ctrl-C reaches it through us, after the server
        self._process = subprocess.Popen(self._command, start_new_session=True)
        return self

    def code(self) -> int | None:
        """Its exit code, None as long as it runs."""
        return self._process.poll()

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
