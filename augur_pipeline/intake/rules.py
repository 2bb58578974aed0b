"""Checks on what was taken in."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "raw_calls",
        "unread_files",
        "What lies in inputs/calls or inputs/prices and is not read: only .csv, .jsonl and "
        ".parquet files directly in them are.",
        is_blocking=False,
    ),
)
