"""The published tables and the rules a publication must pass."""

from augur_pipeline.diagnostics.comparison_rules import RULES as COMPARISON_RULES
from augur_pipeline.diagnostics.comparison_tables import (
    AgentComparisons,
    AgentComparisonsByEpisode,
    BenchmarkForecasts,
    BenchmarkRefusals,
    BenchmarkSkill,
    BrierBounds,
    EpisodeWeightedBrier,
    FlatSells,
    Missingness,
    OrientationAudit,
    Questions,
)
from augur_pipeline.diagnostics.tables import (
    CalibrationDiagnostics,
    ReliabilityBins,
    ReliabilityCurve,
    ScoredForecasts,
)
from augur_pipeline.exports.tables import Passports, RunInfo
from augur_pipeline.intake.rules import RULES as INTAKE_RULES
from augur_pipeline.intake.tables import Benchmarks, InputFiles, Seasons
from augur_pipeline.ledger.rules import RULES as LEDGER_RULES
from augur_pipeline.ledger.tables import (
    EligibleCalls,
    ExcludedCalls,
    Funnel,
    LateOutcomes,
    LatePrices,
    RejectedRows,
    ResolvedOutcomes,
    SealedCalls,
    Settlements,
)
from augur_pipeline.scores.rules import RULES as SCORES_RULES
from augur_pipeline.scores.tables import AgentSeasonBrier, ScoreTerms, SeasonScores
from augur_pipeline.store.tables import Model

CONTENT_TABLES: tuple[Model, ...] = (
    AgentSeasonBrier,
    SeasonScores,
    Passports,
    CalibrationDiagnostics,
    ReliabilityBins,
    ReliabilityCurve,
    BenchmarkSkill,
    BenchmarkForecasts,
    BenchmarkRefusals,
    AgentComparisons,
    AgentComparisonsByEpisode,
    OrientationAudit,
    FlatSells,
    Questions,
    Missingness,
    BrierBounds,
    EpisodeWeightedBrier,
    EligibleCalls,
    ResolvedOutcomes,
    LateOutcomes,
    LatePrices,
    ScoredForecasts,
    SealedCalls,
    Settlements,
    ExcludedCalls,
    RejectedRows,
    Funnel,
    InputFiles,
    Seasons,
    ScoreTerms,
    Benchmarks,
)
"""Every published table but `run_info`: what `content_digest` covers, in this order."""

PUBLISHED_TABLES: tuple[Model, ...] = (*CONTENT_TABLES, RunInfo)

BLOCKING_RULES = tuple(
    rule
    for rule in (*INTAKE_RULES, *LEDGER_RULES, *SCORES_RULES, *COMPARISON_RULES)
    if rule.is_blocking
)
