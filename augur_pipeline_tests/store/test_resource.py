"""What the store takes from its surroundings."""

import pytest

from augur_pipeline.errors import PolicyError
from augur_pipeline.store.resource import thread_count


def test_threads_are_a_whole_number_or_all_cores() -> None:
    assert thread_count("") == 0
    assert thread_count("2") == 2
    for text in ("two", "-1", "1.5", " 2"):
        with pytest.raises(PolicyError, match="AUGUR_THREADS must be a whole number"):
            thread_count(text)
