-- passport_sources: the files in which each agent's calls and rejected rows stand.
-- grain: one agent and file    key: agent_id, source_file
-- inputs: sealed_calls, rejected_rows, input_files
WITH sources AS (
    SELECT agent_id, source_file FROM sealed_calls
    UNION
    SELECT agent_id, source_file FROM rejected_rows WHERE kind = 'calls' AND agent_id IS NOT NULL
)

SELECT agent_id, sources.source_file, sha256
FROM sources
LEFT JOIN input_files
    ON input_files.kind = 'calls' AND input_files.source_file = sources.source_file
ORDER BY agent_id, sources.source_file
