"""The run's clock: the one place that reads the machine's time (contract §3)."""

from datetime import UTC, datetime, timedelta

from augur_pipeline.errors import ClockError
from augur_pipeline.policy import Policy


def machine_time() -> datetime:
    """Now, as a naive UTC instant."""
    return datetime.now(UTC).replace(tzinfo=None)


def iso(instant: datetime) -> str:
    """How we write an instant: ISO 8601 with Z."""
    return instant.isoformat() + "Z"


def refuse_lead(as_of: datetime, policy: Policy) -> None:
    """Raise `ClockError` where the run's clock leads the machine's by more than admitted."""
    if as_of > machine_time() + timedelta(minutes=policy.clock_lead_minutes):
        raise ClockError(
            f"as_of {iso(as_of)} lies in the future (the machine says {iso(machine_time())}); "
            "a run cannot know what has not happened"
        )
