"""File names for ids: an injective encoding, safe on every file system."""

import hashlib

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_LONGEST = 120


def file_name(identifier: str) -> str:
    """A file name (without suffix) that no other id has.

    Lower-case letters, digits, `-` and `_` stand for themselves; every other byte of the UTF-8
    text is `%XX`, upper-case letters included, since some file systems fold case. A name that
    would be too long is its start, `~`, and the id's SHA-256; `~` occurs in no other name.
    """
    raw = identifier.encode("utf-8")
    encoded = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[:40]}~{hashlib.sha256(raw).hexdigest()}"
