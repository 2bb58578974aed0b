import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augur_pipeline.verification import reliability_table
from augur_pipeline.verification.bins import (
    equal_count_group,
    equal_width_bin,
    equal_width_edges,
    wilson_interval,
)

from . import reference
from .helpers import block_numbers, event_ids, probabilities, tables


def test_every_quotient_opens_its_bin():
    for bins in range(1, 201):
        edges = np.array([k / bins for k in range(bins + 1)])
        assert equal_width_edges(bins).tolist() == edges.tolist()
        expected = [*range(bins), bins - 1]
        assert equal_width_bin(edges, bins).tolist() == expected
        below = np.nextafter(edges[1:], 0)
        assert equal_width_bin(below, bins).tolist() == list(range(bins))


@pytest.mark.parametrize("bins", [1, 2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 125, 200, 1000])
@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_round_decimals_land_where_decimal_arithmetic_puts_them(bins, decimals):
    scale = 10**decimals
    stated = [float(f"{i / scale:.{decimals}f}") for i in range(scale + 1)]
    expected = [min(i * bins // scale, bins - 1) for i in range(scale + 1)]
    assert equal_width_bin(np.array(stated), bins).tolist() == expected


def test_agents_state_round_numbers():
    table = reliability_table([0.3, 0.6, 0.7], [1, 1, 1])
    assert [k for k, row in enumerate(table) if row.n] == [3, 6, 7]
    # What the obvious ways do instead.
    assert np.floor(np.array([0.3, 0.6, 0.7]) / 0.1).tolist() == [2, 5, 6]
    assert np.digitize([0.3, 0.6, 0.7], np.linspace(0, 1, 11)).tolist() == [3, 6, 7]


@given(st.lists(probabilities, min_size=1, max_size=50), st.integers(1, 60))
def test_equal_width_against_loops(p, bins):
    assert equal_width_bin(np.array(p), bins).tolist() == [
        reference.width_bin(value, bins) for value in p
    ]


@given(st.lists(probabilities, min_size=1, max_size=50), st.integers(1, 60))
def test_equal_count_against_loops(p, bins):
    assert equal_count_group(np.array(p), bins).tolist() == reference.count_groups(p, bins)


def test_equal_count_of_distinct_values_is_even():
    group = equal_count_group(np.linspace(0, 1, 100), 10)
    assert np.bincount(group).tolist() == [10] * 10


def test_equal_count_keeps_ties_together_and_counts_the_groups_used():
    p = [0.1] * 90 + [0.5, 0.6, 0.7, 0.8, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95]
    table = reliability_table(p, [0] * 100, 10, "equal_count")
    assert [row.n for row in table] == [90, 10]
    assert [(row.lower, row.upper) for row in table] == [(0.1, 0.1), (0.5, 0.95)]


def test_equal_width_table_keeps_empty_bins():
    table = reliability_table([0.05, 0.95], [0, 1], 10)
    assert [row.n for row in table] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    empty = table[4]
    assert (empty.lower, empty.upper) == (0.4, 0.5)
    assert empty.mean_probability is empty.observed_rate is empty.gap is None
    assert empty.low is empty.high is empty.episodes is None
    assert reliability_table([0.05], [0], 10, episodes=[1])[4].episodes == 0


def test_no_rows():
    assert [row.n for row in reliability_table([], [], 3)] == [0, 0, 0]
    assert reliability_table([], [], 3, "equal_count") == ()


def test_bin_reports_the_mean_prediction_not_the_midpoint():
    row = reliability_table([0.31, 0.35], [1, 1])[3]
    assert row.mean_probability == pytest.approx(0.33)
    assert row.observed_rate == 1.0
    assert row.gap == pytest.approx(0.67)


@given(st.floats(0, 1), st.floats(0.5, 1e6))
def test_wilson_solves_its_quadratic(rate, n):
    low, high = wilson_interval(rate, n)
    assert 0 <= low <= rate * (1 + 1e-15)
    assert 0 <= 1 - high <= (1 - rate) * (1 + 1e-15)
    assert (low, high) == pytest.approx(reference.wilson(rate, n), abs=2e-8)


def test_wilson_of_nothing_seen_and_everything_seen():
    assert wilson_interval(0.0, 10)[0] == 0.0
    assert wilson_interval(1.0, 10)[1] == 1.0
    # 0 of 10: high = z²/(n + z²)
    assert wilson_interval(0.0, 10)[1] == pytest.approx(3.841459 / 13.841459, abs=1e-7)


@given(tables(episode=block_numbers), st.sampled_from(["equal_width", "equal_count"]))
def test_table_against_loops(t, scheme):
    table = [row for row in reliability_table(t["p"], t["y"], 10, scheme, t["e"]) if row.n]
    rows = list(zip(t["p"], t["y"], t["e"], strict=True))
    by_value = {value: [r for r in rows if r[0] == value] for value in set(t["p"])}
    groups = reference.binned(t["p"], t["y"], 10, scheme)
    assert len(table) == len(groups)
    for found, group in zip(table, groups.values(), strict=True):
        stated, rate = reference.mean_and_rate(group)
        assert found.n == len(group)
        assert found.mean_probability == pytest.approx(float(stated), abs=1e-15)
        assert found.observed_rate == float(rate)
        assert found.gap == pytest.approx(float(rate - stated), abs=1e-15)
        here = [r for value in {a for a, _ in group} for r in by_value[value]]
        assert found.episodes == len({e for _, _, e in here})
        n_eff = reference.effective_rows([b for _, b, _ in here], [e for _, _, e in here])
        expected = reference.wilson(float(rate), n_eff)
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-7)


@given(tables(episode=event_ids))
def test_one_row_per_episode_is_no_wider_than_needed(t):
    """n_eff never exceeds n, so episodes never narrow an interval."""
    plain = reliability_table(t["p"], t["y"])
    clustered = reliability_table(t["p"], t["y"], episodes=t["e"])
    for a, b in zip(plain, clustered, strict=True):
        if a.n:
            assert b.high - b.low >= a.high - a.low - 1e-12


def test_episodes_that_agree_within_widen_the_interval():
    y = ([1] * 10 + [0] * 10) * 4
    episode = [i // 10 for i in range(80)]
    plain = reliability_table([0.5] * 80, y)[5]
    clustered = reliability_table([0.5] * 80, y, episodes=episode)[5]
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=1, max_size=60),
    st.sampled_from([1, 2, 5]),
)
def test_effective_rows_against_loops(rows, spread):
    """One bin, many rows per episode; consecutive block numbers get no neighbour term here."""
    y, episode = [b for b, _ in rows], [e * spread for _, e in rows]
    found = reliability_table([0.5] * len(y), y, 1, episodes=episode)[0]
    n_eff = reference.effective_rows(y, episode)
    expected = reference.wilson(sum(y) / len(y), n_eff)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("episodes", [5, 6, 7, 49])
@pytest.mark.parametrize("hits", [(1, 2), (1, 3), (1, 5), (2, 5), (1, 9), (5, 11)])
def test_episodes_of_equal_rates_say_nothing_about_spread(hits, episodes):
    """SE_k = 0 but for rounding: n_eff = G_eff, not n."""
    ones, size = hits
    sizes = range(1, episodes + 1)
    y = [v for g in sizes for v in ([1] * ones + [0] * (size - ones)) * g]
    episode = [g for g in sizes for _ in range(size * g)]
    g_eff = sum(sizes) ** 2 / sum(g * g for g in sizes)
    found = reliability_table([0.5] * len(y), y, 1, episodes=episode)[0]
    assert (found.low, found.high) == pytest.approx(wilson_interval(ones / size, g_eff), abs=1e-12)


def test_spread_below_chance_never_counts_for_more_rows():
    """Episodes more alike than chance would have them: n_eff stays n."""
    y = [1, 0, 1, 0, 1, 0] * 20 + [1, 1, 0, 0, 0, 0]
    episode = [i // 6 for i in range(126)]
    plain = reliability_table([0.5] * 126, y, 1)[0]
    clustered = reliability_table([0.5] * 126, y, 1, episodes=episode)[0]
    assert (clustered.low, clustered.high) == (plain.low, plain.high)
