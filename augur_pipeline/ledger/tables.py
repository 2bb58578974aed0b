"""Shapes of the ledger's tables."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time

ACTIONS = ("buy", "sell", "hold")
DECIDERS = ("llm", "deterministic", "protective_exit", "system")
ORDER_STATUSES = ("accepted", "refused")
STATUSES = ("pending", "open", "resolved", "expired", "due_after_final")


class SealedCalls(TableModel):
    """One call ever sealed: what the agent stated, when we saw it, and what it counts for.

    The seal and the stated fields never change; fate, reason and season follow `seasons.csv` and
    policy.
    """

    call_id: str = pa.Field(description="The call's id.")
    agent_id: str = pa.Field(description="The agent that made the call.")
    pool_id: str = pa.Field(description="The pool the call is about.")
    action: str = pa.Field(isin=ACTIONS, description="Direction stated.")
    decider: str = pa.Field(isin=DECIDERS, description="Who decided.")
    confidence: float = pa.Field(nullable=True, description="Stated probability of being right.")
    confidence_text: str = pa.Field(nullable=True, description="Sealed text that is no number.")
    horizon_hours: float = pa.Field(nullable=True, description="Stated horizon in hours.")
    horizon_hours_text: str = pa.Field(nullable=True, description="Sealed text, no number.")
    reference_price: float = pa.Field(nullable=True, description="Price the agent saw.")
    reference_price_text: str = pa.Field(nullable=True, description="Sealed text, no number.")
    decided_at: Time = pa.Field(description="When the agent decided (UTC).")
    recorded_at: Time = pa.Field(nullable=True, description="When the call was recorded (UTC).")
    order_status: str = pa.Field(
        isin=ORDER_STATUSES, nullable=True, description="What became of the order."
    )
    mandate_id: str = pa.Field(nullable=True, description="Mandate the agent worked under.")
    model_version: str = pa.Field(nullable=True, description="Model behind the agent.")
    question_id: str = pa.Field(nullable=True, description="Question several agents answer.")
    due_at: Time = pa.Field(nullable=True, description="decided_at + horizon (UTC).")
    seal: str = pa.Field(description="SHA-256 of the sealed fields' canonical text.")
    first_seen_as_of: Time = pa.Field(description="as_of of the run that sealed it (UTC).")
    is_backfilled: bool = pa.Field(description="First seen at or after its due time.")
    fate: str = pa.Field(isin=("eligible", "excluded", "rejected"), description="What it counts.")
    reason: str = pa.Field(nullable=True, description="Why it does not count.")
    season_id: str = pa.Field(nullable=True, description="Season of decided_at.")
    source_file: str = pa.Field(description="File the seal was made from.")
    source_line: int = pa.Field(ge=1, description="Physical line, or row number in Parquet.")

    class Config:
        name = "sealed_calls"
        metadata = {"key": ("call_id",), "season": "season_id"}


class RejectedRows(TableModel):
    """One landing row that was rejected, with what is wrong and where."""

    kind: str = pa.Field(isin=("calls", "prices"), description="What the file holds.")
    source_file: str = pa.Field(description="The file's plain name.")
    source_line: int = pa.Field(ge=1, description="Physical line, or row number in Parquet.")
    call_id: str = pa.Field(nullable=True, description="The call's id, where given.")
    agent_id: str = pa.Field(nullable=True, description="The agent, where given.")
    reason: str = pa.Field(description="Stable code of what is wrong (contract §3, §4).")
    column_name: str = pa.Field(nullable=True, description="The column at fault.")
    value: str = pa.Field(nullable=True, description="What it held; start of a malformed row.")
    message: str = pa.Field(description="What is wrong, in words.")

    class Config:
        name = "rejected_rows"
        metadata = {"key": ("kind", "source_file", "source_line"), "asset": "sealed_calls"}


class ExcludedCalls(TableModel):
    """One sealed call that is a good row but does not count."""

    call_id: str = pa.Field(description="The call's id.")
    agent_id: str = pa.Field(description="The agent.")
    season_id: str = pa.Field(nullable=True, description="Season of decided_at.")
    reason: str = pa.Field(description="Why it does not count (contract §4).")

    class Config:
        name = "excluded_calls"
        metadata = {"key": ("call_id",), "asset": "sealed_calls"}


class Funnel(TableModel):
    """How many landing rows of one file met one fate; they sum to the rows read."""

    kind: str = pa.Field(isin=("calls", "prices"), description="What the file holds.")
    source_file: str = pa.Field(description="The file's plain name.")
    fate: str = pa.Field(description="The one fate of these rows.")
    reason: str = pa.Field(nullable=True, description="Why; NULL unless rejected or excluded.")
    rows: int = pa.Field(ge=1, description="Number of rows.")

    class Config:
        name = "funnel"
        metadata = {"key": ("kind", "source_file", "fate", "reason"), "asset": "sealed_calls"}


class EligibleCalls(TableModel):
    """One call that counts, with the times that decide it."""

    call_id: str = pa.Field(unique=True, description="The call's id.")
    agent_id: str = pa.Field(str_length={"min_value": 1}, description="The agent.")
    season_id: str = pa.Field(description="Season of decided_at.")
    pool_id: str = pa.Field(str_length={"min_value": 1}, description="The pool.")
    question_id: str = pa.Field(nullable=True, description="Question several agents answer.")
    action: str = pa.Field(isin=("buy", "sell"), description="Direction stated.")
    decider: str = pa.Field(isin=("llm", "deterministic"), description="Who decided.")
    order_status: str = pa.Field(
        isin=ORDER_STATUSES, nullable=True, description="What became of the order."
    )
    confidence: float = pa.Field(ge=0, le=1, description="Stated probability of being right.")
    horizon_hours: float = pa.Field(gt=0, le=87_600, description="Stated horizon in hours.")
    reference_price: float = pa.Field(gt=0, description="Price the agent saw.")
    decided_at: Time = pa.Field(description="When the agent decided (UTC).")
    due_at: Time = pa.Field(description="decided_at + horizon: the window opens (UTC).")
    window_closes_at: Time = pa.Field(description="due_at + 2 h: last instant of the window.")
    expires_at: Time = pa.Field(description="due_at + 168 h: closed without outcome from here.")
    model_version: str = pa.Field(nullable=True, description="Model behind the agent.")
    mandate_id: str = pa.Field(nullable=True, description="Mandate the agent worked under.")
    seal: str = pa.Field(str_matches=r"^[0-9a-f]{64}$", description="Seal of the stated fields.")

    class Config:
        name = "eligible_calls"
        metadata = {"key": ("call_id",)}


class Settlements(TableModel):
    """One call ever settled; final once published, also where the call has left its season."""

    call_id: str = pa.Field(description="The call's id.")
    status: str = pa.Field(isin=("resolved", "expired"), description="How it was settled.")
    outcome: int = pa.Field(isin=(0, 1), nullable=True, description="1 right, 0 wrong.")
    is_flat: bool = pa.Field(nullable=True, description="The price equals the reference price.")
    price: float = pa.Field(nullable=True, description="First usable price in the window.")
    price_recorded_at: Time = pa.Field(nullable=True, description="When it was recorded (UTC).")
    settled_at: Time = pa.Field(description="as_of of the run that settled it (UTC).")

    class Config:
        name = "settlements"
        metadata = {"key": ("call_id",), "asset": "resolved_outcomes"}


class ResolvedOutcomes(TableModel):
    """One eligible call and where it stands."""

    call_id: str = pa.Field(description="The call's id.")
    agent_id: str = pa.Field(description="The agent.")
    season_id: str = pa.Field(description="Season of decided_at.")
    pool_id: str = pa.Field(description="The pool.")
    status: str = pa.Field(
        isin=STATUSES,
        description="pending, open, resolved, expired; or due_after_final: due later than the "
        "season's end plus its horizon bound, and in no score of it (see late_outcomes).",
    )
    outcome: int = pa.Field(isin=(0, 1), nullable=True, description="1 right, 0 wrong.")
    is_flat: bool = pa.Field(nullable=True, description="The price equals the reference price.")
    price: float = pa.Field(nullable=True, description="First usable price in the window.")
    price_recorded_at: Time = pa.Field(nullable=True, description="When it was recorded (UTC).")
    settled_at: Time = pa.Field(nullable=True, description="as_of of the settling run (UTC).")
    squared_error: float = pa.Field(
        ge=0, le=1, nullable=True, description="(confidence − outcome)²: the Brier loss."
    )

    class Config:
        name = "resolved_outcomes"
        metadata = {"key": ("call_id",)}


class LateOutcomes(TableModel):
    """One settled call that was due only after its season could be final: in no score."""

    call_id: str = pa.Field(description="The call's id.")
    agent_id: str = pa.Field(description="The agent.")
    season_id: str = pa.Field(description="Season of decided_at.")
    due_at: Time = pa.Field(description="Later than the season's end plus its horizon bound.")
    status: str = pa.Field(isin=("resolved", "expired"), description="How it was settled.")
    outcome: int = pa.Field(isin=(0, 1), nullable=True, description="1 right, 0 wrong.")
    is_flat: bool = pa.Field(nullable=True, description="The price equals the reference price.")
    price: float = pa.Field(nullable=True, description="First usable price in the window.")
    price_recorded_at: Time = pa.Field(nullable=True, description="When it was recorded (UTC).")
    settled_at: Time = pa.Field(description="as_of of the run that settled it (UTC).")
    squared_error: float = pa.Field(
        ge=0, le=1, nullable=True, description="(confidence − outcome)², counted nowhere."
    )

    class Config:
        name = "late_outcomes"
        metadata = {"key": ("call_id",), "asset": "resolved_outcomes", "season": "season_id"}


class LatePrices(TableModel):
    """One settled call that all prices now known would settle by another price."""

    call_id: str = pa.Field(description="The call's id.")
    price: float = pa.Field(gt=0, description="The price the rule would choose now.")
    price_recorded_at: Time = pa.Field(description="When it was recorded (UTC).")
    outcome_it_would_give: int = pa.Field(isin=(0, 1), description="Outcome by that price.")
    settled_status: str = pa.Field(isin=("resolved", "expired"), description="As settled.")
    settled_outcome: int = pa.Field(isin=(0, 1), nullable=True, description="As settled.")

    class Config:
        name = "late_prices"
        metadata = {"key": ("call_id",), "asset": "resolved_outcomes"}
