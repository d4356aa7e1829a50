"""Loss curves as lines with their names: what displays of curves share."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from choral.curves import LossCurve
from choral.displays import _labels as labels
from choral.displays import _style as style
from choral.displays._legend import Keys, height_below, write_keys, write_legend
from choral.displays._parameter_axis import ParameterAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SIZE = (4.8, 3.2)  # inches, of our own figures
LONE_BAND = 8  # points, the width of the band around a single point
MOST_LEGEND_HEIGHT = 0.35  # of the height of axes that are not ours to make taller


def curves_on(ax: "Axes") -> list["Line2D"]:
    """The lines of this and of earlier displays, known by their chosen markers."""
    return [line for line in ax.lines if line.get_markevery() is not None]


def next_looks(ax: "Axes") -> Iterator[dict[str, Any]]:
    """How to draw one more line after another on these axes: styles go on from display to display."""
    return map(style.line_style, count(sum(line.get_color() != style.GREY for line in curves_on(ax))))


def draw_curves(
    ax: "Axes",
    axis: ParameterAxis,
    curves: Sequence[LossCurve],
    looks: Sequence[dict[str, Any]],
    bands: Sequence[tuple[np.ndarray, np.ndarray] | None],
) -> list["Line2D"]:
    """Draw each curve in its look, in front of its band, and set the limits of the axes for all that is on them."""
    lines: list[Line2D] = []
    n_before = len(curves_on(ax))
    shade = style.band(sum(band is not None for band in bands))
    ax.set_xscale("log" if axis.logarithmic else "linear")
    for index, (curve, look, band) in enumerate(zip(curves, looks, bands, strict=True)):
        x, y = axis.with_gap(curve.parameters, curve.losses)
        marks = axis.marks(x, index / len(curves))
        label = labels.plain(curve.name or f"curve {n_before + index + 1}")
        lines += ax.plot(x, y, **{"markevery": marks, "clip_on": False, "label": label, **look})
        if band is not None:
            # an interval by a normal approximation may leave [0, 1], a loss cannot
            lower, upper = (axis.with_gap(curve.parameters, np.clip(edge, 0, 1))[1] for edge in band)
            shade["color"] = lines[-1].get_color()
            ax.fill_between(x, lower, upper, **shade)
            if lone := lone_points(x):  # a band around a single point has no width
                ax.vlines(x[lone], lower[lone], upper[lone], **{**shade, "linewidth": LONE_BAND})
    ax.set_ylim(0, 1.04 * ax.dataLim.y1 if ax.dataLim.y1 > 0 else 1)
    style.tidy(ax)
    return lines


def lone_points(x: np.ndarray) -> list[int]:
    """Indices of points that no line joins.

    Examples
    --------
    >>> lone_points(np.array([1, 10, np.nan, 20]))
    [3]
    """
    gaps = np.isnan(np.pad(x, 1, constant_values=np.nan))
    return np.flatnonzero(gaps[:-2] & ~gaps[1:-1] & gaps[2:]).tolist()


def settle_axes(ax: "Axes", axis: ParameterAxis, y_labels: Sequence[str]) -> None:
    """Label the axes in words that fit the size that they have in the end."""
    labels.remove_names(ax)
    _label_axes(ax, axis, y_labels)
    style.settle(ax)
    _label_axes(ax, axis, y_labels)


def _label_axes(ax: "Axes", axis: ParameterAxis, y_labels: Sequence[str]) -> None:
    axis.set_limits(ax, 0.0)
    labels.label_axis(ax.yaxis, y_labels)


def write_names(ax: "Axes", axis: ParameterAxis, keys: Keys = (), *, grow: bool) -> None:
    """Write the names of all curves on these axes at their ends, or in a legend, together with the keys of marks."""
    lines = sorted(curves_on(ax), key=lambda line: -np.round(np.asarray(line.get_ydata())[-1], 9))
    names = [str(line.get_label()) for line in lines]
    short = [labels.shortened(name, 16) for name in names]
    fit = labels.fitting_size(ax, names)
    if fit is None and not (grow or _has_room_below(ax, names)):
        fit = labels.fitting_size(ax, short)
        names = short if fit else names
    if fit is None:
        marks, texts = [mark for mark, _ in keys], [texts[0] for _, texts in keys]
        write_legend(ax, [*lines, *marks], [*names, *texts], grow=grow)
        return
    fontsize, room = fit
    axis.set_limits(ax, room)
    labels.label_ends(ax, lines, names, fontsize=fontsize)
    write_keys(ax, keys)


def _has_room_below(ax: "Axes", names: Sequence[str]) -> bool:
    """Whether a legend below axes that are not ours to make taller leaves enough of them."""
    return style.makes_room(ax) and height_below(ax, names) <= MOST_LEGEND_HEIGHT
