"""Many pairs at once give what `difference_interval` gives one by one; Holm by hand."""

from collections import defaultdict

import numpy as np
import pytest

from augur_pipeline.verification import difference_interval
from augur_pipeline.verification.paired import EpisodeSums, holm_adjusted, paired_differences

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def sums_of(pairs: list[Rows | None]) -> EpisodeSums:
    """Rows p_a, y_a, p_b, y_b, block of each pair as sums per episode, in plain Python."""
    columns = defaultdict(list)
    for number, rows in enumerate(pairs):
        if rows is None:
            continue
        p_a, y_a, p_b, y_b, blocks = rows
        for block in sorted(set(blocks.tolist())):
            here = blocks == block
            loss_a, loss_b = (p_a - y_a)[here] ** 2, (p_b - y_b)[here] ** 2
            wrong_a, wrong_b = (y_a == 1) != (p_a >= 0.5), (y_b == 1) != (p_b >= 0.5)
            columns["pair"].append(number)
            columns["block"].append(block)
            columns["size"].append(float(here.sum()))
            columns["difference"].append(float((loss_a - loss_b).sum()))
            columns["loss"].append(float((loss_a + loss_b).sum()))
            columns["is_same"].append(bool((loss_a == loss_b).all()))
            columns["holds_wrong_a"].append(bool(wrong_a[here].any()))
            columns["holds_right_a"].append(bool((~wrong_a[here]).any()))
            columns["holds_wrong_b"].append(bool(wrong_b[here].any()))
            columns["holds_right_b"].append(bool((~wrong_b[here]).any()))
    return EpisodeSums(**{name: np.array(values) for name, values in columns.items()})


def random_pair(rng: np.random.Generator) -> Rows:
    n = int(rng.integers(1, 120))
    p_a, p_b = rng.integers(0, 21, n) / 20, rng.integers(0, 21, n) / 20
    y_a = (rng.random(n) < 0.6).astype(float)
    y_b = np.where(rng.random(n) < 0.5, y_a, 1 - y_a)
    # few and many blocks, with neighbours, with gaps, and far from 0
    blocks = rng.integers(0, int(rng.integers(1, 40)), n) * int(rng.integers(1, 3)) - 7
    kind = rng.integers(0, 6)
    if kind == 0:
        p_b, y_b = p_a, y_a
    elif kind == 1:
        p_a, y_a = np.full(n, 0.9), np.ones(n)  # never wrong
    elif kind == 2:
        p_a, p_b = np.full(n, 0.5), np.full(n, 0.25)
        y_b = np.ones(n)  # the same difference everywhere
    return p_a, y_a, p_b, y_b, blocks


def test_gives_what_difference_interval_gives() -> None:
    rng = np.random.default_rng(5)
    pairs = [random_pair(rng) for _ in range(400)]
    found = paired_differences(sums_of(pairs), len(pairs), level=0.9)
    reasons = set()
    for number, rows in enumerate(pairs):
        one = difference_interval(*rows, level=0.9)
        reasons.add(one.undefined_reason)
        assert found.undefined_reason[number] == one.undefined_reason
        assert found.episodes[number] == one.episodes
        for name in ("estimate", "low", "high", "p_value"):
            value, expected = getattr(found, name)[number], getattr(one, name)
            if expected is None:
                assert np.isnan(value), name
            else:
                assert value == pytest.approx(expected, rel=1e-10, abs=1e-13), name
    assert reasons == {None, "few_episodes", "few_misses", "zero_spread"}


def test_pairs_without_rows_and_no_rows_at_all() -> None:
    rng = np.random.default_rng(6)
    rows = random_pair(rng)
    found = paired_differences(sums_of([None, rows, None]), 3)
    assert found.undefined_reason[0] == found.undefined_reason[2] == "no_rows"
    assert found.episodes.tolist()[::2] == [0, 0]
    assert np.isnan(found.estimate[[0, 2]]).all()
    empty = np.zeros(0)
    ids, flags = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    nothing = EpisodeSums(ids, ids, empty, empty, empty, flags, flags, flags, flags, flags)
    assert paired_differences(nothing, 0).undefined_reason == []
    assert paired_differences(nothing, 2).undefined_reason == ["no_rows", "no_rows"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pair": [0, 1, 0]}, r"pair\[2\]"),
        ({"block": [3, 3, 4]}, r"pair\[1\]"),
        ({"size": [1.0, 0.0, 1.0]}, "size"),
        ({"difference": [0.1, np.nan, 0.0]}, "difference"),
        ({"loss": [0.1, 0.2]}, "one length"),
    ],
)
def test_refuses_what_is_no_table_of_sums(change: dict[str, list[float]], message: str) -> None:
    columns = {
        "pair": np.zeros(3, dtype=np.int64),
        "block": np.arange(3),
        **{name: np.ones(3) for name in ("size", "difference", "loss")},
        "is_same": np.zeros(3, dtype=bool),
        **{
            f"holds_{h}": np.ones(3, dtype=bool)
            for h in ("wrong_a", "right_a", "wrong_b", "right_b")
        },
    }
    EpisodeSums(**columns)
    with pytest.raises(ValueError, match=message):
        EpisodeSums(**{**columns, **{name: np.array(values) for name, values in change.items()}})


def test_refuses_a_pair_beyond_the_last() -> None:
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match=r"0 … 0"):
        paired_differences(sums_of([None, random_pair(rng)]), 1)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        # 4·.01, 3·.02 = .06, 2·.03 = .06, 1·.04 < .06
        ([0.04, 0.01, 0.03, 0.02], [0.06, 0.04, 0.06, 0.06]),
        # 3·.4 and 2·.5 are cut at 1
        ([0.5, 0.4, 1.0], [1.0, 1.0, 1.0]),
        ([0.01, 0.01, 0.5], [0.03, 0.03, 0.5]),
        ([0.0, 1.0], [0.0, 1.0]),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert holm_adjusted(p_values).tolist() == pytest.approx(adjusted, abs=1e-15)


def test_holm_refuses_what_is_no_p_value() -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\]"):
        holm_adjusted([0.1, np.nan])
