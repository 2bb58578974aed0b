"""Rules on forecasts."""
