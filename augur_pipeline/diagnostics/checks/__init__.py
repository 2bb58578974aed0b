"""Rules of the diagnostics, as counter-example queries."""
