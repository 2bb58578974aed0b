"""What the store takes from its surroundings, and that run config has no part in it."""

from pathlib import Path

import pytest
from dagster import DagsterInvalidConfigError

from augur_pipeline.definitions import defs
from augur_pipeline.errors import PolicyError
from augur_pipeline.store.resource import memory_limit_of, threads_of
from augur_pipeline_tests.nights import make_home, open_store


def test_threads_are_a_whole_number_or_all_cores() -> None:
    assert threads_of("") is None
    assert threads_of("2") == 2
    for text in ("two", "-1", "0", "1.5", " 2", "1025", "9" * 40, "²"):
        with pytest.raises(PolicyError, match="AUGUR_THREADS must be a whole number"):
            threads_of(text)


def test_a_memory_limit_is_an_amount_with_a_unit() -> None:
    assert memory_limit_of("") is None
    for text in ("4GiB", "800MB", "1.5 GiB", "2gib"):
        assert memory_limit_of(text) == text
    for text in ("-1", "0GB", "4", "GB", "-4GiB", "4GiB; SELECT 1", "none", "1e3GB"):
        with pytest.raises(PolicyError, match="AUGUR_MEMORY_LIMIT must be an amount"):
            memory_limit_of(text)


def test_a_bad_limit_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(make_home(tmp_path)) as store:
        monkeypatch.setenv("AUGUR_MEMORY_LIMIT", "-1")
        with pytest.raises(PolicyError, match="AUGUR_MEMORY_LIMIT"):
            _ = store.connection


def bytes_of(setting: str) -> float:
    amount, unit = setting.split()
    return float(amount) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)


def test_the_default_limit_is_a_share_of_duckdbs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    with duckdb.connect() as fresh:
        ((default,),) = fresh.execute("SELECT current_setting('memory_limit')").fetchall()
    with open_store(make_home(tmp_path)) as store:
        monkeypatch.delenv("AUGUR_MEMORY_LIMIT")
        ((ours,),) = store.connection.execute("SELECT current_setting('memory_limit')").fetchall()
    assert 0.74 < bytes_of(ours) / bytes_of(default) < 0.76


@pytest.mark.parametrize(
    "config",
    [
        {"home": "/elsewhere"},
        {"database": "/elsewhere/augur.duckdb"},
        {"connection_config": {"memory_limit": "1GB"}},
        {"memory_limit": "1GB"},
        {"threads": 1},
    ],
)
def test_run_config_cannot_point_the_store_elsewhere(config: dict[str, object]) -> None:
    with pytest.raises(DagsterInvalidConfigError):
        defs.resolve_job_def("nightly").execute_in_process(
            run_config={"resources": {"store": {"config": config}}}
        )
