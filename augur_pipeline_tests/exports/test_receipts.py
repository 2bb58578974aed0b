"""Receipts: what they hold, and that no digit of them can be changed unnoticed."""

import csv
import hashlib
import io
import json
import math
import random
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pytest
from click.testing import CliRunner

from augur_pipeline.arithmetic import decimal_text, double_of, units_of
from augur_pipeline.cli import main
from augur_pipeline.exports.file_names import file_name
from augur_pipeline.exports.index import names_of
from augur_pipeline.exports.receipts.files import receipt_files, receipt_schema
from augur_pipeline.exports.receipts.layout import field_text, receipt_bytes
from augur_pipeline.store.sql import load_sql
from augur_pipeline.verify.findings import Findings
from augur_pipeline.verify.receipt import NoReceiptError, verify_receipt
from augur_pipeline_tests.conftest import ROOT
from augur_pipeline_tests.nights import night, query, table
from augur_pipeline_tests.verify.tampering import SECOND, changed_text, small_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published home that no test changes."""
    return small_home(tmp_path_factory.mktemp("receipts") / "home")


@pytest.fixture(scope="module")
def receipts(home: Path) -> dict[str, Path]:
    """The receipt of each agent."""
    folder = home / "exports/latest/receipts" / file_name("S1")
    return {agent: folder / f"{file_name(agent)}.json" for agent in ("a", "a0", "a1")}


@pytest.fixture
def alone(receipts: dict[str, Path], tmp_path: Path) -> Path:
    """A receipt of every kind of row, with its row file, in an empty folder."""
    for path in receipts["a"].parent.glob("a.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "a.json"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(path: Path) -> list[dict[str, str]]:
    text = path.with_suffix(".rows.csv").read_bytes().decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def findings_of(path: Path) -> Findings:
    findings = Findings()
    verify_receipt(path, findings)
    return findings


def is_found(path: Path) -> bool:
    """Is a difference found, or the receipt no receipt any more?"""
    try:
        return findings_of(path).found > 0
    except NoReceiptError:
        return True


def seal_again(path: Path, document: Any) -> None:
    """Write the receipt with a digest that fits, as a forger would."""
    path.write_bytes(receipt_bytes({**document, "receipt_digest": ""}))


# --- what is written ------------------------------------------------------------------------------


def test_every_agent_season_has_a_receipt_and_its_rows(home: Path) -> None:
    folder = home / "exports/latest/receipts"
    found = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    wanted = [
        f"{file_name(season)}/{file_name(agent)}.{end}"
        for season, agent in query(home, "SELECT season_id, agent_id FROM agent_season_brier")
        for end in ("json", "rows.csv")
    ]
    assert found == sorted(wanted)


def test_receipts_follow_their_schema(receipts: dict[str, Path], home: Path) -> None:
    schema = json.loads(receipt_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    for path in receipts.values():
        assert [error.message for error in validator.iter_errors(load(path))] == []
    assert (home / "exports/latest/receipt.schema.json").read_text("utf-8") == receipt_schema()
    document = load(receipts["a"])
    for name in document:
        assert not validator.is_valid({n: v for n, v in document.items() if n != name}), name
    for name, value in (("n", -1), ("mean", 1.1), ("sum", "1.5"), ("weights", "some"), ("x", 1)):
        assert not validator.is_valid({**document, name: value}), name


def test_the_digest_is_of_the_bytes_with_the_field_empty(receipts: dict[str, Path]) -> None:
    for path in receipts.values():
        raw, digest = path.read_bytes(), load(path)["receipt_digest"]
        emptied = raw.replace(f'"receipt_digest": "{digest}"'.encode(), b'"receipt_digest": ""')
        assert emptied != raw
        assert hashlib.sha256(emptied).hexdigest() == digest
        rows = path.with_suffix(".rows.csv").read_bytes()
        assert hashlib.sha256(rows).hexdigest() == load(path)["calls"]["sha256"]


def test_a_receipt_says_what_is_published(receipts: dict[str, Path], home: Path) -> None:
    brier = {row["agent_id"]: row for row in table(home, "agent_season_brier")}
    ((policy, inputs),) = query(home, "SELECT policy, input_digests FROM run_info")
    for agent, path in receipts.items():
        document = load(path)
        own = {n: v for n, v in brier[agent].items() if n not in ("season_id", "agent_id")}
        assert document["agent_season_brier"] == own
        assert (document["season"], document["agent"], document["as_of"]) == ("S1", agent, SECOND)
        assert document["policy"] == json.loads(policy)
        assert document["policy_digest"] == hashlib.sha256(policy.encode()).hexdigest()
        name = "calls/calls.csv"
        assert document["inputs"] == {name: json.loads(inputs)[name]}
        assert "nothing about profit, execution or tool use" in document["statement"]
        assert document["calls"]["rows"] == len(rows_of(path)) == own["directional_calls"]
        left_out = Counter(row["what"] for row in document["left_out"])
        assert left_out == Counter(
            rejected=own["rejected_calls"],
            missing=own["missing_calls"],
            expired=own["expired_calls"],
        )


def test_a_stranger_recomputes_the_score_from_the_rows(receipts: dict[str, Path]) -> None:
    """By the words of the receipt, with fractions."""
    for path in receipts.values():
        document = load(path)
        units = 0
        resolved = [row for row in rows_of(path) if row["status"] == "resolved"]
        for row in resolved:
            price, reference = float(row["price"]), float(row["reference_price"])
            is_right = price > reference if row["action"] == "buy" else price < reference
            loss = (float(row["confidence"]) - is_right) ** 2
            assert repr(loss) == row["loss"]
            units += math.floor(Fraction(loss * 1e18) + Fraction(1, 2))
        assert document["sum"] == f"{units // 10**18}.{units % 10**18:018d}"
        assert document["n"] == len(resolved)
        assert document["mean"] == float(Fraction(units, 10**18)) / len(resolved)


def test_bins_episodes_and_the_worked_rows(receipts: dict[str, Path]) -> None:
    document, rows = load(receipts["a0"]), rows_of(receipts["a0"])
    resolved = [row for row in rows if row["status"] == "resolved"]
    counts = Counter(int(row["bin"]) for row in resolved)
    assert [(b["bin"], b["n"]) for b in document["bins"]["counts"]] == [
        (k, counts[k]) for k in range(10)
    ]
    assert document["episodes"]["counts"] == [{"episode_id": "0", "n": len(resolved)}]
    assert document["episodes"]["days"] == 3
    losses = [float(row["loss"]) for row in resolved]
    for name, loss in (("favourable", min(losses)), ("unfavourable", max(losses))):
        worked = document["worked"][name]
        results = [step["result"] for step in worked["steps"]]
        assert repr(loss) in results
        assert hashlib.sha256(results[0].encode()).hexdigest() == results[1]


def test_the_row_file_is_rfc_4180(receipts: dict[str, Path]) -> None:
    raw = receipts["a"].with_suffix(".rows.csv").read_bytes()
    assert raw.endswith(b"\r\n")
    assert b'"odd ""id""\r\n, one"' in raw
    rows = rows_of(receipts["a"])
    assert [row["call_id"] for row in rows] == sorted(row["call_id"] for row in rows)
    assert {row["standing"] for row in rows} == {"eligible", "rejected", "missing"}
    assert {row["status"] for row in rows} == {"resolved", "expired", "open", "pending", ""}
    for row in rows:
        for name in ("confidence", "price", "loss", "benchmark_1"):
            assert row[name] == "" or repr(float(row[name])) == row[name]


def test_the_same_bytes_again(home: Path, tmp_path: Path) -> None:
    again = Path(shutil.copytree(home, tmp_path / "home", symlinks=True))
    shutil.rmtree((again / "exports/latest").resolve())
    night(again, SECOND)
    for path in (home / "exports/latest/receipts").rglob("*.*"):
        same = again / path.relative_to(home)
        assert same.read_bytes() == path.read_bytes()
        assert not re.search(rb"run_id|no-run", path.read_bytes())


def test_published_benchmarks_stand_in_the_rows(home: Path, tmp_path: Path) -> None:
    database = tmp_path / "augur.duckdb"
    shutil.copy(home / "augur.duckdb", database)
    database.chmod(0o644)
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            """CREATE OR REPLACE TABLE benchmark_forecasts AS
            SELECT 'coin_flip' AS benchmark_id, '1' AS version, cohort_id, forecaster_id, kind,
                forecast_id, 0.5::DOUBLE AS probability, NULL::VARCHAR AS undefined_reason
            FROM scored_forecasts
            UNION ALL
            SELECT 'base, rate', '3', cohort_id, forecaster_id, kind, forecast_id,
                CASE WHEN forecast_id <> 'c0' THEN 0.1::DOUBLE + 0.2::DOUBLE END,
                CASE WHEN forecast_id = 'c0' THEN 'few_resolved' END
            FROM scored_forecasts WHERE forecaster_id = 'a0'
            UNION ALL
            SELECT 'coin_flip', '1', cohort, 'a', kind, call, 0.5, NULL
            FROM (VALUES ('S0', 'event', 'no call'), ('S1', 'call', 'no call'), ('S2', 'call', 'no'),
                -- an event may share a call's id: its benchmark is not the call's
                ('S1', 'event', 'c0')) AS others(cohort, kind, call)"""
        )
        files = dict(receipt_files(connection, names_of(connection)))
    for name, content in files.items():
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(content)
    folder = tmp_path / file_name("S1")
    base, coin = load(folder / "a0.json")["benchmarks"]
    assert (base["benchmark_id"], base["version"], base["undefined"]) == ("base, rate", "3", 1)
    assert base["n_common"] == coin["n_common"] - 1
    units = sum(
        units_of((0.1 + 0.2 - int(row["outcome"])) ** 2)
        for row in rows_of(folder / "a0.json")
        if row["status"] == "resolved" and row["call_id"] != "c0"
    )
    assert base["sum_of_benchmark_losses"] == decimal_text(units)
    assert [one["benchmark_id"] for one in load(folder / "a1.json")["benchmarks"]] == ["coin_flip"]
    for agent in ("a", "a0", "a1"):
        assert findings_of(folder / f"{agent}.json").found == 0


# --- the decimal rule -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [0.0, 1.0, 0.1, 0.25, 5e-19, 4.9e-19, 1.5e-18, 0.30000000000000004, 89.5, -0.1, 1e-30]
)
def test_units_follow_the_database(value: float) -> None:
    ((text,),) = duckdb.execute(
        "SELECT CAST(CAST($1::DOUBLE AS DECIMAL(38, 18)) AS VARCHAR)", [value]
    ).fetchall()
    assert decimal_text(units_of(value)) == text
    ((double,),) = duckdb.execute(
        "SELECT CAST(CAST($1 AS DECIMAL(38, 18)) AS DOUBLE)", [text]
    ).fetchall()
    assert repr(double_of(units_of(value))) == repr(double)


# --- a receipt alone ------------------------------------------------------------------------------

BLOCKED = """
import sys
for name in ("duckdb", "dagster", "polars", "pandera", "pyarrow", "numpy", "scipy", "jsonschema"):
    sys.modules[name] = None
from importlib import resources
def refuse(*_):
    raise AssertionError("the package's files are not to be read")
resources.files = refuse
from augur_pipeline.cli import main
main(prog_name="augur")
"""


def test_a_receipt_alone_needs_nothing_else(alone: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", BLOCKED, "verify", "--receipt", alone.name],
        capture_output=True, text=True, cwd=alone.parent, timeout=60,
        env={"PATH": "", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert process.stdout == "verified: 1 receipts, 6 receipt rows; no difference\n"


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield path, value


def altered(value: Any) -> Any:
    if value is None:
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return math.nextafter(value, 2.0)
    return changed_text(value, len(value) - 1) if value else "x"


STATED = ("season", "season_bounds", "versions", "inputs", "benchmark_id", "version")
"""What a receipt alone can only state; its digest covers it, and a home's `augur verify`."""


def test_every_value_of_a_receipt_is_checked_even_with_a_digest_that_fits(alone: Path) -> None:
    original = alone.read_bytes()
    count = 0
    for path, value in leaves(json.loads(original)):
        if path[0] == "receipt_digest":
            continue
        document = json.loads(original)
        place = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = altered(value)
        # as it would be changed in the file: every leaf, whatever it says
        alone.write_bytes(
            receipt_bytes({**document, "receipt_digest": ""}).replace(
                load_digest(receipt_bytes({**document, "receipt_digest": ""})),
                load_digest(original),
            )
        )
        assert is_found(alone), path
        seal_again(alone, document)
        if not set(STATED) & set(path) and path != ("policy", "backfill"):
            assert is_found(alone), path
        count += 1
    assert count > 180
    alone.write_bytes(original)
    assert findings_of(alone).found == 0


def load_digest(raw: bytes) -> bytes:
    return str(json.loads(raw)["receipt_digest"]).encode()


NOT_RECOMPUTED = {
    "recorded_at", "first_seen_as_of", "order_status", "price", "price_recorded_at", "settled_at",
}  # fmt: skip
"""Columns that only a home can hold against something: alone, the row file's digest covers them."""


def test_every_cell_of_a_row_file_is_checked_even_with_digests_that_fit(alone: Path) -> None:
    rows_path = alone.with_suffix(".rows.csv")
    receipt, original = load(alone), rows_path.read_bytes()
    lines = list(csv.reader(io.StringIO(original.decode(), newline="")))
    for number, line in enumerate(lines):
        for place, text in enumerate(line):
            changed = [list(one) for one in lines]
            changed[number][place] = changed_text(text, len(text) - 1) if text else "1"
            content = io.StringIO(newline="")
            csv.writer(content, lineterminator="\r\n").writerows(changed)
            rows_path.write_bytes(content.getvalue().encode())
            assert is_found(alone), (number, lines[0][place])
            if number and lines[0][place] not in NOT_RECOMPUTED:
                fitting = hashlib.sha256(rows_path.read_bytes()).hexdigest()
                seal_again(alone, {**receipt, "calls": {**receipt["calls"], "sha256": fitting}})
                assert is_found(alone), (number, lines[0][place])
                seal_again(alone, receipt)
    rows_path.write_bytes(original)
    assert findings_of(alone).found == 0


def flip_bytes(path: Path, receipt: Path, step: int) -> None:
    original = path.read_bytes()
    for place in range(0, len(original), step):
        old = original[place]
        new = 48 + (old - 47) % 10 if 48 <= old < 58 else old ^ 1
        path.write_bytes(original[:place] + bytes([new]) + original[place + 1 :])
        assert is_found(receipt), (place, original[place - 20 : place + 20])
    path.write_bytes(original)


def test_bytes_here_and_there_are_checked(alone: Path) -> None:
    flip_bytes(alone, alone, 23)
    flip_bytes(alone.with_suffix(".rows.csv"), alone, 11)


@pytest.mark.slow
def test_every_byte_is_checked(alone: Path) -> None:
    flip_bytes(alone, alone, 1)
    flip_bytes(alone.with_suffix(".rows.csv"), alone, 1)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"a": 1}', b'{"receipt_version": "2"}', b"[" * 100_000],
)
def test_what_is_no_receipt(alone: Path, content: bytes) -> None:
    alone.write_bytes(content)
    with pytest.raises(NoReceiptError, match=r"a\.json: is no receipt"):
        findings_of(alone)


@pytest.mark.parametrize("content", [b"", b"call_id\r\n", b"\xff", b'"', b"a\x00b"])
def test_what_is_no_row_file(alone: Path, content: bytes) -> None:
    alone.with_suffix(".rows.csv").write_bytes(content)
    with pytest.raises(NoReceiptError, match=r"a\.rows\.csv: is no row file"):
        findings_of(alone)


def test_a_receipt_without_its_row_file(alone: Path) -> None:
    alone.with_suffix(".rows.csv").unlink()
    with pytest.raises(NoReceiptError, match=r"a\.rows\.csv: cannot be read"):
        findings_of(alone)


@pytest.mark.parametrize("name", ["max_horizon_hours", "starts_at", "ends_at"])
def test_values_that_cannot_be(alone: Path, name: str) -> None:
    for value in (None, -1.0, "x", [], 1e308, "2024-01-02"):
        document = load(alone)
        document["season_bounds"][name] = value
        seal_again(alone, document)
        assert is_found(alone), value


@pytest.fixture(scope="module")
def cells() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(load_sql("augur_pipeline.exports.receipts", "receipt_cells"))
        yield connection


def written(cells: duckdb.DuckDBPyConnection, macro: str, type_: str, values: list[Any]) -> Any:
    statement = f"SELECT {macro}(given) FROM (SELECT unnest($1::{type_}[]) AS given)"
    return [text for (text,) in cells.execute(statement, [values]).fetchall()]


def csv_fields(values: list[Any]) -> list[str]:
    """The fields as Python's csv module writes them, each at the end of a row of its own."""
    fields = []
    for value in values:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\r\n").writerow(["x", value])
        fields.append(text.getvalue().removeprefix("x,").removesuffix("\r\n"))
    return fields


def test_sql_and_python_write_the_same_text_cells(cells: duckdb.DuckDBPyConnection) -> None:
    texts = [None, "a", "a,b", 'say "hi"', '"', '""', "line\nend", "line\rend", "\r\n", " a ", "é☃",
             "\x1b[31m", "'; DROP TABLE", "<b>", "\t", "a;b", "=1+1", "\\n"]  # fmt: skip
    expected = csv_fields(["" if text is None else text for text in texts])
    assert written(cells, "text_cell", "VARCHAR", texts) == expected
    assert [field_text(text) for text in texts] == expected


def test_sql_and_python_write_the_same_numbers(cells: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(7)
    numbers = [struct.unpack("d", draw.randbytes(8))[0] for _ in range(20_000)]
    numbers = [number for number in numbers if math.isfinite(number)]
    numbers += [round(draw.random() * 10 ** draw.randint(-6, 6), 6) for _ in range(20_000)]
    numbers += [
        0.0,
        -0.0,
        1e15,
        1e16,
        9999999999999998.0,
        1e-4,
        1e-5,
        5e-324,
        0.1 + 0.2,
        1e22,
        1e23,
    ]
    assert written(cells, "number_cell", "DOUBLE", [None, *numbers]) == ["", *map(repr, numbers)]
    assert written(cells, "number_cell", "BIGINT", [None, 0, 1, 12]) == ["", "0", "1", "12"]
    assert written(cells, "number_cell", "BOOLEAN", [None, True, False]) == ["", "true", "false"]


def test_sql_and_python_write_the_same_times(cells: duckdb.DuckDBPyConnection) -> None:
    draw = random.Random(8)
    first = datetime(1970, 1, 1)
    times = [first + timedelta(microseconds=draw.randrange(230 * 365 * 86_400 * 10**6))
             for _ in range(2000)]  # fmt: skip
    times += [first, datetime(2026, 1, 2, 3, 4, 5), datetime(2026, 1, 2, 3, 4, 5, 60)]
    expected = ["", *(field_text(time) for time in times)]
    assert written(cells, "time_cell", "TIMESTAMP", [None, *times]) == expected


@pytest.mark.parametrize("place", ["agent", "season"])
def test_a_receipt_with_half_a_character_is_no_receipt(
    home: Path, tmp_path: Path, place: str
) -> None:
    source = next((home / "exports/latest/receipts").rglob("*.json"))
    given = json.loads(source.read_text(encoding="utf-8"))
    assert place in given
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({**given, place: "a\ud800"}), encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", "--receipt", str(path)])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"augur: {path}: is no receipt: a text holds half a character")
