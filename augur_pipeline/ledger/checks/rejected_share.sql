-- rejected_share: files of which more than the policy's share of rows was rejected.
SELECT
    kind,
    source_file,
    CAST(sum(CASE WHEN fate = 'rejected' THEN rows ELSE 0 END) AS BIGINT) AS rejected_rows,
    CAST(sum(rows) AS BIGINT) AS all_rows,
    round(sum(CASE WHEN fate = 'rejected' THEN rows ELSE 0 END) / sum(rows), 6) AS share
FROM funnel
GROUP BY kind, source_file
HAVING sum(CASE WHEN fate = 'rejected' THEN rows ELSE 0 END) > $warn_rejected_share * sum(rows)
ORDER BY kind, source_file
