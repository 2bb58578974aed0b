"""The comparisons' steps over the work database: agents with each other, and with themselves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from augur_pipeline.store.arrays import fetch, keep, spans
from augur_pipeline.store.resource import Store
from augur_pipeline.verification.paired import EpisodeSums, holm_adjusted, paired_differences

_SUMS = (
    "episode_number, CAST(size AS DOUBLE) AS size, CAST(difference AS DOUBLE) AS difference, "
    "CAST(loss AS DOUBLE) AS loss, is_same, holds_wrong_a, holds_right_a, holds_wrong_b, "
    "holds_right_b"
)


def compare_on_questions(store: Store) -> None:
    """Make `agent_comparisons`: pairs of agents on the questions that both answered."""
    store.require("numbered_forecasts", "numbered_agents")
    store.run(__package__, "question_pair_episodes")
    make_tests(store, "question_pair", "agent_number_a", "agent_number_b")
    store.run(__package__, "agent_comparisons")


def compare_on_days(store: Store) -> None:
    """Make `agent_comparisons_by_episode`: pairs of agents on the same days."""
    store.require("agent_episodes", "numbered_agents")
    store.run(__package__, "day_pair_episodes")
    make_tests(store, "day_pair", "agent_number_a", "agent_number_b")
    store.run(__package__, "agent_comparisons_by_episode")


def audit_orientation(store: Store) -> None:
    """Make `orientation_audit` and `flat_sells`: agents with themselves, turned round."""
    store.require("numbered_forecasts", "numbered_agents")
    store.run(__package__, "orientation_episodes")
    make_tests(store, "orientation", "agent_number", "side_number")
    for name in ("orientation_audit", "flat_sells"):
        store.run(__package__, name)


def make_tests(store: Store, name: str, first: str, second: str) -> None:
    """Make `<name>_tests` from `<name>_episodes`: intervals, p-values, Holm within the cohort.

    `first` is an agent's number in the pair's key, `second` the rest of the key.
    """
    sums = fetch(
        store.connection.execute(
            f"SELECT {first}, {second}, {_SUMS}, "
            f"dense_rank() OVER (ORDER BY {first}, {second}) - 1 AS pair "
            f"FROM {name}_episodes WHERE episode_number IS NOT NULL "
            "ORDER BY pair, episode_number"
        )
    )
    pair = sums["pair"]
    starts = np.array([start for start, _ in spans(pair)], dtype=np.int64)
    found = paired_differences(
        EpisodeSums(
            pair,
            sums["episode_number"],
            *(
                sums[column]
                for column in (
                    "size",
                    "difference",
                    "loss",
                    "is_same",
                    "holds_wrong_a",
                    "holds_right_a",
                    "holds_wrong_b",
                    "holds_right_b",
                )
            ),
        ),
        pairs=len(starts),
    )
    keep(
        store,
        f"{name}_tests",
        {
            first: sums[first][starts],
            second: sums[second][starts],
            "n_episodes": found.episodes,
            "low": found.low,
            "high": found.high,
            "p_value": found.p_value,
            "p_value_adjusted": _adjusted(found.p_value, _cohorts(store, sums[first][starts])),
            "undefined_reason": found.undefined_reason,
        },
    )


def _cohorts(store: Store, agents: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each agent's cohort, among those of all kinds."""
    cohorts = fetch(
        store.connection.execute(
            "SELECT dense_rank() OVER (ORDER BY kind, cohort_id) AS cohort FROM numbered_agents "
            "ORDER BY agent_number"
        )
    )["cohort"]
    of_agents: NDArray[np.int64] = cohorts[agents - 1]
    return of_agents


def _adjusted(p_values: NDArray[np.float64], family: NDArray[np.int64]) -> NDArray[np.float64]:
    """Holm's adjusted p-values over those of each family that have one."""
    adjusted = np.full(len(p_values), np.nan)
    for number in np.unique(family):
        members = np.flatnonzero((family == number) & ~np.isnan(p_values))
        adjusted[members] = holm_adjusted(p_values[members])
    return adjusted
