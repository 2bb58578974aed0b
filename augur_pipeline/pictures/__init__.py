"""Reliability diagrams: drawing, apart from numbers."""
