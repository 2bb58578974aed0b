-- season_scores_in_range: season scores outside [0, 100], or missing where a term is measured.
SELECT season_id, agent_id, score, measured_terms
FROM season_scores
WHERE NOT coalesce(score BETWEEN 0 AND 100, TRUE)
    OR (score IS NULL) <> (len(measured_terms) = 0)
ORDER BY season_id, agent_id
