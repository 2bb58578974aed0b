"""Shapes of the waist: what every score, test and interval reads."""

import pandera.polars as pa

from augur_pipeline.ledger.tables import STATUSES
from augur_pipeline.store.tables import TableModel, Time


class ScoredForecasts(TableModel):
    """One eligible call as a forecast that it will prove right, of any status."""

    kind: str = pa.Field(isin=["call"], description="What was forecast.")
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
    status: str = pa.Field(
        isin=STATUSES, description="pending, open, resolved, expired or due_after_final."
    )
    probability: float = pa.Field(ge=0, le=1, description="Stated probability of being right.")
    outcome: int = pa.Field(isin=(0, 1), nullable=True, description="1 right, 0 wrong.")
    weight: float = pa.Field(ge=0, description="Weight of the row; 1 for calls.")
    issued_at: Time = pa.Field(description="When it was stated: decided_at (UTC).")
    resolved_at: Time = pa.Field(nullable=True, description="When the outcome was known (UTC).")
    model_version: str = pa.Field(nullable=True, description="Model behind the agent.")

    class Config:
        name = "scored_forecasts"
        metadata = {"key": ("kind", "forecast_id"), "season": "cohort_id"}


class Questions(TableModel):
    """One question of a season: an event that several agents may forecast."""

    kind: str = pa.Field(isin=["call"], description="What was forecast.")
    cohort_id: str = pa.Field(description="The season.")
    question_id: str = pa.Field(description="The question.")
    calls: int = pa.Field(ge=1, description="Eligible calls on it, of any status.")
    agents: int = pa.Field(ge=1, description="Agents that made them.")
    reason: str = pa.Field(
        isin=["question_mismatch"],
        nullable=True,
        description="Why it is not compared: its calls differ in what is asked.",
    )
    differs_in: str = pa.Field(nullable=True, description="The columns in which they differ.")

    class Config:
        name = "questions"
        metadata = {"key": ("kind", "cohort_id", "question_id"), "season": "cohort_id"}
