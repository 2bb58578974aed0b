-- unread_files: what lies in the landing folders and is not read (another suffix, a folder).
SELECT kind, name
FROM unread_files
ORDER BY kind, name
