"""Shapes of the tables on prices."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time

PRICE_FATES = ("usable", "duplicate", "rejected", "not_yet")


class RawPrices(TableModel):
    """One landing row of prices, typed, with its one fate."""

    file_number: int = pa.Field(ge=0, description="Place of the file in bytewise order of names.")
    source_line: int = pa.Field(ge=1, description="Physical line, or row number in Parquet.")
    malformed_text: str = pa.Field(nullable=True, description="Start of a row that is no record.")
    pool_id: str = pa.Field(nullable=True, description="The pool.")
    recorded_at: Time = pa.Field(nullable=True, description="When the price was recorded (UTC).")
    recorded_at_text: str = pa.Field(nullable=True, description="Given text that is no time.")
    price: float = pa.Field(nullable=True, description="The price.")
    price_text: str = pa.Field(nullable=True, description="Given text that is no number.")
    sequence: int = pa.Field(nullable=True, description="Order of prices of one instant.")
    sequence_text: str = pa.Field(nullable=True, description="Given text that is no integer.")
    fate: str = pa.Field(isin=PRICE_FATES, description="What became of the row.")
    reason: str = pa.Field(nullable=True, description="Why it was rejected.")

    class Config:
        name = "raw_prices"
        metadata = {"key": ("file_number", "source_line")}
