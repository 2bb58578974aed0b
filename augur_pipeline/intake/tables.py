"""Shapes of the tables that intake makes."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time

BENCHMARK_KINDS = ("constant", "rolling_base_rate")
BENCHMARK_SCOPES = ("own", "pool")
COIN_FLIP = "coin_flip"


class RawCalls(TableModel):
    """One landing row of calls as its file gives it, trimmed and typed.

    The `_text` columns keep what was given where it is no time or no number.
    """

    file_number: int = pa.Field(ge=0, description="Place of the file in bytewise order of names.")
    source_line: int = pa.Field(ge=1, description="Physical line, or row number in Parquet.")
    malformed_text: str = pa.Field(nullable=True, description="Start of a row that is no record.")
    call_id: str = pa.Field(nullable=True, description="The call's id.")
    agent_id: str = pa.Field(nullable=True, description="The agent that made the call.")
    pool_id: str = pa.Field(nullable=True, description="The pool the call is about.")
    action: str = pa.Field(nullable=True, description="Action, case-folded.")
    decider: str = pa.Field(nullable=True, description="Who decided, case-folded.")
    confidence: float = pa.Field(nullable=True, description="Stated probability of being right.")
    confidence_text: str = pa.Field(nullable=True, description="Given text that is no number.")
    horizon_hours: float = pa.Field(nullable=True, description="Stated horizon in hours.")
    horizon_hours_text: str = pa.Field(nullable=True, description="Given text that is no number.")
    reference_price: float = pa.Field(nullable=True, description="Price the agent saw.")
    reference_price_text: str = pa.Field(nullable=True, description="Given text, no number.")
    decided_at: Time = pa.Field(nullable=True, description="When the agent decided (UTC).")
    decided_at_text: str = pa.Field(nullable=True, description="Given text that is no time.")
    recorded_at: Time = pa.Field(nullable=True, description="When the call was recorded (UTC).")
    recorded_at_text: str = pa.Field(nullable=True, description="Given text that is no time.")
    order_status: str = pa.Field(nullable=True, description="accepted, refused or missing.")
    mandate_id: str = pa.Field(nullable=True, description="Mandate the agent worked under.")
    model_version: str = pa.Field(nullable=True, description="Model behind the agent.")
    question_id: str = pa.Field(nullable=True, description="Question several agents answer.")

    class Config:
        name = "raw_calls"
        metadata = {"key": ("file_number", "source_line")}


class InputFiles(TableModel):
    """One file the run took in: its digest is evidence of what was read."""

    kind: str = pa.Field(isin=("calls", "prices", "settings"), description="What the file holds.")
    source_file: str = pa.Field(description="The file's plain name.")
    file_number: int = pa.Field(ge=0, description="Place among its kind in bytewise name order.")
    sha256: str = pa.Field(description="SHA-256 of the file's bytes, lower-case hex.")
    bytes: int = pa.Field(ge=0, description="Size in bytes.")
    rows: int = pa.Field(ge=0, description="Rows read (blank lines are none).")
    ignored_columns: str = pa.Field(nullable=True, description="Columns not read, as a JSON list.")

    class Config:
        name = "input_files"
        metadata = {"key": ("kind", "source_file"), "asset": "raw_calls"}


class Seasons(TableModel):
    """One season of `inputs/seasons.csv`, half-open `[starts_at, ends_at)`."""

    season_id: str = pa.Field(description="The season.")
    starts_at: Time = pa.Field(description="First instant in it (UTC).")
    ends_at: Time = pa.Field(description="First instant after it (UTC).")
    max_horizon_hours: float = pa.Field(gt=0, description="Bound on horizons fixed beforehand.")

    class Config:
        name = "seasons"
        metadata = {"key": ("season_id",), "asset": "settings"}


class Benchmarks(TableModel):
    """One benchmark that scores are held against: `coin_flip`, or one of `inputs/benchmarks.csv`.

    The realised base rate of a season was not known when it began and is none.
    """

    benchmark_id: str = pa.Field(description="The benchmark.")
    place: int = pa.Field(ge=0, description="0 for coin_flip, then the order in the file.")
    kind: str = pa.Field(isin=BENCHMARK_KINDS, description="How it makes its probability.")
    probability: float = pa.Field(
        ge=0, le=1, nullable=True, description="A constant's probability for every row."
    )
    scope: str = pa.Field(
        isin=BENCHMARK_SCOPES,
        nullable=True,
        description="Whose earlier rows the hit rate is of: the forecaster's own, or everyone's.",
    )
    window_days: float = pa.Field(
        gt=0, nullable=True, description="How far back rows count, by when they were known."
    )
    min_resolved: int = pa.Field(
        ge=1, nullable=True, description="Fewer known rows: no prediction for this row."
    )
    locked_at: Time = pa.Field(
        nullable=True, description="When it was fixed (UTC); NULL: always was."
    )
    version: str = pa.Field(description="Version of the benchmark.")
    description: str = pa.Field(nullable=True, description="What it is, in words.")

    class Config:
        name = "benchmarks"
        metadata = {"key": ("benchmark_id",), "asset": "settings"}
