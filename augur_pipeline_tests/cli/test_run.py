"""`augur run`: what it prints, what it records, and how it fails."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from dagster import AssetKey, DagsterInstance, DagsterRunStatus, build_schedule_context

from augur_pipeline.exports.publish import publish
from augur_pipeline.policy import Policy
from augur_pipeline.store.clock import refuse_lead
from augur_pipeline.store.grammar import parse_time
from augur_pipeline.store.resource import Store
from augur_pipeline_tests.cli.processes import (
    COMMAND,
    HOSTILE_AGENT,
    augur,
    environment,
    exported_files,
    hand_home,
    last_line,
)
from augur_pipeline_tests.nights import (
    CALL_COLUMNS,
    GOOD_CALL,
    LATER,
    SEASON,
    make_home,
    night,
    open_store,
    query,
    work_night,
    write_csv,
)

ASSETS = (
    "raw_calls", "raw_prices", "settings", "sealed_calls", "eligible_calls", "resolved_outcomes",
    "agent_season_brier", "season_scores", "scored_forecasts", "calibration_diagnostics",
    "benchmark_forecasts", "benchmark_skill", "questions", "agent_comparisons",
    "agent_comparisons_by_episode", "orientation_audit", "missingness", "brier_bounds",
    "episode_weighted_brier", "passports", "published",
)  # fmt: skip
EARLIER = "2024-05-31T23:59:59.999999Z"
"""One microsecond before LATER."""


class Ran:
    """A home after one run, and what the run said."""

    def __init__(self, home: Path, process: subprocess.CompletedProcess[str]) -> None:
        self.home = home
        self.process = process
        self.lines = [
            [cell.strip() for cell in line.strip().strip("│").split("│")]
            for line in process.stdout.splitlines()
        ]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    home = hand_home(tmp_path_factory.mktemp("ran") / "home")
    # the home comes from the variable here; every other test names it with --home
    process = augur("run", "--as-of", LATER, AUGUR_HOME=str(home))
    assert process.returncode == 0, process.stderr
    return Ran(home, process)


# --- a run that publishes -------------------------------------------------------------------------


def test_prints_the_funnel(ran: Ran) -> None:
    at = ran.lines.index(["Every row read, by fate"])
    rows = [line for line in ran.lines[at:] if line[0] in ("calls", "prices")]
    assert rows == [
        ["calls", "eligible", "", "7"],
        ["calls", "excluded", "hold", "1"],
        ["calls", "not_yet", "", "1"],
        ["calls", "rejected", "restated", "1"],
        ["prices", "rejected", "price_not_positive", "1"],
        ["prices", "usable", "", "1"],
    ]


def test_prints_the_leaderboard_best_first(ran: Ran) -> None:
    rows = [line for line in ran.lines if line[0] == "S1"]
    assert rows == [
        ["S1", "five", "5", "1", "0.1700", "", "32.0", "100.0 %", "+0.320", "?", "True"],
        [
            "S1", r"\x1b[31mred\x1b[0m", "2", "1", "0.0400", "", "waiting, 3 more", "100.0 %",
            "+0.840", "", "True",
        ],
    ]  # fmt: skip
    assert "against coin_flip\n" in ran.process.stdout
    assert "next: ≠ losses differ" in ran.process.stdout


def test_the_leaderboard_knows_intervals_benchmarks_and_neighbours(
    tmp_path: Path, run_inside: Callable[..., Result]
) -> None:
    """Thirty episodes; `good` and `twin` are right 9 of 10 times, `bad` one in two."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    calls, prices = [], []
    for n in range(180):
        decided = start + timedelta(hours=12 * n)
        prices.append(("P", f"{decided + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}", 101))
        for agent, is_right in (
            ("good", n % 10 > 0), ("twin", n % 10 > 0), ("bad", n % 2 == 0), ("stray", n > 178)
        ):  # fmt: skip
            if agent == "stray" and not is_right:
                continue
            calls.append(
                {
                    **GOOD_CALL,
                    "call_id": f"{agent}{n}",
                    "agent_id": agent,
                    "decided_at": f"{decided:%Y-%m-%dT%H:%M:%SZ}",
                    "action": "buy" if is_right else "sell",
                }
            )
    season = {"season_id": "S1", "starts_at": "2024-01-01", "ends_at": "2024-06-01"}
    home = make_home(tmp_path / "home", calls, prices, [season])
    (home / "inputs/benchmarks.csv").write_text(
        "benchmark_id,kind,probability,locked_at,version\n"
        "late,constant,0.5,2024-01-02,1\nhouse,constant,0.6,2024-01-01,1\n"
    )
    result = run_inside(home, "--as-of", LATER)
    assert result.exit_code == 0, result.output
    lines = [[c.strip() for c in line.strip("│").split("│")] for line in result.output.splitlines()]
    rows = {line[1]: line for line in lines if line[0] == "S1"}
    good, twin, bad, stray = (rows[name] for name in ("good", "twin", "bad", "stray"))
    assert good[2:5] == ["180", "30", "0.1000"]
    low, high = map(float, good[5].split("-"))
    assert low < 0.1 < high
    # the first declared one was locked late: the next one counts
    assert "against house" in result.output
    benchmark_brier = 0.9 * 0.16 + 0.1 * 0.36
    assert float(good[8]) == pytest.approx(1 - 0.1 / benchmark_brier, abs=5e-4)
    # the same forecasts are not distinguishable, worse ones are, and one call says nothing
    assert (good[9], twin[9], bad[9], stray[9]) == ("=", "≠", "?", "")


def test_prints_warnings_and_where_the_outputs_are(ran: Ran) -> None:
    stdout = ran.process.stdout
    (digest,) = query(ran.home, "SELECT content_digest FROM run_info")[0]
    # a restated row in ten calls, and a bad price in two: above 1 % of a file
    assert "rejected_share: 2 row(s)" in stdout
    assert "backfilled_calls: " in stdout
    assert [
        f"as_of     {LATER}",
        f"digest    {digest}",
        f"database  {ran.home / 'augur.duckdb'}",
        f"exports   {ran.home / 'exports/latest'}",
    ] == [
        line.rstrip()
        for line in stdout.splitlines()
        if line.startswith(("as_of", "digest", "database", "exports"))
    ]
    assert "they say nothing about profit" in last_line(stdout)


def test_progress_goes_to_stderr_alone(ran: Ran) -> None:
    assert "reading calls/calls.csv (1 of 1)" in ran.process.stderr
    assert "check finality: holds" in ran.process.stderr
    assert "reading" not in ran.process.stdout
    assert "Traceback" not in ran.process.stderr
    assert "Warning" not in ran.process.stderr


def test_hostile_text_reaches_no_terminal(ran: Ran) -> None:
    assert query(
        ran.home, "SELECT count(*) FROM passports WHERE agent_id = ?", [HOSTILE_AGENT]
    ) == [(1,)]
    assert "\x1b" not in ran.process.stdout
    assert "\x1b" not in ran.process.stderr


def test_the_run_is_in_the_homes_instance(ran: Ran) -> None:
    instance = DagsterInstance.from_config(str(ran.home / "dagster"))
    try:
        (run,) = instance.get_runs()
        assert (run.job_name, run.status) == ("nightly", DagsterRunStatus.SUCCESS)
        assert query(ran.home, "SELECT run_id FROM run_info") == [(run.run_id,)]
        for name in ASSETS:
            event = instance.get_latest_materialization_event(AssetKey(name))
            assert event is not None, f"{name} was not materialised"
            assert event.run_id == run.run_id
        assert {key.to_user_string() for key in instance.all_asset_keys()} == set(ASSETS)
    finally:
        instance.dispose()


def test_the_same_as_of_again_gives_the_same_bits(ran: Ran) -> None:
    before = query(ran.home, "SELECT content_digest, run_id, as_of FROM run_info")[0]
    files = exported_files(ran.home)
    assert "tables/run_info.parquet" in files
    assert len([name for name in files if name.startswith("passports/")]) == 3
    process = augur("run", "--home", ran.home, "--as-of", LATER)
    assert process.returncode == 0, process.stderr
    after = query(ran.home, "SELECT content_digest, run_id, as_of FROM run_info")[0]
    assert after[0] == before[0]
    assert after[2] == before[2] == datetime(2024, 6, 1)
    assert after[1] != before[1], "this was no second run"
    assert exported_files(ran.home) == files


def test_without_as_of_the_clock_is_the_start(
    run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    before = datetime.now(UTC).replace(tzinfo=None)
    result = run_inside(home)
    assert result.exit_code == 0, result.stderr
    ((as_of,),) = query(home, "SELECT as_of FROM run_info")
    assert before <= as_of <= datetime.now(UTC).replace(tzinfo=None)


# --- data that stops a run ------------------------------------------------------------------------


def _drop_column(home: Path) -> None:
    row = {k: v for k, v in GOOD_CALL.items() if k != "confidence"}
    write_csv(home / "inputs/calls/b.csv", [row])


def _open_quote(home: Path) -> None:
    text = ",".join(CALL_COLUMNS) + '\n"c9,a,P,buy,llm,0.8,1,100,2024-01-02T00:00:00Z\n'
    (home / "inputs/calls/b.csv").write_text(text)


def _drop_seasons(home: Path) -> None:
    (home / "inputs/seasons.csv").unlink()


def _overlap_seasons(home: Path) -> None:
    second = {
        "season_id": "S2\x1b[2J",
        "starts_at": "2024-01-31T23:59:59Z",
        "ends_at": "2024-03-01",
    }
    write_csv(home / "inputs/seasons.csv", [SEASON, second])


BAD_DATA = {
    "missing column": (_drop_column, ["inputs/calls/b.csv", "confidence"]),
    "unterminated quote": (_open_quote, ["inputs/calls/b.csv", "quote"]),
    "no seasons.csv": (_drop_seasons, ["inputs/seasons.csv", "season_id,starts_at,ends_at"]),
    "overlapping seasons": (_overlap_seasons, ["inputs/seasons.csv", "'S1'", "'S2", "overlap"]),
}


def assert_one_line(stderr: str, *parts: str) -> None:
    """The error is the last line of stderr, and there is no other and no traceback."""
    assert "Traceback" not in stderr
    assert [line for line in stderr.splitlines() if line.startswith("augur: ")] == [
        last_line(stderr)
    ]
    for part in parts:
        assert part in last_line(stderr)


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_one_line_and_exit_1(
    case: str, run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    published, files = (home / "augur.duckdb").read_bytes(), exported_files(home)
    spoil, parts = BAD_DATA[case]
    spoil(home)
    result = run_inside(home, "--as-of", "2024-06-02T00:00:00Z")
    assert result.exit_code == 1
    assert_one_line(result.stderr, *parts)
    assert "\x1b" not in last_line(result.stderr)
    assert result.stdout == ""
    assert (home / "augur.duckdb").read_bytes() == published
    assert exported_files(home) == files


def test_bad_data_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Dagster's own lines, if any, come before ours there."""
    home = hand_home(tmp_path / "home")
    _drop_column(home)
    process = augur("run", "--home", home, "--as-of", LATER)
    assert process.returncode == 1
    assert_one_line(process.stderr, "inputs/calls/b.csv", "confidence")
    assert process.stdout == ""
    assert not (home / "augur.duckdb").exists()
    instance = DagsterInstance.from_config(str(home / "dagster"))
    try:
        (run,) = instance.get_runs()
        assert run.status == DagsterRunStatus.FAILURE
    finally:
        instance.dispose()


def test_no_home(run_inside: Callable[..., Result], tmp_path: Path) -> None:
    result = run_inside(tmp_path / "nowhere")
    assert result.exit_code == 1
    assert_one_line(result.stderr, str(tmp_path / "nowhere"), "augur sample")
    assert list(tmp_path.iterdir()) == []


def test_a_landing_file_with_an_escape_in_its_name(
    run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    write_csv(home / "inputs/calls/b\x1b[2J.csv", [{"call_id": "c"}])
    result = run_inside(home, "--as-of", LATER)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr


# --- the clock ------------------------------------------------------------------------------------


def test_a_clock_going_back_is_refused_before_the_start(
    run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    published = (home / "augur.duckdb").read_bytes()
    result = run_inside(home, "--as-of", EARLIER)
    assert result.exit_code == 1
    line = f"as_of {EARLIER} is before the last published as_of {LATER}"
    assert result.stderr == f"augur: {line}\n"
    assert not (home / "dagster").exists(), "no run was to start"
    assert (home / "augur.duckdb").read_bytes() == published


def test_a_clock_going_back_is_noticed_after_waiting_for_the_lock(tmp_path: Path) -> None:
    home = hand_home(tmp_path / "home")
    night(home, "2024-05-30T00:00:00Z")
    with open_store(home, LATER) as store:
        process = subprocess.Popen(
            [*COMMAND, "run", "--home", str(home), "--as-of", EARLIER],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        assert process.stderr is not None
        said = ""
        while "waiting for" not in said:
            line = process.stderr.readline()
            assert line, f"the run did not wait: {said}"
            said += line
        assert "of process" in said, "who holds the lock is not named"
        work_night(store)
        publish(store)
        published = (home / "augur.duckdb").read_bytes()
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert_one_line(
        said + stderr, f"augur: as_of {EARLIER} is before the last published as_of {LATER}"
    )
    assert stdout == ""
    assert (home / "augur.duckdb").read_bytes() == published


def ahead(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--as-of", "yesterday"],
        ["--as-of", "2024-06-01T24:00:00Z"],
        ["--as-of", "2024-13-01"],
        ["--as-of", ""],
        ["--as-of", "2199-01-01"],
        ["--as-of"],
        ["--as_of", LATER],
        ["extra"],
    ],
    ids=lambda given: " ".join(given) or "empty",
)
def test_wrong_usage_is_exit_2(
    arguments: list[str], run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home", [])
    result = run_inside(home, *arguments)
    assert result.exit_code == 2, result.output
    assert "Error: " in last_line(result.stderr)
    assert "Traceback" not in result.stderr
    assert {path.name for path in home.iterdir()} == {"inputs"}


def test_the_clock_may_lead_the_machines_by_five_minutes(
    run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    result = run_inside(home, "--as-of", ahead(5.5))
    assert result.exit_code == 2
    assert "future" in last_line(result.stderr)
    assert {path.name for path in home.iterdir()} == {"inputs"}
    refuse_lead(parse_time(ahead(4.5)), Policy())


def test_a_home_without_calls_yet_can_run(
    run_inside: Callable[..., Result], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home", [])
    result = run_inside(home, "--as-of", LATER)
    assert result.exit_code == 0, last_line(result.stderr)
    assert query(home, "SELECT count(*) FROM sealed_calls") == [(0,)]


def test_a_run_says_when_another_has_published_before_it_reports(
    run_inside: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    command = sys.modules["augur_pipeline.cli.run"]
    honest = command._execute

    def overtaken(*arguments: Any) -> Any:
        result = honest(*arguments)
        night(home, "2024-06-02T00:00:00Z")
        return result

    monkeypatch.setattr(command, "_execute", overtaken)
    result = run_inside(home, "--as-of", LATER)
    assert result.exit_code == 0
    assert "Another run has published since: this is what it published." in result.stdout
    assert "as_of     2024-06-02T00:00:00Z" in result.stdout


# --- rules that fail ------------------------------------------------------------------------------


def _spoil_after(monkeypatch: pytest.MonkeyPatch, step: str, statement: str) -> None:
    honest = Store.run

    def run(self: Store, package: str, name: str) -> None:
        honest(self, package, name)
        if name == step:
            self.connection.execute(statement)

    monkeypatch.setattr(Store, "run", run)


@pytest.mark.parametrize(
    ("step", "statement", "rule"),
    [
        ("agent_season_brier", "UPDATE agent_season_brier SET brier = 'nan'", "scores_in_range"),
        # no check follows passports in the graph: publishing checks again
        ("passports", "UPDATE funnel SET rows = rows + 1", "funnel_sums"),
    ],
)
def test_a_broken_rule_publishes_nothing(
    step: str,
    statement: str,
    rule: str,
    run_inside: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    published, files = (home / "augur.duckdb").read_bytes(), exported_files(home)
    _spoil_after(monkeypatch, step, statement)
    result = run_inside(home, "--as-of", "2024-06-02T00:00:00Z")
    assert result.exit_code == 1
    assert_one_line(result.stderr, "nothing published", rule)
    assert result.stdout == ""
    assert (home / "augur.duckdb").read_bytes() == published
    assert exported_files(home) == files


# --- the schedule ---------------------------------------------------------------------------------


def _scheduled(definitions: Any, as_of: str, **tags: str) -> Any:
    return definitions.defs.resolve_job_def("nightly").execute_in_process(
        run_config={"resources": {"clock": {"config": {"as_of": as_of}}}},
        tags=tags,
        raise_on_error=False,
    )


def test_a_scheduled_run_behind_the_published_one_ends_well_and_publishes_nothing(
    definitions_of: Callable[[Path], Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    published, files = (home / "augur.duckdb").read_bytes(), exported_files(home)
    schedule = {"dagster/schedule_name": "nightly_schedule"}
    result = _scheduled(definitions_of(home), EARLIER, **schedule)
    assert result.success
    assert result.get_asset_materialization_events() == []
    assert (home / "augur.duckdb").read_bytes() == published
    assert exported_files(home) == files
    said = capfd.readouterr().err
    assert EARLIER in said
    assert LATER in said
    assert "nothing published" in said


def test_the_same_run_without_the_schedules_tag_fails(
    definitions_of: Callable[[Path], Any], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    result = _scheduled(definitions_of(home), EARLIER)
    assert not result.success
    assert result.get_asset_materialization_events() == []


def test_a_scheduled_run_at_or_after_the_published_one_publishes(
    definitions_of: Callable[[Path], Any], tmp_path: Path
) -> None:
    home = hand_home(tmp_path / "home")
    night(home, LATER)
    tick = "2024-06-02T00:15:00Z"
    result = _scheduled(definitions_of(home), tick, **{"dagster/schedule_name": "nightly_schedule"})
    assert result.success
    assert len(result.get_asset_materialization_events()) == len(ASSETS)
    assert query(home, "SELECT as_of FROM run_info") == [(datetime(2024, 6, 2, 0, 15),)]


def test_the_schedule_hands_its_tick_to_the_run(
    definitions_of: Callable[[Path], Any], tmp_path: Path
) -> None:
    schedule = definitions_of(tmp_path).nightly_schedule
    assert schedule.default_status.value == "RUNNING"
    assert schedule.execution_timezone == "UTC"
    assert schedule.job_name == "nightly"
    tick = datetime(2024, 6, 2, 0, 15, tzinfo=UTC)
    data = schedule.evaluate_tick(build_schedule_context(scheduled_execution_time=tick))
    (request,) = data.run_requests
    assert json.loads(json.dumps(request.run_config))["resources"] == {
        "clock": {"config": {"as_of": "2024-06-02T00:15:00Z"}}
    }
