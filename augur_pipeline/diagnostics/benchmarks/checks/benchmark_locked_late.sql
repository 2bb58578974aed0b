-- benchmark_locked_late: benchmarks refused for a cohort, since they were fixed after its start.
SELECT benchmark_id, cohort_id, locked_at, first_issued_at
FROM benchmark_refusals
WHERE reason = 'locked_late'
ORDER BY benchmark_id, cohort_id
