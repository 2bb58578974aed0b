"""Sealed calls, eligible calls, outcomes and settlements: what is said stays said."""
