"""The landing files of calls and of settings (contract §2, §3)."""

from augur_pipeline.landing.columns import LandingColumn, LandingKind

CALLS = LandingKind(
    "calls",
    "raw_calls",
    (
        LandingColumn("call_id", "id"),
        LandingColumn("agent_id", "id"),
        LandingColumn("pool_id", "id"),
        LandingColumn("action", "word"),
        LandingColumn("decider", "word"),
        LandingColumn("confidence", "number"),
        LandingColumn("horizon_hours", "number"),
        LandingColumn("reference_price", "number"),
        LandingColumn("decided_at", "time"),
        LandingColumn("recorded_at", "time", is_required=False),
        LandingColumn("order_status", "word", is_required=False),
        LandingColumn("mandate_id", "id", is_required=False),
        LandingColumn("model_version", "id", is_required=False),
        LandingColumn("question_id", "id", is_required=False),
    ),
)


SEASONS = LandingKind(
    "seasons",
    "landed_seasons",
    (
        LandingColumn("season_id", "id"),
        LandingColumn("starts_at", "time"),
        LandingColumn("ends_at", "time"),
        LandingColumn("max_horizon_hours", "number", is_required=False),
    ),
)


SCORE_TERMS = LandingKind(
    "score_terms",
    "landed_score_terms",
    (
        LandingColumn("season_id", "id"),
        LandingColumn("agent_id", "id"),
        LandingColumn("term", "id"),
        LandingColumn("weight", "number"),
        LandingColumn("value", "number"),
    ),
)


BENCHMARKS = LandingKind(
    "benchmarks",
    "landed_benchmarks",
    (
        LandingColumn("benchmark_id", "id"),
        LandingColumn("kind", "word"),
        LandingColumn("probability", "number", is_required=False),
        LandingColumn("scope", "word", is_required=False),
        LandingColumn("window_days", "number", is_required=False),
        LandingColumn("min_resolved", "integer", is_required=False),
        LandingColumn("locked_at", "time"),
        LandingColumn("version", "id"),
        LandingColumn("description", "id", is_required=False),
    ),
)
