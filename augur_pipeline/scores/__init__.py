"""Agent-season Brier tables and season scores."""
