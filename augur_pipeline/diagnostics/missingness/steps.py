"""The steps on missing outcomes and on weights."""

from augur_pipeline.store.resource import Store


def count_missing(store: Store) -> None:
    """Make `missingness`."""
    store.require("eligible_calls", "resolved_outcomes", "hourly_ranges")
    for name in ("call_volatility", "missingness"):
        store.run(__package__, name)


def bound_brier(store: Store) -> None:
    """Make `brier_bounds`."""
    store.require("scored_forecasts")
    store.run(__package__, "brier_bounds")


def weigh_episodes(store: Store) -> None:
    """Make `episode_weighted_brier`."""
    store.require("numbered_forecasts", "agent_episodes")
    store.run(__package__, "episode_weighted_brier")
