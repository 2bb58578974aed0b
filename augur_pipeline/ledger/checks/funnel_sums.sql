-- funnel_sums: files whose fates do not add up to the rows read.
SELECT kind, source_file, input_files.rows AS rows_read, coalesce(sum(funnel.rows), 0) AS fates
FROM input_files
FULL JOIN funnel USING (kind, source_file)
WHERE kind <> 'settings'
GROUP BY kind, source_file, input_files.rows
HAVING coalesce(sum(funnel.rows), 0) IS DISTINCT FROM input_files.rows
ORDER BY kind, source_file
