"""Hypothesis on a shared machine: no time limit per example, which only fails under load."""

from hypothesis import settings

settings.register_profile("augur", deadline=None)
settings.load_profile("augur")
