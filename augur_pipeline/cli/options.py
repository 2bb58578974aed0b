"""Options that several commands share."""

import click

home_option = click.option(
    "--home",
    "home_directory",
    type=click.Path(file_okay=False),
    envvar="AUGUR_HOME",
    default="data",
    show_default=True,
    help="Home directory: inputs, published database, exports (or AUGUR_HOME).",
)
