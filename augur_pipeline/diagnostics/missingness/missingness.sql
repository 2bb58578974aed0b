-- missingness: where eligible calls expire for want of a price.
-- grain: one bucket of one dimension, over all calls, one agent's or one pool's
-- key: scope, scope_id, dimension, bucket_number, bucket
-- inputs: eligible_calls, resolved_outcomes, call_volatility
-- rule: comparisons §2. Confidence by tenths as reliability bins have them (0.7 opens its bin, 1.0
-- is in the last); hour of the week of decided_at (UTC), Monday 00 first
CREATE OR REPLACE TABLE missingness AS
WITH calls AS (
    SELECT
        eligible_calls.agent_id,
        eligible_calls.pool_id,
        status = 'expired' AS is_expired,
        -- the correctly rounded tenths: arithmetic on the confidence would put 0.7 one bin low
        CAST(len(list_filter(
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
            lambda edge: confidence >= CAST(edge AS DOUBLE)
        )) AS INTEGER) AS tenth,
        CASE
            WHEN horizon_hours <= 1 THEN 0
            WHEN horizon_hours <= 4 THEN 1
            WHEN horizon_hours <= 12 THEN 2
            WHEN horizon_hours <= 24 THEN 3
            WHEN horizon_hours <= 168 THEN 4
            ELSE 5
        END AS horizon,
        (isodow(decided_at) - 1) * 24 + hour(decided_at) AS hour_of_week,
        coalesce(third, 3) AS volatility
    FROM eligible_calls
    JOIN resolved_outcomes USING (call_id)
    JOIN call_volatility USING (call_id)
    WHERE status <> 'due_after_final'
),

-- one row a call and dimension
dealt AS (
    SELECT
        agent_id,
        pool_id,
        is_expired,
        unnest(['confidence', 'horizon', 'hour_of_week', 'volatility']) AS dimension,
        unnest([tenth, horizon, hour_of_week, volatility]) AS bucket_number
    FROM calls
),

counted AS (
    SELECT
        agent_id,
        pool_id,
        dimension,
        bucket_number,
        count(*) AS eligible,
        count(*) FILTER (is_expired) AS expired
    FROM dealt
    GROUP BY agent_id, pool_id, dimension, bucket_number
),

scoped AS (
    SELECT 'all' AS scope, NULL AS scope_id, dimension, bucket_number, eligible, expired
    FROM counted
    UNION ALL
    SELECT 'agent' AS scope, agent_id, dimension, bucket_number, eligible, expired
    FROM counted
    UNION ALL
    SELECT 'pool' AS scope, pool_id, dimension, bucket_number, eligible, expired
    FROM counted
),

buckets AS (
    SELECT
        scope,
        scope_id,
        dimension,
        bucket_number,
        CASE dimension
            WHEN 'confidence' THEN
                format('{:.1f}-{:.1f}', bucket_number / 10, (bucket_number + 1) / 10)
            WHEN 'horizon' THEN
                ['to 1 h', '1-4 h', '4-12 h', '12-24 h', '24-168 h', 'over 168 h'][bucket_number + 1]
            WHEN 'hour_of_week' THEN format(
                '{} {:02d}',
                ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][bucket_number // 24 + 1],
                bucket_number % 24
            )
            ELSE ['low', 'middle', 'high', 'unknown'][bucket_number + 1]
        END AS bucket,
        CAST(sum(eligible) AS BIGINT) AS eligible,
        CAST(sum(expired) AS BIGINT) AS expired
    FROM scoped
    GROUP BY scope, scope_id, dimension, bucket_number
),

-- every call has one bucket in each dimension: any one of them counts agents and pools
whole AS (
    SELECT
        'all' AS scope,
        CAST(NULL AS VARCHAR) AS scope_id,
        scope AS dimension,
        0 AS bucket_number,
        scope_id AS bucket,
        CAST(sum(eligible) AS BIGINT) AS eligible,
        CAST(sum(expired) AS BIGINT) AS expired
    FROM scoped
    WHERE dimension = 'volatility' AND scope <> 'all'
    GROUP BY scope, scope_id
)

SELECT *, expired / eligible AS share_expired FROM buckets
UNION ALL BY NAME
SELECT *, expired / eligible AS share_expired FROM whole
ORDER BY scope, scope_id, dimension, bucket_number, bucket
