"""Loading SQL files and binding the parameters a statement names."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_PARAMETER = re.compile(r"\$([a-z_]+)")
_COMMENT = re.compile(r"--[^\n]*")


@cache
def load_sql(package: str, name: str) -> str:
    """Text of `<name>.sql` beside a package's modules (`name` may lead into a subfolder)."""
    return resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")


def parameters_of(statement: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The `$name` parameters a statement uses, with their values out of `known`."""
    return {name: known[name] for name in _PARAMETER.findall(_COMMENT.sub("", statement))}
