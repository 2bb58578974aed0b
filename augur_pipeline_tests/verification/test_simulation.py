"""Do intervals cover, and do tests hold their size? Seeded simulations, about a minute in all.

The market of these simulations: an hourly random walk; a call at hour t is about the walk's next 24
hours, so calls of one block share moves and neighbouring blocks overlap a little; blocks are 72
hours long (2 × (24 + 2) rounded up to whole days). Half of a call's luck is the walk's, half its
own. A call with true probability π succeeds when its luck falls below Φ⁻¹(π): calibrated however
calls move together. An overconfident forecaster states logit p = 1.6 · logit π.
"""

from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri

from augur_pipeline.verification import (
    brier_interval,
    calibration_tests,
    difference_interval,
    reliability_table,
    skill_interval,
    spiegelhalter,
)

pytestmark = pytest.mark.slow

HORIZON, BLOCK = 24, 72
MID, HIGH = (0.5, 0.8), (0.88, 0.92)


def season(rng, blocks, p_range, factor=1.0, sizes="equal", rows=15, shared=0.5):
    """Stated p, true π, outcomes and block numbers of one forecaster's season."""
    if sizes == "equal":
        block = np.repeat(np.arange(blocks), rows)
    else:
        block = np.repeat(np.arange(blocks), np.ceil(rng.lognormal(2.2, 0.8, blocks)).astype(int))
    hour = block * BLOCK + rng.integers(0, BLOCK, block.size)
    walk = np.concatenate([[0.0], np.cumsum(rng.normal(size=blocks * BLOCK + HORIZON))])
    move = (walk[hour + HORIZON] - walk[hour]) / np.sqrt(HORIZON)
    luck = np.sqrt(shared) * move + np.sqrt(1 - shared) * rng.normal(size=block.size)
    p = rng.uniform(*p_range, block.size)
    truth = expit(logit(p) / factor)
    return p, truth, (luck < ndtri(truth)).astype(float), block


@cache
def expected_brier(p_range, factor):
    p = np.linspace(*p_range, 100_001)
    truth = expit(logit(p) / factor)
    return float(np.mean(p * p - 2 * p * truth + truth))


def coverage(p_range, factor, blocks, sizes, ids=lambda block: block, seasons=1000):
    rng = np.random.default_rng([blocks, int(10 * factor), len(sizes), int(100 * p_range[0])])
    target = expected_brier(p_range, factor)
    covered = []
    for _ in range(seasons):
        p, _, y, block = season(rng, blocks, p_range, factor, sizes)
        found = brier_interval(p, y, ids(block))
        if found.low is not None:
            covered.append(found.low <= target <= found.high)
    assert len(covered) > 300
    return np.mean(covered)


@pytest.mark.parametrize("blocks", [6, 12, 30, 100])
@pytest.mark.parametrize("factor", [1.0, 1.6])
def test_brier_interval_covers_mid_probabilities(blocks, factor):
    assert 0.92 <= coverage(MID, factor, blocks, "equal") <= 0.98


@pytest.mark.parametrize("blocks", [12, 30, 100])
@pytest.mark.parametrize("factor", [1.0, 1.6])
def test_brier_interval_covers_with_very_unequal_blocks(blocks, factor):
    assert 0.92 <= coverage(MID, factor, blocks, "unequal") <= 0.98


@pytest.mark.parametrize("blocks", [8, 12, 30])
@pytest.mark.parametrize("factor", [1.0, 1.6])
def test_brier_interval_near_nine_tenths(blocks, factor):
    assert 0.89 <= coverage(HIGH, factor, blocks, "equal") <= 0.97


def test_rows_taken_as_independent_do_not_cover():
    independent = coverage(
        MID, 1.0, 30, "equal", lambda block: [f"{i}" for i in range(block.size)], seasons=600
    )
    assert 0.75 <= independent <= 0.90


@pytest.mark.parametrize("blocks", [12, 40])
def test_difference_and_skill_intervals_cover(blocks):
    """An honest forecaster against an overconfident one on the same questions."""
    rng = np.random.default_rng(blocks)
    factor, p_range, seasons = 1.6, (0.55, 0.85), 800
    stated = np.linspace(*p_range, 100_001)
    truth = expit(logit(stated) / factor)
    own = float(np.mean(truth * (1 - truth)))
    other = expected_brier(p_range, factor)
    difference, skill, rejected = [], [], []
    for _ in range(seasons):
        p, honest, y, block = season(rng, blocks, p_range, factor)
        d = difference_interval(honest, y, p, y, block)
        s = skill_interval(honest, y, p, y, block)
        if d.low is not None:
            difference.append(d.low <= own - other <= d.high)
            skill.append(s.low <= 1 - own / other <= s.high)
            rejected.append(d.p_value < 0.05)
            assert (d.p_value < 0.05) == (not d.low <= 0 <= d.high)
    assert len(difference) > seasons / 2
    assert 0.92 <= np.mean(difference) <= 0.98
    assert 0.90 <= np.mean(skill) <= 0.98
    assert np.mean(rejected) > (0.2 if blocks == 40 else 0.05)


def test_difference_p_value_holds_its_size():
    """Two forecasters that are equally good by construction: shuffled noise around the truth."""
    rng = np.random.default_rng(77)
    rejected = []
    for _ in range(1500):
        _, truth, y, block = season(rng, 20, (0.55, 0.8))
        a, b = (np.clip(truth + rng.normal(0, 0.1, truth.size), 0, 1) for _ in range(2))
        found = difference_interval(a, y, b, y, block)
        if found.p_value is not None:
            rejected.append(found.p_value < 0.05)
    assert 0.025 <= np.mean(rejected) <= 0.07


def test_rate_intervals_of_the_table_cover():
    rng = np.random.default_rng(9)
    plain, clustered = [], []
    for _ in range(500):
        _, truth, y, block = season(rng, 25, (0.601, 0.699))
        rate = float(np.mean([0.601, 0.699]))
        for found, ids in ((plain, None), (clustered, block)):
            row = reliability_table(truth, y, episodes=ids)[6]
            found.append(row.low <= rate <= row.high)
    assert 0.92 <= np.mean(clustered) <= 0.99
    assert np.mean(plain) < 0.90


def sizes_of_tests(blocks, p_range, seasons, factor=1.0):
    rng = np.random.default_rng([blocks, int(100 * p_range[0])])
    found = {"worse": [], "mcb": [], "normal": []}
    for _ in range(seasons):
        p, _, y, block = season(rng, blocks, p_range, factor)
        tests = calibration_tests(np.round(p, 2), y, block, draws=999)
        found["worse"].append(tests.p_worse < 0.05)
        found["mcb"].append(tests.mcb_p_value < 0.05)
        found["normal"].append(spiegelhalter(p, y).p_value < 0.05)
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.parametrize(
    ("blocks", "p_range"), [(8, (0.5, 0.9)), (20, (0.5, 0.9)), (60, (0.5, 0.9)), (20, (0.6, 0.8))]
)
def test_p_worse_holds_its_size_on_honest_forecasters(blocks, p_range):
    found = sizes_of_tests(blocks, p_range, seasons=600)
    assert found["worse"] <= 0.06 + 0.005  # the specification's .00–.06, half a standard error
    assert found["mcb"] <= 0.10
    assert 0.10 <= found["normal"] <= 0.59


def test_p_worse_finds_overconfidence():
    found = sizes_of_tests(60, (0.7, 0.95), seasons=200, factor=1.8)
    assert found["worse"] > 0.5


def test_p_worse_of_single_rows_holds_its_size():
    """Independent rows: two-sided normal p where worse, else 1."""
    rng = np.random.default_rng(31)
    rejected, mcb = [], []
    for _ in range(800):
        p = np.round(rng.uniform(0.5, 0.95, 60), 2)
        found = calibration_tests(p, rng.random(60) < p, np.arange(60), draws=999)
        rejected.append(found.p_worse < 0.05)
        mcb.append(found.mcb_p_value < 0.05)
    assert np.mean(rejected) <= 0.06
    assert 0.025 <= np.mean(mcb) <= 0.075
