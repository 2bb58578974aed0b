"""Shapes of the tables that hold agents beside each other, or beside themselves.

Brier: binary convention, 0 best, 1 worst. Intervals are at 95 %, with the episode as the unit.
"""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel

SIDES = ("all", "buys", "sells")


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
        metadata = {"key": ("call_id",), "asset": "orientation_audit"}
