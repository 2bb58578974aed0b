"""Seconds and disk of night after night: `python -m augur_pipeline_tests.benchmarks.nights --help`."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import click

from augur_pipeline.sample import SampleSize, write_sample
from augur_pipeline.store.clock import iso
from augur_pipeline.store.grammar import parse_time

PARTS = {
    "runs": "dagster/history/runs",
    "index": "dagster/history/runs/index.db",
    "logs": "dagster/storage",
    "dagster": "dagster",
    "exports": "exports",
    "database": "augur.duckdb",
    "work": "work",
}
"""What a home's disk goes to; `dagster` holds the three before it, and `runs` the index."""


@dataclass(frozen=True)
class Night:
    """One night: its number from 1, wall seconds, and bytes of each of `PARTS` after it."""

    number: int
    seconds: float
    bytes: dict[str, int]


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; a database's open log belongs to it."""
    if path.is_dir():
        return sum(p.stat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())
    return sum(p.stat().st_size for p in path.parent.glob(f"{path.name}*") if p.is_file())


def nights(home: Path, first: str, count: int) -> Iterator[Night]:
    """Run `augur run` on a home once a night, each night's `as_of` a day after the last."""
    command = [sys.executable, "-c", "from augur_pipeline.cli import main; main()", "run"]
    environment = {k: v for k, v in os.environ.items() if k not in ("AUGUR_HOME", "DAGSTER_HOME")}
    for number in range(1, count + 1):
        as_of = iso(parse_time(first) + timedelta(days=number - 1))
        started = time.perf_counter()
        process = subprocess.run(
            [*command, "--home", str(home), "--as-of", as_of],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        if process.returncode:
            raise click.ClickException(f"night {number} failed:\n{process.stderr[-2000:]}")
        yield Night(number, seconds, {part: size(home / path) for part, path in PARTS.items()})


@click.command()
@click.option("--nights", "count", default=60, show_default=True, help="How many.")
@click.option("--first", default="2024-01-02T00:00:00Z", show_default=True, help="First as_of.")
@click.option("--keep", type=int, help="history_nights of the home [default: the policy's].")
@click.option(
    "--inputs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A home's inputs, copied [default: the sample of `augur sample`].",
)
@click.option("--folder", type=click.Path(path_type=Path), help="Where to work [default: temp].")
def main(
    count: int, first: str, keep: int | None, inputs: Path | None, folder: Path | None
) -> None:
    """Run night after night on a scratch home; print seconds and kilobytes on disk after each."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        home = Path(scratch)
        if inputs is None:
            write_sample(home, SampleSize())
        else:
            shutil.copytree(inputs, home / "inputs")
        if keep is not None:
            (home / "inputs/policy.toml").write_text(f"history_nights = {keep}\n", encoding="utf-8")
        click.echo("night  seconds" + "".join(f"{part:>10}" for part in PARTS) + "  (kB)")
        for night in nights(home, first, count):
            sizes = "".join(f"{number / 1000:>10,.0f}" for number in night.bytes.values())
            click.echo(f"{night.number:>5}{night.seconds:>9.1f}{sizes}")


if __name__ == "__main__":
    main()
