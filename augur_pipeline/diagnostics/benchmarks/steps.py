"""The benchmarks' steps: what they say, and how forecasters do beside them."""

import numpy as np

from augur_pipeline.store.arrays import (
    IntArray,
    fetch,
    keep,
    spans,
)
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql
from augur_pipeline.verification import Interval, skill_interval


def forecast_benchmarks(store: Store) -> None:
    """Make `benchmark_forecasts`, and `benchmark_refusals` of those that were locked too late."""
    store.require("benchmarks", "scored_forecasts")
    for name in ("benchmark_refusals", "benchmark_forecasts"):
        store.run(__package__, name)


def measure_skill(store: Store) -> None:
    """Make `benchmark_skill`: sums in SQL, intervals by episode with `skill_interval`."""
    store.require("benchmark_forecasts", "benchmark_refusals", "numbered_forecasts")
    rows = fetch(store.connection.execute(load_sql(__package__, "benchmark_rows")))
    place, agent = rows["place"], rows["agent_number"]
    firsts: list[int] = []
    intervals: list[Interval] = []
    for first, last in spans(place, agent):
        part = slice(first, last)
        outcome, weight = rows["outcome"][part], rows["weight"][part]
        firsts.append(first)
        intervals.append(
            skill_interval(
                rows["probability"][part],
                outcome,
                rows["benchmark_probability"][part],
                outcome,
                rows["episode_number"][part],
                None if (weight == weight[0]).all() else weight,
            )
        )
    at: IntArray = np.array(firsts, dtype=np.int64)
    keep(
        store,
        "skill_intervals",
        {
            "place": place[at],
            "agent_number": agent[at],
            "n_episodes": np.array([i.episodes for i in intervals], dtype=np.int64),
            "low": np.array([i.low for i in intervals], dtype=np.float64),
            "high": np.array([i.high for i in intervals], dtype=np.float64),
            "p_value": np.array([i.p_value for i in intervals], dtype=np.float64),
            "undefined_reason": [i.undefined_reason for i in intervals],
        },
    )
    store.run(__package__, "benchmark_skill")
