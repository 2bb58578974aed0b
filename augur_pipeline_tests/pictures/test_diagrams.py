import io
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from augur_pipeline.exports.file_names import file_name, file_names
from augur_pipeline.exports.index import Names
from augur_pipeline.pictures import diagrams
from augur_pipeline.pictures.diagram_data import DiagramData
from augur_pipeline.pictures.diagram_files import SEASON_PICTURE, season_pictures, write_diagrams
from augur_pipeline.pictures.diagrams import (
    diagram_numbers,
    fitted,
    reliability_diagram,
    small_multiples,
    visible,
)
from augur_pipeline.pictures.drawn import Drawn
from augur_pipeline.verification import brier_score, calibration_tests, corp

pytestmark = pytest.mark.filterwarnings("error")


def agent(n=300, episodes=12, digits=1, seed=0, title="agent"):
    rng = np.random.default_rng(seed)
    p = np.round(rng.uniform(0.5, 0.95, n), digits)
    y = (rng.random(n) < p).astype(int)
    return DiagramData(title, p, y, np.sort(rng.integers(0, episodes, n)))


def picture(png):
    image = Image.open(io.BytesIO(png))
    image.load()
    assert image.format == "PNG"
    return image


SIXTY = np.arange(60) // 4
CASES = {
    "empty": DiagramData("nobody", [], [], []),
    "empty, episodes unknown": DiagramData("nobody", [], []),
    "one point": DiagramData("one", [0.7], [1], [3]),
    "one point without episode": DiagramData("one", [0.7], [0], [None]),
    "only right": DiagramData("right", [0.6, 0.7, 0.8] * 20, [1] * 60, SIXTY),
    "only wrong": DiagramData("wrong", [0.6, 0.7, 0.8] * 20, [0] * 60, SIXTY),
    "one probability": DiagramData("0.7", [0.7] * 60, [1, 0, 1] * 20, SIXTY),
    "two probabilities": DiagramData("two", [0.6, 0.9] * 30, [1, 1, 0, 1] * 15, SIXTY),
    "0 and 1": DiagramData("ends", [0.0, 1.0, 0.5] * 20, [0, 1, 1, 0, 1, 0] * 10, SIXTY),
    "0 and 1, both missed": DiagramData("ends", [0.0, 1.0] * 30, [1, 0] * 30, SIXTY),
    "500 probabilities": agent(500, 40, 9),
    "episodes unknown": DiagramData("?", agent().p, agent().y),
    "five episodes": agent(50, 5),
    "some without episode": DiagramData(
        "some", agent(40).p, agent(40).y, [None, *range(10), *[None] * 9, *range(20)]
    ),
    "events": DiagramData("e", agent(90).p, agent(90).y, [f"event {k}" for k in range(90)]),
    "ends of doubles": DiagramData("e", [5e-324, 1 - 2**-53, 0.5] * 20, [0, 1, 1] * 20, SIXTY),
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_is_a_picture(case):
    image = picture(reliability_diagram(CASES[case]))
    assert image.size == (diagrams.WIDTH, diagrams.HEIGHT)
    assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)
    image = picture(small_multiples("season", [CASES[case]]))
    assert image.size[0] > 600


def test_a_hundred_thousand_rows():
    rng = np.random.default_rng(2)
    p = rng.random(100_000)
    data = DiagramData("large", p, (rng.random(p.size) < p).astype(int), np.arange(p.size) // 1000)
    numbers = diagram_numbers(data)
    assert numbers.n == 100_000
    assert numbers.band.low.size <= 1001
    picture(reliability_diagram(data))


@pytest.mark.parametrize(("panels", "columns", "rows"), [
    (0, 2, 1), (1, 2, 1), (2, 2, 1), (3, 2, 2), (6, 3, 2), (9, 3, 3), (13, 4, 4), (24, 4, 6),
])  # fmt: skip
def test_small_multiples_grow_downwards(panels, columns, rows):
    image = picture(small_multiples("S1", [CASES["two probabilities"]] * panels))
    assert image.size[0] == columns * diagrams.PANEL_WIDTH + diagrams.MARGIN_LEFT + 16
    assert image.size[1] == rows * diagrams.PANEL_HEIGHT + 128


def shuffled(data, seed=1):
    order = np.random.default_rng(seed).permutation(len(data.p))
    episodes = None if data.episodes is None else [data.episodes[i] for i in order]
    return DiagramData(data.title, np.array(data.p)[order], np.array(data.y)[order], episodes)


@pytest.mark.parametrize("case", CASES)
def test_same_rows_same_bytes_in_any_order(case):
    data = CASES[case]
    png = reliability_diagram(data)
    assert reliability_diagram(data) == png
    assert reliability_diagram(shuffled(data)) == png
    assert small_multiples("S", [data]) == small_multiples("S", [shuffled(data)])


def test_bytes_do_not_depend_on_the_process_or_its_settings(tmp_path):
    script = (
        "import hashlib; from augur_pipeline_tests.pictures.test_diagrams import *; "
        "print(hashlib.sha256(reliability_diagram(agent())).hexdigest())"
    )
    (tmp_path / "matplotlibrc").write_text(
        "text.usetex: True\nfont.size: 30\naxes.facecolor: red\nlines.antialiased: False\n"
        "savefig.dpi: 30\ntext.color: green\npath.sketch: 5, 100, 5\n"
    )
    root = Path(__file__).resolve().parents[2]
    seen = set()
    for settings in ({}, {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc"), "TZ": "Asia/Tokyo"}):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            timeout=120, cwd=root, env={"HOME": str(tmp_path), "PYTHONPATH": str(root), **settings},
        )  # fmt: skip
        seen.add(done.stdout)
    assert len(seen) == 1


def test_settings_of_the_process_are_put_back():
    with mpl.rc_context({"font.size": 31, "text.usetex": True}):
        reliability_diagram(agent())
        assert mpl.rcParams["font.size"] == 31
        assert mpl.rcParams["text.usetex"] is True


def test_pyplot_stays_out():
    script = (
        "import sys, augur_pipeline.pictures.diagrams; print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_threads_do_not_mix_their_pictures():
    data = [agent(seed=seed, title=f"agent {seed}") for seed in range(6)]
    alone = [reliability_diagram(each) for each in data]
    found = [b""] * 6

    def draw(k):
        found[k] = reliability_diagram(data[k])

    threads = [threading.Thread(target=draw, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone


def test_the_file_names_neither_program_nor_date():
    assert set(picture(reliability_diagram(agent())).info) <= {"dpi"}


# --- what it shows --------------------------------------------------------------------------------


def test_numbers_are_those_of_verification():
    data = agent()
    numbers = diagram_numbers(data)
    assert (numbers.n, numbers.with_episode, numbers.episodes) == (300, 300, 12)
    assert numbers.corp == corp(data.p, data.y)
    assert numbers.interval.estimate == brier_score(data.p, data.y)
    tests = calibration_tests(data.p, data.y, data.episodes)
    assert numbers.mcb_by_chance == tests.mcb_null_mean
    assert numbers.band.low is not None
    lines = [text for text, _, _ in diagrams._caption(numbers)]
    assert lines[0].startswith("n 300 · 12 episodes · Brier 0.")
    assert "[0." in lines[0]
    for name in ("MCB 0.", "DSC 0.", "UNC 0.", "ECE 0."):
        assert name in lines[1]


def test_bars_stand_where_round_numbers_are():
    for k in range(21):
        strip = diagram_numbers(DiagramData("", [k / 20, round(k * 0.05, 2)], [0, 1])).strip
        assert strip[k] == 2
    edges = diagram_numbers(DiagramData("", [0.024, 0.025, 0.975, 0.974], [1] * 4)).strip
    assert (edges[0], edges[1], edges[19], edges[20]) == (1, 1, 1, 1)


def test_rows_without_episode_are_scored_but_not_in_ranges():
    numbers = diagram_numbers(CASES["some without episode"])
    assert (numbers.n, numbers.with_episode) == (40, 30)
    assert sum(point.n for point in numbers.bins) == 40
    assert sum(point.n for point in numbers.bin_ranges) == 30
    assert numbers.corp.brier == brier_score(agent(40).p, agent(40).y)
    assert "10 without episode" in diagrams._note(numbers)


@pytest.mark.parametrize(("case", "words"), [
    ("episodes unknown", "no episodes known: no band, no intervals"),
    ("five episodes", "no band: fewer than six episodes"),
    ("only right", "no Brier interval: few misses"),
    ("500 probabilities", "whole episodes are the unit of band and intervals"),
])  # fmt: skip
def test_what_is_missing_is_said(case, words):
    assert diagrams._note(diagram_numbers(CASES[case])) == words


def test_no_resolved_calls():
    assert [text for text, _, _ in diagrams._caption(diagram_numbers(CASES["empty"]))] == [
        "n 0: nothing to score yet"
    ]
    assert list(diagrams._short_caption(diagram_numbers(CASES["empty"]))) == ["n 0"]


def test_colours_come_out_as_they_are():
    image = picture(reliability_diagram(agent())).convert("RGB")
    found = {colour for _, colour in image.getcolors(1 << 24)}
    for colour in (*diagrams.COLOURS, diagrams.PAPER):
        assert tuple(bytes.fromhex(colour[1:])) in found


def test_the_curve_and_the_band_are_where_they_should_be():
    """Two probabilities, read off the picture: (.6, .5) and (.9, 1) on the diagram's square."""
    image = picture(reliability_diagram(CASES["two probabilities"])).convert("RGB")
    left, top, side = 118, 128, 656

    def colour_at(x, y):
        return image.getpixel((round(left + x * side), round(top + (1 - y) * side)))

    blue, white = (0, 114, 178), (255, 255, 255)
    rate = np.mean(np.array(CASES["two probabilities"].y)[::2])
    assert colour_at(0.6, rate) == blue
    assert colour_at(0.3, 0.5) == white
    half = (rate + 1.0) / 2  # half-way between the two dots
    assert colour_at(0.75, half) == blue


@pytest.mark.parametrize(
    ("p", "y", "episodes"),
    [([1.5], [1], [0]), ([0.5], [2], [0]), ([0.5, 0.5], [1, 1], [0]), ([0.5], [1], [0.5])],
)
def test_bad_rows_are_refused(p, y, episodes):
    with pytest.raises(ValueError, match=r"p\[0\]|y\[0\]|episodes"):
        reliability_diagram(DiagramData("", p, y, episodes))


# --- hostile titles -------------------------------------------------------------------------------

HOSTILE = [
    "$x^2$", "$", r"$\frac{1}{0}$", r"\$$$\undefined", "a\nb\r\tc\x00", "\u202eevil", "中文代理",
    "🙂" * 30, "W" * 5000, "i" * 5000, " " * 50, "", "é\u0301" * 100, "\ud800", "<img src=x>",
    "../../etc/passwd", "\u0645\u0631\u062d\u0628\u0627", "%s {0} %(x)s",
]  # fmt: skip


@pytest.mark.parametrize("title", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_titles(title):
    data = DiagramData(title, [0.7] * 12, [1, 0] * 6, list(range(12)))
    assert picture(reliability_diagram(data)).size == (diagrams.WIDTH, diagrams.HEIGHT)
    picture(small_multiples(title, [data]))


def test_dollars_are_text():
    plain, formula = (reliability_diagram(DiagramData(title, [], [])) for title in ("x", "$x$"))
    assert plain != formula


@pytest.mark.parametrize(("text", "shown"), [
    ("agent-1", "agent-1"), ("a\nb", r"a\nb"), ("a\x00", r"a\x00"), ("\u202ex", r"\u202ex"),
    ("中", r"\u4e2d"), ("é ß Ω", "é ß Ω"), ("$x^2$", "$x^2$"), ("\ud800", r"\ud800"),
])  # fmt: skip
def test_what_does_not_print_is_visible(text, shown):
    assert visible(text) == shown


def test_long_titles_keep_both_ends():
    text = "agent-" + "x" * 500 + "-tail · 2026-05"
    shown = fitted(text, 13.5, 760)
    assert shown.startswith("agent-")
    assert shown.endswith("-tail · 2026-05")
    assert "…" in shown
    assert diagrams._width(shown, 13.5) <= 760
    assert diagrams._width(fitted("W" * 300, 10.5, 290), 10.5) <= 290
    assert fitted("short", 10.5, 290) == "short"


# --- files ----------------------------------------------------------------------------------------

COLUMNS = (
    "kind VARCHAR, cohort_id VARCHAR, forecaster_id VARCHAR, forecast_id VARCHAR, "
    "episode_id VARCHAR, status VARCHAR, probability DOUBLE, outcome BIGINT"
)


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE scored_forecasts ({COLUMNS})")
        yield connection


def rows_of(season, agent_id, n, status="resolved", kind="call"):
    rng = np.random.default_rng(len(agent_id) + n)
    p = np.round(rng.uniform(0.5, 0.9, n), 1)
    return [
        (
            kind,
            season,
            agent_id,
            f"{season} {agent_id} {status} {k}",
            str(k // 5) if k % 7 else None,
            status,
            float(p[k]),
            int(rng.random() < p[k]) if status == "resolved" else None,
        )
        for k in range(n)
    ]


def fill(connection, rows):
    connection.executemany("INSERT INTO scored_forecasts VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


SOME = [
    *rows_of("S2", "many", 80), *rows_of("S2", "few", 9), *rows_of("S2", "b", 30),
    *rows_of("S2", "a", 30), *rows_of("S2", "open", 90, "open"), *rows_of("S1", "../x\n", 40),
    *rows_of("S1", "many", 3), *rows_of("E", "model", 50, kind="event"),
]  # fmt: skip


@pytest.fixture
def seasons_drawn(tmp_path_factory):
    """A folder of kept pictures of seasons, empty at first."""
    return Drawn(tmp_path_factory.mktemp("kept"))


NAMES = Names(
    file_names(["a", "b", "few", "many", "open", "../x\n"]), file_names(["S1", "S2", "E"])
)


def written(connection, folder, most, kept=None):
    """The number of files written, the seasons' pictures among them; none kept from before."""
    kept = kept or folder.with_name(f"{folder.name}-kept")
    pictures = season_pictures(connection, most, Drawn(kept / "seasons"))
    agents = Drawn(kept / "agents")
    return write_diagrams(connection, folder, most, NAMES, pictures, agents)


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_files_of_each_season(connection, tmp_path):
    fill(connection, SOME)
    assert written(connection, tmp_path, 4) == 8
    found = contents(tmp_path)
    assert sorted(found) == sorted(
        f"{file_name(season)}/{name}"
        for season, names in {
            "S1": [SEASON_PICTURE, f"{file_name('../x' + chr(10))}.png", "many.png"],
            "S2": [SEASON_PICTURE, "many.png", "a.png", "b.png", "few.png"],
        }.items()
        for name in names
    )
    rows = [row for row in SOME if row[1:3] == ("S2", "few")]
    episodes = [None if row[4] is None else int(row[4]) for row in rows]
    expected = DiagramData("few · S2", [r[6] for r in rows], [r[7] for r in rows], episodes)
    assert found[f"{file_name('S2')}/few.png"] == reliability_diagram(expected)


def test_most_resolved_first_ties_by_id(connection, tmp_path):
    fill(connection, SOME)
    written(connection, tmp_path, 2)
    names = {path.name for path in (tmp_path / file_name("S2")).iterdir()}
    assert names == {SEASON_PICTURE, "many.png", "a.png"}


def test_forecasters_without_resolved_calls_come_last(connection, tmp_path):
    fill(connection, SOME)
    written(connection, tmp_path, 5)
    empty = (tmp_path / file_name("S2") / "open.png").read_bytes()
    assert empty == reliability_diagram(DiagramData("open · S2", [], []))


def test_order_of_rows_changes_no_byte(connection, tmp_path, seasons_drawn):
    fill(connection, SOME)
    written(connection, tmp_path / "a", 4)
    pictures = season_pictures(connection, 4, seasons_drawn)
    connection.execute("DELETE FROM scored_forecasts")
    fill(connection, [SOME[k] for k in np.random.default_rng(0).permutation(len(SOME))])
    written(connection, tmp_path / "b", 4)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert season_pictures(connection, 4, seasons_drawn) == pictures


def test_pictures_of_the_page_are_the_files(connection, tmp_path, seasons_drawn):
    fill(connection, SOME)
    written(connection, tmp_path, 4)
    pictures = season_pictures(connection, 4, seasons_drawn)
    assert list(pictures) == ["S1", "S2"]
    for season_id, png in pictures.items():
        assert (tmp_path / file_name(season_id) / SEASON_PICTURE).read_bytes() == png


def test_nothing_scored_yet(connection, tmp_path, seasons_drawn):
    assert written(connection, tmp_path, 4) == 0
    assert season_pictures(connection, 4, seasons_drawn) == {}
    assert contents(tmp_path) == {}


def test_no_agent_has_the_name_of_the_season_picture():
    for name in ("~season", "~", "season", "~" * 300, "\u007eseason"):
        assert f"{file_name(name)}.png" != SEASON_PICTURE


def test_what_has_not_changed_is_not_drawn_again(connection, tmp_path, monkeypatch):
    fill(connection, SOME)
    written(connection, tmp_path / "first", 4, tmp_path / "kept")
    drawn = []
    for name in ("reliability_diagram", "small_multiples"):
        draw = getattr(diagrams, name)
        monkeypatch.setattr(
            diagrams, name, lambda *a, name=name, draw=draw: drawn.append(name) or draw(*a)
        )
    written(connection, tmp_path / "again", 4, tmp_path / "kept")
    assert drawn == []
    assert contents(tmp_path / "again") == contents(tmp_path / "first")
    connection.execute(
        "UPDATE scored_forecasts SET outcome = 1 - outcome WHERE forecast_id = (SELECT "
        "min(forecast_id) FROM scored_forecasts WHERE cohort_id = 'S2' AND forecaster_id = 'few')"
    )
    written(connection, tmp_path / "changed", 4, tmp_path / "kept")
    assert sorted(drawn) == ["reliability_diagram", "small_multiples"]
    written(connection, tmp_path / "anew", 4)
    assert contents(tmp_path / "changed") == contents(tmp_path / "anew")
    # what this night does not show is gone: the folder holds as many pictures as the night
    assert len(contents(tmp_path / "kept")) == len(contents(tmp_path / "anew"))


def test_half_a_kept_picture_is_drawn_again(connection, tmp_path):
    fill(connection, SOME)
    written(connection, tmp_path / "first", 4, tmp_path / "kept")
    for path in (tmp_path / "kept").rglob("*.png"):
        path.write_bytes(path.read_bytes()[:1000])
    written(connection, tmp_path / "again", 4, tmp_path / "kept")
    assert contents(tmp_path / "again") == contents(tmp_path / "first")


@pytest.mark.parametrize(
    "other",
    [
        DiagramData("other", [0.5, 0.7], [0, 1], [1, 2]),
        DiagramData("agent", [0.5, 0.8], [0, 1], [1, 2]),
        DiagramData("agent", [0.5, 0.7], [1, 1], [1, 2]),
        DiagramData("agent", [0.5, 0.7], [0, 1], [1, None]),
        DiagramData("agent", [0.5, 0.7], [0, 1], None),
        DiagramData("agent", [0.5, 0.7], [0, 1], [1, 2], np.array([1.0, 2.0])),
    ],
)
def test_any_other_number_is_another_picture(tmp_path, other):
    drawn = Drawn(tmp_path)
    begin, end = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
    data = DiagramData("agent", [0.5, 0.7], [0, 1], [1, 2])
    first = drawn.picture("", [data], lambda: begin + b"first" + end)
    assert drawn.picture("", [data], lambda: begin + b"second" + end) == first
    assert drawn.picture("", [other], lambda: begin + b"second" + end) != first
    assert drawn.picture("season", [data], lambda: begin + b"second" + end) != first
