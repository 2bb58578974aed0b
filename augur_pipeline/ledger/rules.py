"""Checks on the ledger."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "sealed_calls",
        "funnel_sums",
        "Every landing row has exactly one fate: the funnel sums to the rows read, per file.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "sealed_calls",
        "rejected_share",
        "Files of which more than the policy's share of rows was rejected.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "sealed_calls",
        "backfilled_calls",
        "Agents with calls first seen at or after their due time: not known to be sealed in time.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "sealed_calls",
        "vanished_rows",
        "Sealed calls whose row has vanished from the landing zone; they keep counting.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "sealed_calls",
        "lookalike_ids",
        "Agent or pool ids that look alike (case, composition, invisible marks, letters of other "
        "scripts) and are different ones here.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "eligible_calls",
        "call_ids_unique",
        "A call id stands once among sealed and once among eligible calls.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "eligible_calls",
        "low_confidence",
        "Agents with confidences below one half (legal; often P(rise) logged as confidence).",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "seven_day_expiry",
        "No call expired early, none left open past expiry, no expired call with an outcome or "
        "loss, no resolved call whose price lies outside its window.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "no_look_ahead",
        "Every settlement's price was recorded at or after due_at and at or before settled_at; "
        "every claimed seal time lies before due_at.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "finality",
        "No settlement differs from the last published one.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "every_call_has_a_status",
        "Every eligible call is pending, open, resolved, expired or due_after_final, exactly once.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "outcomes_follow_settlements",
        "Every outcome is the settled one, says what price and reference say, and its loss is "
        "(confidence − outcome)²; a call due after its season can be final has none in it.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "late_prices",
        "Settled calls that today's prices would settle by another price; nothing changes.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "starved_pools",
        "Pools in which too many closed windows hold no price.",
        is_blocking=False,
    ),
    Rule(
        __package__,
        "resolved_outcomes",
        "calls_expiring_soon",
        "Open calls that expire within 24 hours unless a price arrives.",
        is_blocking=False,
    ),
)
