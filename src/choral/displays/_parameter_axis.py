"""The axis of a loss curve: k linear, alpha logarithmic, and the two losses at its ends named."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choral._optional import require
from choral.curves import LossCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MARKERS = 12  # a longer curve gets fewer, evenly over the axis
INFINITY_GAP = 0.2  # between the largest finite alpha and infinity, of the length of the axis up to there
MARGIN = 0.03  # on either side, of the width of the axes


class ParameterAxis:
    """Where k or alpha lies on the axis, and what is written below it."""

    def __init__(self, curves: Sequence[LossCurve]):
        self.logarithmic = curves[0].family == "polynomial"
        self.n_labels = curves[0].n_labels
        parameters = np.concatenate([curve.parameters for curve in curves])
        finite = parameters[np.isfinite(parameters)]
        self.has_infinity = finite.size < parameters.size
        self.low, self.high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 1.0)
        if self.low == self.high:  # a single parameter still needs an axis
            self.low, self.high = 1.0, max(10.0, self.high) if self.logarithmic else float(self.n_labels)
        self.infinity = self.high * (self.high / self.low) ** INFINITY_GAP
        self.right = self.infinity if self.has_infinity else self.high

    def with_gap(self, parameters: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points to draw, with a gap before alpha = infinity."""
        if not np.isinf(parameters[-1]):
            return parameters.astype(float), losses
        return np.append(parameters[:-1], [np.nan, self.infinity]), np.insert(losses, -1, np.nan)

    def share(self, x: np.ndarray) -> np.ndarray:
        """Where values lie on the axis, from 0 to 1."""
        scale = np.log if self.logarithmic else np.asarray
        low, right = scale(self.low), scale(self.right)
        return (scale(x) - low) / max(right - low, 1e-9)

    def marks(self, x: np.ndarray, offset: float) -> list[int]:
        """Indices of points to mark: all of a few, else the ends and some between them, evenly over the axis.

        Curves differ in ``offset``, so that the markers of lines on top of each other alternate.
        """
        drawn = np.flatnonzero(~np.isnan(x))
        if drawn.size <= MOST_MARKERS:
            return drawn.tolist()
        wanted = (np.arange(8) + offset) / 8
        inner = wanted[(wanted > 0.05) & (wanted < 0.95)]
        shares = self.share(x[drawn])
        nearest = {int(drawn[np.abs(shares - share).argmin()]) for share in inner}
        return sorted({int(drawn[0]), *nearest, int(drawn[-1])})

    def set_limits(self, ax: "Axes", room: float) -> float:
        """Show the whole axis and leave a share of the width free on its right; the share where it ends."""
        transform = ax.xaxis.get_transform()
        low, right = transform.transform(np.array([self.low, self.right]))
        least = 0.0 if right > low else 0.5  # a single label makes a single point: into the middle
        width = (right - low + 2 * least) / (1 - 2 * MARGIN - room)
        margin = MARGIN * width + least
        limits = transform.inverted().transform(np.array([low - margin, low - margin + width]))
        ax.set_xlim(*limits)
        ax.spines["bottom"].set_bounds(self.low, self.right)
        ticks = self.ticks()
        ax.set_xticks(list(ticks), labels=list(ticks.values()))
        ax.set_xticks([], minor=True)
        ax.xaxis.label.set_x((margin + (right - low) / 2) / width)
        return float((right - low + margin) / width)

    def ticks(self) -> dict[float, str]:
        """Positions and texts; the ends say which losses they are, or where they lead."""
        inner = {tick: f"{tick:g}" for tick in self._inner_ticks()}
        if self.low == self.right:
            return {self.low: "1\nHamming = subset 0/1"}
        hamming = "Hamming" if self.low == 1 else "← Hamming"
        reached = not self.logarithmic and self.high == self.n_labels
        subset = "subset 0/1" if reached or self.has_infinity else "subset 0/1 →"
        left, right = {self.low: f"{self.low:g}\n{hamming}"}, {self.high: f"{self.high:g}\n{subset}"}
        if self.has_infinity:
            right = {self.high: f"{self.high:g}", self.infinity: f"∞\n{subset}"}
        return left | inner | right

    def _inner_ticks(self) -> np.ndarray:
        ticker = require("matplotlib.ticker", "plot")
        if self.logarithmic:
            decades = np.log10(self.high / self.low)
            steps = (1,) if decades >= 2 else (1, 2, 5)
            locator = ticker.LogLocator(subs=steps, numticks=8)
        else:
            locator = ticker.MaxNLocator(nbins=7, integer=True, steps=[1, 2, 5, 10])
        ticks = np.asarray(locator.tick_values(self.low, self.high))
        shares, last = self.share(ticks), float(self.share(np.array(self.high)))
        return ticks[(shares > 0.08) & (shares < last - 0.08)]
