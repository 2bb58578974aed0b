"""What a reliability diagram is drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class DiagramData:
    """The resolved forecasts of one diagram.

    title:     untrusted text: agent, season
    p, y:      (n,) stated probabilities and outcomes 0 or 1
    episodes:  (n,) block numbers (or ids of events as text), None for a row without one: such a row
               is scored and drawn, but left out of the band and of intervals. None: no row has one.
    weights:   (n,) weights, or None where all rows count alike. Where they differ, what is defined
               for equal weights only (bins, band, ECE, chance) is left out, as in the report.
    """

    title: str
    p: ArrayLike
    y: ArrayLike
    episodes: Sequence[int | None] | Sequence[str | None] | NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
