"""Assets `questions`, `agent_comparisons`, `agent_comparisons_by_episode`, `orientation_audit`."""

from dagster import MaterializeResult, asset

from augur_pipeline.diagnostics.comparisons.steps import (
    audit_orientation,
    compare_on_days,
    compare_on_questions,
)
from augur_pipeline.diagnostics.comparisons.tables import (
    AgentComparisons,
    AgentComparisonsByEpisode,
    OrientationAudit,
)
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe
from augur_pipeline.store.resource import Store


@asset(
    deps=["questions", "scored_forecasts"],
    group_name="diagnostics",
    kinds={"numpy", "duckdb", "sql"},
    owners=OWNERS,
    description="Pairs of agents on the questions that both answered: mean loss difference, "
    "interval by episode, and p-values adjusted by Holm over the season's pairs.",
)
def agent_comparisons(store: Store) -> MaterializeResult[None]:
    """Compare agents on the same questions."""
    with shown_as_failures():
        compare_on_questions(store)
        return MaterializeResult(metadata=describe(store, AgentComparisons))


@asset(
    deps=["questions"],
    group_name="diagnostics",
    kinds={"numpy", "duckdb", "sql"},
    owners=OWNERS,
    description="Same days, different questions: pairs of agents in the episodes in which both "
    "resolved a call, for agents that never meet on a question. A difference may also be one of "
    "what they chose to answer.",
)
def agent_comparisons_by_episode(store: Store) -> MaterializeResult[None]:
    """Compare agents on the same days."""
    with shown_as_failures():
        compare_on_days(store)
        return MaterializeResult(metadata=describe(store, AgentComparisonsByEpisode))


@asset(
    deps=["questions", "eligible_calls", "resolved_outcomes"],
    group_name="diagnostics",
    kinds={"numpy", "duckdb", "sql"},
    owners=OWNERS,
    description="Would an agent score significantly better with its buys or sells turned round? "
    "Then perhaps its log is read with a side inverted: flagged, never corrected. Also makes "
    "flat_sells, on which the orientations P(right) and P(price above reference) disagree.",
)
def orientation_audit(store: Store) -> MaterializeResult[None]:
    """Turn every agent's sides round."""
    with shown_as_failures():
        audit_orientation(store)
        ((suspects,),) = store.connection.execute(
            "SELECT count(*) FROM orientation_audit WHERE is_suspect"
        ).fetchall()
        return MaterializeResult(
            metadata={
                **describe(store, OrientationAudit),
                "suspects": int(suspects),
                "flat_sells": store.count("flat_sells"),
            }
        )
