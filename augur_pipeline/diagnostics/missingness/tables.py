"""Shapes of the tables on missing outcomes and weights."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel

SCOPES = ("all", "agent", "pool")


DIMENSIONS = ("agent", "pool", "confidence", "horizon", "hour_of_week", "volatility")


class Missingness(TableModel):
    """How many eligible calls of one kind expired without an outcome, over all seasons."""

    scope: str = pa.Field(isin=SCOPES, description="Over all calls, one agent's or one pool's.")
    scope_id: str = pa.Field(nullable=True, description="The agent or pool; NULL for all.")
    dimension: str = pa.Field(isin=DIMENSIONS, description="What the calls are told apart by.")
    bucket_number: int = pa.Field(ge=0, description="Order of the bucket; 0 for agents and pools.")
    bucket: str = pa.Field(
        description="Agent, pool, range of confidence or horizon, hour of the week (UTC), or third "
        "of volatility: highest ÷ lowest price of the 24 whole hours before the call's hour."
    )
    eligible: int = pa.Field(ge=1, description="Eligible calls, of any status.")
    expired: int = pa.Field(ge=0, description="Of these expired.")
    share_expired: float = pa.Field(ge=0, le=1, description="expired ÷ eligible.")

    class Config:
        name = "missingness"
        metadata = {"key": ("scope", "scope_id", "dimension", "bucket_number", "bucket")}


class BrierBounds(TableModel):
    """One forecaster in one season: where its Brier score would lie had no forecast expired."""

    cohort_id: str = pa.Field(description="The season.")
    forecaster_id: str = pa.Field(description="The agent.")
    resolved: int = pa.Field(ge=0, description="Resolved forecasts.")
    expired: int = pa.Field(ge=0, description="Expired forecasts.")
    brier: float = pa.Field(ge=0, le=1, nullable=True, description="Over the resolved ones.")
    brier_low: float = pa.Field(
        ge=0, le=1, nullable=True, description="Over both, each expired one at its best loss."
    )
    brier_high: float = pa.Field(
        ge=0, le=1, nullable=True, description="Over both, each expired one at its worst loss."
    )

    class Config:
        name = "brier_bounds"
        metadata = {"key": ("cohort_id", "forecaster_id")}


class EpisodeWeightedBrier(TableModel):
    """One forecaster in one season, each call and each episode weighing the same."""

    cohort_id: str = pa.Field(description="The season.")
    forecaster_id: str = pa.Field(description="The agent.")
    n: int = pa.Field(ge=0, description="Resolved forecasts.")
    n_without_episode: int = pa.Field(ge=0, description="Of these beyond the horizon bound.")
    episodes: int = pa.Field(ge=0, description="Episodes of the others.")
    brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="Every forecast weighs the same: the score."
    )
    episode_weighted_brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="Every episode weighs the same."
    )

    class Config:
        name = "episode_weighted_brier"
        metadata = {"key": ("cohort_id", "forecaster_id")}
