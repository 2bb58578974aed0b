"""Reliability diagrams: resolved forecasts in, the bytes of a PNG out.

As forecast verification draws them: observed against stated, the CORP curve over the range where a
calibrated forecaster's would lie, ten bins with their intervals, the diagonal, and how often which
probability was stated. Numbers come from `augur_pipeline.verification`; nothing is computed here.

The same rows in any order give the same bytes with one build of matplotlib and its FreeType: the
font is the one matplotlib brings, its settings are the built-in ones whatever `matplotlibrc` says,
and the file names neither program nor date. `pyplot`, which keeps figures alive, is not used.

Colours are of Okabe and Ito's set, told apart by shape and lightness too: a line, a pale area,
hollow squares. Ids are hostile text: shown as they are, never as mathematics.
"""

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import NDArray
from PIL import Image, ImageColor

from augur_pipeline.pictures.diagram_data import DiagramData
from augur_pipeline.verification import (
    Bin,
    ConsistencyBand,
    Corp,
    Interval,
    brier_interval,
    calibration_error,
    calibration_tests,
    consistency_band,
    corp,
    reliability_table,
)

DOTS_PER_INCH = 160
WIDTH, HEIGHT = 800, 1196
"""Pixels of a single diagram."""

BLUE, SKY, VERMILION = "#0072B2", "#A6D3F0", "#D55E00"
INK, GREY, FAINT, PAPER = "#1A1A1A", "#595959", "#D9D9D9", "#FFFFFF"
COLOURS = (BLUE, SKY, VERMILION, INK, GREY, FAINT)

STRIP_CENTRES = np.arange(21) / 20
"""Bars of the strip that shows how often which probability was stated: each counts what is nearest
to it, so that the bar of people's round numbers stands where they are."""

STRIP_FOOT, STRIP_TOP = -0.31, -0.115
"""Where the strip lies, in units of the diagram's height: below it, on the same axis."""

DRAWS = 999
"""Sign patterns drawn for the band. The miscalibration that chance alone would show is of the usual
1999 of the tests, so that it is the number in `calibration_diagnostics`."""

MOST_LEVELS = 1000
"""With more stated probabilities, those of the band are rounded to three decimals first: a quarter
of a pixel at most, and a hundred times faster."""

MOST_DOTS = 40
"""With more stated probabilities, the curve has no dots."""

MOST_DRAWN = 20_000_000
"""Rows (where each is an episode) or levels, times draws: beyond it the band has 199 draws."""

NO_BAND = ConsistencyBand(None, None, None, False, 0, "weighted")

_ONE_AT_A_TIME = threading.Lock()
_FONT_FILE = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"


@dataclass(frozen=True, eq=False)
class DiagramNumbers:
    """What a diagram shows, from the verification functions.

    n, with_episode, episodes:  rows, those with an episode, distinct episodes
    brier:          score of all rows; its interval of those with an episode
    mcb_by_chance:  mean miscalibration a calibrated forecaster would show; None where unknown
    """

    n: int
    with_episode: int
    episodes: int
    corp: Corp
    interval: Interval
    ece: float | None
    mcb_by_chance: float | None
    bins: tuple[Bin, ...]
    bin_ranges: tuple[Bin, ...]
    band: ConsistencyBand
    is_weighted: bool
    strip: NDArray[np.int64]


def diagram_numbers(data: DiagramData) -> DiagramNumbers:
    """Everything that a diagram shows of its rows.

    Raises: ValueError for what is no probability, outcome or episode
    """
    p, y = np.asarray(data.p, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    known, episodes = _known_episodes(data.episodes, p.size)
    p_known, y_known = p[known], y[known]
    weights = data.weights
    is_weighted = weights is not None and bool(np.any(weights != weights[:1]))
    if weights is None or not is_weighted:
        weights_known = weights = None
    else:
        weights_known = weights[known]
    curve = corp(p, y, weights)
    p_band = p_known
    if np.unique(p_known).size > MOST_LEVELS:
        p_band = np.round(p_known, 3)
    is_single = len(set(episodes)) == p_known.size
    at_a_draw = p_known.size if is_single else np.unique(p_band).size
    is_large = at_a_draw * DRAWS > MOST_DRAWN
    by_chance = None
    if not is_large and not is_weighted:
        by_chance = calibration_tests(p_band, y_known, episodes).mcb_null_mean
    return DiagramNumbers(
        n=p.size,
        with_episode=p_known.size,
        episodes=len(set(episodes)),
        corp=curve,
        interval=brier_interval(p_known, y_known, episodes, weights_known),
        ece=None if is_weighted else calibration_error(p, y).ece,
        mcb_by_chance=by_chance,
        bins=() if is_weighted else reliability_table(p, y),
        bin_ranges=() if is_weighted else reliability_table(p_known, y_known, episodes=episodes),
        band=NO_BAND
        if is_weighted
        else consistency_band(p_band, y_known, episodes, draws=199 if is_large else DRAWS),
        is_weighted=is_weighted,
        strip=np.bincount(
            np.searchsorted((2 * np.arange(20) + 1) / 40, p, side="right"), minlength=21
        ),
    )


def _known_episodes(episodes: Any, rows: int) -> tuple[NDArray[np.bool_], list[int] | list[str]]:
    """Which rows have an episode, and the episodes of those."""
    if episodes is None:
        return np.zeros(rows, dtype=np.bool_), []
    listed = episodes.tolist() if isinstance(episodes, np.ndarray) else list(episodes)
    if len(listed) != rows:
        raise ValueError(f"episodes has {len(listed)} values and p has {rows}")
    known = np.array([item is not None for item in listed], dtype=np.bool_)
    return known, [item for item in listed if item is not None]


def reliability_diagram(data: DiagramData) -> bytes:
    """The reliability diagram of one forecaster: a PNG of 800 × 1196 pixels.

    Raises: ValueError for what is no probability, outcome or episode
    """
    numbers = diagram_numbers(data)
    left, top, side = 118, 128, 656
    tall = round(side * (1.0 - STRIP_FOOT))
    foot = top + tall
    with _figure(WIDTH, HEIGHT) as figure:
        _draw(_axes(figure, left, top, side, tall), numbers, _LARGE)
        _write(figure, WIDTH / 2, 44, fitted(data.title, 13.5, WIDTH - 40), 13.5, INK, ha="center")
        _write(figure, left + side / 2, foot + 62, "stated probability", 11.5, INK, ha="center")
        for middle, text in (
            (top + side / 2, "observed frequency (CORP)"),
            (foot - side * (STRIP_TOP - STRIP_FOOT) / 2, "count"),
        ):
            _write(figure, 26, middle, text, 11.5, INK, ha="center", va="center", rotation=90)
        y = float(foot + 108)
        for text, size, colour in _caption(numbers):
            _write(figure, 24, y, text, size, colour)
            y += 2.7 * size
        return _png(figure)


PANEL_WIDTH, PANEL_HEIGHT = 336, 500
MARGIN_LEFT, MARGIN_TOP, MARGIN_FOOT = 24, 64, 64
MOST_COLUMNS = 4


def small_multiples(title: str, panels: Sequence[DiagramData]) -> bytes:
    """Reliability diagrams of several forecasters side by side, on the same axes: a PNG.

    Up to four columns, as square as that allows; the width is that of at least two.
    Raises: ValueError for what is no probability, outcome or episode
    """
    columns = max(2, min(MOST_COLUMNS, ceil(len(panels) ** 0.5)))
    rows = max(1, ceil(len(panels) / columns))
    width = MARGIN_LEFT + columns * PANEL_WIDTH + 16
    height = MARGIN_TOP + rows * PANEL_HEIGHT + MARGIN_FOOT
    with _figure(width, height) as figure:
        _write(figure, width / 2, 44, fitted(title, 15, width - 40), 15, INK, ha="center")
        for number, data in enumerate(panels):
            row, column = divmod(number, columns)
            left, top = MARGIN_LEFT + column * PANEL_WIDTH, MARGIN_TOP + row * PANEL_HEIGHT
            _panel(figure, data, left, top, has_labels=column == 0)
        if not panels:
            _write(figure, width / 2, height / 2, "no resolved calls", 13, GREY, ha="center")
        lines = (
            "stated probability (across), observed frequency (up), bars: how often stated",
            "line: CORP curve · area: 95 % range if calibrated · squares: 10 bins · "
            "Brier = MCB − DSC + UNC",
        )
        for line, text in enumerate(lines):
            y = height - 42 + 26 * line
            _write(figure, width / 2, y, fitted(text, 9, width - 20), 9, GREY, ha="center")
        return _png(figure)


def _panel(figure: Figure, data: DiagramData, left: int, top: int, *, has_labels: bool) -> None:
    """One of several: a diagram with a short caption, its upper left corner at (left, top)."""
    numbers = diagram_numbers(data)
    left, top, side = left + 32, top + 36, PANEL_WIDTH - 46
    tall = round(side * (1.0 - STRIP_FOOT))
    _draw(_axes(figure, left, top, side, tall), numbers, _SMALL, has_labels=has_labels)
    _write(figure, left, top - 13, fitted(data.title, 10.5, side), 10.5, INK)
    for line, text in enumerate(_short_caption(numbers)):
        _write(figure, left, top + tall + 51 + 22 * line, text, 8.2, INK)


def _axes(figure: Figure, left: int, top: int, side: int, tall: int) -> Axes:
    """Axes in pixels from the upper left corner."""
    width, height = figure.get_size_inches() * DOTS_PER_INCH
    return figure.add_axes((left / width, 1 - (top + tall) / height, side / width, tall / height))


@dataclass(frozen=True)
class _Sizes:
    """Points: what differs between a large diagram and one of many."""

    ticks: tuple[float, ...]
    text: float
    line: float
    dot: float
    square: float
    has_legend: bool


_LARGE = _Sizes((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), 11.0, 2.6, 5.0, 8.0, True)
_SMALL = _Sizes((0.0, 0.5, 1.0), 8.5, 1.8, 3.2, 5.0, False)


def _draw(axes: Axes, numbers: DiagramNumbers, sizes: _Sizes, has_labels: bool = True) -> None:
    """Diagram and strip on one pair of axes: the strip lies below 0."""
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(STRIP_FOOT, 1.0)
    axes.axis("off")  # frame and ticks are drawn below: quicker, and the strip gets its own
    _draw_frame(axes, sizes, has_labels)
    if numbers.n == 0:
        axes.text(
            0.5, 0.62, "no resolved calls", fontproperties=_font(sizes.text + 3), color=GREY,
            ha="center", va="center", bbox={"facecolor": PAPER, "edgecolor": "none"},
        )  # fmt: skip
        return
    _draw_band(axes, numbers.band)
    _draw_curve(axes, numbers.corp, sizes)
    _draw_bins(axes, numbers, sizes)
    _draw_strip(axes, numbers.strip, sizes)
    if sizes.has_legend:
        _draw_legend(axes, numbers, sizes)


def _line(axes: Axes, x: Any, y: Any, **look: Any) -> None:
    """A line as it is given: `plot` would look at the data's limits first."""
    axes.add_artist(Line2D(x, y, **{"clip_on": False, **look}))


def _segments(starts: Sequence[float], ends: Sequence[float]) -> list[float]:
    """One coordinate of separate strokes drawn as one line."""
    return [v for start, end in zip(starts, ends, strict=True) for v in (start, end, np.nan)]


def _draw_frame(axes: Axes, sizes: _Sizes, has_labels: bool) -> None:
    ticks, zeros, ones = sizes.ticks, [0.0] * len(sizes.ticks), [1.0] * len(sizes.ticks)
    across, up = _segments(zeros, ones), _segments(ticks, ticks)
    _line(axes, [*across, *up], [*up, *across], color=FAINT, lw=0.6, zorder=0)
    _line(axes, [0, 0, 1, 1, 0], [0, 1, 1, 0, 0], color=GREY, lw=0.9, zorder=1)
    _line(axes, [0, 1], [0, 1], color=INK, lw=1.1, ls=(0, (5, 4)), zorder=2.5)
    _line(axes, [0, 1], [STRIP_FOOT, STRIP_FOOT], color=GREY, lw=0.9)
    for tick in ticks:
        name = f"{tick:.1f}" if 0 < tick < 1 else f"{tick:.0f}"
        away = sizes.text * 0.45
        _label(axes, name, (tick, STRIP_FOOT), (0, -away), sizes.text, INK, ha="center", va="top")
        if has_labels:
            _label(axes, name, (0, tick), (-away, 0), sizes.text, INK, ha="right", va="center")


def _label(
    axes: Axes,
    text: str,
    at: tuple[float, float],
    away: tuple[float, float],
    size: float,
    colour: str,
    **where: Any,
) -> None:
    """Text some points away from a place on the diagram."""
    axes.annotate(
        text, at, xytext=away, textcoords="offset points", fontproperties=_font(size),
        color=colour, annotation_clip=False, parse_math=False, **where,
    )  # fmt: skip


def _draw_band(axes: Axes, band: ConsistencyBand) -> None:
    if band.probability is None or band.low is None or band.high is None:
        return
    # Around a single stated probability, a bar wider than the point on it.
    half = 0.028 if band.probability.size == 1 else 0.0
    x = np.concatenate([band.probability - half, band.probability[-1:] + half])
    low, high = (np.append(end, end[-1]) for end in (band.low, band.high))
    outline = np.column_stack([np.append(x, x[::-1]), np.append(low, high[::-1])])
    axes.add_artist(Polygon(outline, facecolor=SKY, edgecolor=SKY, lw=0.4, zorder=2))


def _draw_curve(axes: Axes, curve: Corp, sizes: _Sizes) -> None:
    assert curve.probability is not None
    assert curve.recalibrated is not None
    level, first = np.unique(curve.probability, return_index=True)
    fit = curve.recalibrated[first]
    # The ends of level pieces are enough for the line.
    turns = np.flatnonzero(np.diff(fit) != 0.0)
    corners = np.unique(np.concatenate([[0], turns, turns + 1, [level.size - 1]]))
    _line(
        axes, level[corners], fit[corners], color=BLUE, lw=sizes.line, zorder=4,
        solid_joinstyle="round", solid_capstyle="round",
    )  # fmt: skip
    if level.size <= MOST_DOTS:
        # Above the squares, so that a dot within a square says: they agree.
        _line(axes, level, fit, ls="", marker="o", ms=sizes.dot, color=BLUE, mew=0, zorder=7)


def _draw_bins(axes: Axes, numbers: DiagramNumbers, sizes: _Sizes) -> None:
    points = [
        (point.mean_probability, point.observed_rate, ranges.low, ranges.high)
        for point, ranges in zip(numbers.bins, numbers.bin_ranges, strict=True)
        if point.n > 0
    ]
    x = [point[0] for point in points]
    ranges = [(at, low, high) for at, _, low, high in points if low is not None]
    if ranges:
        at, low, high = zip(*ranges, strict=True)
        _line(
            axes, _segments(at, at), _segments(low, high), color=VERMILION, lw=sizes.line * 0.55,
            zorder=5, solid_capstyle="butt", marker="_", ms=sizes.square * 0.8,
            mew=sizes.line * 0.5,
        )  # fmt: skip
    _line(
        axes, x, [point[1] for point in points], ls="", marker="s", ms=sizes.square, mfc=PAPER,
        mec=VERMILION, mew=sizes.line * 0.65, zorder=6,
    )  # fmt: skip


def _draw_strip(axes: Axes, strip: NDArray[np.int64], sizes: _Sizes) -> None:
    most = int(strip.max())
    tall = STRIP_FOOT + (STRIP_TOP - STRIP_FOOT) * strip / most
    bars = [
        [(x - 0.02, STRIP_FOOT), (x - 0.02, top), (x + 0.02, top), (x + 0.02, STRIP_FOOT)]
        for x, top, n in zip(STRIP_CENTRES, tall, strip, strict=True)
        if n > 0
    ]
    axes.add_artist(PolyCollection(bars, facecolor=GREY, edgecolor="none", clip_on=False))
    at = float(STRIP_CENTRES[int(strip.argmax())])
    beside = "center" if 0.1 < at < 0.9 else "left" if at < 0.5 else "right"
    edge = at + {"center": 0.0, "left": -0.02, "right": 0.02}[beside]
    text = sizes.text * 0.9
    _label(axes, f"{most:,}", (edge, STRIP_TOP), (0, 1.5), text, GREY, ha=beside, va="bottom")


def _draw_legend(axes: Axes, numbers: DiagramNumbers, sizes: _Sizes) -> None:
    """Above the diagram: within it, some interval would run through."""
    has_ranges = any(known.low is not None for known in numbers.bin_ranges)
    entries = {
        "curve": (0, 0, "CORP curve"),
        "band": (0, 1, "95 % range if calibrated"),
        "bins": (1, 0, "10 bins, 95 % interval" if has_ranges else "10 bins"),
        "diagonal": (1, 1, "calibrated"),
    }
    if numbers.band.low is None:
        del entries["band"]
    if numbers.is_weighted:
        del entries["bins"]
    for entry, (row, column, words) in entries.items():
        y, start = 1.082 - 0.05 * row, 0.5 * column
        end = start + 0.075
        middle = (start + end) / 2
        if entry == "curve":
            _line(axes, [start, end], [y, y], color=BLUE, lw=sizes.line, zorder=7)
            _line(axes, [middle], [y], marker="o", color=BLUE, ms=sizes.dot, mew=0, zorder=7)
        elif entry == "band":
            axes.add_artist(
                Rectangle((start, y - 0.016), 0.075, 0.032, color=SKY, lw=0, clip_on=False)
            )
        elif entry == "bins":
            _line(
                axes, [middle], [y], marker="s", ms=sizes.square, mfc=PAPER, mec=VERMILION,
                mew=sizes.line * 0.65, zorder=7,
            )  # fmt: skip
        else:
            _line(axes, [start, end], [y, y], color=INK, lw=1.1, ls=(0, (5, 4)), zorder=7)
        axes.text(
            end + 0.02, y, words, fontproperties=_font(sizes.text * 0.9), color=INK,
            va="center", zorder=7,
        )  # fmt: skip


def _caption(numbers: DiagramNumbers) -> Iterator[tuple[str, float, str]]:
    """Lines below a large diagram: text, size, colour."""
    result = numbers.corp
    if result.brier is None:
        yield "n 0: nothing to score yet", 11.0, INK
        return
    episodes = f" · {_count(numbers.episodes, 'episode')}" if numbers.with_episode else ""
    score = f"Brier {_number(result.brier)}{_ends(numbers.interval)}"
    yield f"n {numbers.n:,}{episodes} · {score}", 11.0, INK
    yield (
        f"MCB {_number(result.miscalibration)} · DSC {_number(result.discrimination)} · "
        f"UNC {_number(result.uncertainty)} · ECE {_number(numbers.ece)}",
        11.0,
        INK,
    )
    notes = ["Brier = MCB − DSC + UNC, 0 best"]
    if numbers.mcb_by_chance is not None:
        notes.append(f"MCB by chance alone {_number(numbers.mcb_by_chance)}")
    yield " · ".join(notes), 9.0, GREY
    yield _note(numbers), 9.0, GREY


def _note(numbers: DiagramNumbers) -> str:
    """What is missing, and why."""
    if numbers.with_episode == 0:
        return "no episodes known: no band, no intervals"
    notes = []
    if numbers.is_weighted:
        notes.append("weighted rows: no bins, no band")
    elif numbers.band.low is None:
        notes.append("no band: fewer than six episodes")
    elif numbers.interval.undefined_reason is not None:
        reason = numbers.interval.undefined_reason.replace("_", " ")
        notes.append(f"no Brier interval: {reason}")
    if numbers.with_episode < numbers.n:
        notes.append(f"{numbers.n - numbers.with_episode:,} without episode: not in ranges")
    return " · ".join(notes or ["whole episodes are the unit of band and intervals"])


def _short_caption(numbers: DiagramNumbers) -> Iterator[str]:
    """Lines below one of many diagrams."""
    result = numbers.corp
    if result.brier is None:
        yield "n 0"
        return
    episodes = f" · {_count(numbers.episodes, 'episode')}" if numbers.with_episode else ""
    yield f"n {numbers.n:,}{episodes}"
    score, *parts = (
        _number(value).removeprefix("0")
        for value in (
            result.brier, result.miscalibration, result.discrimination, result.uncertainty
        )
    )  # fmt: skip
    yield f"Brier {score} = {parts[0]} − {parts[1]} + {parts[2]}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" [{_number(interval.low)}, {_number(interval.high)}]"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


# --- text ---------------------------------------------------------------------------------------


@cache
def _font(size: float) -> FontProperties:
    return FontProperties(fname=_FONT_FILE, size=size)


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(get_font(str(_FONT_FILE)).get_charmap())


def visible(text: str) -> str:
    """Untrusted text on one line: what does not print, or has no glyph, as its escape."""
    return "".join(
        letter
        if letter.isprintable() and ord(letter) in _glyphs()
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def fitted(text: str, size: float, pixels: float) -> str:
    """Untrusted text, made visible, its middle left out until it is no wider than so many pixels.

    Start and end stay: the end often tells ids apart.
    """
    # Nothing of a long id is drawn beyond this, so nothing is measured beyond it.
    most = int(pixels) // 2
    if len(text) > 2 * most:
        text = text[:most] + text[-most:]
    shown = visible(text)
    if _width(shown, size) <= pixels:
        return shown
    fits, too_long = 0, len(shown)
    while too_long - fits > 1:
        kept = (fits + too_long) // 2
        if _width(_without_middle(shown, kept), size) <= pixels:
            fits = kept
        else:
            too_long = kept
    return _without_middle(shown, fits)


def _without_middle(text: str, kept: int) -> str:
    end = kept // 2
    return text[: kept - end] + "…" + (text[-end:] if end else "")


def _width(text: str, size: float) -> float:
    font = get_font(str(_FONT_FILE))
    font.set_size(size, DOTS_PER_INCH)
    font.set_text(text)
    return float(font.get_width_height()[0]) / 64


def _write(
    figure: Figure, x: float, y: float, text: str, size: float, colour: str, **where: Any
) -> None:
    """Text at pixels from the upper left corner; y is its base line."""
    width, height = figure.get_size_inches() * DOTS_PER_INCH
    figure.text(
        x / width, 1 - y / height, text, fontproperties=_font(size), color=colour,
        parse_math=False, **where,
    )  # fmt: skip


# --- figures ------------------------------------------------------------------------------------


@contextmanager
def _figure(width: int, height: int) -> Iterator[Figure]:
    """A figure of so many pixels under matplotlib's built-in settings, which are then put back."""
    with _ONE_AT_A_TIME, mpl.rc_context():
        mpl.rcdefaults()
        figure = Figure(
            figsize=(width / DOTS_PER_INCH, height / DOTS_PER_INCH), dpi=DOTS_PER_INCH,
            facecolor=PAPER,
        )  # fmt: skip
        FigureCanvasAgg(figure)
        yield figure


def _png(figure: Figure) -> bytes:
    """The picture in the diagram's colours and their blends: less than half the bytes."""
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    canvas.draw()  # type: ignore[no-untyped-call]
    colours, of_cell = _palette()
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    picture = Image.fromarray(of_cell[_cells(pixels)], mode="P")
    picture.putpalette(colours)
    file = io.BytesIO()
    picture.save(file, "png", dpi=(DOTS_PER_INCH, DOTS_PER_INCH))
    return file.getvalue()


def _cells(colours: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Which of 32 × 32 × 32 cells each colour lies in; the last axis is red, green, blue, …"""
    red, green, blue = ((colours[..., part] >> 3).astype(np.uint16) for part in range(3))
    return red << np.uint16(10) | green << np.uint16(5) | blue


@cache
def _palette() -> tuple[bytes, NDArray[np.uint8]]:
    """Every colour with its steps to what it lies on (smoothed edges), and the nearest per cell.

    Pillow's own `quantize` would do, but turns white into a pale grey.
    """
    edges = (
        (PAPER, INK), (PAPER, GREY), (PAPER, BLUE), (PAPER, VERMILION), (PAPER, SKY),
        (PAPER, FAINT), (SKY, BLUE), (SKY, INK), (SKY, VERMILION), (SKY, FAINT),
        (VERMILION, BLUE), (BLUE, INK),
    )  # fmt: skip
    plain = [ImageColor.getrgb(colour)[:3] for colour in (*COLOURS, PAPER)]
    blends = dict.fromkeys(plain)
    for ground, ink in edges:
        lower, upper = (np.array(ImageColor.getrgb(colour)) for colour in (ground, ink))
        for step in range(1, 19):
            red, green, blue = np.rint(lower + (upper - lower) * (step / 19)).astype(int).tolist()
            blends[red, green, blue] = None
    colours = np.array(list(blends), dtype=np.int32)
    assert len(colours) <= 256
    cell = np.arange(32**3)
    middles = np.stack([cell >> 10, cell >> 5 & 31, cell & 31], axis=1).astype(np.int32) * 8 + 4
    nearest = np.zeros(cell.size, dtype=np.uint8)
    least = np.full(cell.size, np.iinfo(np.int32).max, dtype=np.int32)
    for number, colour in enumerate(colours):
        distance = ((middles - colour) ** 2).sum(axis=1)
        nearest[distance < least] = number
        least = np.minimum(least, distance)
    # areas come out exactly
    nearest[_cells(colours[: len(plain)].astype(np.uint8))] = np.arange(len(plain))
    return colours.astype(np.uint8).tobytes(), nearest
