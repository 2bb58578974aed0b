"""Checks on prices."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "raw_prices",
        "price_conflicts",
        "Instants at which a pool's prices differ and sequence does not decide which came first: "
        "equal or none, or some prices with one beside others without.",
        is_blocking=False,
    ),
)
