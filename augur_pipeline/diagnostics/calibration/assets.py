"""Assets `scored_forecasts` and the diagnostics made of it."""

from base64 import b64encode

import pyarrow as pa
from dagster import MarkdownMetadataValue, MaterializeResult, MetadataValue, asset

from augur_pipeline.diagnostics.calibration.steps import diagnose
from augur_pipeline.diagnostics.calibration.tables import CalibrationDiagnostics
from augur_pipeline.pictures.diagram_files import MOST_A_SEASON, season_pictures
from augur_pipeline.pictures.drawn import Drawn
from augur_pipeline.store.arrays import keep_arrow
from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import OWNERS, describe, table_metadata
from augur_pipeline.store.resource import Store


@asset(
    deps=["scored_forecasts", "agent_season_brier"],
    group_name="diagnostics",
    kinds={"numpy", "duckdb"},
    owners=OWNERS,
    description="Forecast verification per agent-season and per season over all agents: Brier with "
    "its interval by episode, decompositions, calibration errors beside what a calibrated "
    "forecaster would show, and tests that respect episodes. Also makes reliability_bins and "
    "reliability_curve. The primary test is p_worse: are the losses worse than stated?",
)
def calibration_diagnostics(store: Store) -> MaterializeResult[None]:
    """Report on every forecaster."""
    with shown_as_failures():
        store.require("running_seasons")
        diagnose(store)
        drawn = Drawn(store.paths.work / "pictures" / "seasons")
        pictures = season_pictures(store.connection, MOST_A_SEASON, drawn)
        # publishing puts the same pictures beside the agents' own
        columns = [pa.array(pictures, pa.string()), pa.array(pictures.values(), pa.binary())]
        keep_arrow(store, "season_pictures", pa.table(columns, ["season_id", "picture"]))
        running = store.connection.execute("SELECT season_id FROM running_seasons").fetchall()
        shown = {season: pictures[season] for (season,) in running if season in pictures}
        return MaterializeResult(
            metadata={
                **describe(store, CalibrationDiagnostics),
                **{f"reliability of {season}": _image(png) for season, png in shown.items()},
                "overview": table_metadata(*store.rows(__package__, "diagnostics_overview")),
            }
        )


def _image(png: bytes) -> MarkdownMetadataValue:
    """A picture as Dagster's page shows it."""
    return MetadataValue.md(f"![reliability](data:image/png;base64,{b64encode(png).decode()})")
