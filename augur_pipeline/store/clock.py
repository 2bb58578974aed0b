"""The run's clock: the one place that reads the machine's time (contract §3)."""

from datetime import UTC, datetime, timedelta

from dagster import ConfigurableResource, InitResourceContext
from pydantic import Field, PrivateAttr

from augur_pipeline.errors import ClockError
from augur_pipeline.policy import Policy
from augur_pipeline.store.grammar import parse_time


def machine_time() -> datetime:
    """Now, as a naive UTC instant."""
    return datetime.now(UTC).replace(tzinfo=None)


def iso(instant: datetime) -> str:
    """How we write an instant: ISO 8601 with Z."""
    return instant.isoformat() + "Z"


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


def refuse_lead(as_of: datetime, policy: Policy) -> None:
    """Raise `ClockError` where the run's clock leads the machine's by more than admitted."""
    if as_of > machine_time() + timedelta(minutes=policy.clock_lead_minutes):
        raise ClockError(
            f"as_of {iso(as_of)} lies in the future (the machine says {iso(machine_time())}); "
            "a run cannot know what has not happened"
        )
