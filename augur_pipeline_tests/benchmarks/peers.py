"""Peers that resolve the same calls on the same files, each in a process of its own.

Every peer reads the calls (call_id, pool_id, due_at) and the prices (pool_id, recorded_at, price)
from Parquet and gives each call the first price in `[due_at, due_at + 2 h]`. It prints one JSON
line: seconds, peak memory, and a digest of its answers.

The generated prices are positive and alone at their instant, so no peer has to judge rows or
break ties: what our own job does besides is not asked of them.
"""

import hashlib
import json
import re
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars as pl

CALLS, PRICES = sys.argv[2:4] if len(sys.argv) > 3 else ("", "")


def scan() -> pl.DataFrame | None:
    """Merely read both inputs once."""
    duckdb.sql(f"SELECT sum(price), max(recorded_at), count(pool_id) FROM '{PRICES}'").fetchall()
    duckdb.sql(f"SELECT count(call_id), max(due_at), count(pool_id) FROM '{CALLS}'").fetchall()
    return None


def polars_join_asof() -> pl.DataFrame:
    """Polars: sort both, `join_asof` forward with a tolerance."""
    prices = (
        pl.read_parquet(PRICES, columns=["pool_id", "recorded_at", "price"])
        .with_columns(pl.col("recorded_at").dt.replace_time_zone(None))
        .sort("recorded_at")
    )
    calls = pl.read_parquet(CALLS).sort("due_at")
    return calls.join_asof(
        prices,
        left_on="due_at",
        right_on="recorded_at",
        by="pool_id",
        strategy="forward",
        tolerance="2h",
        check_sortedness=False,
    ).select("call_id", "price")


def pandas_merge_asof() -> pl.DataFrame:
    """Pandas: sort both, `merge_asof` forward with a tolerance."""
    import pandas as pd

    prices = pd.read_parquet(PRICES, columns=["pool_id", "recorded_at", "price"])
    prices["recorded_at"] = prices["recorded_at"].dt.tz_localize(None)
    prices = prices.sort_values("recorded_at")
    calls = pd.read_parquet(CALLS).sort_values("due_at")
    merged = pd.merge_asof(
        calls,
        prices,
        left_on="due_at",
        right_on="recorded_at",
        by="pool_id",
        direction="forward",
        tolerance=pd.Timedelta(hours=2),
    )
    return pl.from_pandas(merged[["call_id", "price"]], nan_to_null=True)


def duckdb_asof_join() -> pl.DataFrame:
    """DuckDB: its plain ASOF JOIN, by text pool and time."""
    duckdb.sql("SET TimeZone = 'UTC'")
    return duckdb.sql(
        f"""
        SELECT call_id, CASE WHEN recorded_at <= due_at + INTERVAL 2 HOUR THEN price END AS price
        FROM '{CALLS}' AS calls
        ASOF LEFT JOIN (
            SELECT pool_id, make_timestamp(epoch_us(recorded_at)) AS recorded_at, price
            FROM '{PRICES}'
        ) AS prices
            ON calls.pool_id = prices.pool_id AND calls.due_at <= prices.recorded_at
        """
    ).pl()


PEERS: dict[str, Callable[[], pl.DataFrame | None]] = {
    "scan both inputs": scan,
    "polars join_asof": polars_join_asof,
    "pandas merge_asof": pandas_merge_asof,
    "duckdb ASOF JOIN": duckdb_asof_join,
}


def peak_bytes() -> int:
    """Peak resident memory of this process (Linux: of this program alone, not what started it)."""
    status = Path("/proc/self/status")
    if status.exists():
        (peak,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status.read_text(), re.MULTILINE)
        return int(peak) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def digest(answers: pl.DataFrame) -> str:
    """SHA-256 over `call_id, price` in order of call_id."""
    text = answers.sort("call_id").write_csv(float_precision=None)
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    """Run one peer and print what it took."""
    started = time.perf_counter()
    answers = PEERS[sys.argv[1]]()
    seconds = time.perf_counter() - started
    peak = peak_bytes()
    result = {
        "seconds": seconds,
        "peak_bytes": peak,
        "digest": None if answers is None else digest(answers),
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
