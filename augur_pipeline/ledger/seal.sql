-- The seal of a call (contract §4): SHA-256 over canonical text of its sealed fields, in order.

-- Text fields: backslash, LF and CR are escaped, a missing value is empty.
CREATE OR REPLACE TEMP MACRO canonical_text(given) AS
    coalesce(
        replace(replace(replace(given, '\', '\\'), chr(10), '\n'), chr(13), '\r'), '');

-- Numbers: %.17g of the double with −0 as 0, or the given text where it is no number.
CREATE OR REPLACE TEMP MACRO canonical_number(number, given_text) AS
    CASE
        WHEN number IS NULL THEN canonical_text(given_text)
        WHEN number = 0 THEN '0'
        ELSE printf('%.17g', number)
    END;

CREATE OR REPLACE TEMP MACRO call_seal(
    call_id, agent_id, pool_id, action, decider, confidence, confidence_text,
    horizon_hours, horizon_hours_text, reference_price, reference_price_text, decided_at
) AS sha256(concat(
    e'augur-seal-1\ncall_id=', canonical_text(call_id),
    e'\nagent_id=', canonical_text(agent_id),
    e'\npool_id=', canonical_text(pool_id),
    e'\naction=', canonical_text(action),
    e'\ndecider=', canonical_text(decider),
    e'\nconfidence=', canonical_number(confidence, confidence_text),
    e'\nhorizon_hours=', canonical_number(horizon_hours, horizon_hours_text),
    e'\nreference_price=', canonical_number(reference_price, reference_price_text),
    e'\ndecided_at=', CAST(epoch_us(decided_at) AS VARCHAR),
    e'\n'
));
