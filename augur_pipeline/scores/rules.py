"""Checks on the scores."""

from augur_pipeline.store.rules import Rule

RULES = (
    Rule(
        __package__,
        "agent_season_brier",
        "five_call_threshold",
        "Calibration is NULL exactly below five resolved calls.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "agent_season_brier",
        "scores_in_range",
        "Brier lies in [0, 1] and calibration in [0, 100]; neither is NaN.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "agent_season_brier",
        "calls_add_up",
        "eligible = pending + open + resolved + expired + due_after_final; directional = eligible "
        "+ rejected + missing.",
        is_blocking=True,
    ),
    Rule(
        __package__,
        "season_scores",
        "season_scores_in_range",
        "Season scores lie in [0, 100] and are there exactly where a term is measured.",
        is_blocking=True,
    ),
)
