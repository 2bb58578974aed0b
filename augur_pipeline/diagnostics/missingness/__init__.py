"""What expired without an outcome, and what it could move."""
