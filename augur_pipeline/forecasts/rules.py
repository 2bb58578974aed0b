"""Checks on forecasts."""

from augur_pipeline.store.checks import Rule, build_checks

RULES = (
    Rule(
        __package__,
        "questions",
        "question_mismatch",
        "Questions whose calls differ in pool, due time, reference or outcome price: not compared.",
        is_blocking=False,
    ),
)


question_checks = build_checks("question_checks", RULES)
