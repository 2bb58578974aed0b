"""Rules as Dagster shows them: asset checks."""

import logging
from collections.abc import Iterator, Sequence

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
from augur_pipeline.store.rules import AnyRule

logger = logging.getLogger(__name__)


def asset_checks(rules: Sequence[AnyRule]) -> list[AssetChecksDefinition]:
    """One multi-check for each asset that rules are about, in order of its first rule."""
    assets = dict.fromkeys(rule.asset for rule in rules)
    return [_build(asset, [rule for rule in rules if rule.asset == asset]) for asset in assets]


def _build(asset: str, rules: Sequence[AnyRule]) -> AssetChecksDefinition:
    specs = [
        AssetCheckSpec(
            rule.name,
            asset=asset,
            description=rule.description,
            blocking=rule.is_blocking,
        )
        for rule in rules
    ]

    @multi_asset_check(name=f"{asset}_checks", specs=specs)
    def checks(store: Store) -> Iterator[AssetCheckResult]:
        with shown_as_failures():
            for rule in rules:
                finding = rule.find(store)
                logger.info("check %s", finding.sentence())
                yield AssetCheckResult(
                    check_name=rule.name,
                    asset_key=asset,
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
