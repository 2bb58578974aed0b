"""Ids that look alike and are not the same: different agents or pools to us, one to a reader.

A skeleton is what is left of an id when everything is folded that a reader may not see (after
Unicode Technical Standard #39, confusable detection, with the few scripts that imitate Latin).
"""

import unicodedata

import pyarrow as pa

from augur_pipeline.store.arrays import keep_arrow
from augur_pipeline.store.resource import Store
from augur_pipeline.store.sql import load_sql

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_LOOKALIKES = {
    "a": "аαɑ", "b": "ьв", "c": "сϲ", "d": "ԁ", "e": "еҽε", "g": "ɡց", "h": "һн", "i": "іιı",
    "j": "јϳ", "k": "кκ", "l": "ӏ1", "m": "м", "n": "ոпη", "o": "оοօ0", "p": "рρ", "q": "ԛ",
    "r": "г", "s": "ѕ", "t": "тτ", "u": "υսμ", "v": "νѵ", "w": "ԝωա", "x": "хχ", "y": "уγү",
    "z": "ᴢζ",
}  # fmt: skip
_FOLD = {ord(other): latin for latin in _LATIN for other in _LOOKALIKES.get(latin, "")}


def skeleton(text: str) -> str:
    """What a reader takes an id for: compatibility forms composed, case folded, marks that show
    nothing and blanks left out, letters and digits that look like Latin ones replaced."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    seen = (c for c in folded if unicodedata.category(c) not in ("Cf", "Cc", "Zs", "Zl", "Zp"))
    return "".join(seen).translate(_FOLD)


def escaped(text: str) -> str:
    """An id with everything beyond ASCII as escapes, so that two that look alike are told apart."""
    return text.encode("unicode_escape").decode("ascii")


def make_id_skeletons(store: Store) -> None:
    """Make the table `id_skeletons`: every agent and pool ever sealed."""
    rows = store.connection.execute(load_sql(__package__, "ids")).fetchall()
    kinds, ids = zip(*rows, strict=True) if rows else ((), ())
    table = pa.table(
        {
            "kind": pa.array(kinds, pa.string()),
            "id": pa.array(ids, pa.string()),
            "shown": pa.array(map(escaped, ids), pa.string()),
            "skeleton": pa.array(map(skeleton, ids), pa.string()),
        }
    )
    keep_arrow(store, "id_skeletons", table)
