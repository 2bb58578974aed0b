"""Agents beside each other on the same questions or days, and beside themselves turned round."""
