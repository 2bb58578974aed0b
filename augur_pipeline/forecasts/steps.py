"""The waist's steps: state every call as a forecast, number what comparisons join on."""

from augur_pipeline.store.resource import Store


def state_forecasts(store: Store) -> None:
    """Make `scored_forecasts`, and the numbers of its episodes."""
    store.require("eligible_calls", "resolved_outcomes", "seasons")
    for name in ("scored_forecasts", "episode_numbers"):
        store.run(__package__, name)


def number_forecasts(store: Store) -> None:
    """Make `questions`, and the numbered tables that every comparison reads."""
    store.require("scored_forecasts", "eligible_calls", "resolved_outcomes")
    for name in ("numbered_agents", "questions", "numbered_forecasts", "agent_episodes"):
        store.run(__package__, name)
