"""`augur verify`: recompute what is published, and say where it differs."""

import sys
from pathlib import Path

import click

from augur_pipeline.cli.shared import home_option, printable
from augur_pipeline.home import Home


@click.command()
@home_option
@click.option(
    "--receipt",
    "receipt",
    type=click.Path(path_type=Path),
    help="Verify this one receipt, from it and its row file alone (no home, no database).",
)
def verify(home_directory: str, receipt: Path | None) -> None:
    """Recompute everything published, in code independent of the SQL that made it.

    Seals, due times, outcomes, losses, exact sums, scores, passports, funnel and digests; export
    files and receipts against the published tables. Prints each difference: where, published,
    recomputed. Exit code 1 on any difference, 0 without.
    """
    if receipt is None:
        from augur_pipeline.verify.home import verify_home

        findings = verify_home(Home.at(home_directory))
    else:
        from augur_pipeline.verify.findings import Findings
        from augur_pipeline.verify.receipt import verify_receipt

        findings = Findings()
        verify_receipt(receipt, findings)
    for difference in findings.differences:
        click.echo(printable(difference.sentence()))
    checked = ", ".join(f"{number} {what}" for what, number in findings.checked.items() if number)
    if findings.found:
        hidden = findings.found - len(findings.differences)
        more = f" ({hidden} more not shown)" if hidden else ""
        click.echo(f"augur: {findings.found} differences{more}; checked {checked}", err=True)
        sys.exit(1)
    click.echo(f"verified: {checked}; no difference")
