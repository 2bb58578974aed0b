"""The seal, recomputed by a few lines of plain Python (contract §4)."""

import hashlib
import math
import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augur_pipeline_tests.nights import GOOD_CALL, jsonl, make_home, night, query

FIELDS = (
    "call_id", "agent_id", "pool_id", "action", "decider", "confidence", "horizon_hours",
    "reference_price", "decided_at",
)  # fmt: skip
MIDNIGHT_US = 1_704_153_600_000_000  # 2024-01-02T00:00:00Z


def plain_seal(*values: Any) -> str:
    """The seal of sealed fields in order: str, float, int (microseconds) or None."""
    text = "augur-seal-1\n"
    for name, value in zip(FIELDS, values, strict=True):
        if isinstance(value, float):
            value = f"{value + 0.0:.17g}"
        escaped = "" if value is None else str(value)
        escaped = escaped.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        text += f"{name}={escaped}\n"
    return hashlib.sha256(text.encode()).hexdigest()


WRITTEN_OUT = (
    "augur-seal-1\n"
    "call_id=c\\\\1\\n2\n"
    "agent_id=агент\n"
    'pool_id=P,"q"\n'
    "action=sell\n"
    "decider=llm\n"
    "confidence=0.80000000000000004\n"
    "horizon_hours=1.5\n"
    "reference_price=1e+22\n"
    "decided_at=1704153600000001\n"
)
WRITTEN_OUT_SEAL = "4c768a752bb4e6132c9c44a40a14004dceb4c99b924eb0b4faf0f68adf5d5219"


def test_a_seal_written_out_by_hand(tmp_path: Path) -> None:
    assert hashlib.sha256(WRITTEN_OUT.encode()).hexdigest() == WRITTEN_OUT_SEAL
    call = {
        "call_id": " c\\1\n2 ", "agent_id": "агент", "pool_id": 'P,"q"', "action": "SELL",
        "decider": "Llm", "confidence": ".8", "horizon_hours": "1.50", "reference_price": "1e22",
        "decided_at": "2024-01-02T02:00:00.0000019+02:00", "order_status": "refused",
    }  # fmt: skip
    home = make_home(tmp_path, [call])
    night(home)
    assert query(home, "SELECT seal FROM sealed_calls") == [(WRITTEN_OUT_SEAL,)]
    assert query(home, "SELECT call_id, seal FROM eligible_calls") == [
        ("c\\1\n2", WRITTEN_OUT_SEAL)
    ]


TEXTS = [
    "a\\b", "\\n", "\\\nx", "cr\rcr", "crlf\r\nx", "a=b\nagent_id=c", "=", "\x00", "\x1b[31m", "é",
    "e\u0301", "агент π 🙂", "\u2028", "\u00a0", "'\"`", "'; DROP TABLE sealed_calls; --", "x" * 5000,
    "augur-seal-1", "nan", "0", "İ",
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-0.0", "0.1", "0.30000000000000004", "1e22", "1e21", "123456789", "5e-324", "1e-5",
    "0.0001", "0.00001", "100", "1e5", "1e16", "1e17", "12345678901234567", "1.7976931348623157e308",
    "-1.5", "2.2250738585072014e-308", "9007199254740993", "3.141592653589793238462643", "+.5", "5.",
]  # fmt: skip
NO_NUMBERS = ["eighty", "80%", "nan", "inf", "1e999", "a\\b\nc\r", "1,5", "NaN "]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Seals of a home of hostile calls, by call_id."""
    home = make_home(tmp_path_factory.mktemp("seals"))
    rows = [{**GOOD_CALL, "call_id": f"t{n}", "agent_id": t} for n, t in enumerate(TEXTS)]
    rows += [{**GOOD_CALL, "call_id": t, "pool_id": t} for t in TEXTS]
    for name in ("confidence", "horizon_hours", "reference_price"):
        for n, text in enumerate((*NUMBERS, *NO_NUMBERS, "")):
            rows.append({**GOOD_CALL, "call_id": f"{name}{n}", name: text})
    rows += [
        {**GOOD_CALL, "call_id": f"d{n}", "decided_at": text}
        for n, text in enumerate(("1970-01-01", "2024-01-01T23:59:59.999999Z"))
    ]
    rows.append({**GOOD_CALL, "call_id": "hold", "action": "hold", "decider": "system"})
    (home / "inputs/calls/hostile.jsonl").write_text(jsonl(rows))
    doubles = [math.nan, math.inf, -math.inf, -0.0, 0.1, 5e-324, None]
    columns = {name: [GOOD_CALL[name]] * len(doubles) for name in FIELDS}
    columns |= {"call_id": [f"p{n}" for n in range(len(doubles))], "confidence": doubles}
    pq.write_table(pa.table(columns), home / "inputs/calls/typed.parquet")
    night(home)
    return dict(query(home, "SELECT call_id, seal FROM sealed_calls"))


def good(call_id: str, **changes: Any) -> str:
    """The plain seal of GOOD_CALL with changes."""
    values = {
        **GOOD_CALL, "confidence": 0.8, "horizon_hours": 1.0, "reference_price": 100.0,
        "decided_at": MIDNIGHT_US, "call_id": call_id, **changes,
    }  # fmt: skip
    return plain_seal(*(values[name] for name in FIELDS))


def test_hostile_text(sealed: dict[str, str]) -> None:
    for place, text in enumerate(TEXTS):
        assert sealed[f"t{place}"] == good(f"t{place}", agent_id=text), text
        assert sealed[text] == good(text, pool_id=text), text


@pytest.mark.parametrize("name", ["confidence", "horizon_hours", "reference_price"])
def test_odd_numbers_and_texts_that_are_none(sealed: dict[str, str], name: str) -> None:
    for place, text in enumerate(NUMBERS):
        assert sealed[f"{name}{place}"] == good(f"{name}{place}", **{name: float(text)}), text
    for place, text in enumerate(NO_NUMBERS, start=len(NUMBERS)):
        assert sealed[f"{name}{place}"] == good(f"{name}{place}", **{name: text.strip()}), text
    place = len(NUMBERS) + len(NO_NUMBERS)
    assert sealed[f"{name}{place}"] == good(f"{name}{place}", **{name: None})


def test_typed_doubles(sealed: dict[str, str]) -> None:
    for place, value in enumerate(["nan", "inf", "-inf", 0.0, 0.1, 5e-324, None]):
        assert sealed[f"p{place}"] == good(f"p{place}", confidence=value), value


def test_times_and_words(sealed: dict[str, str]) -> None:
    assert sealed["d0"] == good("d0", decided_at=0)
    assert sealed["d1"] == good("d1", decided_at=MIDNIGHT_US - 1)
    assert sealed["hold"] == good("hold", action="hold", decider="system")


def test_all_seals_differ(sealed: dict[str, str]) -> None:
    assert len(set(sealed.values())) == len(sealed) == 2 * len(TEXTS) + 3 * 33 + 3 + 7


def test_twenty_thousand_doubles_print_alike() -> None:
    """`%.17g` of DuckDB and of Python agree on any bit pattern of a finite double."""
    import random

    import duckdb

    from augur_pipeline.store.sql import load_sql

    source = random.Random(7)
    doubles = [struct.unpack("<d", source.randbytes(8))[0] for _ in range(20_000)]
    doubles = [x for x in doubles if math.isfinite(x)] + [source.random() for _ in range(5000)]
    with duckdb.connect() as connection:
        connection.execute(load_sql("augur_pipeline.ledger", "seal"))
        connection.register("given", pa.table({"place": range(len(doubles)), "x": doubles}))
        rows = connection.execute(
            "SELECT canonical_number(x, NULL) FROM given ORDER BY place"
        ).fetchall()
    assert [text for (text,) in rows] == [f"{x:.17g}" for x in doubles]
