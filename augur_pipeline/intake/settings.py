"""seasons.csv and score_terms.csv: settings, so a bad row stops the run (contract §2, §6)."""

import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from augur_pipeline.errors import InputError
from augur_pipeline.intake.columns import SCORE_TERMS, SEASONS, LandingKind
from augur_pipeline.intake.landing import LandingFile, create_landing_table, land
from augur_pipeline.policy import Policy
from augur_pipeline.store.resource import Store


def land_settings(store: Store, policy: Policy) -> None:
    """Read and check both files into the tables `seasons` and `score_terms`."""
    seasons_path = store.paths.inputs / "seasons.csv"
    if not seasons_path.exists():
        raise InputError(
            f"{seasons_path}: no such file; list your seasons there as "
            "season_id,starts_at,ends_at (half-open, UTC)"
        )
    _check_seasons(seasons_path, _land(store, SEASONS, seasons_path), policy)
    store.run(__package__, "seasons")

    terms_path = store.paths.inputs / "score_terms.csv"
    create_landing_table(store.connection, SCORE_TERMS)
    rows = _land(store, SCORE_TERMS, terms_path) if terms_path.exists() else []
    known_seasons = {
        season for (season,) in store.connection.execute("SELECT season_id FROM seasons").fetchall()
    }
    _check_terms(terms_path, rows, known_seasons, policy)
    store.run(__package__, "score_terms")


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
