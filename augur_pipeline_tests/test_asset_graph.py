"""The asset graph as a text that a change shows in: `python -m augur_pipeline_tests.test_asset_graph`."""

from collections.abc import Iterator
from pathlib import Path

from augur_pipeline.definitions import defs

SNAPSHOT = Path(__file__).with_name("asset_graph.txt")


def lines() -> Iterator[str]:
    """Each asset with its group, what it reads and its checks (! blocks), upstream first."""
    graph = defs.resolve_asset_graph()
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        yield f"{key.to_user_string()} [{node.group_name}]"
        yield from (f"    < {parent.to_user_string()}" for parent in sorted(node.parent_keys))
        checks = [graph.get_check_spec(check) for check in node.check_keys]
        for spec in sorted(checks, key=lambda spec: spec.name):
            yield f"    {'!' if spec.blocking else '?'} {spec.name}"


def test_the_asset_graph_is_the_one_written_down() -> None:
    assert "\n".join(lines()) + "\n" == SNAPSHOT.read_text(encoding="utf-8"), __doc__


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(lines()) + "\n", encoding="utf-8")
