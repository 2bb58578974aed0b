"""`augur score`: the calibration report of any file of forecasts with outcomes."""

import json
from pathlib import Path
from typing import Any

import click

from augur_pipeline.cli.values import json_value
from augur_pipeline.errors import InputError

SHOWN_FAULTS = 5


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--probability", required=True, help="Column of the stated probability of 1.")
@click.option("--outcome", required=True, help="Column of the outcome: 0/1, false/true, no/yes.")
@click.option("--episode", help="Column that names what rows share (day, event): the unit of "
    "inference. Without it every row counts as independent.")  # fmt: skip
@click.option("--weight", help="Column of weights (0 or more).")
@click.option("--by", help="Column to report by: a report for each of its values.")
@click.option("--bins", default=10, show_default=True, type=click.IntRange(1, 1000), help="Bins.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path),
    help="Directory for report.json and a reliability diagram per group.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the table.")
@click.option("--skip-invalid", is_flag=True, help="Leave bad rows out, and say how many.")
def score(
    file: Path,
    probability: str,
    outcome: str,
    episode: str | None,
    weight: str | None,
    by: str | None,
    bins: int,
    out: Path | None,
    as_json: bool,
    skip_invalid: bool,
) -> None:
    """Report how well calibrated the forecasts in FILE (CSV, JSONL or Parquet) are; no home needed.

    Bad rows are refused with their line numbers, unless --skip-invalid. Rows whose outcome is
    annulled (void, annulled, ambiguous, cancelled, a tie or fraction) are left out and counted.
    Brier scores follow the binary convention: 0 best, 1 worst.
    """
    from augur_pipeline.diagnostics.calibration.report import bin_rows, curve_rows, report
    from augur_pipeline.diagnostics.calibration.score_file import ScoreColumns, read_forecasts
    from augur_pipeline.exports.file_names import file_names
    from augur_pipeline.policy import Policy

    columns = ScoreColumns(probability, outcome, episode, weight, by)
    scored = read_forecasts(file, columns)
    if scored.faults and not skip_invalid:
        first = "; ".join(f"line {f.line}: {f.what}" for f in scored.faults[:SHOWN_FAULTS])
        raise InputError(
            f"{file}: {len(scored.faults)} bad row(s): {first}; mend them, or leave them out with "
            "--skip-invalid"
        )
    if not scored.groups:
        raise InputError(f"{file}: no rows to score")
    policy = Policy()
    reports = [
        {
            "group": group,
            **report(rows, bins, policy.test_draws, policy.test_seed),
            "bins": bin_rows(rows, bins),
            "curve": curve_rows(rows),
        }
        for group, rows in scored.groups.items()
    ]
    document = {
        "file": file.name,
        "columns": columns.named,
        "convention": "binary Brier score: 0 best, 1 worst",
        "independent_rows": episode is None,
        "skipped_rows": len(scored.faults),
        "annulled_rows": scored.annulled,
        "groups": reports,
    }
    if out is not None:
        from augur_pipeline.pictures.diagram_data import DiagramData
        from augur_pipeline.pictures.diagrams import reliability_diagram

        out.mkdir(parents=True, exist_ok=True)
        (out / "report.json").write_text(_json(document), encoding="utf-8")
        names = file_names(group for group in scored.groups if group is not None)
        for group, rows in scored.groups.items():
            name = "diagram" if group is None else names[group]
            data = DiagramData(
                group or file.name, rows.probability, rows.outcome, rows.episode, rows.weight
            )
            (out / f"{name}.png").write_bytes(reliability_diagram(data))
    if as_json:
        click.echo(_json(document), nl=False)
    else:
        _print(document)


def _json(document: dict[str, Any]) -> str:
    plain = json_value(document)
    return json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_LINES = (
    ("n", "rows"),
    ("episodes", "episodes"),
    ("base_rate", "base rate"),
    ("mean_probability", "mean probability"),
    ("brier", "Brier score"),
    ("brier_low", "  95 % from"),
    ("brier_high", "  to"),
    ("skill", "skill over 0.5"),
    ("log_loss", "log loss (nats)"),
    ("impossible_events", "impossible events"),
    ("mcb", "MCB miscalibration"),
    ("mcb_null_mean", "  if calibrated"),
    ("dsc", "DSC discrimination"),
    ("unc", "UNC uncertainty"),
    ("reliability", "REL (binned)"),
    ("resolution", "RES (binned)"),
    ("ece", "ECE"),
    ("ece_null_mean", "  if calibrated"),
    ("ece_band", "  band"),
    ("mce", "MCE"),
    ("slope", "calibration slope"),
    ("intercept", "intercept"),
    ("p_worse", "p: worse than stated"),
    ("mcb_p_value", "p: miscalibrated"),
    ("hl_p_independent", "Hosmer-Lemeshow p (indep.)"),
    ("spiegelhalter_p_independent", "Spiegelhalter p (indep.)"),
    ("interval_undefined_reason", "no interval because"),
    ("tests_undefined_reason", "no test because"),
)


def _print(document: dict[str, Any]) -> None:
    from augur_pipeline.cli.display import console, plain_table

    groups = document["groups"]
    rows = []
    for name, label in _LINES:
        values = [_shown(group[name]) for group in groups]
        if any(value is not None for value in values):
            rows.append([label, *values])
    rows.append(["flags", *(", ".join(group["flags"]) or None for group in groups)])
    names = ["", *(group["group"] or document["file"] for group in groups)]
    console.print(plain_table(names, rows, "Calibration report (Brier: 0 best, 1 worst)"))
    if document["independent_rows"]:
        console.print("Rows were taken as independent; name what they share with --episode.")
    if document["skipped_rows"]:
        console.print(f"{document['skipped_rows']} bad row(s) left out.")
    if document["annulled_rows"]:
        console.print(f"{document['annulled_rows']} annulled row(s): no outcome, in no number.")


def _shown(value: Any) -> Any:
    return f"{value:.4f}" if isinstance(value, float) else value
