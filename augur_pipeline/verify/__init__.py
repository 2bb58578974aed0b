"""`augur verify`: what is published, recomputed in code independent of what made it."""
