"""Nights on end: what increments give, and what the order of rows and files does not change."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from augur_pipeline.errors import InputError
from augur_pipeline_tests import reference
from augur_pipeline_tests.nights import night, table
from augur_pipeline_tests.strategies import GeneratedHistory, GeneratedHome, histories, homes
from augur_pipeline_tests.test_against_reference import assert_same_night, shown, sort_key

# what one run and many nights may differ in (engineering.md §4)
NIGHTLY = (
    "settled_at",
    "first_seen_as_of",
    "is_backfilled",
    "backfilled_calls",
)
# rows move between formats too, and a rejected value is shown as its file gave it
SOURCE = ("source_file", "source_line", "file_number", "value")

TABLES = (
    "sealed_calls",
    "eligible_calls",
    "resolved_outcomes",
    "settlements",
    "late_prices",
    "excluded_calls",
    "rejected_rows",
    "agent_season_brier",
    "season_scores",
    "passports",
)


def snapshot(home: Path, leave_out: tuple[str, ...]) -> dict[str, list[dict[str, object]]]:
    return {name: sorted(table(home, name, leave_out=leave_out), key=sort_key) for name in TABLES}


def property_settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
        phases=[Phase.explicit, Phase.generate],
    )


@property_settings(4)
@given(histories(late=False, max_nights=3))
def test_nights_give_what_one_run_gives_when_nothing_is_late(history: GeneratedHistory) -> None:
    with tempfile.TemporaryDirectory() as folder:
        nights, once = Path(folder, "nights"), Path(folder, "once")
        for index, one in enumerate(history.nights):
            history.write_night(nights, index)
            night(nights, shown(one.as_of))
        history.write_night(once, len(history.nights) - 1)
        night(once, shown(history.nights[-1].as_of))
        assert snapshot(nights, NIGHTLY) == snapshot(once, NIGHTLY)


@property_settings(6)
@given(histories(late=True, max_nights=4))
def test_every_night_of_a_late_history_is_the_reference_s(history: GeneratedHistory) -> None:
    """Files arrive late, twice, in any order, or vanish: each night equals the reference's."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ledger = None
        settled: dict[str, dict[str, object]] = {}
        for index, one in enumerate(history.nights):
            history.write_night(home, index)
            try:
                result = reference.run(home, one.as_of, ledger)
            except reference.InputError:
                with pytest.raises(InputError):
                    night(home, shown(one.as_of))
                continue
            night(home, shown(one.as_of))
            assert_same_night(home, result)
            ledger = result.ledger
            now = {str(row["call_id"]): row for row in table(home, "settlements")}
            assert settled.items() <= now.items(), "a settled outcome changed"
            settled = now


@property_settings(5)
@given(homes(order_free=True))
def test_order_of_rows_and_files_changes_nothing(generated: GeneratedHome) -> None:
    with tempfile.TemporaryDirectory() as folder:
        straight, permuted = Path(folder, "straight"), Path(folder, "permuted")
        generated.write(straight)
        generated.permuted(7).write(permuted)
        night(straight, shown(generated.as_of))
        night(permuted, shown(generated.as_of))
        assert snapshot(straight, SOURCE) == snapshot(permuted, SOURCE)
        funnels = [
            sorted(
                (row["kind"], row["fate"], row["reason"] or "", row["rows"])
                for row in _funnel(home)
            )
            for home in (straight, permuted)
        ]
        assert funnels[0] == funnels[1]


def _funnel(home: Path) -> list[dict[str, object]]:
    """The funnel over all files."""
    totals: dict[tuple[object, ...], int] = {}
    for row in table(home, "funnel"):
        key = (row["kind"], row["fate"], row["reason"])
        totals[key] = totals.get(key, 0) + int(row["rows"])
    return [
        {"kind": kind, "fate": fate, "reason": reason, "rows": rows}
        for (kind, fate, reason), rows in totals.items()
    ]


def test_three_nights_of_the_real_season_give_what_one_run_gives(
    real_home: Path, tmp_path: Path
) -> None:
    once = tmp_path / "once"
    once.mkdir()
    (once / "inputs").symlink_to(real_home / "inputs")
    for as_of in ("2026-04-20T00:00:00Z", "2026-05-15T12:00:00Z", "2026-06-10T00:00:00Z"):
        night(real_home, as_of)
    night(once, "2026-06-10T00:00:00Z")
    derived = (*NIGHTLY, "seasons")
    assert snapshot(real_home, derived) == snapshot(once, derived)
