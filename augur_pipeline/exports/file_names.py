"""File names for ids: readable, safe on every file system, no two ids of a folder alike."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]*")
_OTHERS = re.compile(r"[^a-z0-9_-]+")
_LONGEST = 60
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
"""What some file systems take for a device."""


def file_names(identifiers: Iterable[str]) -> dict[str, str]:
    """For each id a file name without suffix.

    An id of lower-case letters, digits, `-` and `_` is its own name. Any other is its slug, `~`
    and eight hexadecimal digits of the id's SHA-256 (sixteen where two of the ids given would
    share a name): `~` stands in no slug, so no such name is another id.
    """
    listed = sorted(set(identifiers))
    names = {identifier: _name(identifier, 8) for identifier in listed}
    shared = Counter(names.values())
    return {i: name if shared[name] == 1 else _name(i, 16) for i, name in names.items()}


def file_name(identifier: str) -> str:
    """The name of an id that stands alone."""
    return file_names([identifier])[identifier]


def _name(identifier: str, digits: int) -> str:
    is_plain = _PLAIN.fullmatch(identifier) and identifier not in _DEVICES
    if is_plain and len(identifier) <= _LONGEST:
        return identifier
    slug = _OTHERS.sub("-", identifier.lower()).strip("-")[:_LONGEST]
    return f"{slug}~{hashlib.sha256(identifier.encode('utf-8')).hexdigest()[:digits]}"
