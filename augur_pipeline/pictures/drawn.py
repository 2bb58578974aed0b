"""Pictures of the night before, drawn again only where what they show has changed.

A shortcut that decides nothing: a picture is kept under the digest of everything it is drawn from
(its numbers, its titles, our code and the versions of the libraries), so what is found is what
would be drawn. The folder is private to runs and may be deleted at any time.
"""

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata, resources
from pathlib import Path

import numpy as np

from augur_pipeline.pictures.diagram_data import DiagramData

_BEGIN, _END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


class Drawn:
    """One folder of kept pictures."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used: set[str] = set()

    def picture(
        self, title: str, panels: Sequence[DiagramData], draw: Callable[[], bytes]
    ) -> bytes:
        """The picture with this title and these panels: kept, or drawn now and kept."""
        name = f"{_digest(title, panels)}.png"
        self._used.add(name)
        path = self._folder / name
        try:
            kept = path.read_bytes()
        except FileNotFoundError:
            kept = b""
        if kept.startswith(_BEGIN) and kept.endswith(_END):  # a power cut leaves half a file
            return kept
        picture = draw()
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(picture)
        os.replace(fresh, path)
        return picture

    def forget_others(self) -> None:
        """Remove what this night did not show."""
        if self._folder.is_dir():
            for path in self._folder.iterdir():
                if path.name not in self._used:
                    path.unlink()


def _digest(title: str, panels: Sequence[DiagramData]) -> str:
    digest = hashlib.sha256(_drawing_code())
    for part in [title, *(panel.title for panel in panels)]:
        digest.update(f"{len(part.encode())} {part}\n".encode())
    for panel in panels:
        for values in (panel.p, panel.y, panel.weights):
            numbers = np.asarray([] if values is None else values, dtype=np.float64)
            digest.update(f"{numbers.size} {values is None}\n".encode())
            digest.update(np.ascontiguousarray(numbers).tobytes())
        episodes = panel.episodes
        listed = episodes.tolist() if isinstance(episodes, np.ndarray) else episodes
        digest.update(f"{listed!r}\n".encode())
    return digest.hexdigest()


@cache
def _drawing_code() -> bytes:
    """Digest of the code that decides what a picture looks like."""
    digest = hashlib.sha256()
    for package in ("augur_pipeline.pictures", "augur_pipeline.verification"):
        for file in sorted(resources.files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    for library in ("matplotlib", "numpy", "scipy", "pillow"):
        digest.update(f"{library} {metadata.version(library)}\n".encode())
    return digest.digest()
