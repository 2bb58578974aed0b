"""Shapes of the score tables. Brier: binary convention, 0 best, 1 worst."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Words


class AgentSeasonBrier(TableModel):
    """One agent in one season: counts of its calls, and how good its stated confidence was.

    Scores say how good the probabilities were, nothing about profit or execution.
    """

    season_id: str = pa.Field(description="The season, by decided_at.")
    agent_id: str = pa.Field(description="The agent.")
    directional_calls: int = pa.Field(ge=1, description="eligible + rejected + missing calls.")
    eligible_calls: int = pa.Field(ge=0, description="Calls that count.")
    rejected_calls: int = pa.Field(ge=0, description="Calls with an impossible value (test 4).")
    missing_calls: int = pa.Field(ge=0, description="Calls with a value left out (test 5).")
    refused_calls: int = pa.Field(ge=0, description="Eligible calls whose order was refused.")
    backfilled_calls: int = pa.Field(
        ge=0, description="Eligible calls first seen at or after their due time."
    )
    pending_calls: int = pa.Field(ge=0, description="Eligible calls not yet due.")
    open_calls: int = pa.Field(ge=0, description="Due calls without a price in their window yet.")
    resolved_calls: int = pa.Field(ge=0, description="Calls with an outcome.")
    expired_calls: int = pa.Field(ge=0, description="Calls closed without an outcome.")
    due_after_final: int = pa.Field(
        ge=0,
        description="Calls due later than the season's end plus its horizon bound: in no score of "
        "it (see late_outcomes).",
    )
    correct_calls: int = pa.Field(ge=0, description="Resolved calls that were right.")
    flat_calls: int = pa.Field(ge=0, description="Resolved calls whose price equals reference.")
    coverage: float = pa.Field(ge=0, le=1, description="eligible ÷ directional calls.")
    hit_rate: float = pa.Field(ge=0, le=1, nullable=True, description="correct ÷ resolved calls.")
    mean_confidence: float = pa.Field(
        ge=0, le=1, nullable=True, description="Mean stated confidence of resolved calls."
    )
    brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="Mean squared error of confidence (0 best, 1 worst)."
    )
    skill: float = pa.Field(
        le=1, nullable=True, description="1 − brier / 0.25: against always saying 0.5; unclamped."
    )
    calibration: float = pa.Field(
        ge=0, le=100, nullable=True, description="Skill in [0, 1] × 100; NULL below five resolved."
    )
    calibration_status: str = pa.Field(isin=("waiting", "measured"), description="Is it measured?")
    calls_needed: int = pa.Field(ge=0, description="Resolved calls still needed for calibration.")
    is_final: bool = pa.Field(description="The season is over and no call is pending or open.")

    class Config:
        name = "agent_season_brier"
        metadata = {"key": ("season_id", "agent_id")}


class SeasonScores(TableModel):
    """One agent in one season: its weighted score over the terms that are measured for it."""

    season_id: str = pa.Field(description="The season.")
    agent_id: str = pa.Field(description="The agent.")
    score: float = pa.Field(
        ge=0,
        le=100,
        nullable=True,
        description="Σ weight·value ÷ Σ weight over measured terms, kept within the least and "
        "greatest value: a mean never leaves its values by rounding.",
    )
    measured_terms: Words = pa.Field(description="Terms with a value, by name.")
    waiting_terms: Words = pa.Field(description="Terms without a value yet, by name.")
    effective_weights: str = pa.Field(description="JSON: weight of each measured term, sum 1.")

    class Config:
        name = "season_scores"
        metadata = {"key": ("season_id", "agent_id")}


class ScoreTerms(TableModel):
    """One term of an agent's season score that others measured (`inputs/score_terms.csv`)."""

    season_id: str = pa.Field(description="The season.")
    agent_id: str = pa.Field(description="The agent.")
    term: str = pa.Field(description="The term.")
    weight: float = pa.Field(gt=0, description="Weight; a season's terms sum to 0.90.")
    value: float = pa.Field(ge=0, le=100, nullable=True, description="Value; NULL: not measured.")

    class Config:
        name = "score_terms"
        metadata = {"key": ("season_id", "agent_id", "term"), "asset": "settings"}
