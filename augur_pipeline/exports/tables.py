"""Shapes of the tables that only publishing makes."""

import pandera.polars as pa

from augur_pipeline.store.tables import TableModel, Time, Words


class Passports(TableModel):
    """One agent over its lifetime; `exports/latest/passports` holds one JSON file per agent.

    Scores say how good the probabilities were, nothing about profit, execution or tool use.
    """

    agent_id: str = pa.Field(description="The agent.")
    seasons: Words = pa.Field(description="Seasons with directional calls or terms, by id.")
    directional_calls: int = pa.Field(ge=0, description="eligible + rejected + missing calls.")
    eligible_calls: int = pa.Field(ge=0, description="Calls that count.")
    resolved_calls: int = pa.Field(ge=0, description="Calls with an outcome.")
    correct_calls: int = pa.Field(ge=0, description="Resolved calls that were right.")
    expired_calls: int = pa.Field(ge=0, description="Calls closed without an outcome.")
    due_after_final: int = pa.Field(
        ge=0, description="Calls due only after their season could be final: in no score."
    )
    open_calls: int = pa.Field(ge=0, description="Due calls without a price yet.")
    pending_calls: int = pa.Field(ge=0, description="Calls not yet due.")
    refused_calls: int = pa.Field(ge=0, description="Eligible calls whose order was refused.")
    backfilled_calls: int = pa.Field(ge=0, description="Eligible calls first seen after due.")
    rejected_by_reason: str = pa.Field(description="JSON: rejected calls and rows by reason.")
    excluded_by_reason: str = pa.Field(description="JSON: excluded calls by reason.")

    class Config:
        name = "passports"
        metadata = {"key": ("agent_id",)}


class ContentDigests(TableModel):
    """One part of what is published, with its digest: a table, or a season of a call-level table.

    `run_info.content_digest` is the SHA-256 over these rows; the README says how.
    """

    table_name: str = pa.Field(description="The table.")
    season_column: str = pa.Field(
        nullable=True, description="The column that parts the table by season; NULL: not parted."
    )
    season_id: str = pa.Field(
        nullable=True, description="The season; NULL for a whole table, and for rows in none."
    )
    rows: int = pa.Field(ge=0, description="Rows of the part.")
    sha256: str = pa.Field(str_matches=r"^[0-9a-f]{64}$", description="SHA-256 of its values.")

    class Config:
        name = "content_digests"
        metadata = {"key": ("table_name", "season_id")}


class RunInfo(TableModel):
    """The one run this database was published by, and what it was made from."""

    as_of: Time = pa.Field(description="The run's clock (UTC): nothing later is known here.")
    run_id: str = pa.Field(description="Dagster's id of the run.")
    policy: str = pa.Field(description="JSON: every number of the policy.")
    policy_version: str = pa.Field(description="Version of the policy.")
    ledger_version: int = pa.Field(ge=1, description="Version of the published ledger.")
    code_version: str = pa.Field(description="Version of augur_pipeline.")
    duckdb_version: str = pa.Field(description="Version of DuckDB.")
    dagster_version: str = pa.Field(description="Version of Dagster.")
    numpy_version: str = pa.Field(description="Version of numpy.")
    input_digests: str = pa.Field(description="JSON: SHA-256 of each file taken in.")
    content_digest: str = pa.Field(description="SHA-256 over the rows of content_digests.")
    run_digest: str = pa.Field(description="SHA-256 over the other columns of this row.")

    class Config:
        name = "run_info"
        metadata = {"key": ("as_of",)}
