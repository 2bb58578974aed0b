"""`augur sample`: a synthetic home."""

from pathlib import Path

import click

from augur_pipeline.errors import AugurError


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the new home; its inputs/ must be empty or absent.",
)
@click.option("--agents", default=10, show_default=True, help="Agents, of five characters in turn.")
@click.option("--calls", default=1200, show_default=True, help="Calls over all agents.")
@click.option("--pools", default=4, show_default=True, help="Pools, a price every 10 minutes each.")
@click.option("--days", default=21, show_default=True, help="Days, in seasons of two weeks.")
@click.option("--seed", default=0, show_default=True, help="Same seed and sizes, same bytes.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["csv", "parquet"]),
    default="csv",
    show_default=True,
    help="Format of the bulk files; take parquet for millions of rows.",
)
def sample(
    out: Path, agents: int, calls: int, pools: int, days: int, seed: int, file_format: str
) -> None:
    """Write a synthetic home of any size: deterministic, with agents of known character.

    Agents are honest, overconfident, timid, coin-flip and inverted in turn; small trap files
    beside the bulk hold every fate a row can meet.
    """
    from augur_pipeline.sample import SampleSize, write_sample

    try:
        report = write_sample(out, SampleSize(agents, calls, pools, days), seed, file_format)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except FileExistsError as error:
        raise AugurError(str(error)) from error
    except OSError as error:
        raise AugurError(f"{out}: cannot be written ({error.strerror})") from error
    click.echo(f"{report}")
    click.echo(f"Next: augur run --home {out}")
