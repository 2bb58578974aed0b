"""Checks on the scores."""

from augur_pipeline.store.checks import Rule, build_checks

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
        "eligible = pending + open + resolved + expired; directional = eligible + rejected + "
        "missing.",
        is_blocking=True,
    ),
)

scores_checks = build_checks("scores_checks", RULES)
