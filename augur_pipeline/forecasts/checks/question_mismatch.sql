-- question_mismatch: questions whose calls do not agree on what is asked; they are not compared.
SELECT cohort_id, question_id, differs_in, calls, agents
FROM questions
WHERE reason = 'question_mismatch'
ORDER BY cohort_id, question_id
