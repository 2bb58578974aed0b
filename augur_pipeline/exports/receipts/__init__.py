"""Receipts: one JSON and one row file per agent-season, enough to recompute the score."""
