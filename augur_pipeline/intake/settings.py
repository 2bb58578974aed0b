"""seasons.csv, score_terms.csv, benchmarks.csv: settings, so a bad row stops the run."""

import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from augur_pipeline.errors import InputError
from augur_pipeline.home import has_file
from augur_pipeline.intake.kinds import BENCHMARKS, SCORE_TERMS, SEASONS
from augur_pipeline.intake.tables import BENCHMARK_KINDS, BENCHMARK_SCOPES, COIN_FLIP
from augur_pipeline.landing.columns import LandingKind
from augur_pipeline.landing.files import LandingFile, create_landing_table, land
from augur_pipeline.policy import Policy
from augur_pipeline.store.resource import Store

LONGEST_WINDOW_DAYS = 3653.0
"""Ten years: far beyond any season, and whole microseconds of it are exact."""


def land_settings(store: Store, policy: Policy) -> None:
    """Read and check the files into the tables `seasons`, `score_terms` and `benchmarks`."""
    seasons_path = store.paths.inputs / "seasons.csv"
    if not has_file(seasons_path):
        raise InputError(
            f"{seasons_path}: no such file; list your seasons there as "
            "season_id,starts_at,ends_at (half-open, UTC)"
        )
    _check_seasons(seasons_path, _land(store, SEASONS, seasons_path), policy)
    store.run(__package__, "seasons")

    terms_path = store.paths.inputs / "score_terms.csv"
    create_landing_table(store.connection, SCORE_TERMS)
    rows = _land(store, SCORE_TERMS, terms_path) if has_file(terms_path) else []
    known_seasons = {
        season for (season,) in store.connection.execute("SELECT season_id FROM seasons").fetchall()
    }
    _check_terms(terms_path, rows, known_seasons, policy)
    store.run(__package__, "score_terms")

    benchmarks_path = store.paths.inputs / "benchmarks.csv"
    create_landing_table(store.connection, BENCHMARKS)
    if has_file(benchmarks_path):
        _check_benchmarks(benchmarks_path, _land(store, BENCHMARKS, benchmarks_path))
    store.run(__package__, "benchmarks")


def _land(store: Store, kind: LandingKind, path: Path) -> list[dict[str, Any]]:
    create_landing_table(store.connection, kind)
    land(store.connection, store.paths.work, LandingFile(kind, 0, path))
    relation = store.connection.table(kind.table).order("source_line")
    rows = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    for row in rows:
        where = f"{path}: line {row['source_line']}"
        if row["malformed_text"] is not None:
            raise InputError(f"{where}: not as many fields as the header, or not UTF-8; mend it")
        for column in kind.columns:
            given = row.get(f"{column.name}_text")
            if given is not None:
                raise InputError(f"{where}: {column.name} {given!r} is no {column.kind}; mend it")
    return rows


def _check_seasons(path: Path, rows: list[dict[str, Any]], policy: Policy) -> None:
    seen: set[str] = set()
    for row in rows:
        where = f"{path}: line {row['source_line']}"
        for name in ("season_id", "starts_at", "ends_at"):
            if row[name] is None:
                raise InputError(f"{where}: no {name}; fill it in")
        if row["season_id"] in seen:
            raise InputError(f"{where}: season {row['season_id']!r} stands here twice; rename one")
        seen.add(row["season_id"])
        if row["starts_at"] >= row["ends_at"]:
            raise InputError(f"{where}: the season does not end after its start; mend it")
        bound = row["max_horizon_hours"]
        if bound is not None and not 0 < bound <= policy.max_horizon_hours:
            raise InputError(
                f"{where}: max_horizon_hours must be above 0 and at most "
                f"{policy.max_horizon_hours}; mend it"
            )
    in_order = sorted(rows, key=lambda row: row["starts_at"])
    for earlier, later in pairwise(in_order):
        if later["starts_at"] < earlier["ends_at"]:
            raise InputError(
                f"{path}: seasons {earlier['season_id']!r} and {later['season_id']!r} overlap; "
                "let one end (exclusive) at or before the other's start"
            )


def _check_terms(path: Path, rows: list[dict[str, Any]], seasons: set[str], policy: Policy) -> None:
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    seen: set[tuple[str, str, str]] = set()
    for row in rows:
        where = f"{path}: line {row['source_line']}"
        for name in ("season_id", "agent_id", "term", "weight"):
            if row[name] is None:
                raise InputError(f"{where}: no {name}; fill it in")
        season, term, weight = row["season_id"], row["term"], row["weight"]
        key = (season, row["agent_id"], term)
        if season not in seasons:
            raise InputError(f"{where}: season {season!r} is not in seasons.csv; add or mend it")
        if term == "calibration":
            raise InputError(f"{where}: the term calibration is measured here; leave it out")
        if key in seen:
            raise InputError(f"{where}: this season, agent and term stand here twice; keep one")
        seen.add(key)
        if (
            not policy.terms_weight_tolerance
            < weight
            <= policy.terms_weight + policy.terms_weight_tolerance
        ):
            raise InputError(f"{where}: weight {weight} is outside (0, {policy.terms_weight}]")
        if row["value"] is not None and not 0 <= row["value"] <= 100:
            raise InputError(f"{where}: value {row['value']} is outside [0, 100]; mend it")
        if weights[season].setdefault(term, weight) != weight:
            raise InputError(
                f"{where}: term {term!r} has another weight above; a season's term has one weight"
            )
    for season, terms in weights.items():
        total = math.fsum(terms.values())
        if abs(total - policy.terms_weight) > policy.terms_weight_tolerance:
            raise InputError(
                f"{path}: the weights of season {season!r} sum to {total:g}; they must sum to "
                f"{policy.terms_weight} (calibration brings the other {policy.calibration_weight})"
            )


def _check_benchmarks(path: Path, rows: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for row in rows:
        where = f"{path}: line {row['source_line']}"
        for name in ("benchmark_id", "kind", "locked_at", "version"):
            if row[name] is None:
                raise InputError(f"{where}: no {name}; fill it in")
        benchmark, kind = row["benchmark_id"], row["kind"]
        if benchmark == COIN_FLIP:
            raise InputError(f"{where}: {COIN_FLIP} (0.5) is always there; leave it out")
        if benchmark in seen:
            raise InputError(f"{where}: benchmark {benchmark!r} stands here twice; rename one")
        seen.add(benchmark)
        if kind == "market":
            raise InputError(
                f"{where}: kind 'market' needs event forecasts with a market probability, which "
                "are not taken in yet; leave it out"
            )
        if kind not in BENCHMARK_KINDS:
            raise InputError(
                f"{where}: unknown kind {kind!r}; use one of {', '.join(BENCHMARK_KINDS)}"
            )
        if kind == "constant":
            _check_constant(where, row)
        else:
            _check_rolling(where, row)


def _check_constant(where: str, row: dict[str, Any]) -> None:
    if row["probability"] is None:
        raise InputError(f"{where}: a constant needs a probability; fill it in")
    if not 0 <= row["probability"] <= 1:
        raise InputError(f"{where}: probability {row['probability']} is outside [0, 1]; mend it")
    for name in ("scope", "window_days", "min_resolved"):
        if row[name] is not None:
            raise InputError(f"{where}: a constant has no {name}; leave it empty")


def _check_rolling(where: str, row: dict[str, Any]) -> None:
    for name in ("scope", "window_days", "min_resolved"):
        if row[name] is None:
            raise InputError(f"{where}: a rolling_base_rate needs {name}; fill it in")
    if row["scope"] not in BENCHMARK_SCOPES:
        raise InputError(
            f"{where}: unknown scope {row['scope']!r}; use one of {', '.join(BENCHMARK_SCOPES)}"
        )
    if not 0 < row["window_days"] <= LONGEST_WINDOW_DAYS:
        raise InputError(
            f"{where}: window_days {row['window_days']:g} is outside (0, {LONGEST_WINDOW_DAYS:g}]; "
            "mend it"
        )
    if row["min_resolved"] < 1:
        raise InputError(f"{where}: min_resolved {row['min_resolved']} is below 1; mend it")
    if row["probability"] is not None:
        raise InputError(
            f"{where}: a rolling_base_rate takes its probability from earlier rows; leave "
            "probability empty"
        )
