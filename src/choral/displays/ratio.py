"""The loss of one model divided by that of another, from Hamming to subset 0/1 loss."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._typing import FloatArray
from choral.curves import LossCurve, PairwiseCurve
from choral.displays import _style as style
from choral.displays._curves import SIZE, ParameterAxis, label_axes, write_names
from choral.displays._pairs import CROSSING, PairTable, is_beyond_finite
from choral.displays._text import Keys, shorten, to_one_line, write_keys
from choral.measures.families import get_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

CROSSING_TEXTS = ("the better model changes", "better model changes", "change")
LEFT_OUT_TEXTS = ("left out: one loss is 0", "one loss is 0", "loss 0")
LEFT_OUT: dict[str, Any] = {"linestyle": "none", "markersize": 6, "markeredgewidth": 0, "clip_on": False, "zorder": 3}
MIXED_TEXTS = [
    r"Hamming $\leftarrow$ $(k - 1)\,/\,(K - 1)$ for $K$ labels $\rightarrow$ subset 0/1",
    r"Hamming $\leftarrow$ $(k - 1)\,/\,(K - 1)$ $\rightarrow$ subset 0/1",
    r"Hamming $\leftarrow$ $\rightarrow$ subset 0/1",
]

# The axis of ratios is logarithmic.
MIN_RANGE = 1.05  # the axis reaches at least this far from 1, so that ratios closer to 1 look equal
MIN_OTHER_SIDE = 1 / 3  # the shorter side of 1 is at least this share of the longer one
MARGIN = 0.06  # beyond the outermost ratio, of the height in logarithms
MIN_TICK_GAP = 0.09  # between two ticks, of the height in logarithms
# Ticks by preference; powers of ten come after 1 and before these.
TICKS_BETWEEN = (2, 0.5, 5, 0.2, 1.25, 0.8, 1.5, 0.7, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98)


class RatioDisplay(PairTable):
    """Loss of the second model divided by loss of the first: a line for each data set, from Hamming to subset 0/1.

    Above 1 the first model is better, below it the second. The x axis is that of `LossCurve`, (k - 1) / (K - 1) or
    log(alpha) / log(1000), so that data sets with different numbers of labels share it.

    Parameters
    ----------
    pairs : PairwiseCurve, or mapping from names of data sets to PairwiseCurve
        Of one family and the same two models; numbers of labels may differ.

    Attributes
    ----------
    pairs : tuple of PairwiseCurve
    data_names : tuple of str
        Names of the data sets; empty for a single pair without one.
    names : tuple of str
        Names of the two models.
    ratios : tuple of ndarray
        For each pair, the ratio at each parameter: 1 where losses are equal, both 0 included; 0 or infinite where one
        of them is 0.
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next two.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each pair, in their order.

    See Also
    --------
    choral.PairwiseCurve : The loss of one model against that of another.
    PairwiseDisplay : Two models against each other.

    Examples
    --------
    >>> from choral import LossCurve
    >>> first = LossCurve("binomial", [1, 2, 3], [0.2, 0.4, 0.5], n_labels=3, name="BR")
    >>> second = LossCurve("binomial", [1, 2, 3], [0.3, 0.4, 0.4], n_labels=3, name="LP")
    >>> RatioDisplay.from_curves(first, second).ratios[0].round(3)
    array([1.5, 1. , 0.8])

    ``.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: list["Line2D"]

    def __init__(self, pairs: PairwiseCurve | Mapping[str, PairwiseCurve]):
        super().__init__(pairs)
        self.ratios = tuple(_ratios(pair) for pair in self.pairs)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "RatioDisplay":
        """Draw the lines, with a cross where the better model changes.

        If one of two losses is 0, the line has a gap, and there is a triangle in its place: at the upper edge for an
        infinite ratio, at the lower edge for 0.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. ``plt.subplots(layout="constrained")`` keeps room for a legend.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``, such as ``linewidth``.

        Returns
        -------
        display : RatioDisplay
            Itself.
        """
        own_figure = ax is None
        ax = style.new_axes(*SIZE) if own_figure else style.check_axes(ax)
        line_kwargs = style.line_properties(line_kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        axis = PositionAxis([pair.curve_a for pair in self.pairs])
        _prepare_axes(ax, axis, ratio_limits(self.ratios))
        self.lines_ = [
            self._draw_line(ax, axis, index, {**style.line_style(index), **line_kwargs})
            for index in range(len(self.pairs))
        ]
        keys = self._keys(_mark_crossings(ax, axis, self.pairs))
        label_axes(ax, axis, self._y_labels())
        if self.data_names:
            write_names(ax, axis, keys, grow=own_figure)
        else:
            write_keys(ax, keys)
        return self

    def _draw_line(self, ax: "Axes", axis: "PositionAxis", index: int, look: dict[str, Any]) -> "Line2D":
        """Draw the line of a pair, and triangles for ratios that are left out of it."""
        pair, ratios = self.pairs[index], self.ratios[index]
        name = to_one_line(self.data_names[index]) if self.data_names else ""
        places = axis.position(pair.parameters, pair.curve_a.n_labels)
        drawn = (ratios > 0) & (ratios < np.inf)
        triangles = _draw_left_out(ax, places, ratios, {"color": look["color"], "label": name})
        if not drawn.any():
            triangles[0].set_markevery(1)  # takes the place of the line and has its name
            return triangles[0]
        x, y = _line_points(places, np.where(drawn, ratios, np.nan), _crossing_places(axis, pair))
        if np.isinf(pair.parameters[-1]):
            x, y = _separate_infinity(x, y, places[-2:])
        last = np.flatnonzero(~np.isnan(y))[-1] + 1  # names stand at the ends of lines
        x, y = x[:last], y[:last]
        marks = [i for i in axis.choose_marks(x, index / len(self.pairs)) if x[i] in places]  # not on crossings
        (line,) = ax.plot(x, y, **{"markevery": marks, "clip_on": False, "label": name, **look})
        return line

    def _keys(self, crossings: list["Line2D"]) -> Keys:
        """What crosses and triangles mean, if there are some."""
        keys: list[tuple[Any, tuple[str, ...]]] = [(mark, CROSSING_TEXTS) for mark in crossings]
        if any(not (0 < ratio < np.inf) for ratios in self.ratios for ratio in ratios):
            triangle = require("matplotlib.lines", "plot").Line2D([], [], color=style.GREY, marker="^", **LEFT_OUT)
            keys.append((triangle, LEFT_OUT_TEXTS))
        return keys

    def _y_labels(self) -> list[str]:
        """Labels of the y axis, the longest first: which loss is divided by which, and who is better on which side."""
        family = self.pairs[0].curve_a.family
        texts = []
        for max_length in (24, 14, 8):
            first, second = (shorten(name, max_length) for name in self.names)
            for ratio in (f"{family} loss, {second} / {first}", "ratio of losses", "ratio"):
                texts.append(f"{second} better ← {ratio} → {first} better")
        return [*texts, f"above 1: {first} better"]


def _ratios(pair: PairwiseCurve) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):  # ratios to 0 are left out of the line
        ratios = pair.curve_b.losses / pair.curve_a.losses
    return np.where(pair.differences == 0, 1.0, ratios)


def _prepare_axes(ax: "Axes", axis: "PositionAxis", limits: tuple[float, float]) -> None:
    """Set up a logarithmic axis of ratios, and draw the line at 1."""
    ax.set_yscale("log")
    ax.set_ylim(*limits)
    ticks = ratio_ticks(*limits)
    ax.set_yticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    ax.set_yticks([], minor=True)
    ends = (axis.low, axis.right) if axis.low < axis.right else (-0.5, 0.5)  # ends before the names on the right
    ax.plot(ends, (1, 1), color=style.GREY, linewidth=0.8, zorder=1)
    ax.yaxis.label.set_parse_math(False)
    style.tidy(ax)


def _draw_left_out(ax: "Axes", places: FloatArray, ratios: FloatArray, look: dict[str, Any]) -> list["Line2D"]:
    """Triangles at the upper edge where the first loss is 0, at the lower edge where the second is."""
    low, high = ax.get_ylim()
    triangles: list[Line2D] = []
    for left_out, edge, marker in ((ratios == np.inf, high, "^"), (ratios == 0, low, "v")):
        x = places[left_out]
        if x.size:
            triangles += ax.plot(x, np.full(x.size, edge), marker=marker, **LEFT_OUT, **look)
    return triangles


def _line_points(places: FloatArray, ratios: FloatArray, crossings: list[float]) -> tuple[FloatArray, FloatArray]:
    """The points to draw: the ratios, and 1 at each crossing, so that the line passes through the mark there."""
    x, y = np.append(places, crossings), np.append(ratios, np.ones(len(crossings)))
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _separate_infinity(x: FloatArray, y: FloatArray, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Separate the point at infinity from the line: nothing is known between it and the largest finite alpha."""
    joined = x <= ends[0] if ends.size == 2 else np.zeros(x.size, dtype=bool)
    return np.append(x[joined], [np.nan, ends[-1]]), np.append(y[joined], [np.nan, y[-1]])


def _crossing_places(axis: "PositionAxis", pair: PairwiseCurve) -> list[float]:
    """Where on the axis the better model changes; between the largest alpha and infinity, in the middle of the gap."""
    crossings, n_labels = pair.crossings(), pair.curve_a.n_labels
    gap = axis.position(pair.parameters[-2:], n_labels).mean()
    beyond = [is_beyond_finite(pair, crossing) for crossing in crossings]
    return np.where(beyond, gap, axis.position(crossings, n_labels)).tolist()


def _mark_crossings(ax: "Axes", axis: "PositionAxis", pairs: tuple[PairwiseCurve, ...]) -> list["Line2D"]:
    """Mark all crossings at once; a list of one artist, or empty."""
    places = sorted({place for pair in pairs for place in _crossing_places(axis, pair)})
    if not places:
        return []
    return ax.plot(places, np.ones(len(places)), color="black", linestyle="none", zorder=4, **CROSSING)


class PositionAxis(ParameterAxis):
    """The x axis from 0, Hamming, to 1, subset 0/1: the x of `LossCurve`.

    Curves may have different numbers of labels. Ticks are values of k or alpha if these lie at the same x for all
    curves, else shares.
    """

    def __init__(self, curves: Sequence[LossCurve]):
        super().__init__(curves)
        self.last_alpha = self.infinity  # infinity is drawn where this alpha would be
        self.mixed = not self.logarithmic and len({curve.n_labels for curve in curves}) > 1
        texts = {0.0: "0", 0.5: "0.5", 1.0: "1"} if self.mixed else super().ticks()
        places = np.array(list(texts)) if self.mixed else self.position(np.array(list(texts)), self.n_labels)
        self.logarithmic = False
        ends = [self.position(curve.parameters[[0, -1]], curve.n_labels) for curve in curves]
        self.low, self.right = float(np.min(ends)), float(np.max(ends))
        shown = (places >= self.low) & (places <= self.right)
        self._ticks = {float(x): text for x, text, kept in zip(places, texts.values(), shown, strict=True) if kept}

    def position(self, parameters: FloatArray, n_labels: int) -> FloatArray:
        """Where parameters lie on the axis; infinity lies a step to the right of the largest finite alpha."""
        finite = np.where(np.isinf(parameters), self.last_alpha, parameters)
        return get_family(self.family).position(finite, n_labels)

    def texts(self) -> list[str]:
        """Labels of the axis, the longest first."""
        return MIXED_TEXTS if self.mixed else super().texts()

    def ticks(self) -> dict[float, str]:
        """Positions and texts of the ticks."""
        return self._ticks


def ratio_limits(ratios: Iterable[FloatArray]) -> tuple[float, float]:
    """Limits that include 1 and all finite ratios, with room on both sides of 1.

    Examples
    --------
    >>> low, high = ratio_limits([np.array([1.0, 2.0, np.inf]), np.array([0.0, 1.5])])
    >>> round(low, 2), round(high, 2)
    (0.75, 2.11)
    """
    logs = np.log([MIN_RANGE, 1 / MIN_RANGE, *(ratio for line in ratios for ratio in line if 0 < ratio < np.inf)])
    high = max(logs.max(), -MIN_OTHER_SIDE * logs.min())
    low = min(logs.min(), -MIN_OTHER_SIDE * high)
    margin = MARGIN * (high - low)
    return float(np.exp(low - margin)), float(np.exp(high + margin))


def ratio_ticks(low: float, high: float) -> list[float]:
    """Ticks between two limits that people read easily: 1, then round numbers as long as there is room.

    Examples
    --------
    >>> ratio_ticks(0.75, 2.11)
    [0.8, 0.9, 1, 1.1, 1.25, 1.5, 2]
    """
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    tens = sorted((float(power) for power in powers if power != 1), key=lambda power: abs(np.log(power)))
    wanted = [1, *tens, *TICKS_BETWEEN, *(factor * power for power in tens for factor in (2, 5))]
    ticks: list[float] = []
    for tick in wanted:
        apart = [abs(np.log(tick / other)) for other in ticks]
        if low <= tick <= high and min(apart, default=np.inf) >= MIN_TICK_GAP * np.log(high / low):
            ticks.append(tick)
    return sorted(ticks)
