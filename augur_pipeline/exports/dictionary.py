"""The data dictionary in `data/README.md`: `python -m augur_pipeline.exports.dictionary`."""

from augur_pipeline.exports.catalog import PUBLISHED_TABLES, VIEWS
from augur_pipeline.store.tables import data_dictionary

INTRODUCTION = """\
# The home, and what is published

`inputs/` is the landing zone (here: a small synthetic sample season). A run publishes
`augur.duckdb` and `exports/latest/` (each table below as Parquet, the last three, which are views,
excepted; passports as JSON).
All times are UTC, in whole microseconds. Brier scores follow the binary convention: 0 best,
1 worst. Scores say how good the stated probabilities were; they say nothing about profit,
execution or tool use.

This page is made from the table models (`python -m augur_pipeline.exports.dictionary`).
"""


def dictionary_page() -> str:
    """The whole page as Markdown."""
    return f"{INTRODUCTION}\n{data_dictionary((*PUBLISHED_TABLES, *VIEWS))}"


if __name__ == "__main__":
    import click

    click.echo(dictionary_page(), nl=False)
