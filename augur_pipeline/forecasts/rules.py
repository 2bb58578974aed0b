"""Checks on forecasts."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "questions",
        "question_mismatch",
        "Questions whose calls differ in pool, due time, reference or outcome price: not compared.",
        is_blocking=False,
    ),
)
