"""Checks on orientation."""

from augur_pipeline.store.rules import Rule

RULES = (
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
