-- The cells of a receipt's row file (RFC 4180), as `layout.cell` reads them: a missing value
-- is empty.

CREATE OR REPLACE TEMP MACRO text_cell(given) AS
    CASE
        WHEN given IS NULL THEN ''
        WHEN regexp_matches(given, '[",\r\n]') THEN '"' || replace(given, '"', '""') || '"'
        ELSE given
    END;

-- Numbers and flags: a double's shortest exact text, a whole number, true or false.
CREATE OR REPLACE TEMP MACRO number_cell(given) AS
    coalesce(CAST(given AS VARCHAR), '');

CREATE OR REPLACE TEMP MACRO time_cell(given) AS
    CASE
        WHEN given IS NULL THEN ''
        WHEN epoch_us(given) % 1000000 = 0 THEN strftime(given, '%Y-%m-%dT%H:%M:%SZ')
        ELSE strftime(given, '%Y-%m-%dT%H:%M:%S.%fZ')
    END;
