"""The published tables and the rules a publication must pass."""

from augur_pipeline.diagnostics.benchmarks.rules import RULES as BENCHMARK_RULES
from augur_pipeline.diagnostics.benchmarks.tables import (
    BenchmarkForecasts,
    BenchmarkRefusals,
    BenchmarkSkill,
)
from augur_pipeline.diagnostics.calibration.tables import (
    CalibrationDiagnostics,
    ReliabilityBins,
    ReliabilityCurve,
)
from augur_pipeline.diagnostics.comparisons.rules import RULES as COMPARISON_RULES
from augur_pipeline.diagnostics.comparisons.tables import (
    AgentComparisons,
    AgentComparisonsByEpisode,
    FlatSells,
    OrientationAudit,
)
from augur_pipeline.diagnostics.missingness.tables import (
    BrierBounds,
    EpisodeWeightedBrier,
    Missingness,
)
from augur_pipeline.exports.tables import ContentDigests, Passports, RunInfo
from augur_pipeline.forecasts.rules import RULES as FORECAST_RULES
from augur_pipeline.forecasts.tables import Questions, ScoredForecasts
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
from augur_pipeline.prices.rules import RULES as PRICE_RULES
from augur_pipeline.scores.rules import RULES as SCORES_RULES
from augur_pipeline.scores.tables import AgentSeasonBrier, ScoreTerms, SeasonScores
from augur_pipeline.store.rules import ModelRule
from augur_pipeline.store.tables import Model, asset_of

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
    LateOutcomes,
    LatePrices,
    ScoredForecasts,
    SealedCalls,
    Settlements,
    RejectedRows,
    Funnel,
    InputFiles,
    Seasons,
    ScoreTerms,
    Benchmarks,
)
"""What `content_digest` covers, in the order of publication."""

PUBLISHED_TABLES: tuple[Model, ...] = (*CONTENT_TABLES, ContentDigests, RunInfo)

VIEWS: tuple[Model, ...] = (EligibleCalls, ExcludedCalls, ResolvedOutcomes)
"""Columns and rows of `sealed_calls` and `settlements` again: tables while a night works, published
as views of the very statements in `ledger/` that made those; later ones read earlier ones."""

MADE_BY_ASSETS = (*CONTENT_TABLES, *VIEWS)

MODEL_RULES = tuple(
    ModelRule(asset, tuple(model for model in MADE_BY_ASSETS if asset_of(model) == asset))
    for asset in dict.fromkeys(asset_of(model) for model in MADE_BY_ASSETS)
)
"""Each asset's tables follow their models; publication holds them to it once more."""

RULES = (
    *PRICE_RULES,
    *INTAKE_RULES,
    *LEDGER_RULES,
    *FORECAST_RULES,
    *SCORES_RULES,
    *BENCHMARK_RULES,
    *COMPARISON_RULES,
)
"""What must, or should, hold between tables; the blocking ones are checked at publication too."""

BLOCKING_RULES = tuple(rule for rule in RULES if rule.is_blocking)
