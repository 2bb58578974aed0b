"""Rules of the scores, as counter-example queries."""
