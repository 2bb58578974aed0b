"""The published tables and the rules a publication must pass."""

from augur_pipeline.diagnostics.tables import (
    CalibrationDiagnostics,
    ReliabilityBins,
    ReliabilityCurve,
    ScoredForecasts,
)
from augur_pipeline.exports.tables import Passports, RunInfo
from augur_pipeline.intake.rules import RULES as INTAKE_RULES
from augur_pipeline.intake.tables import InputFiles, Seasons
from augur_pipeline.ledger.rules import RULES as LEDGER_RULES
from augur_pipeline.ledger.tables import (
    EligibleCalls,
    ExcludedCalls,
    Funnel,
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
    EligibleCalls,
    ResolvedOutcomes,
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
)
"""Every published table but `run_info`: what `content_digest` covers, in this order."""

PUBLISHED_TABLES: tuple[Model, ...] = (*CONTENT_TABLES, RunInfo)

BLOCKING_RULES = tuple(
    rule for rule in (*INTAKE_RULES, *LEDGER_RULES, *SCORES_RULES) if rule.is_blocking
)
