"""Publish a small home with today's code and archive it as the ledger version of today."""

import shutil
import tarfile
import tempfile
from pathlib import Path

from augur_pipeline.store.published import LEDGER_VERSION
from augur_pipeline_tests.nights import GOOD_CALL, SEASON, make_home, night, write_csv
from augur_pipeline_tests.store.ledgers import AS_OF, LEDGERS

SEASONS = [
    SEASON,
    {
        "season_id": "S2",
        "starts_at": "2024-02-01T00:00:00Z",
        "ends_at": "2024-03-01T00:00:00Z",
    },
]
CALLS = [
    *(
        {
            **GOOD_CALL,
            "call_id": f"c{n}",
            "agent_id": f"a{n % 2}",
            "confidence": f"0.{9 - n // 2}3",
            "action": ("buy", "sell")[n % 3 == 2],
        }
        for n in range(12)
    ),
    {**GOOD_CALL, "call_id": "expired", "pool_id": "unpriced"},
    {
        **GOOD_CALL,
        "call_id": "open",
        "pool_id": "unpriced",
        "decided_at": "2024-02-09T01:00:00Z",
    },
    {
        **GOOD_CALL,
        "call_id": "pending",
        "decided_at": "2024-02-09T22:00:00Z",
        "horizon_hours": "20",
    },
    {**GOOD_CALL, "call_id": "later", "decided_at": "2024-02-02T00:00:00Z"},
    {**GOOD_CALL, "call_id": "never_final", "horizon_hours": "80000"},
    {**GOOD_CALL, "call_id": "rejected", "confidence": "80"},
    {**GOOD_CALL, "call_id": "held", "action": "hold"},
]
PRICES = [("P", "2024-01-02T01:00:00Z", "101"), ("P", "2024-02-02T01:00:00Z", "99")]
TERMS = [
    {"season_id": "S1", "agent_id": agent, "term": "pnl", "weight": "0.9", "value": value}
    for agent, value in (("a0", "50"), ("a1", "20"))
]
BENCHMARK = {
    "benchmark_id": "late",
    "kind": "constant",
    "probability": "0.6",
    "version": "1",
    "locked_at": "2024-03-01",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = make_home(Path(scratch) / "home", CALLS, PRICES, SEASONS)
        write_csv(home / "inputs/score_terms.csv", TERMS)
        write_csv(home / "inputs/benchmarks.csv", [BENCHMARK])
        night(home, AS_OF)
        shutil.rmtree(home / "work")
        with tarfile.open(LEDGERS / f"v{LEDGER_VERSION}.tar.xz", "x:xz") as archive:
            archive.add(home, arcname="home")


if __name__ == "__main__":
    main()
