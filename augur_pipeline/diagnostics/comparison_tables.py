"""Shapes of the tables on benchmarks, comparisons and missing outcomes.

Brier: binary convention, 0 best, 1 worst. Intervals are at 95 %, with the episode as the unit.
"""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time

SIDES = ("all", "buys", "sells")
SCOPES = ("all", "agent", "pool")
DIMENSIONS = ("agent", "pool", "confidence", "horizon", "hour_of_week", "volatility")


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
        isin=("few_resolved",), nullable=True, description="Why there is no prediction."
    )

    class Config:
        name = "benchmark_forecasts"
        metadata = {"key": ("benchmark_id", "kind", "forecast_id")}


class BenchmarkRefusals(TableModel):
    """One benchmark that is not used for one season."""

    benchmark_id: str = pa.Field(description="The benchmark.")
    cohort_id: str = pa.Field(description="The season.")
    reason: str = pa.Field(isin=("locked_late",), description="Why it is refused.")
    locked_at: Time = pa.Field(description="When it was fixed (UTC).")
    first_issued_at: Time = pa.Field(description="The season's first forecast (UTC).")

    class Config:
        name = "benchmark_refusals"
        metadata = {"key": ("benchmark_id", "cohort_id")}


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


class Questions(TableModel):
    """One question of a season: an event that several agents may forecast."""

    cohort_id: str = pa.Field(description="The season.")
    question_id: str = pa.Field(description="The question.")
    calls: int = pa.Field(ge=1, description="Eligible calls on it, of any status.")
    agents: int = pa.Field(ge=1, description="Agents that made them.")
    reason: str = pa.Field(
        isin=("question_mismatch",),
        nullable=True,
        description="Why it is not compared: its calls differ in what is asked.",
    )
    differs_in: str = pa.Field(nullable=True, description="The columns in which they differ.")

    class Config:
        name = "questions"
        metadata = {"key": ("cohort_id", "question_id")}


class AgentComparisons(TableModel):
    """Two agents of a season on the questions that both answered.

    Pairs that share no question have no row. The loss is the contract's, so a comparison never
    contradicts the leaderboard.
    """

    cohort_id: str = pa.Field(description="The season.")
    agent_a: str = pa.Field(description="The agent first by name.")
    agent_b: str = pa.Field(description="The other agent.")
    n_common: int = pa.Field(ge=1, description="Questions that both have a resolved call on.")
    share_a: float = pa.Field(gt=0, le=1, description="n_common ÷ questions agent_a resolved.")
    share_b: float = pa.Field(gt=0, le=1, description="n_common ÷ questions agent_b resolved.")
    mean_difference: float = pa.Field(
        ge=-1, le=1, description="Mean loss of agent_a − of agent_b; below 0: agent_a is better."
    )
    low: float = pa.Field(nullable=True, description="Lower end of its interval.")
    high: float = pa.Field(nullable=True, description="Upper end.")
    n_episodes: int = pa.Field(ge=0, description="Episodes of the common questions.")
    p_value: float = pa.Field(
        ge=0, le=1, nullable=True, description="Two-sided, of no difference; 1 for equal losses."
    )
    p_value_adjusted: float = pa.Field(
        ge=0, le=1, nullable=True, description="Holm's, over the season's pairs with a p-value."
    )
    undefined_reason: str = pa.Field(nullable=True, description="Why there is no interval.")

    class Config:
        name = "agent_comparisons"
        metadata = {"key": ("cohort_id", "agent_a", "agent_b")}


class AgentComparisonsByEpisode(TableModel):
    """Two agents of a season in the episodes in which both resolved a call: same days, different
    questions, so a difference may also be one of what they chose to answer.
    """

    cohort_id: str = pa.Field(description="The season.")
    agent_a: str = pa.Field(description="The agent first by name.")
    agent_b: str = pa.Field(description="The other agent.")
    label: str = pa.Field(description="What is compared.")
    rows_a: int = pa.Field(ge=1, description="Resolved calls of agent_a in the common episodes.")
    rows_b: int = pa.Field(ge=1, description="Resolved calls of agent_b in them.")
    share_a: float = pa.Field(gt=0, le=1, description="rows_a ÷ resolved calls of agent_a.")
    share_b: float = pa.Field(gt=0, le=1, description="rows_b ÷ resolved calls of agent_b.")
    mean_difference: float = pa.Field(
        ge=-1,
        le=1,
        description="Mean over episodes of agent_a's mean loss − agent_b's; below 0: a is better.",
    )
    low: float = pa.Field(nullable=True, description="Lower end of its interval.")
    high: float = pa.Field(nullable=True, description="Upper end.")
    n_episodes: int = pa.Field(ge=1, description="Common episodes, each with the same weight.")
    p_value: float = pa.Field(
        ge=0, le=1, nullable=True, description="Two-sided, of no difference; 1 for equal losses."
    )
    p_value_adjusted: float = pa.Field(
        ge=0, le=1, nullable=True, description="Holm's, over the season's pairs with a p-value."
    )
    undefined_reason: str = pa.Field(nullable=True, description="Why there is no interval.")

    class Config:
        name = "agent_comparisons_by_episode"
        metadata = {"key": ("cohort_id", "agent_a", "agent_b")}


class OrientationAudit(TableModel):
    """One agent of a season as stated and turned round, on all calls, its buys or its sells.

    A suspect's log is perhaps read with a side inverted; nothing is corrected.
    """

    cohort_id: str = pa.Field(description="The season.")
    agent_id: str = pa.Field(description="The agent.")
    side: str = pa.Field(isin=SIDES, description="Which of its calls.")
    n: int = pa.Field(ge=1, description="Resolved calls.")
    n_episodes: int = pa.Field(ge=0, description="Episodes of those that have one.")
    mean_loss: float = pa.Field(ge=0, le=1, description="Mean loss as stated.")
    flipped_mean_loss: float = pa.Field(
        ge=0, le=1, description="Mean loss with 1 − p on calls that did not end flat."
    )
    difference: float = pa.Field(
        ge=-1, le=1, description="mean_loss − flipped_mean_loss; above 0: flipped is better."
    )
    low: float = pa.Field(nullable=True, description="Lower end of its interval.")
    high: float = pa.Field(nullable=True, description="Upper end.")
    p_value: float = pa.Field(
        ge=0, le=1, nullable=True, description="Two-sided, of no difference; 1 for equal losses."
    )
    p_value_adjusted: float = pa.Field(
        ge=0, le=1, nullable=True, description="Holm's, over the season's agents × sides."
    )
    is_suspect: bool = pa.Field(description="Flipped is significantly better.")
    undefined_reason: str = pa.Field(nullable=True, description="Why there is no interval.")

    class Config:
        name = "orientation_audit"
        metadata = {"key": ("cohort_id", "agent_id", "side")}


class FlatSells(TableModel):
    """One sell whose price ended at the reference: wrong by the contract, yet P(price ≥ reference)
    came true, so 1 − confidence is no probability of a rise here.
    """

    call_id: str = pa.Field(description="The call.")
    cohort_id: str = pa.Field(description="The season.")
    agent_id: str = pa.Field(description="The agent.")
    confidence: float = pa.Field(ge=0, le=1, description="Stated probability of being right.")
    squared_error: float = pa.Field(ge=0, le=1, description="Its loss by the contract.")
    oriented_squared_error: float = pa.Field(
        ge=0, le=1, description="Its loss had it stated P(price above reference) = 1 − confidence."
    )

    class Config:
        name = "flat_sells"
        metadata = {"key": ("call_id",)}


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
