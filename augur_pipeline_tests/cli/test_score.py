"""`augur score` on files of all formats, and on the published Niamey forecasts."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main
from augur_pipeline.diagnostics.calibration.score_file import ScoreColumns, read_forecasts
from augur_pipeline.pictures.diagram_data import DiagramData
from augur_pipeline.pictures.diagrams import diagram_numbers

# six days, two forecasters
ROWS = [
    ("d1", "x", "0.9", "1"),
    ("d1", "y", "0.5", "0"),
    ("d2", "x", "0.8", "1"),
    ("d2", "y", "0.5", "1"),
    ("d3", "x", "0.3", "0"),
    ("d3", "y", "0.5", "0"),
]
COLUMNS = ("day", "who", "p", "hit")


def score(path: Path, *options: str) -> Result:
    command = ["score", str(path), "--probability", "p", "--outcome", "hit", *options]
    return CliRunner().invoke(main, command)


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    path = tmp_path / "forecasts.csv"
    path.write_text("\n".join(",".join(row) for row in [COLUMNS, *ROWS]) + "\n")
    return path


def jsonl_file(tmp_path: Path) -> Path:
    path = tmp_path / "forecasts.jsonl"
    path.write_text(
        "".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in ROWS)
    )
    return path


def parquet_file(tmp_path: Path) -> Path:
    path = tmp_path / "forecasts.parquet"
    day, who, p, hit = zip(*ROWS, strict=True)
    columns = {"day": day, "who": who, "p": [float(x) for x in p], "hit": [int(x) for x in hit]}
    pq.write_table(pa.table(columns), path)
    return path


# losses .01 .25 .04 .25 .09 .25
BRIER = 0.89 / 6


def test_every_format_gives_the_same_report(csv_file: Path, tmp_path: Path) -> None:
    reports = []
    for path in (csv_file, jsonl_file(tmp_path), parquet_file(tmp_path)):
        result = score(path, "--json", "--episode", "day")
        assert result.exit_code == 0, result.output
        document = json.loads(result.output)
        (group,) = document["groups"]
        assert group["n"] == 6
        assert group["episodes"] == 3
        assert group["brier"] == pytest.approx(BRIER, abs=1e-15)
        reports.append(group)
    assert reports[0] == reports[1] == reports[2]


def test_by_gives_a_report_for_each_value(csv_file: Path) -> None:
    document = json.loads(score(csv_file, "--json", "--by", "who").output)
    briers = {group["group"]: group["brier"] for group in document["groups"]}
    assert briers == {"x": pytest.approx(0.14 / 3, abs=1e-15), "y": 0.25}
    assert document["independent_rows"] is True


def test_the_table_and_the_directory(csv_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    result = score(csv_file, "--out", str(out))
    assert result.exit_code == 0
    assert "0.1483" in result.output
    assert "Rows were taken as independent" in result.output
    assert json.loads((out / "report.json").read_text())["groups"][0]["n"] == 6
    assert (out / "diagram.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("d4,x,80,1", "p '80' is no probability from 0 to 1"),
        ("d4,x,nan,1", "p 'nan' is no probability"),
        ("d4,x,,1", "p None is no probability"),
        ("d4,x,0.5,1.5", "hit '1.5' is no outcome (0 or 1)"),
        ("d4,x,0.5,", "hit None is no outcome"),
        ("d4,x,0.5", "not as many fields as the header"),
    ],
)
def test_bad_rows_are_refused_with_their_line(csv_file: Path, row: str, what: str) -> None:
    csv_file.write_text(csv_file.read_text() + row + "\n")
    result = score(csv_file)
    assert result.exit_code == 1
    assert f"line 8: {what}" in result.output
    skipped = score(csv_file, "--skip-invalid")
    assert skipped.exit_code == 0
    assert "1 bad row(s) left out" in skipped.output


def test_weights(csv_file: Path) -> None:
    lines = csv_file.read_text().splitlines()
    weighted = [lines[0] + ",w", *(f"{line},{2 if ',x,' in line else 1}" for line in lines[1:])]
    csv_file.write_text("\n".join(weighted) + "\n")
    (group,) = json.loads(score(csv_file, "--weight", "w", "--json").output)["groups"]
    assert group["brier"] == pytest.approx((2 * 0.14 + 0.75) / 9, abs=1e-15)
    assert group["ece"] is None
    assert group["tests_undefined_reason"] == "weighted"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("forecasts.csv", ["--episode", "week"], "no column week"),
        ("absent.csv", [], "no such file"),
        ("forecasts.txt", [], "cannot tell the format"),
    ],
)
def test_unusable_files(csv_file: Path, name: str, options: list[str], message: str) -> None:
    result = score(csv_file.with_name(name), *options)
    assert result.exit_code == 1
    assert message in result.output


def test_an_impossible_event_is_json(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("p,hit\n0,1\n")
    (group,) = json.loads(score(path, "--json").output)["groups"]
    assert group["log_loss"] == "inf"
    assert group["impossible_events"] == 1


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("p,hit\n")
    result = score(path)
    assert result.exit_code == 1
    assert "no rows to score" in result.output


@pytest.mark.parametrize(
    ("forecaster", "published"),
    [
        # published with DSC .031; the exact value is .030469, as .232 = .018 − DSC + .244 has it
        ("EMOS", (0.232, 0.018, 0.030, 0.244)),
        ("ENS", (0.266, 0.066, 0.044, 0.244)),
        ("EPC", (0.234, 0.022, 0.032, 0.244)),
        ("Logistic", (0.206, 0.017, 0.056, 0.244)),
    ],
)
def test_published_decompositions(
    shared_data: Path, forecaster: str, published: tuple[float, ...]
) -> None:
    """Dimitriadis, Gneiting & Jordan (2021), 92 days of rain at Niamey."""
    path = shared_data / "events" / "precip_niamey.csv"
    command = ["score", str(path), "--probability", forecaster, "--outcome", "obs", "--json"]
    (group,) = json.loads(CliRunner().invoke(main, command).output)["groups"]
    assert tuple(round(group[name], 3) for name in ("brier", "mcb", "dsc", "unc")) == published


# --- columns, weights, annulled outcomes ----------------------------------------------------------


def test_the_picture_shows_the_weighted_numbers_of_the_table(tmp_path: Path) -> None:
    """Seven rows of loss 0.01 and one of 0.81, which counts nine times as much."""
    rows = [("d1", "0.9", "1", "1")] * 7 + [("d2", "0.9", "0", "9")]
    path = tmp_path / "weighted.csv"
    path.write_text("day,p,hit,w\n" + "".join(",".join(row) + "\n" for row in rows))
    scored = read_forecasts(path, ScoreColumns("p", "hit", "day", "w")).groups[None]
    numbers = diagram_numbers(
        DiagramData("t", scored.probability, scored.outcome, scored.episode, scored.weight)
    )
    (group,) = json.loads(score(path, "--weight", "w", "--episode", "day", "--json").stdout)[
        "groups"
    ]
    expected = (7 * 0.01 + 9 * 0.81) / 16
    assert group["brier"] == pytest.approx(expected, abs=1e-12)
    assert numbers.corp.brier == group["brier"]
    assert numbers.corp.miscalibration == group["mcb"]
    assert (numbers.ece, numbers.bins, numbers.band.low) == (group["ece"], (), None)
    result = score(path, "--weight", "w", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/diagram.png").stat().st_size > 10_000


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_columns_are_told_apart_by_case_and_may_be_called_like_ours(
    tmp_path: Path, suffix: str
) -> None:
    columns = {
        "P": ["0.1", "0.1"], "p": ["0.9", "0.8"], "hit": ["1", "0"], "Hit": ["0", "1"],
        "source_line": ["0.2", "0.2"], "malformed_text": ["1", "1"],
    }  # fmt: skip
    path = tmp_path / f"forecasts.{suffix}"
    rows = list(zip(*columns.values(), strict=True))
    if suffix == "parquet":
        pq.write_table(pa.table(columns), path)
    elif suffix == "csv":
        path.write_text("\n".join(",".join(row) for row in [tuple(columns), *rows]) + "\n")
    else:
        objects = (dict(zip(columns, row, strict=True)) for row in rows)
        path.write_text("".join(json.dumps(one) + "\n" for one in objects))

    def brier(probability: str, outcome: str) -> float:
        command = ["score", str(path), "--probability", probability, "--outcome", outcome]
        result = CliRunner().invoke(main, [*command, "--json"])
        assert result.exit_code == 0, result.output
        return float(json.loads(result.stdout)["groups"][0]["brier"])

    assert brier("p", "hit") == pytest.approx((0.01 + 0.64) / 2, abs=1e-12)
    assert brier("P", "Hit") == pytest.approx((0.01 + 0.81) / 2, abs=1e-12)
    assert brier("source_line", "malformed_text") == pytest.approx(0.64, abs=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_missing_column_lists_those_there_are(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"forecasts.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"prob": [0.5], "hit": [1]}), path)
    else:
        path.write_text("prob,hit\n0.5,1\n" if suffix == "csv" else '{"prob": 0.5, "hit": 1}\n')
    result = score(path)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert all(name in line for name in ("'prob'", "'hit'"))


@pytest.mark.parametrize("outcome", ["0.5", "void", "Annulled", " ambiguous ", "cancelled", "tie"])
def test_annulled_outcomes_are_no_bad_rows(csv_file: Path, outcome: str) -> None:
    with csv_file.open("a") as file:
        file.write(f"d4,x,0.9,{outcome}\n")
    result = score(csv_file, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["annulled_rows"], document["skipped_rows"]) == (1, 0)
    assert document["groups"][0]["n"] == 6
    with csv_file.open("a") as file:
        file.write("d4,x,80,1\n")
    both = score(csv_file, "--skip-invalid")
    assert "1 bad row(s) left out." in both.stdout
    assert "1 annulled row(s)" in both.stdout


def test_a_broken_parquet_is_named_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 no more")
    result = score(path)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"augur: {path}: cannot be read as Parquet")
