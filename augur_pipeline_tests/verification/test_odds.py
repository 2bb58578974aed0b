import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augur_pipeline.verification import remove_overround


def test_multiplicative():
    # 1/1.9 twice: 1.0526 in all
    assert remove_overround([1.9, 1.9]).tolist() == [0.5, 0.5]
    # 1/1.5 + 1/2.5 = 2/3 + 2/5 = 16/15: (10/16, 6/16)
    assert remove_overround([1.5, 2.5]) == pytest.approx([0.625, 0.375], abs=1e-15)
    assert remove_overround([2, 4, 4]).tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    "odds",
    [[3, 3, 3], [20 / 13, 20 / 7], [20, 20, 20 / 18], [1 / 0.3, 1 / 0.6, 1 / 0.1], [1]],
)
def test_fair_odds_are_not_refused_for_their_rounding(odds):
    assert remove_overround(odds) == pytest.approx([1 / o for o in odds], abs=1e-15)


@pytest.mark.parametrize("odds", [[2.01, 2.0], [5.0], [1.43, 3.34]])
def test_odds_that_leave_an_outcome_out(odds):
    with pytest.raises(ValueError, match=r"sum to 0.* below 1"):
        remove_overround(odds)


@pytest.mark.parametrize("bad", [0.99, 0.0, -2.0, np.nan, np.inf, True, "2.0", None])
def test_what_is_no_odds(bad):
    with pytest.raises(ValueError, match=r"^odds\[1\]"):
        remove_overround([1.5, bad])


def test_no_odds_and_unknown_methods():
    assert remove_overround([]) is None
    with pytest.raises(ValueError, match="method = 'shin'"):
        remove_overround([1.5, 2.5], method="shin")


@given(st.lists(st.floats(1, 2), min_size=2, max_size=8), st.randoms())
def test_probabilities_sum_to_one_in_any_order(odds, random):
    found = remove_overround(odds)
    assert found.sum() == pytest.approx(1, abs=1e-14)
    order = list(range(len(odds)))
    random.shuffle(order)
    assert remove_overround([odds[i] for i in order]).tolist() == found[order].tolist()
