"""The command line: `augur run`, `ui`, `explain`, `query`, `sample`."""

from augur_pipeline.cli.main import main

__all__ = ["main"]
