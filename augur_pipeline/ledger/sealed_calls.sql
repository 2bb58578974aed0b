-- sealed_calls: every call ever sealed, with the fate that today's seasons and policy give it.
-- grain: one call    key: call_id
-- inputs: raw_calls, screened_calls, previous_sealed_calls, input_files, seasons
-- rule: contract §4; the first row of a call_id is the seal, tests 3 to 7 give its fate
CREATE OR REPLACE TABLE sealed_calls AS
WITH unsealed AS (
    SELECT call_id, file_number, source_line, seal
    FROM screened_calls
    ANTI JOIN previous_sealed_calls USING (call_id)
    WHERE finding IS NULL
),

repeated AS (
    SELECT call_id FROM unsealed GROUP BY call_id HAVING count(*) > 1
),

first_rows AS (
    SELECT * FROM unsealed ANTI JOIN repeated USING (call_id)
    UNION ALL
    SELECT * FROM unsealed SEMI JOIN repeated USING (call_id)
    QUALIFY row_number() OVER (PARTITION BY call_id ORDER BY file_number, source_line) = 1
),

new_seals AS (
    SELECT raw_calls.*, first_rows.seal, $as_of AS first_seen_as_of, input_files.source_file
    FROM first_rows
    JOIN raw_calls USING (file_number, source_line)
    JOIN input_files
        ON input_files.kind = 'calls' AND input_files.file_number = raw_calls.file_number
),

seals AS (
    SELECT
        call_id, agent_id, pool_id, action, decider, confidence, confidence_text, horizon_hours,
        horizon_hours_text, reference_price, reference_price_text, decided_at, recorded_at,
        order_status, mandate_id, model_version, question_id, seal, first_seen_as_of,
        source_file, source_line
    FROM new_seals
    UNION ALL BY NAME
    SELECT
        call_id, agent_id, pool_id, action, decider, confidence, confidence_text, horizon_hours,
        horizon_hours_text, reference_price, reference_price_text, decided_at, recorded_at,
        order_status, mandate_id, model_version, question_id, seal, first_seen_as_of,
        source_file, source_line
    FROM previous_sealed_calls
),

-- durations are exact: whole microseconds, half to even
with_horizon AS (
    SELECT
        *,
        CASE WHEN horizon_hours BETWEEN 0 AND $max_horizon_hours
            THEN CAST(round_even(horizon_hours * 3.6e9, 0) AS BIGINT)
        END AS horizon_us
    FROM seals
),

with_due AS (
    SELECT
        *,
        CASE WHEN horizon_us >= 1
            THEN make_timestamp(epoch_us(decided_at) + horizon_us)
        END AS due_at
    FROM with_horizon
),

with_season AS (
    SELECT
        with_due.*,
        coalesce(first_seen_as_of >= due_at, FALSE) AS is_backfilled,
        season_id
    FROM with_due
    LEFT JOIN seasons ON decided_at >= starts_at AND decided_at < ends_at
),

judged AS (
    SELECT
        *,
        CASE
            -- 3: states no direction, or is not the agent's own decision
            WHEN action = 'hold' THEN 'hold'
            WHEN decider IN ('protective_exit', 'system') THEN 'not_own_decider'
            -- 4: a value that cannot be
            WHEN confidence_text IS NOT NULL OR confidence NOT BETWEEN 0 AND 1
                THEN 'confidence_out_of_range'
            WHEN horizon_hours_text IS NOT NULL OR horizon_hours < 0 OR horizon_us < 1
                THEN 'horizon_not_positive'
            WHEN horizon_hours > $max_horizon_hours THEN 'horizon_too_long'
            WHEN reference_price_text IS NOT NULL OR reference_price <= 0
                THEN 'reference_price_not_positive'
            WHEN coalesce(recorded_at, decided_at) >= due_at THEN 'sealed_late'
            WHEN is_backfilled AND $exclude_backfilled THEN 'sealed_late'
            WHEN recorded_at < decided_at THEN 'recorded_before_decided'
            -- 5: a value that is missing
            WHEN confidence IS NULL THEN 'missing_confidence'
            WHEN horizon_hours IS NULL THEN 'missing_horizon'
            WHEN reference_price IS NULL THEN 'missing_reference_price'
            -- 6: counts for no season
            WHEN season_id IS NULL THEN 'outside_season'
        END AS reason
    FROM with_season
)

SELECT
    call_id, agent_id, pool_id, action, decider, confidence, confidence_text, horizon_hours,
    horizon_hours_text, reference_price, reference_price_text, decided_at, recorded_at,
    order_status, mandate_id, model_version, question_id, due_at, seal, first_seen_as_of,
    is_backfilled,
    CASE
        WHEN reason IS NULL THEN 'eligible'
        WHEN reason IN (
            'confidence_out_of_range', 'horizon_not_positive', 'horizon_too_long',
            'reference_price_not_positive', 'sealed_late', 'recorded_before_decided'
        ) THEN 'rejected'
        ELSE 'excluded'
    END AS fate,
    reason, season_id, source_file, source_line
FROM judged
