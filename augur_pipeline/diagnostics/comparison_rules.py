"""Checks on benchmarks, questions and orientation."""

from augur_pipeline.store.checks import Rule, build_checks

BENCHMARK_RULES = (
    Rule(
        __package__,
        "benchmark_forecasts",
        "benchmark_locked_late",
        "Benchmarks that were fixed after a season's first forecast: refused for that season.",
        is_blocking=False,
    ),
)

QUESTION_RULES = (
    Rule(
        __package__,
        "questions",
        "question_mismatch",
        "Questions whose calls differ in pool, due time, reference or outcome price: not compared.",
        is_blocking=False,
    ),
)

ORIENTATION_RULES = (
    Rule(
        __package__,
        "orientation_audit",
        "orientation_suspect",
        "Agents whose flipped probabilities would score significantly better: is a side inverted "
        "where their log is read? Nothing is corrected.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "orientation_audit",
        "orientation_agrees",
        "Stated as P(price above reference), every loss but a flat sell's is the contract's.",
        is_blocking=False,
    ),
)

RULES = (*BENCHMARK_RULES, *QUESTION_RULES, *ORIENTATION_RULES)

benchmark_checks = build_checks("benchmark_checks", BENCHMARK_RULES)
question_checks = build_checks("question_checks", QUESTION_RULES)
orientation_checks = build_checks("orientation_checks", ORIENTATION_RULES)
