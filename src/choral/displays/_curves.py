"""Loss curves as lines: the axis of k or alpha, the lines and their names."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._typing import FloatArray
from choral.curves import LossCurve
from choral.displays import _style as style
from choral.displays._text import (
    OUR_LABEL,
    Keys,
    find_font_size,
    label_axis,
    legend_height,
    remove_names,
    shorten,
    text_size,
    to_one_line,
    write_at_ends,
    write_keys,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SIZE = (4.8, 3.2)  # inches, of our own figures
MAX_MARKERS = 12  # a longer curve gets fewer, evenly over the axis
INFINITY_GAP = 0.2  # between the largest finite alpha and infinity, of the length of the axis up to there
MARGIN = 0.03  # on either side, of the width of the axes
BAND_AROUND_POINT = 8  # points, the width of a band around a single point
FAR_ABOVE = 2.0  # a baseline that rises above so many times the largest loss of all models may leave the axes ...
ROOM_ABOVE = 1.22  # ... which then end at so many times that loss
MAX_LEGEND_HEIGHT = 0.35  # of the height of the axes, in a figure of the caller's
NAMES = {"binomial": ("size of label sets, $k$", "$k$"), "polynomial": (r"exponent, $\alpha$", r"$\alpha$")}


class ParameterAxis:
    """The x axis of loss curves: k on a linear scale, alpha on a logarithmic one; its label names the two ends."""

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

    def points(self, parameters: np.ndarray, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The points to draw, with a gap before alpha = infinity."""
        if not np.isinf(parameters[-1]):
            return parameters.astype(float), losses
        return np.append(parameters[:-1], [np.nan, self.infinity]), np.insert(losses, -1, np.nan)

    def choose_marks(self, x: FloatArray, offset: float) -> list[int]:
        """Indices of points to mark: all if they are few, else the ends and some between them, evenly over the axis.

        Curves differ in ``offset``, so that the markers of lines on top of each other alternate.
        """
        drawn = np.flatnonzero(~np.isnan(x))
        if drawn.size <= MAX_MARKERS:
            return drawn.tolist()
        wanted = (np.arange(8) + offset) / 8
        inner = wanted[(wanted > 0.05) & (wanted < 0.95)]
        shares = self._shares(x[drawn])
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
        half = label_axis(ax.xaxis, self.texts()) / 2
        middle = (ends.mean() - left) / width
        ax.xaxis.label.set_x(max(half, min(middle, 1 - half)))

    def texts(self) -> list[str]:
        """Labels of the axis, the longest first; each on one line, since two do not fit below axes of usual figures."""
        if self.n_labels == 1:
            return [f"{name} (Hamming = subset 0/1)" for name in NAMES[self.family]]
        return [rf"Hamming $\leftarrow$ {name} $\rightarrow$ subset 0/1" for name in NAMES[self.family]]

    def ticks(self) -> dict[float, str]:
        """Positions and texts of the ticks."""
        finite = [self.low, *self._inner_ticks(), self.high]
        return {tick: f"{tick:g}" for tick in finite} | ({self.infinity: "∞"} if self.has_infinity else {})

    def _inner_ticks(self) -> FloatArray:
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
        shares, last = self._shares(ticks), float(self._shares(np.array(self.high)))
        return ticks[(shares > 0.08) & (shares < last - 0.08)]

    def _shares(self, x: FloatArray) -> FloatArray:
        """Where values lie on the axis, from 0 to 1."""
        scale = np.log if self.logarithmic else np.asarray
        low, right = scale(self.low), scale(self.right)
        return (scale(x) - low) / max(right - low, 1e-9)


def find_curves(ax: "Axes") -> list["Line2D"]:
    """The lines of all displays on these axes: they are the lines with chosen markers."""
    return [line for line in ax.lines if line.get_markevery() is not None]


def next_looks(ax: "Axes") -> Iterator[dict[str, Any]]:
    """How to draw further lines on these axes, one after the other, with styles that earlier displays left."""
    return map(style.line_style, count(sum(line.get_color() != style.GREY for line in find_curves(ax))))


def draw_curves(
    ax: "Axes",
    axis: ParameterAxis,
    curves: Sequence[LossCurve],
    looks: Sequence[dict[str, Any]],
    bands: Sequence[tuple[FloatArray, FloatArray] | None],
) -> list["Line2D"]:
    """Draw each curve in its look, in front of its band, and set the limits of the axes for all that is on them."""
    lines: list[Line2D] = []
    n_before = len(find_curves(ax))
    band_look = style.band_look(sum(band is not None for band in bands))
    ax.set_xscale("log" if axis.logarithmic else "linear")
    for index, (curve, look, band) in enumerate(zip(curves, looks, bands, strict=True)):
        x, y = axis.points(curve.parameters, curve.losses)
        marks = axis.choose_marks(x, index / len(curves))
        name = to_one_line(curve.name or f"curve {n_before + index + 1}")
        lines += ax.plot(x, y, **{"markevery": marks, "clip_on": False, "label": name, **look})
        if band is not None:
            # An interval by a normal approximation may leave [0, 1], a loss cannot.
            lower, upper = (axis.points(curve.parameters, np.clip(edge, 0, 1))[1] for edge in band)
            band_look["color"] = lines[-1].get_color()
            ax.fill_between(x, lower, upper, **band_look)
            if isolated := isolated_points(x):  # a band around a single point has no width
                ax.vlines(
                    x[isolated], lower[isolated], upper[isolated], **{**band_look, "linewidth": BAND_AROUND_POINT}
                )
    ax.set_ylim(0, 1.04 * ax.dataLim.y1 if ax.dataLim.y1 > 0 else 1)
    style.tidy(ax)
    return lines


def limit_height(ax: "Axes") -> None:
    """Let a baseline far above all models leave the axes at the top: it would squeeze their curves into a strip."""
    baselines = [line for line in find_curves(ax) if line.get_color() == style.GREY]
    models = [line for line in find_curves(ax) if line not in baselines]
    bands = [path.vertices for each in ax.collections if not _is_grey(each) for path in each.get_paths()]
    heights = [np.asarray(line.get_ydata(), dtype=float) for line in models]
    heights += [np.asarray(vertices, dtype=float)[:, 1] for vertices in bands]
    top = max((float(np.nanmax(each)) for each in heights if each.size), default=0.0)
    is_far = top > 0 and ax.dataLim.y1 > FAR_ABOVE * top
    if is_far:
        ax.set_ylim(0, ROOM_ABOVE * top)
    for line in baselines:
        line.set_clip_on(is_far)


def _is_grey(collection: Any) -> bool:
    to_rgb, colours = require("matplotlib.colors", "plot").to_rgb, collection.get_facecolor()
    return len(colours) > 0 and np.allclose(colours[0][:3], to_rgb(style.GREY))


def _leaves_axes(ax: "Axes", line: "Line2D") -> bool:
    """Whether a line ends above the axes: see `limit_height`."""
    return bool(np.asarray(line.get_ydata())[-1] > ax.get_ylim()[1])


def _note_lines_above(ax: "Axes", lines: Sequence["Line2D"]) -> None:
    """Say at the upper edge where the lines are that left the axes there, from where the first of them left."""
    if not lines:
        return
    top = ax.get_ylim()[1]
    to_axes = ax.transData + ax.transAxes.inverted()
    starts = []
    for line in lines:
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        index = int(np.argmax(y > top))
        starts.append(0.02 if index == 0 else float(to_axes.transform((x[index], top))[0]) + 0.02)
    start = max(starts)
    texts = ["\n".join(_name_height(line, top, length) for line in lines) for length in (32, 20, 10)]
    fits = [text for text in texts if text_size(ax, text.split("\n"), style.SMALL)[0] <= 1 - start]
    look: dict[str, Any] = {"color": style.darken(style.GREY), "fontsize": style.SMALL, "parse_math": False}
    right = not fits and start > 0.5  # no room to the right of the line: the text ends at the edge
    place: dict[str, Any] = {"x": 1.0 if right else start, "ha": "right" if right else "left"}
    ax.text(
        **place, y=0.99, s=fits[0] if fits else texts[-1], va="top", transform=ax.transAxes, label=OUR_LABEL, **look
    )


def _name_height(line: "Line2D", top: float, max_length: int) -> str:
    """A line that left the axes, and its losses."""
    losses = np.asarray(line.get_ydata(), dtype=float)
    low, high = np.nanmin(losses), np.nanmax(losses)
    reach = f"{low:.2f} to {high:.2f}" if low > top and f"{low:.2f}" < f"{high:.2f}" else f"up to {high:.2f}"
    return f"\N{UPWARDS ARROW} {shorten(str(line.get_label()), max_length)}: {reach}"


def isolated_points(x: FloatArray) -> list[int]:
    """Indices of points that no line joins.

    Examples
    --------
    >>> isolated_points(np.array([1, 10, np.nan, 20]))
    [3]
    """
    gaps = np.isnan(np.pad(x, 1, constant_values=np.nan))
    return np.flatnonzero(gaps[:-2] & ~gaps[1:-1] & gaps[2:]).tolist()


def label_axes(ax: "Axes", axis: ParameterAxis, y_labels: Sequence[str]) -> None:
    """Label both axes in words that fit their final size, which depends on the labels."""
    remove_names(ax)
    _write_labels(ax, axis, y_labels)
    style.apply_layout(ax)
    _write_labels(ax, axis, y_labels)


def _write_labels(ax: "Axes", axis: ParameterAxis, y_labels: Sequence[str]) -> None:
    axis.set_limits(ax, 0.0)
    label_axis(ax.yaxis, y_labels)


def write_names(ax: "Axes", axis: ParameterAxis, keys: Keys = (), *, grow: bool) -> None:
    """Write the names of all curves on these axes at their ends, or in a legend, together with the keys of marks."""
    lines = sorted(find_curves(ax), key=lambda line: -np.round(np.asarray(line.get_ydata())[-1], 9))
    above = [line for line in lines if _leaves_axes(ax, line)]
    lines = [line for line in lines if line not in above]
    names = [str(line.get_label()) for line in lines]
    short = [shorten(name, 16) for name in names]
    fit = find_font_size(ax, names)
    if fit is None and not (grow or _has_room_below(ax, names)):
        fit = find_font_size(ax, short)
        names = short if fit else names
    if fit is None:
        _note_lines_above(ax, above)
        marks, texts = [mark for mark, _ in keys], [texts[0] for _, texts in keys]
        write_legend(ax, [*lines, *marks], [*names, *texts], grow=grow)
        return
    fontsize, room = fit
    axis.set_limits(ax, room)
    _note_lines_above(ax, above)
    write_at_ends(ax, lines, names, fontsize=fontsize)
    write_keys(ax, keys)


def _has_room_below(ax: "Axes", names: Sequence[str]) -> bool:
    """Whether a legend below leaves enough of axes in a figure of the caller's."""
    return style.has_layout_engine(ax) and legend_height(ax, names) <= MAX_LEGEND_HEIGHT
