-- late_prices: settled calls that today's prices would settle by another price.
SELECT * FROM late_prices ORDER BY call_id
