"""Passports: one agent over its lifetime, as a table and as JSON files."""
