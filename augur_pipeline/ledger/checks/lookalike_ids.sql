-- lookalike_ids: ids that a reader takes for one and that are different agents or pools here;
-- of each group the first beside every other, with escapes for what is not ASCII.
SELECT
    kind,
    first_value(shown) OVER by_skeleton AS id,
    shown AS lookalike
FROM id_skeletons
WINDOW by_skeleton AS (PARTITION BY kind, skeleton ORDER BY id)
QUALIFY row_number() OVER by_skeleton > 1
ORDER BY kind, id, lookalike
