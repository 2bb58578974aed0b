"""Locked benchmarks: bad files, the worked numbers, the rolling base rate, refusals."""

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augur_pipeline.diagnostics.benchmarks.rules import RULES as BENCHMARK_RULES
from augur_pipeline.diagnostics.benchmarks.steps import forecast_benchmarks, measure_skill
from augur_pipeline.errors import InputError
from augur_pipeline.forecasts.steps import number_forecasts
from augur_pipeline.intake.settings import land_settings
from augur_pipeline.policy import Policy
from augur_pipeline.store.resource import Store
from augur_pipeline.verification import skill_interval
from augur_pipeline_tests.diagnostics.arena import at, call, fill, rows_of
from augur_pipeline_tests.nights import GOOD_CALL, make_home, night, query, table

HEADER = (
    "benchmark_id,kind,probability,scope,window_days,min_resolved,locked_at,version,description\n"
)
GOOD = "b,constant,0.4,,,,2023-01-01,1,\n"
ROLLING = "r,rolling_base_rate,,{scope},{days},{least},2023-01-01,1,\n"


@pytest.fixture
def declared(store: Store) -> Iterator[Any]:
    """Declare benchmarks in the store, as a run does."""
    path = store.paths.inputs / "benchmarks.csv"

    def declare(*rows: str) -> None:
        path.write_text(HEADER + "".join(rows))
        land_settings(store, Policy())

    yield declare
    path.unlink(missing_ok=True)
    land_settings(store, Policy())


# --- the file -------------------------------------------------------------------------------------


def test_the_coin_is_always_there(store: Store, declared: Any) -> None:
    land_settings(store, Policy())
    coin = store.connection.execute("FROM benchmarks").fetchall()
    assert [row[:4] for row in coin] == [("coin_flip", 0, "constant", 0.5)]
    declared(GOOD, ROLLING.format(scope=" OWN ", days="28", least="10"))
    assert [
        row[:8] for row in store.connection.execute("FROM benchmarks ORDER BY place").fetchall()
    ] == [
        ("coin_flip", 0, "constant", 0.5, None, None, None, None),
        ("b", 1, "constant", 0.4, None, None, None, at(-365)),
        ("r", 2, "rolling_base_rate", None, "own", 28.0, 10, at(-365)),
    ]


def test_columns_that_a_kind_does_not_use_may_be_absent(store: Store, declared: Any) -> None:
    declared()
    (store.paths.inputs / "benchmarks.csv").write_text(
        "benchmark_id,kind,probability,locked_at,version\nb,Constant,1,2023-01-01,7\n"
    )
    land_settings(store, Policy())
    assert query_versions(store) == [("b", "7"), ("coin_flip", "1")]


def query_versions(store: Store) -> list[tuple[Any, ...]]:
    return store.connection.execute(
        "SELECT benchmark_id, version FROM benchmarks ORDER BY benchmark_id"
    ).fetchall()


BAD: dict[str, tuple[str, str, str]] = {
    "no id": (",constant,0.4,,,,2023-01-01,1,\n", "no benchmark_id", "fill it in"),
    "no kind": ("b,,0.4,,,,2023-01-01,1,\n", "no kind", "fill it in"),
    "unknown kind": (GOOD.replace("constant", "oracle"), "'oracle'", "use one of constant"),
    "no lock": (GOOD.replace("2023-01-01", ""), "no locked_at", "fill it in"),
    "lock is no time": (GOOD.replace("2023-01-01", "soon"), "'soon' is no time", "mend it"),
    "no version": (GOOD.replace(",1,", ",,"), "no version", "fill it in"),
    "no probability": (GOOD.replace("0.4", ""), "needs a probability", "fill it in"),
    "no number": (GOOD.replace("0.4", "half"), "'half' is no number", "mend it"),
    "percent": (GOOD.replace("0.4", "40"), "40.0 is outside [0, 1]", "mend it"),
    "negative": (GOOD.replace("0.4", "-0.1"), "outside [0, 1]", "mend it"),
    "constant with a scope": (
        GOOD.replace("0.4,,", "0.4,own,"), "a constant has no scope", "leave it empty"
    ),
    "constant with a window": (
        GOOD.replace("0.4,,,", "0.4,,7,"), "has no window_days", "leave it empty"
    ),
    "the coin": (GOOD.replace("b,", "coin_flip,"), "always there", "leave it out"),
    "twice": ("x" + GOOD + " x" + GOOD, "line 3: benchmark 'xb' stands here twice", "rename"),
    "market": (GOOD.replace("constant", "market"), "event forecasts", "leave it out"),
    "no scope": (ROLLING.format(scope="", days=7, least=5), "needs scope", "fill it in"),
    "unknown scope": (ROLLING.format(scope="all", days=7, least=5), "'all'", "own, pool"),
    "no window": (ROLLING.format(scope="own", days="", least=5), "needs window_days", "fill"),
    "window 0": (ROLLING.format(scope="own", days=0, least=5), "window_days 0", "mend it"),
    "window of ages": (ROLLING.format(scope="own", days=1e9, least=5), "window_days", "mend it"),
    "no least": (ROLLING.format(scope="own", days=7, least=""), "needs min_resolved", "fill"),
    "least 0": (ROLLING.format(scope="own", days=7, least=0), "min_resolved 0", "mend it"),
    "least 2.5": (ROLLING.format(scope="own", days=7, least=2.5), "'2.5' is no integer", "mend"),
    "rolling with a probability": (
        ROLLING.format(scope="own", days=7, least=5).replace("rate,,", "rate,0.5,"),
        "earlier rows", "leave probability empty",
    ),
    "short row": ("b,constant\n", "not as many fields", "mend it"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_benchmark_stops_the_run(declared: Any, name: str) -> None:
    row, fault, remedy = BAD[name]
    with pytest.raises(InputError) as caught:
        declared(row)
    message = str(caught.value)
    assert "benchmarks.csv: line " in message
    assert fault in message
    assert remedy in message
    assert "\n" not in message


def test_a_missing_column_is_named(store: Store, declared: Any) -> None:
    declared()
    (store.paths.inputs / "benchmarks.csv").write_text("benchmark_id,kind\n")
    with pytest.raises(InputError, match=r"benchmarks.csv: no column locked_at, version"):
        land_settings(store, Policy())


# --- the worked numbers ---------------------------------------------------------------------------


def worked_calls() -> list[dict[str, Any]]:
    """40 right of 100 earlier; then ten rows of A, five at .2 with one event and five at .8 with
    four; and the same rows of B, at .5."""
    earlier = [call(agent="earlier", right=int(n < 40), days=1, block=0) for n in range(100)]
    ten = [
        *({"p": 0.2, "right": int(n < 1)} for n in range(5)),
        *({"p": 0.8, "right": int(n < 4)} for n in range(5)),
    ]
    a = [call(agent="A", days=3, block=1, **row) for row in ten]
    b = [call(agent="B", days=3, block=1, right=row["right"], p=0.5) for row in ten]
    return [*earlier, *a, *b]


def skill_of(store: Store, agent: str, benchmark: str) -> dict[str, Any]:
    (row,) = [
        row
        for row in rows_of(store, "benchmark_skill")
        if row["forecaster_id"] == agent and row["benchmark_id"] == benchmark
    ]
    return row


def all_steps(store: Store) -> None:
    forecast_benchmarks(store)
    number_forecasts(store)
    measure_skill(store)


@pytest.mark.parametrize(
    ("agent", "brier", "skill"), [("A", 0.16, 0.384615), ("B", 0.25, 0.038462)]
)
def test_worked_skill(store: Store, declared: Any, agent: str, brier: float, skill: float) -> None:
    declared(ROLLING.format(scope="pool", days=28, least=100))
    fill(store, worked_calls())
    all_steps(store)
    row = skill_of(store, agent, "r")
    assert row["n_common"] == 10
    assert row["share_of_rows"] == 1.0
    assert row["brier"] == pytest.approx(brier, abs=1e-12)
    assert row["benchmark_brier"] == pytest.approx(0.26, abs=1e-12)
    assert row["skill"] == pytest.approx(skill, abs=5e-7)
    # raw scores stand, an interval from one episode does not
    assert (row["skill_low"], row["undefined_reason"]) == (None, "few_episodes")
    # against the realised 0.50 the numbers differ; it is no benchmark, the coin only looks like it
    against_half = {"A": 0.36, "B": 0.0}[agent]
    assert skill_of(store, agent, "coin_flip")["skill"] == pytest.approx(against_half, abs=1e-12)
    # a 0.40 that was declared does the same
    declared(GOOD)
    all_steps(store)
    assert skill_of(store, agent, "b")["skill"] == pytest.approx(skill, abs=5e-7)


def test_too_few_known_rows_are_counted_not_filled(store: Store, declared: Any) -> None:
    declared(ROLLING.format(scope="pool", days=28, least=101))
    fill(store, worked_calls())
    all_steps(store)
    row = skill_of(store, "A", "r")
    assert (row["n_common"], row["share_of_rows"], row["brier"]) == (0, 0.0, None)
    assert row["undefined_reason"] == "no_rows"
    reasons = store.connection.execute(
        "SELECT DISTINCT undefined_reason, probability FROM benchmark_forecasts "
        "WHERE benchmark_id = 'r'"
    ).fetchall()
    assert reasons == [("few_resolved", None)]


def test_a_benchmark_without_loss_leaves_the_raw_scores(store: Store, declared: Any) -> None:
    declared("sure,constant,1,,,,2023-01-01,1,\n")
    fill(store, [call(p=0.9, right=1, block=n) for n in range(8)])
    all_steps(store)
    row = skill_of(store, "a", "sure")
    assert (row["skill"], row["skill_low"], row["undefined_reason"]) == (
        None, None, "zero_reference_loss"
    )  # fmt: skip
    assert row["brier"] == pytest.approx(0.01, abs=1e-15)
    assert row["benchmark_brier"] == 0.0


def test_intervals_are_those_of_skill_interval(store: Store, declared: Any) -> None:
    declared(GOOD)
    rng = random.Random(3)
    calls = [
        call(
            agent=rng.choice("xy"),
            p=rng.choice([0.6, 0.8, 0.3]),
            right=rng.choice([0, 1, 1]),
            # beyond the horizon bound: scored, but in no interval
            block=None if n % 10 == 0 else n // 30,
        )
        for n in range(400)
    ]
    fill(store, calls)
    all_steps(store)
    for agent in "xy":
        mine = [c for c in calls if c["agent"] == agent]
        inside = [c for c in mine if c["block"] is not None]
        y = [c["right"] for c in inside]
        expected = skill_interval(
            [c["p"] for c in inside], y, [0.4] * len(y), y, [c["block"] for c in inside]
        )
        row = skill_of(store, agent, "b")
        assert expected.undefined_reason is None
        assert (row["n_common"], row["n_episodes"]) == (len(mine), expected.episodes)
        assert (row["skill_low"], row["skill_high"]) == (expected.low, expected.high)
        assert row["p_value"] == expected.p_value
        losses = sum((Fraction(c["p"]) - c["right"]) ** 2 for c in mine)
        assert row["brier"] == pytest.approx(float(losses / len(mine)), abs=1e-15)


# --- the rolling base rate ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_rolling_base_rate_against_plain_python(store: Store, declared: Any, seed: int) -> None:
    rng = random.Random(seed)
    declared(
        "own,rolling_base_rate,,own,1.5,3,2023-01-01,v1,\n",
        "pool,rolling_base_rate,,pool,0.5,4,2023-01-01,v2,\n",
    )
    # times on a coarse grid, so that many are equal and many lie on a window's edge
    calls = []
    for n in range(400):
        days = rng.randrange(0, 48) / 8
        calls.append(
            call(
                agent=f"a{rng.randrange(4)}",
                cohort=f"S{n % 2}",
                days=days,
                known=at(days + rng.randrange(1, 12) / 8),
                right=rng.choice([0, 1, None]),
            )
        )
    fill(store, calls)
    forecast_benchmarks(store)
    found = {
        (row["benchmark_id"], row["forecast_id"]): row
        for row in rows_of(store, "benchmark_forecasts")
    }
    assert len(found) == 3 * len(calls)
    seen: Counter[bool] = Counter()
    for number, one in enumerate(calls):
        for benchmark, window, least in (("own", 1.5, 3), ("pool", 0.5, 4)):
            issued = at(one["days"])
            known = [
                c["right"]
                for c in calls
                if c["right"] is not None
                and issued - (at(window) - at(0)) <= c["known"] < issued
                and (benchmark == "pool" or c["agent"] == one["agent"])
            ]
            row = found[benchmark, f"c{number:06d}"]
            assert (row["known_rows"], row["known_hits"]) == (len(known), sum(known))
            is_given = len(known) >= least
            assert row["probability"] == (sum(known) / len(known) if is_given else None)
            assert row["undefined_reason"] == (None if is_given else "few_resolved")
            assert row["version"] == {"own": "v1", "pool": "v2"}[benchmark]
            seen[is_given] += 1
        assert found["coin_flip", f"c{number:06d}"]["probability"] == 0.5
    assert min(seen.values()) > 50


def test_known_means_strictly_before(store: Store, declared: Any) -> None:
    declared(ROLLING.format(scope="own", days=1, least=1))
    microsecond = at(1 / 86_400_000_000) - at(0)
    moments = [at(4) - microsecond, at(4), at(3), at(3) - microsecond]
    calls = [call(days=0, known=moment, right=1) for moment in moments]
    fill(store, [*calls, call(days=4, right=0)])
    forecast_benchmarks(store)
    ((known,),) = store.connection.execute(
        "SELECT known_rows FROM benchmark_forecasts "
        "WHERE benchmark_id = 'r' AND forecast_id = 'c000004'"
    ).fetchall()
    # a microsecond before counts, the same instant does not; a day before to the microsecond does
    assert known == 2


# --- locks ----------------------------------------------------------------------------------------


def test_a_benchmark_locked_late_is_refused_for_that_season(store: Store, declared: Any) -> None:
    (rule,) = BENCHMARK_RULES
    first = at(1)
    declared(
        f"in_time,constant,0.6,,,,{first:%Y-%m-%dT%H:%M:%S},1,\n",
        f"late,constant,0.6,,,,{first:%Y-%m-%dT%H:%M:%S}.000001,1,\n",
    )
    fill(
        store,
        [call(days=1, cohort="S1"), call(days=2, cohort="S1"), call(days=3, cohort="S2")],
    )
    all_steps(store)
    refusals = rows_of(store, "benchmark_refusals")
    assert [(r["benchmark_id"], r["cohort_id"], r["reason"]) for r in refusals] == [
        ("late", "S1", "locked_late")
    ]
    assert refusals[0]["first_issued_at"] == first
    finding = rule.find(store)
    assert finding.broken_rows == 1
    assert finding.examples[0][:2] == ("late", "S1")
    used = store.connection.execute(
        "SELECT benchmark_id, cohort_id, count(*) FROM benchmark_forecasts "
        "WHERE benchmark_id <> 'coin_flip' GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert used == [("in_time", "S1", 2), ("in_time", "S2", 1), ("late", "S2", 1)]
    row = next(
        r
        for r in rows_of(store, "benchmark_skill")
        if r["benchmark_id"] == "late" and r["cohort_id"] == "S1"
    )
    assert (row["undefined_reason"], row["n_common"], row["skill"]) == ("locked_late", 0, None)
    # a day that was locked in time is not warned of
    declared("in_time,constant,0.6,,,,2023-01-01,1,\n")
    forecast_benchmarks(store)
    assert rule.find(store).broken_rows == 0


# --- a whole night --------------------------------------------------------------------------------


def test_a_night_publishes_them(tmp_path: Path) -> None:
    calls = [
        {**GOOD_CALL, "call_id": f"c{n}", "action": "buy" if n < 4 else "sell"} for n in range(5)
    ]
    calls.append({**GOOD_CALL, "call_id": "later", "decided_at": "2024-01-02T03:00:00Z"})
    home = make_home(tmp_path, calls, [("P", "2024-01-02T01:30:00Z", 101)])
    (home / "inputs/benchmarks.csv").write_text(
        HEADER + "house,rolling_base_rate,,own,7,5,2024-01-01,2,four of five\n"
    )
    night(home)
    assert query(
        home,
        "SELECT forecast_id, probability, known_rows, version FROM benchmark_forecasts "
        "WHERE benchmark_id = 'house' AND probability IS NOT NULL",
    ) == [("later", 0.8, 5, "2")]
    assert [row["benchmark_id"] for row in table(home, "benchmarks")] == ["coin_flip", "house"]
    assert ("settings", "benchmarks.csv") in query(
        home, "SELECT kind, source_file FROM input_files"
    )
    (coin,) = query(home, "SELECT brier, skill FROM benchmark_skill WHERE benchmark_id='coin_flip'")
    assert coin == query(home, "SELECT brier, skill FROM agent_season_brier")[0]
    assert np.isclose(coin[1], 1 - coin[0] / 0.25)
