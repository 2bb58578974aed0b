"""Shapes of the tables on benchmarks. Brier: binary convention, 0 best, 1 worst."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time


class BenchmarkForecasts(TableModel):
    """What one benchmark says of one forecast's outcome; refused benchmarks say nothing."""

    benchmark_id: str = pa.Field(description="The benchmark.")
    version: str = pa.Field(description="Its version.")
    cohort_id: str = pa.Field(description="The season.")
    forecaster_id: str = pa.Field(description="The agent whose forecast it stands beside.")
    kind: str = pa.Field(description="What was forecast.")
    forecast_id: str = pa.Field(description="The call's id.")
    probability: float = pa.Field(
        ge=0, le=1, nullable=True, description="Of the outcome 1; NULL: no prediction."
    )
    known_rows: int = pa.Field(
        ge=0, nullable=True, description="Rolling: rows known in the window before issued_at."
    )
    known_hits: int = pa.Field(ge=0, nullable=True, description="Of these with outcome 1.")
    undefined_reason: str = pa.Field(
        isin=["few_resolved"], nullable=True, description="Why there is no prediction."
    )

    class Config:
        name = "benchmark_forecasts"
        metadata = {"key": ("benchmark_id", "kind", "forecast_id"), "season": "cohort_id"}


class BenchmarkRefusals(TableModel):
    """One benchmark that is not used for one season."""

    benchmark_id: str = pa.Field(description="The benchmark.")
    cohort_id: str = pa.Field(description="The season.")
    reason: str = pa.Field(isin=["locked_late"], description="Why it is refused.")
    locked_at: Time = pa.Field(description="When it was fixed (UTC).")
    first_issued_at: Time = pa.Field(description="The season's first forecast (UTC).")

    class Config:
        name = "benchmark_refusals"
        metadata = {"key": ("benchmark_id", "cohort_id"), "asset": "benchmark_forecasts"}


class BenchmarkSkill(TableModel):
    """One forecaster against one benchmark in one season, on the rows that both predicted."""

    cohort_id: str = pa.Field(description="The season.")
    forecaster_id: str = pa.Field(description="The agent.")
    benchmark_id: str = pa.Field(description="The benchmark.")
    n_common: int = pa.Field(ge=0, description="Resolved rows with a benchmark prediction.")
    n_episodes: int = pa.Field(ge=0, description="Episodes of those that have one.")
    share_of_rows: float = pa.Field(
        ge=0, le=1, nullable=True, description="n_common ÷ the forecaster's resolved rows."
    )
    brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="The forecaster's Brier score on these rows."
    )
    benchmark_brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="The benchmark's on the same rows."
    )
    skill: float = pa.Field(
        le=1, nullable=True, description="1 − brier / benchmark_brier: above 0 better; unclamped."
    )
    skill_low: float = pa.Field(nullable=True, description="Lower end of its interval.")
    skill_high: float = pa.Field(nullable=True, description="Upper end.")
    p_value: float = pa.Field(
        ge=0, le=1, nullable=True, description="Two-sided, of no mean loss difference."
    )
    undefined_reason: str = pa.Field(
        nullable=True, description="Why the benchmark is refused, or a number or end is missing."
    )

    class Config:
        name = "benchmark_skill"
        metadata = {"key": ("cohort_id", "forecaster_id", "benchmark_id")}
