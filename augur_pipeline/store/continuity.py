"""Whether a run goes on from the ledger that the home knows of.

Every publication leaves traces beside the database: the link `exports/latest`, whose target's name
says digest and clock, and the last materialisation of `published` in Dagster's history. A ledger
that is lost or older than a trace would let restated calls and prices in as new ones; so such a run
is refused, and beginning anew is deliberate (`augur run --new-ledger`).
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dagster import AssetKey, DagsterInstance

from augur_pipeline.errors import ClockError, LedgerError
from augur_pipeline.home import Home
from augur_pipeline.store.clock import iso
from augur_pipeline.store.digests import file_digest
from augur_pipeline.store.export_sets import existing_export_set, publication_of
from augur_pipeline.store.grammar import parse_time
from augur_pipeline.store.published import Published

NEW_LEDGER_RUN = "AUGUR_NEW_LEDGER_RUN"
"""Names the one run that may begin a new ledger: `augur run` sets it, in its own process, to the
id of the run it starts. So neither run config nor a schedule's environment can begin one."""


@dataclass(frozen=True)
class Trace:
    """A publication that something in the home knows of."""

    where: str
    as_of: datetime
    content_digest: str


def traces_of(home: Home, instance: DagsterInstance | None = None) -> list[Trace]:
    """The publications that the home knows of besides its database."""
    traces = []
    if home.latest.is_symlink():
        known = publication_of(os.readlink(home.latest))
        if known is not None:
            traces.append(Trace(str(home.latest), *known))
    event = instance and instance.get_latest_materialization_event(AssetKey("published"))
    if event and event.asset_materialization:
        metadata = event.asset_materialization.metadata
        try:
            as_of = parse_time(str(metadata["as_of"].value))
            traces.append(
                Trace(
                    f"run {event.run_id} of {home.dagster}",
                    as_of,
                    str(metadata["content_digest"].value),
                )
            )
        except (KeyError, ClockError):
            pass  # a history of other metadata tells nothing
    return traces


def refuse_lost_ledger(home: Home, published: Published | None, traces: Sequence[Trace]) -> None:
    """Raise `LedgerError` where a trace knows a later or other publication than the database."""
    for trace in traces:
        if published is None:
            found = "there is none"
        elif published.as_of < trace.as_of:
            found = f"this one is of as_of {iso(published.as_of)}"
        elif published.as_of == trace.as_of and not _may_follow(home, published, trace):
            found = f"this one has digest {published.content_digest[:12]}…"
        else:
            continue
        raise LedgerError(
            f"{home.database}: {trace.where} knows a publication as_of {iso(trace.as_of)} with "
            f"digest {trace.content_digest[:12]}…, but {found}; restore that file from a backup, "
            "or begin a new ledger with `augur run --new-ledger` (it keeps the old file beside it)"
        )


def _may_follow(home: Home, published: Published, trace: Trace) -> bool:
    """Whether the database is the trace's, or replaced it in a run that died before its traces.

    That run's export set lies there: it is made before the database is replaced.
    """
    return (
        published.content_digest == trace.content_digest
        or existing_export_set(home, published.content_digest, published.as_of).is_dir()
    )


def begins_new_ledger(run_id: str) -> bool:
    """Whether this run was told to begin a new ledger."""
    return os.environ.get(NEW_LEDGER_RUN) == run_id


def file_to_retire(database: Path) -> str:
    """What the file is that a new ledger replaces: its SHA-256, empty where there is none."""
    return file_digest(database) if database.exists() else ""


def retire(database: Path, sha256: str) -> None:
    """Keep the published database under another name, while it also stays where it is."""
    kept = database.with_name(f"{database.name}.retired-{sha256[:12]}")
    if kept.exists():
        return
    try:
        os.link(database, kept)
    except OSError:  # a file system without hard links
        shutil.copyfile(database, kept)
