"""Checks on what was taken in."""

from augur_pipeline.store.checks import Rule, build_checks

RULES = (
    Rule(
        __package__,
        "raw_calls",
        "unread_files",
        "What lies in inputs/calls or inputs/prices and is not read: only .csv, .jsonl and "
        ".parquet files directly in them are.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "raw_prices",
        "price_conflicts",
        "Instants at which a pool's prices differ and sequence does not decide which came first: "
        "equal or none, or some prices with one beside others without.",
        is_blocking=False,
    ),
)

intake_checks = build_checks("intake_checks", RULES)
