"""The clock that Dagster hands to a run."""

from datetime import datetime

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr

from augur_pipeline.store.clock import machine_time
from augur_pipeline.store.grammar import parse_time


class RunClock(ConfigurableResource["RunClock"]):
    """What time it is for a run: the schedule's tick, `--as-of`, or the time of its start.

    A resource of its own, since run config for a resource replaces all its bound values.
    """

    as_of: str = Field(
        default="",
        description="UTC instant the run stands at, like 2026-06-10T00:00:00Z; empty: now.",
    )
    _started_at: datetime = PrivateAttr(default=datetime.min)

    def setup_for_execution(self, context: InitResourceContext) -> None:
        """Note the start, before the run waits for the home's lock."""
        self._started_at = machine_time()

    def reading(self) -> datetime:
        """The instant (naive UTC); raises `ClockError` where `as_of` is no time."""
        return parse_time(self.as_of) if self.as_of.strip() else self._started_at
