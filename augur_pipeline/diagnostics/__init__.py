"""Forecast verification applied to what the ledger holds: tables, and what they warn of."""
