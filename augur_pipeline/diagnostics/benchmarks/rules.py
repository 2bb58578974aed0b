"""Checks on benchmarks."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "benchmark_forecasts",
        "benchmark_locked_late",
        "Benchmarks that were fixed after a season's first forecast: refused for that season.",
        is_blocking=False,
    ),
)
