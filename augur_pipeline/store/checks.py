"""Rules as counter-example queries: the rows that break a rule; none, and it holds."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSeverity,
    AssetCheckSpec,
    multi_asset_check,
)

from augur_pipeline.store.failures import shown_as_failures
from augur_pipeline.store.metadata import table_metadata
from augur_pipeline.store.resource import Store

logger = logging.getLogger(__name__)

SHOWN_ROWS = 20


@dataclass(frozen=True)
class Rule:
    """One rule about one asset: `<package>/checks/<name>.sql` selects the rows that break it."""

    package: str
    asset: str
    name: str
    description: str
    is_blocking: bool


@dataclass(frozen=True)
class Finding:
    """What a rule found: how many rows break it, and the first of them."""

    rule: Rule
    broken_rows: int
    columns: list[str]
    examples: list[tuple[Any, ...]]

    def sentence(self) -> str:
        """The finding in one line."""
        if not self.broken_rows:
            return f"{self.rule.name}: holds"
        first = ", ".join(
            f"{column}={value}"
            for column, value in zip(self.columns, self.examples[0], strict=True)
        )
        return f"{self.rule.name}: {self.broken_rows} row(s), first: {first}"


def find(store: Store, rule: Rule) -> Finding:
    """Run a rule's query."""
    broken_rows, columns, examples = store.examples(f"{rule.package}.checks", rule.name, SHOWN_ROWS)
    return Finding(rule, broken_rows, columns, examples)


def build_checks(name: str, rules: Sequence[Rule]) -> AssetChecksDefinition:
    """One multi-check for the rules of one asset."""
    specs = [
        AssetCheckSpec(
            rule.name,
            asset=rule.asset,
            description=rule.description,
            blocking=rule.is_blocking,
        )
        for rule in rules
    ]

    @multi_asset_check(name=name, specs=specs)
    def checks(store: Store) -> Iterator[AssetCheckResult]:
        with shown_as_failures():
            for rule in rules:
                finding = find(store, rule)
                logger.info("check %s", finding.sentence())
                yield AssetCheckResult(
                    check_name=rule.name,
                    asset_key=rule.asset,
                    passed=finding.broken_rows == 0,
                    severity=(
                        AssetCheckSeverity.ERROR if rule.is_blocking else AssetCheckSeverity.WARN
                    ),
                    description=finding.sentence(),
                    metadata={
                        "broken_rows": finding.broken_rows,
                        **(
                            {"first_rows": table_metadata(finding.columns, finding.examples)}
                            if finding.examples
                            else {}
                        ),
                    },
                )

    return checks
