"""The benchmark of the nightly job: `python -m augur_pipeline_tests.benchmarks --help`."""

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
from dagster import DagsterInstance
from rich.console import Console
from rich.table import Table

from augur_pipeline.sample import SampleSize, write_sample
from augur_pipeline_tests.benchmarks.peers import PEERS, digest

DAYS = 84
PRICES_A_POOL = 12_525  # about one every ten minutes for 84 + 3 days
AS_OF = "2026-01-01T00:00:00Z"
MARK = re.compile(r"^ *([0-9.]+) s  (.*)$", re.MULTILINE)
PEAK = re.compile(r"^peak ([0-9]+)$", re.MULTILINE)
WINDOW_SQL = re.compile(r"first_prices: ([0-9.]+) s$", re.MULTILINE)
CORE = (
    "intake", "intake_checks", "price_checks", "sealed_calls", "sealed_checks", "eligible_calls",
    "eligible_checks", "resolved_outcomes", "outcome_checks", "agent_season_brier", "brier_checks",
    "season_scores", "score_checks", "passports",
)  # fmt: skip
"""The steps of the job that lead from landing files to scores; the others diagnose and compare."""
PUBLISHING = {
    "publishing": "publish: tables, sorted",
    "taking the content digest": "publish: content digest",
    "checking the blocking rules": "publish: blocking rules again",
    "writing tables": "publish: exported tables",
    "writing receipts": "receipts",
    "drawing": "reliability diagrams",
    "forcing exports": "publish: to disk",
    "closing": "publish: to disk",
}
"""The last step in parts: how its progress lines begin, and the part each opens."""

console = Console(width=110, highlight=False)


@dataclass(frozen=True)
class Run:
    """One command: wall seconds, and what it printed."""

    seconds: float
    output: str
    log: str


def run(command: list[str], **environment: str) -> Run:
    """Run a command to its end; a failure ends the benchmark."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as log:
        started = time.perf_counter()
        process = subprocess.run(
            command, stdout=output, stderr=log, env={**os.environ, **environment}, check=False
        )
        seconds = time.perf_counter() - started
        output.seek(0)
        log.seek(0)
        result = Run(seconds, output.read(), log.read())
    if process.returncode:
        raise click.ClickException(f"{' '.join(command[:6])} failed:\n{result.log[-2000:]}")
    return result


def augur_run(home: Path, memory_limit: str) -> Run:
    """The whole nightly job as a user starts it."""
    program = (
        "import atexit, sys; from augur_pipeline.cli import main; "
        "from augur_pipeline_tests.benchmarks.peers import peak_bytes; "
        "atexit.register(lambda: print('peak', peak_bytes(), file=sys.stderr)); main()"
    )
    arguments = ["run", "--home", str(home), "--as-of", AS_OF]
    return run([sys.executable, "-c", program, *arguments], AUGUR_MEMORY_LIMIT=memory_limit)


def parts(home: Path, job: Run) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of the steps that lead to scores and publish them, and of everything else."""
    with DagsterInstance.from_config(str(home / "dagster")) as instance:
        (record,) = instance.get_run_records(limit=1)
        times = {
            step.step_key: (step.start_time, step.end_time)
            for step in instance.get_run_step_stats(record.dagster_run.run_id)
            if step.start_time is not None and step.end_time is not None
        }
    seconds = {name: end - start for name, (start, end) in times.items()}
    core = {name: seconds[name] for name in CORE}
    others = {name: seconds[name] for name in seconds if name not in (*CORE, "published")}
    marks = [(float(at), text) for at, text in MARK.findall(job.log)]
    first = next(n for n, (_, text) in enumerate(marks) if text.startswith("publishing"))
    ends = [*(at for at, _ in marks[first + 1 :]), marks[first][0] + seconds["published"]]
    for (begin, text), end in zip(marks[first:], ends, strict=True):
        (part,) = (part for start, part in PUBLISHING.items() if text.startswith(start))
        into = core if part.startswith("publish") else others
        into[part] = into.get(part, 0.0) + end - begin
    core["start (imports, Dagster) and report"] = job.seconds - sum(seconds.values())
    return core, others


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
    jobs = []
    for _ in range(rounds):
        job = fresh_run(home, memory_limit)
        jobs.append((job, *parts(home, job)))
    job, core, others = min(jobs, key=lambda timed: timed[0].seconds)
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
    for name, seconds in core.items():
        row(f"  {name}", seconds)
    row("augur: first price per call (window SQL)", float(WINDOW_SQL.findall(job.log)[-1]))
    row("augur: the nightly job to published scores", sum(core.values()))
    table.add_section()
    for name, seconds in others.items():
        row(f"  {name}", seconds)
    row("augur: diagnostics, comparisons, receipts", sum(others.values()))
    table.add_section()
    row("augur: everything", job.seconds, int(PEAK.findall(job.log)[-1]))
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
