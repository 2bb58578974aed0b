"""Rules of the ledger, as counter-example queries."""
