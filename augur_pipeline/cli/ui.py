"""`augur ui`: Dagster's UI on a home."""

import re

import click

from augur_pipeline.cli.shared import home_option
from augur_pipeline.home import Home

_HOST = re.compile(r"(\*\.)?[A-Za-z0-9.:_-]+")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


@click.command()
@home_option
@click.option(
    "--port",
    default=3000,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port to serve on.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to serve on. Dagster has no users: whoever reaches it may launch runs, so put a "
    "proxy with a login before any other address, or use --read-only.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A host name it may be asked for by, like augur.example.org or *.example.org (behind a "
    "proxy, or with --host 0.0.0.0). May be repeated. [always: localhost, 127.0.0.1, --host]",
)
@click.option("--path-prefix", default="", metavar="/PATH", help="Serve below a path, for a proxy.")
@click.option("--read-only", is_flag=True, help="Show only: no runs from here, no schedule.")
def ui(
    home_directory: str,
    port: int,
    host: str,
    allowed_hosts: tuple[str, ...],
    path_prefix: str,
    read_only: bool,
) -> None:
    """Serve Dagster's UI on the home: assets, checks, runs and the nightly schedule.

    The schedule runs as long as this command does. Stop it with Ctrl-C. The URL is printed when it
    answers. Requests of other sites' pages, of other host names and mutations by GET are refused.
    Exit codes: 0 stopped, 1 it could not serve, 2 wrong usage.
    """
    for name in allowed_hosts:
        if not _HOST.fullmatch(name):
            raise click.UsageError(
                f"--allow-host {name!r}: a host name like augur.example.org or *.example.org"
            )
    if path_prefix and not _PREFIX.fullmatch(path_prefix):
        raise click.UsageError(f"--path-prefix {path_prefix!r}: a path like /augur")
    home = Home.at(home_directory)
    home.require_inputs()
    home.require_writable()

    from augur_pipeline.cli.ui_server import Address, serve

    serve(home, Address(host, port, allowed_hosts, path_prefix), read_only)
