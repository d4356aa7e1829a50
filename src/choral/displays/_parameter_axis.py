"""The axis of a loss curve: k linear, alpha logarithmic, and its label, which names the two ends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choral._optional import require
from choral.curves import LossCurve
from choral.displays._labels import label_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MARKERS = 12  # a longer curve gets fewer, evenly over the axis
INFINITY_GAP = 0.2  # between the largest finite alpha and infinity, of the length of the axis up to there
MARGIN = 0.03  # on either side, of the width of the axes
NAMES = {"binomial": ("size of label sets, $k$", "$k$"), "polynomial": (r"exponent, $\alpha$", r"$\alpha$")}


class ParameterAxis:
    """Where k or alpha lies on the axis, and what is written below it."""

    def __init__(self, curves: Sequence[LossCurve]):
        self.family = curves[0].family
        self.logarithmic = self.family == "polynomial"
        self.n_labels = curves[0].n_labels
        parameters = np.concatenate([curve.parameters for curve in curves])
        finite = parameters[np.isfinite(parameters)]
        self.has_infinity = finite.size < parameters.size
        self.low, self.high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 1.0)
        ratio = self.high / self.low if self.high > self.low else 10.0
        self.infinity = self.high * ratio**INFINITY_GAP
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

    def set_limits(self, ax: "Axes", room: float) -> None:
        """Show and label the whole axis, and leave a share of the width free on its right."""
        transform = ax.xaxis.get_transform()
        ends = transform.transform(np.array([self.low, self.right]))
        if self.low == self.right:  # a single parameter: into the middle
            ends += np.array([-0.5, 0.5])
        width = (ends[1] - ends[0]) / (1 - 2 * MARGIN - room)
        left = ends[0] - MARGIN * width
        ax.set_xlim(*transform.inverted().transform(np.array([left, left + width])))
        ax.spines["bottom"].set_bounds(*transform.inverted().transform(ends))
        ticks = self.ticks()
        ax.set_xticks(list(ticks), labels=list(ticks.values()))
        ax.set_xticks([], minor=True)
        half = label_axis(ax.xaxis, self.labels()) / 2
        middle = (ends.mean() - left) / width
        ax.xaxis.label.set_x(max(half, min(middle, 1 - half)))

    def labels(self) -> list[str]:
        """What the axis is and where it leads, on one line: two would not fit below axes of ordinary figures."""
        if self.n_labels == 1:
            return [f"{name} (Hamming = subset 0/1)" for name in NAMES[self.family]]
        return [rf"Hamming $\leftarrow$ {name} $\rightarrow$ subset 0/1" for name in NAMES[self.family]]

    def ticks(self) -> dict[float, str]:
        """Positions and texts."""
        finite = [self.low, *self._inner_ticks(), self.high]
        return {tick: f"{tick:g}" for tick in finite} | ({self.infinity: "∞"} if self.has_infinity else {})

    def _inner_ticks(self) -> np.ndarray:
        ticker = require("matplotlib.ticker", "plot")
        if self.low == self.high:
            return np.array([])
        if self.logarithmic:
            decades = np.log10(self.high / self.low)
            steps = (1,) if decades >= 2 else (1, 2, 5)
            locator = ticker.LogLocator(subs=steps, numticks=8)
        else:
            locator = ticker.MaxNLocator(nbins=7, integer=True, steps=[1, 2, 5, 10])
        ticks = np.asarray(locator.tick_values(self.low, self.high))
        shares, last = self.share(ticks), float(self.share(np.array(self.high)))
        return ticks[(shares > 0.08) & (shares < last - 0.08)]
