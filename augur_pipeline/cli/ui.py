"""`augur ui`: Dagster's UI on a home."""

import os
import signal
import subprocess
import sys
from types import FrameType

import click

from augur_pipeline.cli.shared import home_option
from augur_pipeline.home import Home


@click.command()
@home_option
@click.option(
    "--port",
    default=3000,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port on this machine.",
)
def ui(home_directory: str, port: int) -> None:
    """Open Dagster's UI on the home: assets, checks, runs and the nightly schedule.

    The schedule runs as long as this command does. Stop it with Ctrl-C.
    """
    home = Home.at(home_directory)
    home.require_inputs()
    instance = home.prepare_instance()
    environment = {
        **os.environ,
        "AUGUR_HOME": str(home.root),
        "DAGSTER_HOME": str(instance),
        # `dagster dev` announces its successor at every start
        "PYTHONWARNINGS": "ignore:Function `dev_command` is superseded",
    }
    command = [
        *(sys.executable, "-m", "dagster", "dev"),
        *("--workspace", str(instance / "workspace.yaml")),
        *("--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"),
    ]
    click.echo(f"Dagster's UI on {home.root}: http://127.0.0.1:{port} (Ctrl-C stops it)", err=True)
    server: subprocess.Popen[bytes] | None = None
    is_stopped = False

    def stop(signum: int, frame: FrameType | None) -> None:
        nonlocal is_stopped
        is_stopped = True
        if server is not None:
            server.terminate()

    # before the server starts: a background job of a script ignores SIGINT, and a child would
    # inherit that and never stop; a handled signal is reset for it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    server = subprocess.Popen(command, env=environment, cwd=instance, start_new_session=True)
    code = server.wait()
    sys.exit(0 if is_stopped or code == 0 else 1)
