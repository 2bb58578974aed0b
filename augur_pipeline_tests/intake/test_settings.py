"""seasons.csv, score_terms.csv and policy.toml: a bad setting stops the run (contract §2, §6)."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from augur_pipeline.errors import AugurError, InputError, PolicyError
from augur_pipeline.intake.settings import land_settings
from augur_pipeline.policy import Policy
from augur_pipeline.store.resource import Store
from augur_pipeline_tests.nights import intake_night, make_home, night, open_store

SEASONS_HEADER = "season_id,starts_at,ends_at,max_horizon_hours\n"
S1 = "S1,2024-01-01,2024-02-01,\n"
S2 = "S2,2024-02-01,2024-03-01,48\n"
TERMS_HEADER = "season_id,agent_id,term,weight,value\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for the whole module: each test writes the settings it is about."""
    home = make_home(tmp_path_factory.mktemp("settings"))
    with open_store(home) as opened:
        intake_night(opened)
        yield opened


def settle_on(store: Store, seasons: str | bytes | None, terms: str | None = None) -> None:
    """Read these settings, and no others, as a run does."""
    contents = {"seasons.csv": seasons, "score_terms.csv": terms}
    for name, content in contents.items():
        path = store.paths.inputs / name
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    land_settings(store, Policy())


def refusal(store: Store, seasons: str | bytes | None, terms: str | None = None) -> str:
    """The message of the `InputError` that these settings meet."""
    with pytest.raises(InputError) as caught:
        settle_on(store, seasons, terms)
    message = str(caught.value)
    assert "\n" not in message
    return message


SEASON_ERRORS: dict[str, tuple[str, str, str]] = {
    "overlap": (
        SEASONS_HEADER + S1 + "S2,2024-01-31T23:59:59.999999,2024-03-01,\n",
        "'S1' and 'S2' overlap",
        "let one end (exclusive) at or before the other's start",
    ),
    "one within another": (
        SEASONS_HEADER + "in,2024-01-10,2024-01-20,\n" + S1,
        "'S1' and 'in' overlap",
        "let one end",
    ),
    "one within another, a third between": (
        SEASONS_HEADER
        + "long,2024-01-01,2024-12-01,\n"
        + "x,2024-02-01,2024-02-02,\n"
        + "y,2024-03-01,2024-03-02,\n",
        "overlap",
        "let one end",
    ),
    "twice": (
        SEASONS_HEADER + S1 + " S1 ,2024-02-01,2024-03-01,\n",
        "line 3: season 'S1'",
        "rename",
    ),
    "no id": (
        SEASONS_HEADER + S1 + ",2024-02-01,2024-03-01,\n",
        "line 3: no season_id",
        "fill it in",
    ),
    "no start": (SEASONS_HEADER + "S1,,2024-02-01,\n", "line 2: no starts_at", "fill it in"),
    "no end": (SEASONS_HEADER + "S1,2024-01-01, ,\n", "line 2: no ends_at", "fill it in"),
    "bad start": (
        SEASONS_HEADER + "S1,2024-1-1,2024-02-01,\n",
        "line 2: starts_at '2024-1-1'",
        "mend it",
    ),
    "bad end": (SEASONS_HEADER + "S1,2024-01-01,never,\n", "line 2: ends_at 'never'", "mend it"),
    "ends at its start": (
        SEASONS_HEADER + "S1,2024-01-01,2024-01-01,\n",
        "line 2: the season does not end",
        "mend it",
    ),
    "ends before its start": (
        SEASONS_HEADER + "S1,2024-02-01,2024-01-01,\n",
        "line 2: the season does not end",
        "mend it",
    ),
    "bad horizon bound": (
        SEASONS_HEADER + "S1,2024-01-01,2024-02-01,day\n",
        "max_horizon_hours 'day'",
        "mend it",
    ),
    "no horizon": (
        SEASONS_HEADER + "S1,2024-01-01,2024-02-01,0\n",
        "max_horizon_hours must be above 0",
        "mend",
    ),
    "negative horizon": (
        SEASONS_HEADER + "S1,2024-01-01,2024-02-01,-1\n",
        "max_horizon_hours must be above 0",
        "mend",
    ),
    "ragged": (SEASONS_HEADER + "S1,2024-01-01\n", "line 2: not as many fields", "mend it"),
    "missing column": ("season_id,starts_at\nS1,2024-01-01\n", "no column ends_at", "add it"),
    "empty": ("", "no column season_id, starts_at, ends_at", "add it"),
    "open quote": (SEASONS_HEADER + '"S1,2024-01-01,2024-02-01,\n', "line 2: a quote", "mend"),
}


@pytest.mark.parametrize("case", SEASON_ERRORS)
def test_a_bad_seasons_file_is_refused(store: Store, case: str) -> None:
    content, what, remedy = SEASON_ERRORS[case]
    message = refusal(store, content)
    assert message.startswith(f"{store.paths.inputs}/seasons.csv: ")
    assert what in message
    assert remedy in message


def test_seasons_not_in_utf8(store: Store) -> None:
    content = SEASONS_HEADER.encode() + b"\xff,2024-01-01,2024-02-01,\n"
    assert "seasons.csv: line 2: " in refusal(store, content)


def test_a_home_without_seasons_is_told_to_write_them(store: Store) -> None:
    message = refusal(store, None)
    assert f"{store.paths.inputs}/seasons.csv: no such file" in message
    assert "season_id,starts_at,ends_at" in message


def test_bad_settings_stop_the_run_and_nothing_is_published(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (home / "inputs/seasons.csv").write_text(SEASON_ERRORS["overlap"][0])
    with pytest.raises(InputError, match="overlap"):
        night(home)
    assert not (home / "augur.duckdb").exists()
    (home / "inputs/seasons.csv").write_text(SEASONS_HEADER + S1)
    (home / "inputs/score_terms.csv").write_text(TERMS_HEADER + "S1,a,x,0.8,1\n")
    with pytest.raises(InputError, match="must sum to"):
        night(home)
    assert not (home / "augur.duckdb").exists()
    assert not (home / "exports").exists()


def test_seasons_that_touch_do_not_overlap(store: Store) -> None:
    settle_on(store, "\ufeff" + SEASONS_HEADER + S2 + "\n" + S1)
    assert store.connection.execute("FROM seasons ORDER BY season_id").fetchall() == [
        ("S1", datetime(2024, 1, 1), datetime(2024, 2, 1), 24.0),
        ("S2", datetime(2024, 2, 1), datetime(2024, 3, 1), 48.0),
    ]


def test_horizon_bound_may_be_left_out(store: Store) -> None:
    settle_on(store, "ends_at,season_id,starts_at\n2024-02-01,S1,2024-01-01\n")
    assert store.connection.execute("SELECT max_horizon_hours FROM seasons").fetchall() == [(24.0,)]


TERM_ERRORS: dict[str, tuple[str, str, str]] = {
    "calibration": (
        "S1,a,x,0.8,1\nS1,a,calibration,0.1,1\n",
        "line 3: the term calibration",
        "leave",
    ),
    "another weight": (
        "S1,a,x,0.9,1\nS1,b,x,0.8,1\n",
        "line 3: term 'x' has another weight",
        "one weight",
    ),
    "weights too low": ("S1,a,x,0.8,1\n", "season 'S1' sum to 0.8", "must sum to 0.9"),
    "weights too high": ("S1,a,x,0.5,1\nS1,b,y,0.5,1\n", "season 'S1' sum to 1", "must sum to 0.9"),
    "weights just too low": ("S1,a,x,0.899999998,1\n", "season 'S1'", "must sum to 0.9"),
    "a season of two": (
        "S1,a,x,0.9,1\nS2,a,x,0.4,1\nS2,a,y,0.4,1\n",
        "season 'S2' sum to 0.8",
        "must sum to 0.9",
    ),
    "weight above": ("S1,a,x,1.0,1\n", "line 2: weight 1.0 is outside", "(0, 0.9]"),
    "no weight left": ("S1,a,x,0,1\nS1,a,y,0.9,1\n", "line 2: weight 0.0 is outside", "(0, 0.9]"),
    "negative weight": ("S1,a,x,-0.1,1\n", "line 2: weight -0.1 is outside", "(0, 0.9]"),
    "weight missing": ("S1,a,x,,1\n", "line 2: no weight", "fill it in"),
    "weight no number": ("S1,a,x,heavy,1\n", "line 2: weight 'heavy'", "mend it"),
    "weight nan": ("S1,a,x,nan,1\n", "line 2: weight 'nan'", "mend it"),
    "value above": ("S1,a,x,0.9,100.5\n", "line 2: value 100.5 is outside [0, 100]", "mend it"),
    "value below": ("S1,a,x,0.9,-1\n", "line 2: value -1.0 is outside [0, 100]", "mend it"),
    "value no number": ("S1,a,x,0.9,high\n", "line 2: value 'high'", "mend it"),
    "value nan": ("S1,a,x,0.9,nan\n", "line 2: value 'nan'", "mend it"),
    "unknown season": (
        "S9,a,x,0.9,1\n",
        "line 2: season 'S9' is not in seasons.csv",
        "add or mend",
    ),
    "season missing": (",a,x,0.9,1\n", "line 2: no season_id", "fill it in"),
    "agent missing": ("S1,,x,0.9,1\n", "line 2: no agent_id", "fill it in"),
    "term missing": ("S1,a, ,0.9,1\n", "line 2: no term", "fill it in"),
    "twice": ("S1,a,x,0.9,1\nS1, a ,x,0.9,1\n", "line 3: this season, agent and term", "keep one"),
    "ragged": ("S1,a,x,0.9\n", "line 2: not as many fields", "mend it"),
}


@pytest.mark.parametrize("case", TERM_ERRORS)
def test_bad_score_terms_are_refused(store: Store, case: str) -> None:
    content, what, remedy = TERM_ERRORS[case]
    message = refusal(store, SEASONS_HEADER + S1 + S2, TERMS_HEADER + content)
    assert message.startswith(f"{store.paths.inputs}/score_terms.csv: ")
    assert what in message
    assert remedy in message


def test_score_terms_without_a_column(store: Store) -> None:
    terms = "season_id,agent_id,term,value\nS1,a,x,1\n"
    message = refusal(store, SEASONS_HEADER + S1, terms)
    assert "score_terms.csv: no column weight; add it" in message


def test_score_terms_that_are_right(store: Store) -> None:
    """Weights within 1e-9; each term counts once, however many agents; a value may be missing."""
    settle_on(
        store,
        SEASONS_HEADER + S1 + S2,
        TERMS_HEADER + "S2,a,x,0.9000000005,0\n"
        + "S1,a,z,0.3,100\nS1,b,z,0.3,\nS1,b,y,0.3,50\nS1,c,w,0.1,1\nS1,c,v,0.2,1\n",
    )  # fmt: skip
    assert store.connection.execute("FROM score_terms ORDER BY ALL").fetchall() == [
        ("S1", "a", "z", 0.3, 100.0),
        ("S1", "b", "y", 0.3, 50.0),
        ("S1", "b", "z", 0.3, None),
        ("S1", "c", "v", 0.2, 1.0),
        ("S1", "c", "w", 0.1, 1.0),
        ("S2", "a", "x", 0.9000000005, 0.0),
    ]


@pytest.mark.parametrize("terms", [None, TERMS_HEADER])
def test_score_terms_are_optional(store: Store, terms: str | None) -> None:
    settle_on(store, SEASONS_HEADER + S1, terms)
    assert store.connection.execute("FROM score_terms").fetchall() == []


def _not_utf8(path: Path) -> None:
    path.write_bytes(b'backfill = "\xff"')


POLICY_ERRORS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "unknown choice": (
        lambda path: path.write_text("window_hours = 3\n"),
        "'window_hours'",
        "may set: backfill",
    ),
    "unknown value": (
        lambda path: path.write_text('backfill = "Exclude"\n'),
        "'Exclude'",
        "one of count, exclude",
    ),
    "value of another type": (
        lambda path: path.write_text("backfill = true\n"),
        "True",
        "one of count, exclude",
    ),
    "no TOML": (lambda path: path.write_text("backfill: exclude\n"), "TOML", "line 1"),
    "not UTF-8": (_not_utf8, "TOML", "utf-8"),
    "a folder": (lambda path: path.mkdir(), "no regular file", "remove it"),
}


@pytest.mark.parametrize("case", POLICY_ERRORS)
def test_a_bad_policy_is_refused(tmp_path: Path, case: str) -> None:
    write, what, remedy = POLICY_ERRORS[case]
    path = tmp_path / "policy.toml"
    write(path)
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert what in message
    assert remedy.lower() in message.lower()
    assert "\n" not in message


def test_a_bad_policy_stops_the_run(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (home / "inputs/policy.toml").write_text("window_hours = 3\n")
    with pytest.raises(PolicyError, match="window_hours"):
        night(home)
    assert not (home / "augur.duckdb").exists()


def test_a_policy_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    """Every error names what is wrong, where, and what to do (engineering §1)."""
    path = tmp_path / "policy.toml"
    path.write_text("backfill: exclude\n")
    with pytest.raises(PolicyError, match=r"mend|write|remove|save|use"):
        Policy.from_toml(path)


def test_a_policy_is_optional_and_kept(tmp_path: Path) -> None:
    assert Policy.from_toml(tmp_path / "none.toml") == Policy()
    (tmp_path / "policy.toml").write_text("# nothing chosen\n")
    assert Policy.from_toml(tmp_path / "policy.toml") == Policy()
    (tmp_path / "policy.toml").write_text('backfill = "exclude"\n')
    chosen = Policy.from_toml(tmp_path / "policy.toml")
    assert chosen.backfill == "exclude"
    assert Policy.from_json(chosen.to_json()) == chosen


def test_the_numbers_of_the_contract() -> None:
    policy = Policy()
    assert (policy.window_hours, policy.expiry_hours, policy.max_horizon_hours) == (2, 168, 87_600)
    assert (policy.brier_reference, policy.min_resolved) == (0.25, 5)
    assert (policy.calibration_weight, policy.terms_weight) == (0.10, 0.90)
    assert policy.backfill == "count"
    parameters = policy.sql_parameters()
    assert parameters["window_us"] == 7_200_000_000
    assert parameters["expiry_us"] == 604_800_000_000


def test_all_of_them_are_errors_a_user_can_act_on() -> None:
    assert issubclass(InputError, AugurError)
    assert issubclass(PolicyError, AugurError)
