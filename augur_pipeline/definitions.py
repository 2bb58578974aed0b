"""What Dagster loads: lists things, decides nothing."""

from dagster import (
    AssetSelection,
    DefaultScheduleStatus,
    Definitions,
    RunConfig,
    RunRequest,
    ScheduleEvaluationContext,
    define_asset_job,
    in_process_executor,
    schedule,
)

from augur_pipeline.diagnostics.benchmarks import assets as benchmarks
from augur_pipeline.diagnostics.calibration import assets as calibration
from augur_pipeline.diagnostics.comparisons import assets as comparisons
from augur_pipeline.diagnostics.missingness import assets as missingness
from augur_pipeline.exports import assets as exports
from augur_pipeline.exports.catalog import MODEL_RULES, RULES
from augur_pipeline.forecasts import assets as forecasts
from augur_pipeline.intake import assets as intake
from augur_pipeline.ledger import assets as ledger
from augur_pipeline.scores import assets as scores
from augur_pipeline.store.checks import asset_checks
from augur_pipeline.store.resource import Store
from augur_pipeline.store.run_clock import RunClock

nightly = define_asset_job(
    "nightly",
    AssetSelection.all(),
    description="Take in, seal, resolve, score, check and publish: the whole of a night.",
)


@schedule(
    job=nightly,
    cron_schedule="15 0 * * *",
    execution_timezone="UTC",
    default_status=DefaultScheduleStatus.RUNNING,
    description="Every night at 00:15 UTC; the tick is the run's as_of.",
)
def nightly_schedule(context: ScheduleEvaluationContext) -> RunRequest:
    """Hand the tick to the run as its clock."""
    tick = context.scheduled_execution_time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return RunRequest(run_key=tick, run_config=RunConfig(resources={"clock": RunClock(as_of=tick)}))


clock = RunClock.configure_at_launch()

defs = Definitions(
    assets=[
        intake.intake,
        ledger.sealed_calls,
        ledger.eligible_calls,
        ledger.resolved_outcomes,
        forecasts.scored_forecasts,
        forecasts.questions,
        scores.agent_season_brier,
        scores.season_scores,
        calibration.calibration_diagnostics,
        benchmarks.benchmark_forecasts,
        benchmarks.benchmark_skill,
        comparisons.agent_comparisons,
        comparisons.agent_comparisons_by_episode,
        comparisons.orientation_audit,
        missingness.missingness,
        missingness.brier_bounds,
        missingness.episode_weighted_brier,
        exports.passports,
        exports.published,
    ],
    asset_checks=asset_checks((*MODEL_RULES, *RULES)),
    jobs=[nightly],
    schedules=[nightly_schedule],
    resources={
        "clock": clock,
        "store": Store(clock=clock),
    },
    # DuckDB admits one writing process: steps share the run's process and its one connection
    executor=in_process_executor,
)
