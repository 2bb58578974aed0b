-- price_conflicts: instants of a pool at which prices differ and sequence does not decide.
SELECT pool_id, recorded_at, prices, lowest, highest
FROM price_conflicts
ORDER BY pool_id, recorded_at
