"""What `augur verify` finds: where a published value is not what it must be."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from augur_pipeline.arithmetic import same

ABSENT = "(absent)"
_KEPT = 200


@dataclass(frozen=True)
class Difference:
    """One value: in which table or file, at which key and column, published and recomputed."""

    place: str
    key: str
    column: str
    published: Any
    recomputed: Any

    def sentence(self) -> str:
        """The difference in one line."""
        where = " ".join(filter(None, (self.place, self.key and f"[{self.key}]", self.column)))
        return f"{where}: published {_shown(self.published)}, recomputed {_shown(self.recomputed)}"


@dataclass
class Findings:
    """What was checked, and what differs; the first of very many differences are kept."""

    differences: list[Difference] = field(default_factory=list)
    found: int = 0
    checked: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, key: str, column: str, published: Any, recomputed: Any) -> None:
        """Note a difference."""
        self.found += 1
        if len(self.differences) < _KEPT:
            self.differences.append(Difference(place, key, column, published, recomputed))

    def compare(
        self, place: str, key: str, published: Mapping[str, Any], recomputed: Mapping[str, Any]
    ) -> None:
        """Note every column of `recomputed` that is published otherwise."""
        for column, value in recomputed.items():
            if not same(published[column], value):
                self.add(place, key, column, published[column], value)

    def compare_trees(self, place: str, path: str, published: Any, recomputed: Any) -> None:
        """Note every leaf of two JSON values that is not the same in both."""
        if isinstance(published, dict) and isinstance(recomputed, dict):
            for name in dict.fromkeys([*published, *recomputed]):
                inner = f"{path}.{name}" if path else name
                self.compare_trees(
                    place, inner, published.get(name, ABSENT), recomputed.get(name, ABSENT)
                )
        elif isinstance(published, list) and isinstance(recomputed, list):
            for number in range(max(len(published), len(recomputed))):
                left, right = (
                    values[number] if number < len(values) else ABSENT
                    for values in (published, recomputed)
                )
                self.compare_trees(place, f"{path}[{number}]", left, right)
        elif not same(published, recomputed):
            self.add(place, "", path, published, recomputed)


def _shown(value: Any) -> str:
    text = value if value is ABSENT else repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
