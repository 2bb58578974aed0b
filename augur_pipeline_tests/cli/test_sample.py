"""`augur sample`: the command around the generator (the bytes: `sample/test_generator.py`)."""

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from augur_pipeline.cli import main
from augur_pipeline_tests.cli.processes import augur, last_line

SMALL = ("--agents", "2", "--calls", "20", "--pools", "1", "--days", "3")


def sample(out: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["sample", "--out", str(out), *SMALL, *options])


def digests(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


def test_writes_a_home_and_says_what_to_do_next(tmp_path: Path) -> None:
    result = sample(tmp_path / "new/home")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == f"Next: augur run --home {tmp_path / 'new/home'}"
    assert set(digests(tmp_path / "new/home")) == {
        "inputs/calls/calls.csv",
        "inputs/calls/traps.csv",
        "inputs/calls/traps.jsonl",
        "inputs/prices/prices.csv",
        "inputs/prices/traps.csv",
        "inputs/score_terms.csv",
        "inputs/seasons.csv",
    }
    with (tmp_path / "new/home/inputs/calls/calls.csv").open() as file:
        assert len(file.readlines()) == 1 + 20


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        assert sample(tmp_path / name, "--seed", seed).exit_code == 0
    assert digests(tmp_path / "a") == digests(tmp_path / "b")
    assert digests(tmp_path / "a") != digests(tmp_path / "c")


def test_parquet(tmp_path: Path) -> None:
    assert sample(tmp_path, "--format", "parquet").exit_code == 0
    assert pq.read_table(tmp_path / "inputs/calls/calls.parquet").num_rows == 20
    assert (tmp_path / "inputs/prices/prices.parquet").exists()
    assert not (tmp_path / "inputs/calls/calls.csv").exists()


def test_refuses_inputs_that_hold_files(tmp_path: Path) -> None:
    mine = tmp_path / "inputs/calls/mine.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("call_id\n")
    result = sample(tmp_path)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert str(tmp_path / "inputs") in result.stderr
    assert list(digests(tmp_path)) == ["inputs/calls/mine.csv"]
    assert mine.read_text() == "call_id\n"


def test_empty_folders_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "inputs/calls").mkdir(parents=True)
    assert sample(tmp_path).exit_code == 0


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = sample(tmp_path / "file/home")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("augur: ")


@pytest.mark.parametrize(
    "options",
    [
        ["--agents", "0"],
        ["--agents", "many"],
        ["--calls", "-1"],
        ["--days", "361"],
        ["--seed", "-1"],
        ["--format", "xlsx"],
        ["--unknown"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_exit_2(options: list[str], tmp_path: Path) -> None:
    result = sample(tmp_path / "home", *options)
    assert result.exit_code == 2, result.output
    assert "Error: " in last_line(result.stderr)
    assert not (tmp_path / "home").exists()


def test_needs_a_place() -> None:
    assert CliRunner().invoke(main, ["sample"]).exit_code == 2


def test_as_a_process(tmp_path: Path) -> None:
    process = augur("sample", "--out", "here", *SMALL, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert process.stderr == ""
    assert (tmp_path / "here/inputs/seasons.csv").exists()
