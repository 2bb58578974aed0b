"""The home directory: where everything of one arena lies (contract §2)."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from augur_pipeline.errors import InputError

INSTANCE_YAML = """\
# Written by augur when the home was first used; yours to change.
telemetry:
  enabled: false
nux:
  enabled: false
concurrency:
  runs:
    max_concurrent_runs: 1
run_monitoring:
  enabled: true
python_logs:
  managed_python_loggers: [augur_pipeline]
  python_log_level: INFO
"""

WORKSPACE_YAML = """\
# Written by augur: what `augur ui` loads.
load_from:
  - python_module:
      module_name: augur_pipeline.definitions
      location_name: augur_pipeline
"""


def has_file(path: Path) -> bool:
    """Whether a file lies there; a link to one is one.

    Raises `InputError` where something else does: a link that leads nowhere would count as absent
    and so change what is scored, and reading a pipe or device may never end.
    """
    if not os.path.lexists(path):
        return False
    try:
        mode = path.stat().st_mode
    except OSError as error:
        what = (
            "a link that leads nowhere" if path.is_symlink() else f"unreadable ({error.strerror})"
        )
        raise InputError(f"{path}: {what}; mend or remove it") from error
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{path}: no regular file (a folder, pipe or device); replace or remove it"
        )
    return True


@dataclass(frozen=True)
class Home:
    """Paths below one home directory."""

    root: Path

    @classmethod
    def at(cls, directory: str | Path | None = None) -> "Home":
        """The home named, else `AUGUR_HOME`, else `data` in the working directory."""
        return cls(Path(directory or os.environ.get("AUGUR_HOME") or "data").absolute())

    @property
    def inputs(self) -> Path:
        """Landing zone; `calls/` and `prices/` hold the landing files."""
        return self.root / "inputs"

    @property
    def database(self) -> Path:
        """The published database: what people query."""
        return self.root / "augur.duckdb"

    @property
    def exports(self) -> Path:
        """Export sets; `latest` is a link to the current one."""
        return self.root / "exports"

    @property
    def latest(self) -> Path:
        """Link to the current export set."""
        return self.exports / "latest"

    @property
    def work(self) -> Path:
        """Private files of a run; may be deleted whenever none is going."""
        return self.root / "work"

    @property
    def work_database(self) -> Path:
        """The database only a run opens."""
        return self.work / "work.duckdb"

    @property
    def dagster(self) -> Path:
        """The Dagster instance of this home."""
        return self.root / "dagster"

    def require_inputs(self) -> None:
        """Raise `InputError` unless this is a home with a landing zone."""
        if not self.inputs.is_dir():
            raise InputError(
                f"{self.root}: no home here (no directory {self.inputs.name}/ in it); name one "
                "with --home or AUGUR_HOME, or make a sample with `augur sample --out DIR`"
            )

    def require_writable(self) -> None:
        """Raise `InputError` where a run could not write its results."""
        if not os.access(self.root, os.W_OK):
            raise InputError(
                f"{self.root}: cannot be written (read-only disk or missing permission); a run "
                "writes its results here"
            )

    def prepare_instance(self) -> Path:
        """Make the Dagster instance's directory and settings; returns its path."""
        self.dagster.mkdir(parents=True, exist_ok=True)
        for name, text in (("dagster.yaml", INSTANCE_YAML), ("workspace.yaml", WORKSPACE_YAML)):
            path = self.dagster / name
            if not path.exists():
                path.write_text(text, encoding="utf-8")
        return self.dagster
