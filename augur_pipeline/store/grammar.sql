-- The contract's grammar for text (contract §3), as macros every connection of ours carries.
-- Text that is no time or no number gives NULL; the caller keeps the text beside it.

-- Trimmed of space, tab, CR, LF, VT, FF at both ends; nothing left is a missing value.
CREATE OR REPLACE TEMP MACRO trimmed(given) AS
    nullif(trim(given, e' \t\r\n\x0b\x0c'), '');

-- A finite double, else NULL: a literal that overflows is no number.
CREATE OR REPLACE TEMP MACRO finite(number) AS
    CASE WHEN isfinite(number) THEN number END;

CREATE OR REPLACE TEMP MACRO number_of(given) AS
    CASE
        WHEN regexp_full_match(given, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
        THEN finite(TRY_CAST(given AS DOUBLE))
    END;

-- A whole number: an integer literal, or a number literal without a fraction that a double
-- holds exactly (writers with missing values turn integer columns into 5.0).
CREATE OR REPLACE TEMP MACRO whole_number(number) AS
    CASE WHEN number = trunc(number) AND abs(number) <= 9007199254740992
         THEN TRY_CAST(number AS BIGINT) END;

CREATE OR REPLACE TEMP MACRO integer_of(given) AS
    CASE
        WHEN regexp_full_match(given, '[+-]?[0-9]+') THEN TRY_CAST(given AS BIGINT)
        ELSE whole_number(number_of(given))
    END;

-- Times the contract admits: 1970-01-01 to 2200-01-01, whole microseconds, UTC.
CREATE OR REPLACE TEMP MACRO admitted_time(instant) AS
    CASE WHEN instant BETWEEN TIMESTAMP '1970-01-01' AND TIMESTAMP '2200-01-01' THEN instant END;

-- Microseconds since midnight of HH:MM[:SS[.f…]] at fixed places; digits beyond µs are cut.
CREATE OR REPLACE TEMP MACRO clock_us(given) AS
      coalesce(TRY_CAST(substr(given, 12, 2) AS BIGINT), 0) * 3600000000
    + coalesce(TRY_CAST(substr(given, 15, 2) AS BIGINT), 0) * 60000000
    + CASE WHEN substr(given, 17, 1) = ':'
           THEN coalesce(TRY_CAST(substr(given, 18, 2) AS BIGINT), 0) * 1000000 ELSE 0 END
    + CASE WHEN substr(given, 20, 1) = '.'
           THEN CAST(left(rpad(regexp_extract(given, '\.([0-9]+)', 1), 6, '0'), 6) AS BIGINT)
           ELSE 0 END;

-- Microseconds of ±HH[:]MM or ±HH at the end of the clock part.
CREATE OR REPLACE TEMP MACRO offset_us(given) AS
    CASE
        WHEN regexp_matches(substr(given, 17), '[+-]') THEN
            CASE WHEN contains(substr(given, 17), '-') THEN -1 ELSE 1 END
            * (TRY_CAST(regexp_extract(substr(given, 17), '[+-]([0-9]{2})', 1) AS BIGINT)
                   * 3600000000
               + coalesce(TRY_CAST(nullif(
                     regexp_extract(substr(given, 17), '[+-][0-9]{2}:?([0-9]{2})$', 1), '')
                     AS BIGINT), 0) * 60000000)
        ELSE 0
    END;

CREATE OR REPLACE TEMP MACRO time_of(given) AS
    CASE
        WHEN regexp_full_match(
            given,
            '[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?([Zz]|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?)?')
        THEN admitted_time(make_timestamp(
            epoch_us(TRY_CAST(left(given, 10) AS DATE)) + clock_us(given) - offset_us(given)))
    END;

-- Typed landing columns (Parquet) need no grammar, only the same limits.
CREATE OR REPLACE TEMP MACRO typed_time(instant) AS
    admitted_time(TRY_CAST(instant AS TIMESTAMP));

-- With a time zone: whole microseconds already, and a cast by calendar costs ten times as much.
CREATE OR REPLACE TEMP MACRO typed_time_tz(instant) AS
    admitted_time(make_timestamp(epoch_us(instant)));

-- Nanoseconds are cut to microseconds (a cast would round).
CREATE OR REPLACE TEMP MACRO typed_time_ns(instant) AS
    CASE WHEN epoch_ns(instant) >= 0
         THEN admitted_time(make_timestamp(epoch_ns(instant) // 1000)) END;
