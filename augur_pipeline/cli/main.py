"""The `augur` command and what all of its commands share."""

import errno
import sys
from typing import Any

import click

from augur_pipeline import __version__
from augur_pipeline.cli.explain import explain
from augur_pipeline.cli.query import query
from augur_pipeline.cli.run import run
from augur_pipeline.cli.sample import sample
from augur_pipeline.cli.score import score
from augur_pipeline.cli.shared import printable
from augur_pipeline.cli.ui import ui
from augur_pipeline.cli.verify import verify
from augur_pipeline.errors import AugurError


class AugurGroup(click.Group):
    """Prints an error of ours as one line, the last on stderr, and exits with 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; no traceback for a user's mistake."""
        try:
            return super().invoke(ctx)
        except AugurError as error:
            click.echo(f"augur: {printable(' '.join(str(error).split()))}", err=True)
            sys.exit(1)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            click.echo(f"augur: {printable(str(error))}", err=True)
            sys.exit(1)


@click.group(
    cls=AugurGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="augur")
def main() -> None:
    """Did the stated confidence of trading agents carry information?

    augur seals each call before its outcome can exist, resolves it with the first price after its
    horizon, and publishes Brier tables, a 0-100 calibration term and passports.

    Exit codes: 0 done, 1 failed rules or data errors, 2 wrong usage.
    """


for command in (run, ui, explain, query, verify, score, sample):
    main.add_command(command)
