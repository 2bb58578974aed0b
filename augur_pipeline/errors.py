"""Errors a user can act on: each message says what is wrong, where, and what to do.

Assets turn them into a Dagster ``Failure`` (`store.failures`); the CLI prints them in one line.
"""


class AugurError(Exception):
    """Base of all errors that are the user's or the operator's to mend."""


class InputError(AugurError):
    """A landing file or table of settings cannot be used; nothing of the run is published."""


class PolicyError(AugurError):
    """A policy choice is unknown or out of range."""


class ClockError(AugurError):
    """The run's `as_of` is no time, or lies before the last published one."""


class LedgerError(AugurError):
    """The published ledger is lost, altered, or of a version that this one cannot take in."""


class LockError(AugurError):
    """Another run holds the home for longer than this run may wait."""


class PublishError(AugurError):
    """The result breaks a blocking rule, or is not the one to publish."""
