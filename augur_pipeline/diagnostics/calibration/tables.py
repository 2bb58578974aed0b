"""Shapes of the calibration tables. Brier: binary convention, 0 best, 1 worst."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Words

SCOPES = ("forecaster", "cohort")


class CalibrationDiagnostics(TableModel):
    """One forecaster in one cohort, or a cohort over all its forecasters: every diagnostic.

    Undefined numbers are NULL, with their reason beside them.
    """

    cohort_id: str = pa.Field(description="The season.")
    scope: str = pa.Field(isin=SCOPES, description="One forecaster, or the cohort's all together.")
    forecaster_id: str = pa.Field(nullable=True, description="The agent; NULL for the cohort.")
    n: int = pa.Field(ge=0, description="Resolved forecasts.")
    n_without_episode: int = pa.Field(
        ge=0, description="Of these beyond the horizon bound: not in intervals and tests."
    )
    episodes: int = pa.Field(ge=0, description="Episodes: the unit of inference.")
    effective_episodes: float = pa.Field(
        nullable=True, description="N² / Σ n_g² over the episodes' rows."
    )
    base_rate: float = pa.Field(nullable=True, description="Share of outcomes 1.")
    mean_probability: float = pa.Field(nullable=True, description="Mean stated probability.")
    brier: float = pa.Field(
        ge=0, le=1, nullable=True, description="Mean squared error (0 best, 1 worst)."
    )
    brier_low: float = pa.Field(
        nullable=True, description="Lower end of its 95 % interval, by episode."
    )
    brier_high: float = pa.Field(nullable=True, description="Upper end.")
    calibration_low: float = pa.Field(
        nullable=True, description="Lower end of the 0-100 term's interval."
    )
    calibration_high: float = pa.Field(nullable=True, description="Upper end.")
    interval_undefined_reason: str = pa.Field(
        nullable=True, description="Why there is no interval."
    )
    log_loss: float = pa.Field(
        nullable=True,
        description="Mean −ln of the probability of what happened; inf if impossible.",
    )
    log_loss_clipped: float = pa.Field(
        nullable=True, description="The same with probabilities kept in [1e-6, 1 − 1e-6]."
    )
    impossible_events: int = pa.Field(ge=0, description="Outcomes whose stated probability was 0.")
    skill: float = pa.Field(nullable=True, description="1 − Brier / Brier of always saying 0.5.")
    skill_low: float = pa.Field(
        nullable=True, description="Lower end of its 95 % interval, by episode."
    )
    skill_high: float = pa.Field(nullable=True, description="Upper end.")
    skill_p_value: float = pa.Field(
        nullable=True, description="Two-sided, of no difference to always saying 0.5."
    )
    mcb: float = pa.Field(
        nullable=True,
        description="CORP miscalibration; brier = mcb − dsc + unc. Biased up in small samples.",
    )
    dsc: float = pa.Field(nullable=True, description="CORP discrimination.")
    unc: float = pa.Field(nullable=True, description="Uncertainty: base rate × (1 − base rate).")
    sharpness: float = pa.Field(nullable=True, description="Variance of the stated probabilities.")
    reliability: float = pa.Field(
        nullable=True, description="Binned reliability REL; brier = REL − RES + UNC + WBV − WBC."
    )
    resolution: float = pa.Field(nullable=True, description="Binned resolution RES.")
    uncertainty: float = pa.Field(nullable=True, description="UNC.")
    within_bin_variance: float = pa.Field(nullable=True, description="WBV.")
    within_bin_covariance: float = pa.Field(nullable=True, description="WBC.")
    mcb_null_mean: float = pa.Field(
        nullable=True, description="Mean mcb that a calibrated forecaster would show here."
    )
    mcb_p_value: float = pa.Field(
        nullable=True, description="Of mcb, by sign flips of whole episodes."
    )
    ece: float = pa.Field(
        nullable=True, description="Expected calibration error, ten equal-width bins."
    )
    ece_null_mean: float = pa.Field(
        nullable=True, description="Mean ece that a calibrated forecaster would show here."
    )
    ece_excess: float = pa.Field(nullable=True, description="ece − ece_null_mean.")
    ece_p_value: float = pa.Field(
        nullable=True, description="Of ece, by sign flips of whole episodes."
    )
    ece_band: str = pa.Field(
        nullable=True, description="House word for ece, only where its test rejects at .05."
    )
    mce: float = pa.Field(
        nullable=True, description="Maximum calibration error over non-empty bins."
    )
    mce_bin_n: int = pa.Field(nullable=True, description="Rows of that bin.")
    debiased_reliability: float = pa.Field(
        nullable=True, description="Reliability without small-sample bias; may be negative."
    )
    debiased_share_left_out: float = pa.Field(
        nullable=True, description="Share of rows in bins with a single episode."
    )
    p_worse: float = pa.Field(
        nullable=True,
        description="PRIMARY test, one-sided: losses are worse than the probabilities claim.",
    )
    tests_are_exact: bool = pa.Field(
        nullable=True, description="All sign patterns were enumerated."
    )
    tests_draws: int = pa.Field(nullable=True, description="Sign patterns drawn or enumerated.")
    tests_undefined_reason: str = pa.Field(
        nullable=True, description="Why there is no test by episodes."
    )
    hl_statistic: float = pa.Field(
        nullable=True,
        description="Hosmer–Lemeshow statistic; inf where a whole bin was impossible.",
    )
    hl_df: int = pa.Field(
        nullable=True,
        description="Its degrees of freedom: groups (forecasts made before outcomes).",
    )
    hl_p_value: float = pa.Field(
        nullable=True, description="Of the statistic, by sign flips of whole episodes."
    )
    hl_p_independent: float = pa.Field(
        nullable=True,
        description="χ² p-value for independent rows: too small where rows share days.",
    )
    hl_smallest_expected: float = pa.Field(
        nullable=True, description="Smallest expected count; under 5 the χ² is poor (hl_sparse)."
    )
    hl_undefined_reason: str = pa.Field(nullable=True, description="Why there is no χ² p-value.")
    spiegelhalter_z: float = pa.Field(
        nullable=True, description="Spiegelhalter's z, above 0: worse than stated."
    )
    spiegelhalter_p_independent: float = pa.Field(
        nullable=True, description="Two-sided normal p-value for independent rows."
    )
    intercept: float = pa.Field(nullable=True, description="Calibration intercept (0: calibrated).")
    slope: float = pa.Field(
        nullable=True,
        description="Calibration slope (1: calibrated, below 1: overconfident, below 0: inverted).",
    )
    in_the_large: float = pa.Field(
        nullable=True, description="Intercept with the slope fixed at 1."
    )
    clipped_rows: int = pa.Field(
        nullable=True, description="Rows clipped to [1e-6, 1 − 1e-6] for the calibration line."
    )
    flags: Words = pa.Field(description="What to know before reading the numbers.")

    class Config:
        name = "calibration_diagnostics"
        metadata = {"key": ("cohort_id", "scope", "forecaster_id")}


class ReliabilityBins(TableModel):
    """One bin of a reliability table; an empty bin keeps its row."""

    cohort_id: str = pa.Field(description="The season.")
    scope: str = pa.Field(isin=SCOPES, description="One forecaster, or the cohort's all together.")
    forecaster_id: str = pa.Field(nullable=True, description="The agent; NULL for the cohort.")
    scheme: str = pa.Field(isin=("equal_width", "equal_count"), description="How rows are binned.")
    bin: int = pa.Field(ge=0, description="Number of the bin, from 0.")
    lower: float = pa.Field(description="Lower edge (equal count: smallest probability in it).")
    upper: float = pa.Field(description="Upper edge (equal count: largest probability in it).")
    n: int = pa.Field(ge=0, description="Rows in the bin.")
    episodes: int = pa.Field(nullable=True, description="Episodes in the bin.")
    mean_probability: float = pa.Field(nullable=True, description="Mean stated probability.")
    observed_rate: float = pa.Field(nullable=True, description="Share of outcomes 1.")
    gap: float = pa.Field(nullable=True, description="observed_rate − mean_probability.")
    low: float = pa.Field(nullable=True, description="Lower end of the rate's 95 % interval.")
    high: float = pa.Field(nullable=True, description="Upper end.")

    class Config:
        name = "reliability_bins"
        metadata = {
            "key": ("cohort_id", "scope", "forecaster_id", "scheme", "bin"),
            "asset": "calibration_diagnostics",
        }


class ReliabilityCurve(TableModel):
    """One point of the CORP reliability curve: the isotonic fit at one stated probability."""

    cohort_id: str = pa.Field(description="The season.")
    scope: str = pa.Field(isin=SCOPES, description="One forecaster, or the cohort's all together.")
    forecaster_id: str = pa.Field(nullable=True, description="The agent; NULL for the cohort.")
    point: int = pa.Field(ge=0, description="Number of the point, from 0.")
    probability: float = pa.Field(ge=0, le=1, description="Stated probability.")
    recalibrated: float = pa.Field(ge=0, le=1, description="Isotonic fit of the outcomes there.")
    n: int = pa.Field(ge=1, description="Rows that stated it.")

    class Config:
        name = "reliability_curve"
        metadata = {
            "key": ("cohort_id", "scope", "forecaster_id", "point"),
            "asset": "calibration_diagnostics",
        }
