"""Passports as JSON files, one per agent (contract §7)."""

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb

from augur_pipeline.exports.index import Names
from augur_pipeline.exports.receipts.layout import STATEMENT as STATEMENT
from augur_pipeline.scores.tables import AgentSeasonBrier
from augur_pipeline.store.clock import iso
from augur_pipeline.store.sql import load_sql, rows_as_dicts
from augur_pipeline.store.tables import columns_of

PASSPORT_VERSION = "2"
CONVENTION = "Brier score, binary convention: 0 best, 1 worst; calibration = 100 × skill over 0.5"
_SEASON_KEYS = ("season_id", "agent_id")


def write_passports(connection: duckdb.DuckDBPyConnection, folder: Path, names: Names) -> int:
    """Write one JSON per agent and the schema beside the folder; returns how many.

    `connection` resolves the published table names (and `run_info`).
    """
    folder.mkdir(parents=True)
    count = 0
    for name, content in passport_files(connection, names):
        (folder / name).write_bytes(content)
        count += 1
    (folder.parent / "passport.schema.json").write_text(passport_schema(), encoding="utf-8")
    return count


def passport_files(
    connection: duckdb.DuckDBPyConnection, names: Names
) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every passport."""
    (run,) = rows_as_dicts(connection, "SELECT as_of, policy_version FROM run_info")
    calls = {
        (row["season_id"], row["agent_id"]): row
        for row in rows_as_dicts(connection, "FROM agent_season_brier")
    }
    scores: dict[str, list[dict[str, Any]]] = {}
    for row in rows_as_dicts(connection, "FROM season_scores ORDER BY season_id"):
        scores.setdefault(row["agent_id"], []).append(row)
    inputs = files_of_agents(connection)
    call_columns = [c.name for c in columns_of(AgentSeasonBrier) if c.name not in _SEASON_KEYS]

    for passport in rows_as_dicts(connection, "FROM passports"):
        agent = passport["agent_id"]
        document = {
            "passport_version": PASSPORT_VERSION,
            "agent_id": agent,
            "as_of": iso(run["as_of"]),
            "policy_version": run["policy_version"],
            "convention": CONVENTION,
            "statement": STATEMENT,
            "lifetime": {
                name: json.loads(value) if name.endswith("_by_reason") else value
                for name, value in passport.items()
                if name not in ("agent_id", "seasons")
            },
            "seasons": [
                {
                    "season_id": score["season_id"],
                    "calls": _pick(calls.get((score["season_id"], agent)), call_columns),
                    "score": {
                        "score": score["score"],
                        "measured_terms": score["measured_terms"],
                        "waiting_terms": score["waiting_terms"],
                        "effective_weights": json.loads(score["effective_weights"]),
                    },
                }
                for score in scores.get(agent, [])
            ],
            "inputs": inputs.get(agent, {}),
        }
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
        yield f"{names.agents[agent]}.json", (text + "\n").encode("utf-8")


def files_of_agents(
    connection: duckdb.DuckDBPyConnection,
) -> dict[str, dict[str, str | None]]:
    """For each agent the files its calls and rejected rows stand in, with their SHA-256.

    None where a file is gone from the landing zone.
    """
    files: dict[str, dict[str, str | None]] = {}
    for agent, name, sha256 in connection.execute(
        load_sql(__package__, "passport_sources")
    ).fetchall():
        files.setdefault(agent, {})[f"calls/{name}"] = sha256
    return files


def _pick(row: dict[str, Any] | None, names: list[str]) -> dict[str, Any] | None:
    return None if row is None else {name: row[name] for name in names}


def passport_schema() -> str:
    """The JSON Schema of a passport, as shipped."""
    return resources.files(__package__).joinpath("passport.schema.json").read_text("utf-8")
