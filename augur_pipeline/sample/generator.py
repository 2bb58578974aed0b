"""A synthetic home's inputs: agents of known character, and every trap of the contract.

The bulk (`calls.*`, `prices.*`) is generated pool by pool, so its size is bounded by the disk
and not by memory. The trap files beside it (`sample_traps.py`) are the same at any size.

Same arguments, same bytes: only `Generator.random` of PCG64 is drawn from, and drawn numbers go
through nothing but + - * /, rounding and comparisons, the same in IEEE 754 on any machine
(vectorised exp and log differ between processors in the last bit). Parquet bytes also depend on
the pyarrow version, which the format writes into the file.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from augur_pipeline.sample.traps import csv_text, write_traps

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# All times are whole microseconds.
SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
START_US = 1_704_067_200 * SECOND_US  # 2024-01-01T00:00:00Z
MAX_DAYS = 360  # with the price tail everything still ends in 2024: past for any clock
WINDOW_US = 2 * HOUR_US

PRICE_STEP_US = 10 * MINUTE_US
PRICE_TAIL_DAYS = 3  # covers the last call's horizon and window
PRICE_STEP_SIZE = 0.004  # largest relative move in ten minutes
PRICE_DECIMALS = (2, 3, 4, 5, 6, 8)  # in rotation over pools; six significant digits each

CALL_DELAY_US = HOUR_US  # every pool has a first price before its first call
CALL_TAIL_US = 6 * HOUR_US  # calls go on after the last season ends: outside_season
HORIZON_HOURS = np.array([1.0, 1.5, 4.0, 6.0, 12.0, 24.0])
BLOCK_ROWS = 122_880  # rows held at once and of a Parquet row group (readers share out groups)
COMMON_SHARE = (2, 5)  # of the calls answer a question that several agents are asked
QUESTION_AGENTS = 8

CHARACTERS = ("honest", "overconfident", "timid", "coin-flip", "inverted")
COIN_FLIP, INVERTED = 3, 4
LOGIT_SLOPES = (1.0, 1.6, 0.6, 1.0, 1.0)
HIT_PERCENTS = range(50, 91)  # the latent probability of being right, drawn on whole percents

SEASON_DAYS = 14
MAX_HORIZON_HOURS = 24
TERM_WEIGHTS = (("pnl", 0.60), ("discipline", 0.30))

TEXT, NUMBER, TIME = pa.string(), pa.float64(), pa.timestamp("us", tz="UTC")
CALLS_SCHEMA = pa.schema(
    [
        ("call_id", TEXT),
        ("agent_id", TEXT),
        ("pool_id", TEXT),
        ("action", TEXT),
        ("decider", TEXT),
        ("confidence", NUMBER),
        ("horizon_hours", NUMBER),
        ("reference_price", NUMBER),
        ("decided_at", TIME),
        ("recorded_at", TIME),
        ("order_status", TEXT),
        ("mandate_id", TEXT),
        ("model_version", TEXT),
        ("question_id", TEXT),
    ]
)
PRICES_SCHEMA = pa.schema([("pool_id", TEXT), ("recorded_at", TIME), ("price", NUMBER)])


@dataclass(frozen=True)
class SampleSize:
    """How much to write: the bulk only, the trap rows come on top."""

    agents: int = 10
    calls: int = 1200
    pools: int = 4
    days: int = 21


@dataclass(frozen=True)
class SampleReport:
    """Rows written (malformed ones included, headers and blank lines not) and bytes on disk."""

    calls: int
    prices: int
    trap_calls: int
    trap_prices: int
    seasons: int
    score_terms: int
    bytes_written: int


def write_sample(
    out: Path, size: SampleSize, seed: int = 0, file_format: str = "csv"
) -> SampleReport:
    """Write `out/inputs/` with calls, prices, seasons and score terms.

    `file_format` (csv or parquet) is that of the bulk; traps are always CSV and JSONL.
    Raises ValueError for a size, seed or format that cannot be used, and FileExistsError when
    `out/inputs` holds files already: mixing two samples, or a sample and real calls, helps nobody.
    """
    _check(size, seed, file_format)
    inputs = out / "inputs"
    if inputs.exists() and any(path.is_file() for path in inputs.rglob("*")):
        raise FileExistsError(f"{inputs} already holds files: choose an empty directory")
    for folder in ("calls", "prices"):
        (inputs / folder).mkdir(parents=True, exist_ok=True)

    price_tables = (_price_table(pool, size, seed) for pool in range(size.pools))
    prices = _write_bulk(inputs / "prices", PRICES_SCHEMA, price_tables, file_format)
    calls = _write_bulk(inputs / "calls", CALLS_SCHEMA, _call_tables(size, seed), file_format)
    trap_calls, trap_prices = write_traps(inputs, CALLS_SCHEMA.names)
    seasons = season_bounds(size.days)
    _write_rows(
        inputs / "seasons.csv",
        ("season_id", "starts_at", "ends_at", "max_horizon_hours"),
        [(name, _text(start), _text(end), MAX_HORIZON_HOURS) for name, start, end in seasons],
    )
    terms = _score_terms(size, seed, [name for name, _, _ in seasons])
    _write_rows(
        inputs / "score_terms.csv", ("season_id", "agent_id", "term", "weight", "value"), terms
    )
    written = sum(path.stat().st_size for path in inputs.rglob("*") if path.is_file())
    return SampleReport(calls, prices, trap_calls, trap_prices, len(seasons), len(terms), written)


def agent_names(agents: int) -> list[str]:
    """Ids of the main agents, their character in the name: honest-01, overconfident-02, …"""
    return [f"{CHARACTERS[i % len(CHARACTERS)]}-{i + 1:02d}" for i in range(agents)]


def season_bounds(days: int) -> list[tuple[str, int, int]]:
    """(season_id, starts_at, ends_at) in microseconds: two weeks each, the last cut at `days`."""
    return [
        (
            f"2024-S{first // SEASON_DAYS + 1:02d}",
            START_US + first * DAY_US,
            START_US + min(first + SEASON_DAYS, days) * DAY_US,
        )
        for first in range(0, days, SEASON_DAYS)
    ]


def stated_confidences() -> FloatArray:
    """What each character states at each latent hit probability: shape (characters, percents).

    expit(slope · logit q), to two decimals. A table and not a computation per call: no entry lies
    near a rounding boundary, so the last bit of exp and log cannot show.
    """
    logits = [math.log(percent / (100 - percent)) for percent in HIT_PERCENTS]
    return np.array(
        [[round(1 / (1 + math.exp(-slope * x)), 2) for x in logits] for slope in LOGIT_SLOPES]
    )


def _check(size: SampleSize, seed: int, file_format: str) -> None:
    for name, least in (("agents", 1), ("calls", 1), ("pools", 1), ("days", 3)):
        if getattr(size, name) < least:
            raise ValueError(f"{name} must be at least {least}, not {getattr(size, name)}")
    if size.days > MAX_DAYS:
        raise ValueError(f"days must be at most {MAX_DAYS}, not {size.days}: a sample ends in 2024")
    if seed < 0:
        raise ValueError(f"seed must not be negative, not {seed}")
    if file_format not in ("csv", "parquet"):
        raise ValueError(f"file_format must be csv or parquet, not {file_format!r}")


def _random(seed: int, *stream: int) -> np.random.Generator:
    """An independent stream per purpose and pool, whatever order they are drawn in."""
    return np.random.Generator(np.random.PCG64([seed, *stream]))


# --- prices -------------------------------------------------------------------------------------


def _price_series(pool: int, size: SampleSize, seed: int) -> tuple[IntArray, FloatArray]:
    """One pool's times (microseconds, ascending) and prices: a geometric random walk.

    The last pool but one has a 12 h gap and the last one stops early: calls there expire.
    """
    rng = _random(seed, 0, pool)
    count = (size.days + PRICE_TAIL_DAYS) * (DAY_US // PRICE_STEP_US)
    offset_us = int(rng.random() * 60) * SECOND_US
    if pool % 4 == 3:  # some pools tick off the whole second
        offset_us += int(rng.random() * SECOND_US)
    since_start = offset_us + np.arange(count, dtype=np.int64) * PRICE_STEP_US
    first_units = math.floor(100_000 + 900_000 * rng.random())
    walk = np.cumprod(1 + PRICE_STEP_SIZE * (2 * rng.random(count) - 1))
    units = np.maximum(np.rint(first_units * walk), 1)
    # Whole units over a power of ten: the double nearest to the decimal, so its text is short.
    prices = units / 10.0 ** PRICE_DECIMALS[pool % len(PRICE_DECIMALS)]

    keep = np.ones(count, dtype=np.bool_)
    if pool == max(size.pools - 2, 0):
        gap_us = size.days * DAY_US // 3
        keep &= (since_start < gap_us) | (since_start >= gap_us + 12 * HOUR_US)
    elif pool == size.pools - 1:
        keep &= since_start < size.days * DAY_US * 4 // 5
    return START_US + since_start[keep], prices[keep]


def _price_table(pool: int, size: SampleSize, seed: int) -> pa.Table:
    times_us, prices = _price_series(pool, size, seed)
    name = pa.repeat(pa.scalar(_pool_name(pool)), len(prices))
    return pa.table([name, _times(times_us), pa.array(prices)], schema=PRICES_SCHEMA)


def _pool_name(pool: int) -> str:
    return f"pool-{pool + 1:03d}"


# --- calls --------------------------------------------------------------------------------------


def _call_tables(size: SampleSize, seed: int) -> Iterator[pa.Table]:
    """Calls pool by pool, in blocks of bounded size, in order of decided_at within a block."""
    agents = pa.array(agent_names(size.agents), TEXT)
    first = 0
    for pool in range(size.pools):
        count = size.calls // size.pools + (pool < size.calls % size.pools)
        if count == 0:
            return
        rng = _random(seed, 1, pool)
        series = _price_series(pool, size, seed)
        for done in range(0, count, BLOCK_ROWS):
            rows = min(BLOCK_ROWS, count - done)
            yield _call_block(rng, size, agents, pool, series, first, rows)
            first += rows


def _call_block(
    rng: np.random.Generator,
    size: SampleSize,
    agents: pa.Array,
    pool: int,
    series: tuple[IntArray, FloatArray],
    first: int,
    rows: int,
) -> pa.Table:
    """`rows` calls on one pool, numbered from `first`."""
    agent, decided_us, horizon, question = _schedule(rng, size, first, rows)
    horizon_hours = HORIZON_HOURS[horizon]
    due_us = decided_us + np.rint(horizon_hours * HOUR_US).astype(np.int64)

    # The price seen is the last one at or before the call; the one that decides, the first in
    # the closed window [due, due + 2 h].
    times_us, prices = series
    reference = prices[np.searchsorted(times_us, decided_us, side="right") - 1]
    at = np.minimum(np.searchsorted(times_us, due_us, side="left"), len(times_us) - 1)
    is_known = (times_us[at] >= due_us) & (times_us[at] <= due_us + WINDOW_US)

    percent = _pick(rng, rows, len(HIT_PERCENTS))
    character = agent % len(CHARACTERS)
    hit_chance = (HIT_PERCENTS[0] + percent) / 100
    hit_chance = np.where(character == INVERTED, 1 - hit_chance, hit_chance)
    hit_chance = np.where(character == COIN_FLIP, 0.5, hit_chance)
    is_right = rng.random(rows) < hit_chance
    is_up = np.where(is_known, prices[at] > reference, rng.random(rows) < 0.5)
    said = np.where(character == COIN_FLIP, _pick(rng, rows, len(HIT_PERCENTS)), percent)
    confidence = stated_confidences()[character, said]

    kind = rng.random(rows)
    is_hold = rng.random(rows) < 0.08
    is_rule, is_exit, is_engine = kind >= 0.82, kind >= 0.94, kind >= 0.98
    decider = is_rule.astype(np.int64) + is_exit + is_engine
    is_zeroed = is_hold | (is_exit & (rng.random(rows) < 0.5))  # as real logs have it
    is_silent = ~is_zeroed & (rng.random(rows) < 0.01)
    action = np.where(is_hold, 2, np.where(is_up == is_right, 0, 1))
    recorded_us = decided_us + (1 + _pick(rng, rows, 9)) * SECOND_US
    is_recorded = rng.random(rows) < 0.6
    status = np.searchsorted([0.85, 0.90], rng.random(rows), side="right")
    mandate = _pick(rng, rows, 3)
    is_mandated = rng.random(rows) < 0.3
    # Every other agent changes its model in the middle of the first season.
    has_changed = decided_us >= START_US + min(size.days, SEASON_DAYS) * DAY_US // 2
    model = np.where(is_rule, 2, (has_changed & (agent % 2 == 0)).astype(np.int64))

    order = np.argsort(decided_us, kind="stable")
    questions = [f"{_pool_name(pool)}-q{first + i:08d}" for i in range(int(question.max()) + 1)]
    columns = [
        pa.array([f"call-{first + i:08d}" for i in range(rows)], TEXT),
        agents.take(pa.array(agent[order])),
        pa.repeat(pa.scalar(_pool_name(pool)), rows),
        _labels(("buy", "sell", "hold"), action[order]),
        _labels(("llm", "deterministic", "protective_exit", "system"), decider[order]),
        pa.array(np.where(is_zeroed, 0.0, confidence)[order], mask=is_silent[order]),
        pa.array(np.where(is_zeroed, 0.0, horizon_hours)[order]),
        pa.array(np.where(is_zeroed, 0.0, reference)[order]),
        _times(decided_us[order]),
        _times(recorded_us[order], ~is_recorded[order]),
        _labels(("accepted", "refused", ""), status[order], (is_hold | (status == 2))[order]),
        _labels([f"mandate-{i + 1}" for i in range(3)], mandate[order], ~is_mandated[order]),
        _labels(("model-1.0", "model-1.1", "rules-3"), model[order], is_exit[order]),
        _labels(questions, question[order], (question < 0)[order]),
    ]
    return pa.table(columns, schema=CALLS_SCHEMA)


def _schedule(
    rng: np.random.Generator, size: SampleSize, first: int, rows: int
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Who is asked when: agent, decided_at (µs), index of the horizon, question (-1: none).

    A common question is put to several different agents at one instant, evenly over the days; the
    other calls are each an agent's own, the agents taking turns at random times.
    """
    span_us = size.days * DAY_US + CALL_TAIL_US - CALL_DELAY_US
    begin_us = START_US + CALL_DELAY_US
    n_common = rows * COMMON_SHARE[0] // COMMON_SHARE[1]
    group = min(size.agents, QUESTION_AGENTS)
    question, member = np.divmod(np.arange(n_common, dtype=np.int64), group)
    n_questions = -(-n_common // group)
    start = _pick(rng, n_questions, size.agents)
    # Strides below agents / group keep the members of a question apart.
    stride = 1 + _pick(rng, n_questions, max((size.agents - 1) // max(group - 1, 1), 1))
    asked_minute = np.arange(n_questions) * (span_us // MINUTE_US) // max(n_questions, 1)
    asked_horizon = _pick(rng, n_questions, len(HORIZON_HOURS))

    n_own = rows - n_common
    own_us = _pick(rng, n_own, span_us // SECOND_US) * SECOND_US
    has_micros = rng.random(n_own) < 0.1
    own_us += np.where(has_micros, _pick(rng, n_own, SECOND_US), 0)
    return (
        np.concatenate(
            [
                (start[question] + stride[question] * member) % size.agents,
                (first + np.arange(n_own, dtype=np.int64)) % size.agents,
            ]
        ),
        begin_us + np.concatenate([asked_minute[question] * MINUTE_US, own_us]),
        np.concatenate([asked_horizon[question], _pick(rng, n_own, len(HORIZON_HOURS))]),
        np.concatenate([question, np.full(n_own, -1, dtype=np.int64)]),
    )


def _pick(rng: np.random.Generator, count: int, choices: int) -> IntArray:
    """`count` whole numbers below `choices`."""
    return np.floor(rng.random(count) * choices).astype(np.int64)


def _score_terms(size: SampleSize, seed: int, seasons: Sequence[str]) -> list[tuple[object, ...]]:
    """Terms of weight 0.90 per season; a missing row and a missing value at any size."""
    rng = _random(seed, 2)
    rows: list[tuple[object, ...]] = []
    for season in seasons:
        for i, agent in enumerate([*agent_names(size.agents), "certain-right", "waiting-four"]):
            for term, weight in TERM_WEIGHTS:
                value = math.floor(rng.random() * 1001) / 10
                is_discipline = term == "discipline"
                if is_discipline and (agent == "certain-right" or i % 10 == 6):
                    continue
                is_blank = is_discipline and (agent == "waiting-four" or i % 10 == 8)
                rows.append((season, agent, term, weight, "" if is_blank else value))
    return rows


# --- files --------------------------------------------------------------------------------------


def _write_bulk(
    folder: Path, schema: pa.Schema, tables: Iterator[pa.Table], file_format: str
) -> int:
    """Write the tables one after the other into `<folder>/<folder name>.<format>`; their rows."""
    path = folder / f"{folder.name}.{file_format}"
    rows = 0
    if file_format == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(csv_text([schema.names]))
            for table in tables:
                rows += table.num_rows
                texts = (_column_texts(column) for column in table.columns)
                file.write(csv_text(zip(*texts, strict=True)))
        return rows
    repeating = [f.name for f in schema if f.type == TEXT and f.name != "call_id"]
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=repeating) as writer:
        waiting: list[pa.Table] = []
        waiting_rows = 0
        for table in tables:
            waiting.append(table)
            waiting_rows += table.num_rows
            rows += table.num_rows
            if waiting_rows >= BLOCK_ROWS:
                writer.write_table(pa.concat_tables(waiting), row_group_size=waiting_rows)
                waiting, waiting_rows = [], 0
        if waiting:
            writer.write_table(pa.concat_tables(waiting), row_group_size=waiting_rows)
    return rows


def _write_rows(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    path.write_bytes(csv_text([header, *rows]).encode())


def _column_texts(column: pa.ChunkedArray) -> list[str]:
    """A column as CSV text: shortest decimals that give the same double back, times ending in Z."""
    if column.type == TIME:
        times = column.cast(pa.timestamp("us")).to_numpy()
        texts = np.datetime_as_string(times).tolist()
        return ["" if t == "NaT" else t.removesuffix(".000000") + "Z" for t in texts]
    if column.type == NUMBER:
        return ["" if v is None else repr(v).removesuffix(".0") for v in column.to_pylist()]
    return ["" if v is None else v for v in column.to_pylist()]


def _labels(names: Sequence[str], codes: IntArray, missing: BoolArray | None = None) -> pa.Array:
    return pa.array(names, TEXT).take(pa.array(codes, mask=missing))


def _times(times_us: IntArray, missing: BoolArray | None = None) -> pa.Array:
    return pa.array(times_us, mask=missing).cast(TIME)


def _text(time_us: int) -> str:
    return f"{np.datetime64(time_us // SECOND_US, 's')}Z"
