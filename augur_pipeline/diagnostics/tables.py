"""Shapes of the diagnostics' tables. Brier: binary convention, 0 best, 1 worst."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time

STATUSES = ("pending", "open", "resolved", "expired")


class ScoredForecasts(TableModel):
    """One eligible call as a forecast that it will prove right, of any status."""

    kind: str = pa.Field(isin=("call",), description="What was forecast.")
    cohort_id: str = pa.Field(description="Scored together: the season.")
    forecaster_id: str = pa.Field(description="The agent.")
    forecast_id: str = pa.Field(description="The call's id.")
    event_id: str = pa.Field(description="What is forecast: the question.")
    question_id: str = pa.Field(
        description="Given, else a JSON list of pool, due time, horizon, reference and decision."
    )
    episode_id: str = pa.Field(
        nullable=True, description="Block of days it was decided in; NULL beyond the horizon bound."
    )
    status: str = pa.Field(isin=STATUSES, description="pending, open, resolved or expired.")
    probability: float = pa.Field(ge=0, le=1, description="Stated probability of being right.")
    outcome: int = pa.Field(isin=(0, 1), nullable=True, description="1 right, 0 wrong.")
    weight: float = pa.Field(ge=0, description="Weight of the row; 1 for calls.")
    issued_at: Time = pa.Field(description="When it was stated: decided_at (UTC).")
    resolved_at: Time = pa.Field(nullable=True, description="When the outcome was known (UTC).")
    model_version: str = pa.Field(nullable=True, description="Model behind the agent.")

    class Config:
        name = "scored_forecasts"
        metadata = {"key": ("kind", "forecast_id")}
