"""The command line: `augur run`, `ui`, `explain`, `query`, `score`, `sample`."""

from augur_pipeline.cli.main import main

__all__ = ["main"]
