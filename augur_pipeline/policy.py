"""Every number of the scoring contract, in one frozen, versioned object.

A home may make the few choices named in `CHOICES`; the numbers themselves are fixed by the
version, so that two tables of one version can be compared. Choices that no score depends on are
`Operations`, and stay out of what is published.
"""

import json
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from augur_pipeline.errors import InputError, PolicyError
from augur_pipeline.home import has_file

HOUR_US = 3_600_000_000
BACKFILL_CHOICES = ("count", "exclude")
CHOICES = ("backfill", "history_nights")
"""What a home may set in `inputs/policy.toml`."""


@dataclass(frozen=True)
class Policy:
    """The numbers of the contract (durations in hours, shares in [0, 1])."""

    version: str = "1"

    # outcomes
    window_hours: int = 2
    expiry_hours: int = 168
    max_horizon_hours: int = 87_600
    backfill: Literal["count", "exclude"] = "count"

    # scores
    brier_reference: float = 0.25
    min_resolved: int = 5
    calibration_weight: float = 0.10
    terms_weight: float = 0.90
    terms_weight_tolerance: float = 1e-9

    # the episode length follows this bound on horizons where a season states none
    default_season_max_horizon_hours: int = 24

    # diagnostics: equal-width and equal-count bins; sign patterns of the tests by episode
    bins: int = 10
    test_draws: int = 1999
    test_seed: int = 0

    # comparisons: below this an adjusted p-value counts as a difference
    significance: float = 0.05

    # the run's clock may lead the machine's by this much
    clock_lead_minutes: int = 5

    # warnings
    warn_rejected_share: float = 0.01
    warn_starved_share: float = 0.5
    warn_starved_windows: int = 5
    warn_expiring_hours: int = 24

    @classmethod
    def from_toml(cls, path: Path) -> "Policy":
        """Read a home's choices from `inputs/policy.toml`; without the file, the defaults."""
        return replace(cls(), backfill=_choices(path).get("backfill", cls.backfill))

    @classmethod
    def from_json(cls, text: str) -> "Policy":
        """The policy a run stored in its work database."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """Canonical JSON: keys sorted, so equal policies are equal texts."""
        return json.dumps(asdict(self), sort_keys=True)

    def sql_parameters(self) -> dict[str, Any]:
        """The numbers as SQL statements name them (`$window_us`, …): durations in µs."""
        return {
            "window_us": self.window_hours * HOUR_US,
            "expiry_us": self.expiry_hours * HOUR_US,
            "max_horizon_hours": float(self.max_horizon_hours),
            "exclude_backfilled": self.backfill == "exclude",
            "brier_reference": self.brier_reference,
            "min_resolved": self.min_resolved,
            "calibration_weight": self.calibration_weight,
            "default_season_max_horizon_hours": float(self.default_season_max_horizon_hours),
            "significance": self.significance,
            "warn_rejected_share": self.warn_rejected_share,
            "warn_starved_share": self.warn_starved_share,
            "warn_starved_windows": self.warn_starved_windows,
            "warn_expiring_us": self.warn_expiring_hours * HOUR_US,
        }


@dataclass(frozen=True)
class Operations:
    """How a home is kept: no published number depends on it.

    history_nights:  finished runs that Dagster's history keeps; older ones are deleted
    """

    history_nights: int = 90

    @classmethod
    def from_toml(cls, path: Path) -> "Operations":
        """Read a home's choices from `inputs/policy.toml`; without the file, the defaults."""
        return replace(
            cls(), history_nights=_choices(path).get("history_nights", cls.history_nights)
        )


def _choices(path: Path) -> dict[str, Any]:
    """What a home's `inputs/policy.toml` sets, each value checked; without the file, nothing."""
    try:
        if not has_file(path):
            return {}
    except InputError as error:
        raise PolicyError(str(error)) from error
    try:
        choices = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PolicyError(
            f"{path}: cannot be read as TOML ({error}); write it in UTF-8 like "
            'backfill = "count", or remove it'
        ) from error
    unknown = sorted(set(choices) - set(CHOICES))
    if unknown:
        raise PolicyError(
            f"{path}: unknown choice {unknown[0]!r}; a home may set: {', '.join(CHOICES)}"
        )
    backfill = choices.get("backfill", Policy.backfill)
    if backfill not in BACKFILL_CHOICES:
        raise PolicyError(
            f"{path}: backfill is {backfill!r}; use one of {', '.join(BACKFILL_CHOICES)}"
        )
    nights = choices.get("history_nights", Operations.history_nights)
    # TOML's true and false are whole numbers to Python
    if not isinstance(nights, int) or isinstance(nights, bool) or nights < 1:
        raise PolicyError(f"{path}: history_nights is {nights!r}; use a whole number of at least 1")
    return choices
