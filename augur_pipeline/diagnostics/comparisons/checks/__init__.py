"""Rules on comparisons."""
