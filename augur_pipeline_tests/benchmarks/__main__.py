"""The benchmark of the nightly job: `python -m augur_pipeline_tests.benchmarks --help`."""

import itertools
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import click
import duckdb
from rich.console import Console
from rich.table import Table

from augur_pipeline.sample import SampleSize, write_sample
from augur_pipeline_tests.benchmarks.peers import PEERS, digest

DAYS = 84
PRICES_A_POOL = 12_525  # about one every ten minutes for 84 + 3 days
AS_OF = "2026-01-01T00:00:00Z"
STEP = re.compile(r"^ *([0-9.]+) s  (.*)$")
TIMED = re.compile(r"^([a-z_]+): ([0-9.]+) s$")
RESOLVE = ("first_prices", "settlements", "resolved_outcomes", "late_prices")

console = Console(width=110, highlight=False)


@dataclass(frozen=True)
class Run:
    """One command: wall seconds, peak memory in bytes, and what it printed."""

    seconds: float
    peak_bytes: int
    output: str
    log: str


def run(command: list[str], **environment: str) -> Run:
    """Run a command to its end; a failure ends the benchmark."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as log:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=log, env={**os.environ, **environment}
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        log.seek(0)
        result = Run(seconds, usage.ru_maxrss * 1024, output.read(), log.read())
    if process.returncode:
        raise click.ClickException(f"{' '.join(command[:6])} failed:\n{result.log[-2000:]}")
    return result


def augur_run(home: Path, memory_limit: str) -> Run:
    """The whole nightly job as a user starts it."""
    command = [sys.executable, "-c", "from augur_pipeline.cli import main; main()"]
    arguments = ["run", "--home", str(home), "--as-of", AS_OF]
    return run([*command, *arguments], AUGUR_MEMORY_LIMIT=memory_limit)


def steps(log: str) -> dict[str, float]:
    """Seconds of each step, from the progress lines."""
    marks = [(float(m[1]), m[2]) for line in log.splitlines() if (m := STEP.match(line))]
    result: dict[str, float] = {"start (imports, Dagster)": marks[0][0]}
    for (before, _), (after, text) in itertools.pairwise(marks):
        if timed := TIMED.match(text):
            name = timed[1]
        elif text.startswith("check "):
            name = "checks"
        elif text.startswith(("reading", "publishing", "writing")):
            continue
        else:
            name = "reading files"
        result[name] = result.get(name, 0.0) + (float(timed[2]) if timed else after - before)
    published = [at for at, text in marks if text.startswith("publishing")]
    if published:
        result["publishing"] = marks[-1][0] - published[0]
    return result


def ours(home: Path, calls: Path) -> str:
    """The digest of our own answers for the peers' calls."""
    answers = duckdb.sql(
        f"""
        SELECT call_id, price
        FROM '{home}/exports/latest/tables/resolved_outcomes.parquet'
        SEMI JOIN '{calls}' USING (call_id)
        """
    ).pl()
    return digest(answers)


def prepare_calls(home: Path, prices: Path, target: Path) -> None:
    """The peers' calls: our eligible calls on pools of the bulk prices."""
    duckdb.sql(
        f"""
        COPY (
            SELECT call_id, pool_id, due_at
            FROM '{home}/exports/latest/tables/eligible_calls.parquet'
            SEMI JOIN (SELECT DISTINCT pool_id FROM '{prices}') USING (pool_id)
        ) TO '{target}' (FORMAT parquet)
        """
    )


def measure(home: Path, millions: float, calls: int, rounds: int, memory_limit: str) -> None:
    """One size: our job and its peers, best of `rounds`, and the table."""
    pools = max(1, round(millions * 1_000_000 / PRICES_A_POOL))
    size = SampleSize(agents=500, calls=calls, pools=pools, days=DAYS)
    report = write_sample(home, size, file_format="parquet")
    prices = home / "inputs" / "prices" / "prices.parquet"
    job = min((fresh_run(home, memory_limit) for _ in range(rounds)), key=lambda r: r.seconds)
    peer_calls = home / "peer_calls.parquet"
    prepare_calls(home, prices, peer_calls)
    expected = ours(home, peer_calls)

    results = {}
    for name in PEERS:
        attempts = []
        for _ in range(rounds):
            command = [sys.executable, "-m", "augur_pipeline_tests.benchmarks.peers"]
            line = run([*command, name, str(peer_calls), str(prices)]).output
            attempts.append(json.loads(line))
        results[name] = min(attempts, key=lambda result: result["seconds"])
        if results[name]["digest"] not in (None, expected):
            raise click.ClickException(f"{name} resolves other outcomes than augur")

    base = results["polars join_asof"]["seconds"]
    scan = results["scan both inputs"]["seconds"]
    table = Table(
        title=f"{report.prices / 1e6:.1f} M prices, {report.calls / 1e6:.2f} M calls",
        title_justify="left",
    )
    for column in ("what", "seconds", "× polars", "× scan", "peak GiB"):
        table.add_column(column, justify="left" if column == "what" else "right")

    def row(what: str, seconds: float, peak: float | None = None) -> None:
        memory = "" if peak is None else f"{peak / 2**30:.2f}"
        table.add_row(
            what, f"{seconds:.2f}", f"{seconds / base:.2f}", f"{seconds / scan:.1f}", memory
        )

    for name, result in results.items():
        row(name, result["seconds"], result["peak_bytes"])
    table.add_section()
    timed = steps(job.log)
    for name, seconds in timed.items():
        row(f"  {name}", seconds)
    row("augur: resolve step", sum(timed.get(name, 0.0) for name in RESOLVE))
    row("augur: whole nightly job", job.seconds, job.peak_bytes)
    console.print(table)


def fresh_run(home: Path, memory_limit: str) -> Run:
    """A first night: nothing published, no work database."""
    for path in (home / "augur.duckdb", home / "work", home / "exports"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return augur_run(home, memory_limit)


@click.command()
@click.option("--millions", default="12", show_default=True, help="Millions of prices, say 1,3,12.")
@click.option("--calls", default=1_000_000, show_default=True, help="Calls at 12 M prices.")
@click.option("--rounds", default=2, show_default=True, help="Runs of each; the best counts.")
@click.option("--memory-limit", default="3GiB", show_default=True, help="DuckDB's, for our job.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where to work [default: temp].")
def main(millions: str, calls: int, rounds: int, memory_limit: str, folder: Path | None) -> None:
    """Time the nightly job beside peers that resolve the same calls on the same files.

    Fails where one of them resolves another outcome. Calls grow with the prices.
    """
    versions = " · ".join(f"{name} {metadata.version(name)}" for name in VERSIONS)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}")
    console.print(versions)
    for text in millions.split(","):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            scaled = round(calls * float(text) / 12)
            measure(Path(scratch), float(text), scaled, rounds, memory_limit)


VERSIONS = ("duckdb", "polars", "pandas", "pyarrow", "dagster", "numpy")

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
