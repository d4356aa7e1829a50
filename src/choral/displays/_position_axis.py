"""The axis from 0, Hamming, to 1, subset 0/1: for curves of data sets with different numbers of labels."""

from collections.abc import Sequence

import numpy as np

from choral.curves import LossCurve
from choral.displays._parameter_axis import ParameterAxis
from choral.measures.families import get_family

MIXED_LABELS = [
    r"Hamming $\leftarrow$ $(k - 1)\,/\,(K - 1)$ for $K$ labels $\rightarrow$ subset 0/1",
    r"Hamming $\leftarrow$ $(k - 1)\,/\,(K - 1)$ $\rightarrow$ subset 0/1",
    r"Hamming $\leftarrow$ $\rightarrow$ subset 0/1",
]


class PositionAxis(ParameterAxis):
    """The x of `LossCurve`; ticks are values of k or alpha where they lie at the same x for all curves."""

    def __init__(self, curves: Sequence[LossCurve]):
        super().__init__(curves)
        self.last_alpha = self.infinity  # the alpha in whose place infinity is drawn
        self.mixed = not self.logarithmic and len({curve.n_labels for curve in curves}) > 1
        texts = {0.0: "0", 0.5: "0.5", 1.0: "1"} if self.mixed else super().ticks()
        places = np.array(list(texts)) if self.mixed else self.position(np.array(list(texts)), self.n_labels)
        self.logarithmic = False
        ends = [self.position(curve.parameters[[0, -1]], curve.n_labels) for curve in curves]
        self.low, self.right = float(np.min(ends)), float(np.max(ends))
        shown = (places >= self.low) & (places <= self.right)
        self._ticks = {float(x): text for x, text, kept in zip(places, texts.values(), shown, strict=True) if kept}

    def position(self, parameters: np.ndarray, n_labels: int) -> np.ndarray:
        """Where parameters lie on the axis; infinity a step to the right of the largest finite alpha."""
        finite = np.where(np.isinf(parameters), self.last_alpha, parameters)
        return get_family(self.family).position(finite, n_labels)

    def labels(self) -> list[str]:
        """What the axis is and where it leads."""
        return MIXED_LABELS if self.mixed else super().labels()

    def ticks(self) -> dict[float, str]:
        """Positions and texts."""
        return self._ticks
