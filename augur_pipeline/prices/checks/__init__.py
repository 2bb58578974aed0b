"""Rules on prices."""
