"""`index.json` of an export set: the file name of each agent and season."""

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb

from augur_pipeline.exports.file_names import file_names


@dataclass
class Names:
    """File names, without suffix, by id."""

    agents: dict[str, str]
    seasons: dict[str, str]


def names_of(connection: duckdb.DuckDBPyConnection) -> Names:
    """The names of everybody in a published database."""
    agents = connection.execute("SELECT agent_id FROM passports").fetchall()
    seasons = connection.execute("SELECT season_id FROM seasons").fetchall()
    return Names(file_names(a for (a,) in agents), file_names(s for (s,) in seasons))


def index_bytes(names: Names) -> bytes:
    """The file itself: JSON, ids in order."""
    content = {"agents": names.agents, "seasons": names.seasons}
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def write_index(names: Names, folder: Path) -> None:
    """Write `index.json` into an export set."""
    (folder / "index.json").write_bytes(index_bytes(names))
