"""The calibration report of one forecaster: every diagnostic of one set of rows.

For the pipeline's tables and `augur score`; the mathematics is `augur_pipeline.verification`.
"""

from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augur_pipeline import verification

WEIGHTED = "weighted"
"""Reason of a number that is defined for equal weights only."""

CONSTANT_HALF = 0.5
"""The reference of skill: always saying one half."""

SMALLEST_EXPECTED = 5
"""Fewest expected events and non-events of a group for the χ² of Hosmer–Lemeshow to be sound."""


@dataclass(frozen=True)
class ForecastRows:
    """Resolved forecasts of one forecaster (or many taken together).

    probability, outcome:  (n,) stated probability and outcome 0 or 1
    episode:   (n,) block numbers, or texts that name events (no neighbours)
    in_episode: (n,) False where a row is in no episode: scored, not in intervals and tests
    weight:    (n,) weights, or None where all rows count alike
    """

    probability: NDArray[np.float64]
    outcome: NDArray[np.int64]
    episode: NDArray[Any]
    in_episode: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None

    @property
    def tested(self) -> "ForecastRows":
        """The rows that intervals and tests use."""
        keep = self.in_episode
        return ForecastRows(
            self.probability[keep],
            self.outcome[keep],
            self.episode[keep],
            keep[keep],
            None if self.weight is None else self.weight[keep],
        )


def report(rows: ForecastRows, bins: int, draws: int, seed: int) -> dict[str, Any]:
    """All diagnostics by the column names of `calibration_diagnostics` (keys aside).

    Where rows carry unequal weights, what is defined for equal weights only is None, and its
    reason is `weighted`.
    """
    p, y, weight = rows.probability, rows.outcome, rows.weight
    tested = rows.tested
    n = int(p.size)
    flags: list[str] = []
    brier = verification.brier_interval(
        tested.probability, tested.outcome, tested.episode, tested.weight
    )
    half = np.full(tested.probability.size, CONSTANT_HALF)
    skill = verification.skill_interval(
        tested.probability, tested.outcome, half, tested.outcome, tested.episode, tested.weight
    )
    term = verification.calibration_term_interval(brier)
    corp = verification.corp(p, y, weight)
    score = verification.brier_score(p, y, weight)
    reference = verification.brier_score(np.full(n, CONSTANT_HALF), y, weight)
    impossible = verification.impossible_rows(p, y)
    values: dict[str, Any] = {
        "n": n,
        "n_without_episode": n - int(tested.probability.size),
        "episodes": brier.episodes,
        "effective_episodes": brier.effective_episodes,
        "base_rate": _mean(y, weight),
        "mean_probability": _mean(p, weight),
        "brier": score,
        "brier_low": brier.low,
        "brier_high": brier.high,
        "calibration_low": term[0] if term else None,
        "calibration_high": term[1] if term else None,
        "interval_undefined_reason": brier.undefined_reason,
        "log_loss": verification.log_loss(p, y, weight),
        "log_loss_clipped": verification.log_loss(p, y, weight, clip=verification.LOG_LOSS_CLIP),
        "impossible_events": impossible,
        "skill": None
        if score is None or reference is None
        else verification.brier_skill(score, reference),
        "skill_low": skill.low,
        "skill_high": skill.high,
        "skill_p_value": skill.p_value,
        "mcb": corp.miscalibration,
        "dsc": corp.discrimination,
        "unc": corp.uncertainty,
    }
    is_weighted = weight is not None and bool(np.any(weight != weight[:1]))
    values |= _unweighted(None if is_weighted else rows, bins, draws, seed)
    if is_weighted:
        flags.append(WEIGHTED)
    if n and len(np.unique(y)) == 1:
        flags.append("single_class")
    if n and len(np.unique(p)) == 1:
        flags.append("constant_probability")
    if impossible:
        flags.append("impossible_events")
    if values["n_without_episode"]:
        flags.append("beyond_horizon_bound")
    if values["hl_smallest_expected"] is not None and (
        values["hl_smallest_expected"] < SMALLEST_EXPECTED
    ):
        flags.append("hl_sparse")
    flags += sorted({str(values[k]) for k in _REASONS if values[k] is not None} - set(flags))
    values["flags"] = flags
    return values


_REASONS = ("interval_undefined_reason", "tests_undefined_reason")


def _unweighted(rows: ForecastRows | None, bins: int, draws: int, seed: int) -> dict[str, Any]:
    """What is defined for equal weights only; all None for `rows` None."""
    if rows is None:
        return dict.fromkeys(_UNWEIGHTED) | {
            "tests_undefined_reason": WEIGHTED,
            "hl_undefined_reason": WEIGHTED,
        }
    p, y, tested = rows.probability, rows.outcome, rows.tested
    parts = verification.decompose_brier(p, y, bins)
    error = verification.calibration_error(p, y, bins)
    tests = verification.calibration_tests(
        tested.probability, tested.outcome, tested.episode, bins, draws, seed
    )
    debiased = verification.debiased_reliability(
        tested.probability, tested.outcome, tested.episode, bins
    )
    independent = verification.hosmer_lemeshow(p, y, bins)
    spiegelhalter = verification.spiegelhalter(p, y)
    line = verification.calibration_line(p, y)
    excess = None
    if error.ece is not None and tests.ece_null_mean is not None:
        excess = error.ece - tests.ece_null_mean
    return {
        "sharpness": verification.sharpness(p),
        "reliability": parts.reliability,
        "resolution": parts.resolution,
        "uncertainty": parts.uncertainty,
        "within_bin_variance": parts.within_bin_variance,
        "within_bin_covariance": parts.within_bin_covariance,
        "mcb_null_mean": tests.mcb_null_mean,
        "mcb_p_value": tests.mcb_p_value,
        "ece": error.ece,
        "ece_null_mean": tests.ece_null_mean,
        "ece_excess": excess,
        "ece_p_value": tests.ece_p_value,
        "ece_band": verification.calibration_band(error.ece, tests.ece_p_value),
        "mce": error.mce,
        "mce_bin_n": error.mce_bin_n,
        "debiased_reliability": debiased.value,
        "debiased_share_left_out": debiased.share_rows_left_out,
        "p_worse": tests.p_worse,
        "tests_are_exact": tests.exact,
        "tests_draws": tests.draws,
        "tests_undefined_reason": tests.undefined_reason,
        "hl_statistic": independent.statistic,
        "hl_df": independent.df,
        "hl_p_value": tests.hl_p_value,
        "hl_p_independent": independent.p_value,
        "hl_smallest_expected": independent.smallest_expected,
        "hl_undefined_reason": independent.undefined_reason,
        "spiegelhalter_z": spiegelhalter.z,
        "spiegelhalter_p_independent": spiegelhalter.p_value,
        "intercept": line.intercept,
        "slope": line.slope,
        "in_the_large": line.in_the_large,
        "clipped_rows": line.clipped_rows,
    }


_UNWEIGHTED = (
    "sharpness",
    "reliability",
    "resolution",
    "uncertainty",
    "within_bin_variance",
    "within_bin_covariance",
    "mcb_null_mean",
    "mcb_p_value",
    "ece",
    "ece_null_mean",
    "ece_excess",
    "ece_p_value",
    "ece_band",
    "mce",
    "mce_bin_n",
    "debiased_reliability",
    "debiased_share_left_out",
    "p_worse",
    "tests_are_exact",
    "tests_draws",
    "tests_undefined_reason",
    "hl_statistic",
    "hl_df",
    "hl_p_value",
    "hl_p_independent",
    "hl_smallest_expected",
    "hl_undefined_reason",
    "spiegelhalter_z",
    "spiegelhalter_p_independent",
    "intercept",
    "slope",
    "in_the_large",
    "clipped_rows",
)


def _mean(values: NDArray[Any], weight: NDArray[np.float64] | None) -> float | None:
    """Weighted mean, exactly summed; None without rows."""
    total = float(values.size) if weight is None else fsum(weight.tolist())
    if not total:
        return None
    products = values if weight is None else values * weight
    return fsum(products.tolist()) / total


def bin_rows(rows: ForecastRows, bins: int) -> list[dict[str, Any]]:
    """The reliability table of the rows by both schemes, as rows of `reliability_bins`.

    Where a row has no episode there is no interval: one for independent rows would be too narrow.
    """
    tested = rows.tested
    is_whole = tested.probability.size == rows.probability.size
    return [
        {
            "scheme": scheme,
            "bin": number,
            "lower": one.lower,
            "upper": one.upper,
            "n": one.n,
            "episodes": one.episodes,
            "mean_probability": one.mean_probability,
            "observed_rate": one.observed_rate,
            "gap": one.gap,
            "low": one.low if is_whole else None,
            "high": one.high if is_whole else None,
        }
        for scheme in ("equal_width", "equal_count")
        for number, one in enumerate(
            verification.reliability_table(
                rows.probability,
                rows.outcome,
                bins,
                scheme,
                # the bins hold all rows, so episodes help only where every row has one
                rows.episode if is_whole else None,
            )
        )
    ]


def curve_rows(rows: ForecastRows) -> list[dict[str, Any]]:
    """The CORP curve: one point per distinct stated probability, with the rows on it."""
    fit = verification.corp(rows.probability, rows.outcome, rows.weight)
    if fit.probability is None or fit.recalibrated is None:
        return []
    levels, first, counts = np.unique(fit.probability, return_index=True, return_counts=True)
    return [
        {
            "point": point,
            "probability": float(level),
            "recalibrated": float(fit.recalibrated[at]),
            "n": int(count),
        }
        for point, (level, at, count) in enumerate(zip(levels, first, counts, strict=True))
    ]
