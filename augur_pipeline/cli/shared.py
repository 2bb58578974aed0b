"""What several commands share."""

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


def printable(text: str) -> str:
    """A text without control characters: ids and file names may hold terminal escapes."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
