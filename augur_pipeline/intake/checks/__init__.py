"""Rules about what was taken in, as counter-example queries."""
