"""Forecast verification: scores, decompositions, calibration tests and intervals.

Plain functions on arrays, numpy and scipy only; no I/O, no clock, no global state.

    p          stated probability of y = 1, in [0, 1]
    y          outcome, 0 or 1
    weights    finite and ≥ 0; a weight of 2 is the row twice, of 0 no row
    episodes   the cluster a row belongs to: block numbers (neighbours overlap) or text ids

Conventions, everywhere: the **binary Brier score** (0 best, 1 worst); bad input raises `ValueError`
naming argument and position; no rows give None, never NaN, 0 or a perfect score; any order of the
rows gives the same bits. Results are frozen dataclasses that state their `convention`.
"""

from augur_pipeline.verification.bins import Bin, reliability_table
from augur_pipeline.verification.calibration_error import (
    HOUSE_BANDS,
    NOT_DISTINGUISHABLE,
    CalibrationError,
    calibration_band,
    calibration_error,
)
from augur_pipeline.verification.consistency import ConsistencyBand, consistency_band
from augur_pipeline.verification.decomposition import (
    BrierDecomposition,
    Corp,
    DebiasedReliability,
    corp,
    debiased_reliability,
    decompose_brier,
)
from augur_pipeline.verification.goodness_of_fit import (
    CalibrationLine,
    HosmerLemeshow,
    Spiegelhalter,
    calibration_line,
    hosmer_lemeshow,
    spiegelhalter,
)
from augur_pipeline.verification.intervals import (
    Interval,
    brier_interval,
    calibration_term_interval,
    difference_interval,
    skill_interval,
)
from augur_pipeline.verification.odds import remove_overround
from augur_pipeline.verification.paired import (
    EpisodeSums,
    PairedDifferences,
    holm_adjusted,
    paired_differences,
)
from augur_pipeline.verification.scores import (
    BRIER_CONVENTION,
    LOG_LOSS_CLIP,
    brier_score,
    brier_skill,
    impossible_rows,
    log_loss,
    sharpness,
)
from augur_pipeline.verification.sign_flips import CalibrationTests, calibration_tests

__all__ = [
    "BRIER_CONVENTION",
    "HOUSE_BANDS",
    "LOG_LOSS_CLIP",
    "NOT_DISTINGUISHABLE",
    "Bin",
    "BrierDecomposition",
    "CalibrationError",
    "CalibrationLine",
    "CalibrationTests",
    "ConsistencyBand",
    "Corp",
    "DebiasedReliability",
    "EpisodeSums",
    "HosmerLemeshow",
    "Interval",
    "PairedDifferences",
    "Spiegelhalter",
    "brier_interval",
    "brier_score",
    "brier_skill",
    "calibration_band",
    "calibration_error",
    "calibration_line",
    "calibration_term_interval",
    "calibration_tests",
    "consistency_band",
    "corp",
    "debiased_reliability",
    "decompose_brier",
    "difference_interval",
    "holm_adjusted",
    "hosmer_lemeshow",
    "impossible_rows",
    "log_loss",
    "paired_differences",
    "reliability_table",
    "remove_overround",
    "sharpness",
    "skill_interval",
    "spiegelhalter",
]
