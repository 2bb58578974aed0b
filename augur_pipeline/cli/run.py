"""`augur run`: the nightly job, in process."""

import logging
import sys
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from augur_pipeline.cli.shared import home_option, printable
from augur_pipeline.errors import AugurError, ClockError
from augur_pipeline.home import Home

if TYPE_CHECKING:
    from dagster import ExecuteInProcessResult


@click.command()
@home_option
@click.option(
    "--as-of",
    "as_of_text",
    metavar="TIME",
    help="UTC time the run stands at, like 2026-06-10T00:00:00Z; nothing later is known. "
    "[default: now]",
)
@click.option(
    "--new-ledger",
    is_flag=True,
    help="Begin a new ledger: nothing sealed or settled before counts. The published database is "
    "kept beside the new one, as augur.duckdb.retired-….",
)
def run(home_directory: str, as_of_text: str | None, new_ledger: bool) -> None:
    """Run the nightly job: take in, seal, resolve, score, check and publish.

    Prints progress on stderr, then the funnel, the leaderboard and where the outputs are. The run
    is recorded in the home's Dagster instance (see it with `augur ui`). Exit codes: 0 published
    (also where something failed after that, like a full disk: a warning on stderr says what), 1 a
    rule failed or the data cannot be used (nothing is published), 2 wrong usage.
    """
    home = Home.at(home_directory)
    home.require_inputs()
    home.require_writable()
    as_of = _clock(home, as_of_text, new_ledger)
    _show_progress()
    run_id = str(uuid4())
    warnings: list[str] = []
    try:
        result = _execute(home, as_of, run_id, new_ledger)
        if not result.success:
            raise AugurError(_failure_line(result))
        warnings = [
            evaluation.description or evaluation.check_name
            for evaluation in result.get_asset_check_evaluations()
            if not evaluation.passed
        ]
    except AugurError as error:
        if not _has_published(home, run_id):
            raise
        logging.getLogger("augur_pipeline").warning("published, and then: %s", error)
    _report(home, run_id, warnings)


def _has_published(home: Home, run_id: str) -> bool:
    """Whether the published database is this run's: what failed then failed afterwards."""
    from augur_pipeline.store.published import open_published, read_run_info

    try:
        with open_published(home.database) as connection:
            return read_run_info(connection, home.database).get("run_id") == run_id
    except AugurError:
        return False


def _clock(home: Home, text: str | None, new_ledger: bool) -> datetime:
    """The run's clock, refused here already where it is no time or goes backwards."""
    from augur_pipeline.policy import Policy
    from augur_pipeline.store.clock import machine_time, refuse_lead
    from augur_pipeline.store.grammar import parse_time
    from augur_pipeline.store.published import last_published, refuse_backwards

    if text is None:
        as_of = machine_time()
    else:
        try:
            as_of = parse_time(text)
            refuse_lead(as_of, Policy())
        except ClockError as error:
            raise click.UsageError(str(error)) from error
    if not new_ledger:
        refuse_backwards(as_of, last_published(home.database))
    return as_of


def _show_progress() -> None:
    """Our loggers' lines on stderr, with the time since the start."""

    class Elapsed(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            warning = "warning: " if record.levelno >= logging.WARNING else ""
            message = f"{warning}{printable(record.getMessage())}"
            return f"{record.relativeCreated / 1000:7.1f} s  {message}"

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Elapsed())
    logger = logging.getLogger("augur_pipeline")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)


def _execute(
    home: Home, as_of: datetime, run_id: str, new_ledger: bool
) -> "ExecuteInProcessResult":
    import os

    from sqlalchemy.exc import SQLAlchemyError

    from augur_pipeline.store.clock import iso
    from augur_pipeline.store.continuity import NEW_LEDGER_RUN
    from augur_pipeline.store.instance import open_instance, unusable_history

    os.environ["AUGUR_HOME"] = str(home.root)
    if new_ledger:
        os.environ[NEW_LEDGER_RUN] = run_id
    from augur_pipeline.definitions import defs

    instance = open_instance(home)
    try:
        return defs.resolve_job_def("nightly").execute_in_process(
            instance=instance,
            raise_on_error=False,
            run_config={
                "resources": {"clock": {"config": {"as_of": iso(as_of)}}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
            tags={"augur/command": "run"},
            run_id=run_id,
        )
    except SQLAlchemyError as error:
        raise unusable_history(home, error) from error
    finally:
        instance.dispose()


def _failure_line(result: "ExecuteInProcessResult") -> str:
    """What failed, in one line: our own errors say it themselves."""
    if any(
        event.is_failure and "ExecutionInterrupted" in str(event.event_specific_data)
        for event in result.all_events
    ):
        return "interrupted: nothing was published"
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data and data.user_failure_data.description:
                return data.user_failure_data.description
    broken = [
        evaluation.description or evaluation.check_name
        for evaluation in result.get_asset_check_evaluations()
        if not evaluation.passed and evaluation.severity.value == "ERROR"
    ]
    if broken:
        return f"nothing published, a rule is broken: {'; '.join(broken)}"
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None)
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            return f"{event.step_key or 'the run'} failed: {error.message.strip()}"
    return "the run failed; see it with `augur ui`"


def _report(home: Home, run_id: str, warnings: list[str]) -> None:
    from augur_pipeline.cli.display import console, plain_table, safe_text
    from augur_pipeline.exports.leaderboard import read_funnel, read_leaderboard
    from augur_pipeline.exports.passports.files import STATEMENT
    from augur_pipeline.store.clock import iso
    from augur_pipeline.store.published import open_published

    with open_published(home.database) as connection:
        funnel = read_funnel(connection)
        board = read_leaderboard(connection)
        ((as_of, digest, published_by),) = connection.execute(
            "SELECT as_of, content_digest, run_id FROM run_info"
        ).fetchall()
    console.print(plain_table(*funnel, "Every row read, by fate"))
    console.print(plain_table(board.columns, board.rows, board.title))
    if published_by != run_id:
        console.print("Another run has published since: this is what it published.", style="bold")
    for line in board.legend:
        console.print(safe_text(line))
    if board.left_out:
        console.print(f"… {board.left_out} more: augur query 'FROM agent_season_brier'")
    if warnings:
        console.print(safe_text(f"Warnings ({len(warnings)})"), style="bold")
        for warning in warnings:
            console.print(safe_text(f"  {warning}"))
    console.print(safe_text(f"as_of     {iso(as_of)}"))
    console.print(safe_text(f"digest    {digest}"))
    console.print(safe_text(f"database  {home.database}"))
    console.print(safe_text(f"exports   {home.latest}"))
    console.print(safe_text(STATEMENT))
