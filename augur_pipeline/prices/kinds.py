"""The landing files of prices (contract §3)."""

from augur_pipeline.landing.columns import LandingColumn, LandingKind

PRICES = LandingKind(
    "prices",
    "usable_prices",
    (
        LandingColumn("pool_id", "pool"),
        LandingColumn("recorded_at", "time"),
        LandingColumn("price", "number"),
        LandingColumn("sequence", "integer", is_required=False),
    ),
    unusable_table="unusable_prices",
    finding="price_finding(malformed_text, pool_number, recorded_at, price, sequence_text)",
)
