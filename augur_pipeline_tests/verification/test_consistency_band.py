from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri

from augur_pipeline.verification import ConsistencyBand, consistency_band, corp
from augur_pipeline.verification.consistency import _tails

from .helpers import bits

P = [0.5, 0.6, 0.6, 0.8, 0.8, 0.9, 0.5, 0.9, 0.6, 0.8, 0.7, 0.7, 0.9, 0.5]
Y = [1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0]
SIX = [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1]


def curve(p, outcomes):
    """The non-decreasing fit at each distinct p, by max-min over means: nothing shared with ours."""
    levels = sorted(set(p))
    rows = [[v for q, v in zip(p, outcomes, strict=True) if q == level] for level in levels]

    def mean(i, j):
        together = [v for part in rows[i : j + 1] for v in part]
        return sum(together) / len(together)

    m = len(levels)
    return [max(min(mean(i, k) for k in range(j, m)) for i in range(j + 1)) for j in range(m)]


def flipped(signs):
    return [p + signs[g] * (y - p) for p, y, g in zip(P, Y, SIX, strict=True)]


def test_every_pattern_of_six_episodes():
    drawn = np.array([curve(P, flipped(signs)) for signs in product((1, -1), repeat=6)])
    found = consistency_band(P, Y, SIX)
    assert (found.exact, found.draws, found.undefined_reason) == (True, 64, None)
    assert found.probability.tolist() == sorted(set(P))
    ordered = np.sort(drawn, axis=0)  # ⌊64 · .025⌋ + 1 = 2nd smallest and largest
    np.testing.assert_allclose(found.low, np.clip(ordered[1], 0, 1), atol=1e-12)
    np.testing.assert_allclose(found.high, np.clip(ordered[-2], 0, 1), atol=1e-12)
    assert "level 0.95" in found.convention


def test_drawn_patterns_against_the_documented_stream():
    found = consistency_band(P, Y, SIX, level=0.9, draws=39, seed=7)  # 2^6 > 39
    uniform = np.random.Generator(np.random.PCG64(7)).random((39, 6))
    drawn = np.sort([curve(P, flipped(np.where(row < 0.5, -1, 1))) for row in uniform], axis=0)
    assert (found.exact, found.draws) == (False, 39)
    np.testing.assert_allclose(found.low, np.clip(drawn[1], 0, 1), atol=1e-12)  # ⌊40 · .05⌋ = 2
    np.testing.assert_allclose(found.high, np.clip(drawn[-2], 0, 1), atol=1e-12)


def test_single_rows_draw_outcomes():
    ids = [f"event {k}" for k in range(len(P))]
    found = consistency_band(P, Y, ids, draws=99, seed=3)
    child = np.random.SeedSequence(3).spawn(1)[0]
    uniform = np.random.Generator(np.random.PCG64(child)).random((99, len(P)))
    drawn = np.sort([curve(sorted(P), (row < np.sort(P)).tolist()) for row in uniform], axis=0)
    assert (found.exact, found.draws) == (False, 99)
    np.testing.assert_allclose(found.low, drawn[1], atol=1e-12)  # ⌊100 · .025⌋ = 2
    np.testing.assert_allclose(found.high, drawn[-2], atol=1e-12)
    assert bits(found) == bits(consistency_band(P, [1 - y for y in Y], ids, draws=99, seed=3))


def test_the_helper_curve_is_the_corp_curve():
    result = corp(P, Y)
    levels, first = np.unique(result.probability, return_index=True)
    assert levels.tolist() == sorted(set(P))
    np.testing.assert_allclose(result.recalibrated[first], curve(P, Y), atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "reason"), [(0, "no_rows"), (1, "few_episodes"), (5, "few_episodes")]
)
def test_too_few_episodes(rows, reason):
    found = consistency_band(P[:rows], Y[:rows], SIX[:rows])
    assert (found.probability, found.low, found.high) == (None, None, None)
    assert (found.undefined_reason, found.exact, found.draws) == (reason, False, 0)


def clustered(seed, blocks=20, rows=12, shared=0.5, step=0.05):
    """Calibrated calls; those of one block share half of their luck."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(blocks), rows)
    p = np.round(rng.uniform(0.45, 0.9, block.size) / step) * step
    own, common = rng.normal(size=block.size), rng.normal(size=blocks)
    luck = np.sqrt(shared) * common[block] + np.sqrt(1 - shared) * own
    return p, (luck < ndtri(p)).astype(float), block


def test_order_of_rows_changes_no_bit():
    for step in (0.05, 1e-6):
        p, y, e = clustered(4, step=step)
        order = np.random.default_rng(1).permutation(p.size)
        a, b = consistency_band(p, y, e), consistency_band(p[order], y[order], e[order])
        assert bits(a) == bits(b)
        assert a == b


def test_the_band_is_ordered_and_within_the_unit_square():
    for seed in range(5):
        p, y, e = clustered(seed, step=1e-4)
        narrow, wide = (consistency_band(p, y, e, level=level) for level in (0.5, 0.95))
        for band in (narrow, wide):
            assert (band.low >= 0).all()
            assert (band.high <= 1).all()
            assert (band.low <= band.high).all()
            assert (np.diff(band.low) >= 0).all()
            assert (np.diff(band.high) >= 0).all()
        assert (wide.low <= narrow.low).all()
        assert (wide.high >= narrow.high).all()


def coverage(level, overconfidence=0.0, shared=0.5, seasons=150, single=False):
    """Share of rows at whose probability the curve lies within the band."""
    inside, rows = 0.0, 0
    for seed in range(seasons):
        p, y, e = clustered(1000 + seed, shared=shared)
        stated = np.round(np.clip(p + overconfidence, 0, 1), 2)
        ids = [str(k) for k in range(p.size)] if single else e
        band = consistency_band(stated, y, ids, level=level, draws=399, seed=seed)
        seen, size = np.unique(stated, return_counts=True)
        assert seen.tolist() == band.probability.tolist()
        result = corp(stated, y)
        fitted = result.recalibrated[np.searchsorted(result.probability, seen)]
        is_inside = (fitted >= band.low - 1e-12) & (fitted <= band.high + 1e-12)
        inside, rows = inside + float(size[is_inside].sum()), rows + p.size
    return inside / rows


def test_an_honest_curve_is_within_about_as_often_as_the_level_says():
    assert 0.92 <= coverage(0.95) <= 0.98
    assert 0.75 <= coverage(0.8) <= 0.85
    assert 0.92 <= coverage(0.95, shared=0.0, single=True) <= 0.98


def test_an_overconfident_curve_is_not():
    assert coverage(0.95, overconfidence=0.1, shared=0.2, seasons=60) < 0.8


def test_rows_taken_as_independent_would_promise_too_much():
    """Why the band flips episodes: with shared luck, drawing rows one by one is too narrow."""
    assert coverage(0.95, single=True) < 0.9


def test_tails_in_batches():
    rng = np.random.default_rng(5)
    values = rng.random((103, 7))
    for cut in (1, 2, 10, 50, 103):
        parts = [values[k : k + cut] for k in range(0, 103, cut)]
        low, high = _tails(iter(parts), 3)
        assert low.tolist() == np.sort(values, axis=0)[2].tolist()
        assert high.tolist() == np.sort(values, axis=0)[-3].tolist()


def test_refusals():
    with pytest.raises(ValueError, match=r"draws = 38: at least 39 is needed"):
        consistency_band(P, Y, SIX, draws=38)
    for level in (0.0, 1.0, "x"):
        with pytest.raises(ValueError, match="level = "):
            consistency_band(P, Y, SIX, level=level)
    with pytest.raises(ValueError, match="seed = -1"):
        consistency_band(P, Y, SIX, seed=-1)
    with pytest.raises(ValueError, match=r"episodes\[1\]"):
        consistency_band([0.5, 0.5], [0, 1], [1, 1.5])


def test_equality_is_of_numbers():
    a = consistency_band(P, Y, SIX)
    assert a != "band"
    assert a != consistency_band(P, Y, SIX, level=0.5)
    assert isinstance(a, ConsistencyBand)
    with pytest.raises(ValueError, match="read-only"):
        a.low[0] = 0.0
