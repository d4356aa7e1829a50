"""Text that fits: names at the ends of lines, labels of axes."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._text import printable
from choral.displays import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

MOST_LABEL_ROOM = 0.45  # of the width of the axes: beyond, the names go into a legend
LINE_SPACING = 1.25
LEAD = 14  # points between the end of a line and its name
OURS = "names of curves"  # the label by which we know what we wrote


def spread(positions: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move positions as little as possible so that neighbours are a gap apart, within [low, high].

    Examples
    --------
    >>> spread(np.array([0.5, 0.1, 0.5]), gap=0.2, low=0.0, high=1.0)
    array([0.4, 0.1, 0.6])
    """
    from scipy.optimize import isotonic_regression  # a tenth of a second that only drawing should cost

    order = np.argsort(positions.round(9), kind="stable")  # noise does not order what ends at one point
    steps = gap * np.arange(positions.size)
    nearest = isotonic_regression(positions[order] - steps).x
    placed = np.empty(positions.size)
    placed[order] = steps + nearest.clip(low, max(low, high - steps[-1]))
    return placed


def plain(name: Any) -> str:
    r"""A name on one line, with control characters shown instead of obeyed: names may come from files.

    Examples
    --------
    >>> print(plain("binary\nrelevance\x07"))
    binary relevance\x07
    """
    return printable(" ".join(str(name).split()))


def shortened(name: str, most: int) -> str:
    """A name on one line; a long one loses its middle, since names from files differ at the end.

    Examples
    --------
    >>> shortened("runs/monday/classifier chains, 10 folds", 20)
    'runs/monda…10 folds'
    """
    name = plain(name)
    half = max(most // 2, 2)
    return name if len(name) <= most else f"{name[:half].rstrip()}…{name[1 - half :].lstrip()}"


def text_size(ax: "Axes", names: Sequence[str], fontsize: str) -> tuple[float, float]:
    """Width of the widest of these names and height of a line, as shares of the axes."""
    box = ax.get_window_extent()
    width = 0.0
    for name in names:
        text = ax.text(0, 0, name, fontsize=fontsize, parse_math=False)
        width = max(width, text.get_window_extent().width)
        text.remove()
    return width / box.width, style.points(ax, LINE_SPACING * float(text.get_fontsize())) / box.height


def fitting_size(ax: "Axes", names: Sequence[str]) -> tuple[str, float] | None:
    """The font size at which names fit at the ends of lines, and the share of the width they take; None for no fit."""
    for fontsize in (style.SMALL, "x-small"):
        width, height = text_size(ax, names, fontsize)
        room = width + style.points(ax, LEAD + 2) / ax.bbox.width
        if room <= MOST_LABEL_ROOM and height * len(names) <= 1:
            return fontsize, room
    return None


def label_ends(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, fontsize: str) -> None:
    """Write each name to the right of the end of its line, all of them in one column.

    Limits must be final: names that would overlap move apart, and a thin line leads to each.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = to_axes.transform([np.asarray(line.get_xydata())[-1] for line in lines])
    _, gap = text_size(ax, names, fontsize)
    heights = spread(ends[:, 1], gap, gap / 2, 1 - gap / 2)
    lead = style.points(ax, LEAD) / ax.bbox.width
    left = ends[:, 0].max() + lead
    for line, name, end, height in zip(lines, names, ends, heights, strict=True):
        far = left - end[0] > 2 * lead  # of a curve that stops early: dotted, not to look like more of it
        text = ax.annotate(
            name,
            xy=tuple(to_axes.inverted().transform(end)),
            xytext=tuple(to_axes.inverted().transform((left, height))),
            label=OURS,
            color=style.darker(line.get_color()),
            fontsize=fontsize,
            va="center_baseline",
            annotation_clip=False,
            # no patchA: to clip the line at the box of the text, where it begins anyway, takes long
            arrowprops={
                **style.lead(line.get_color()),
                "linestyle": ":" if far else "-",
                "relpos": (0, 0.5),
                "patchA": None,
            },
        )
        text.set_parse_math(False)  # a name is not a formula, whatever its dollars


def remove_names(ax: "Axes") -> None:
    """Take away what `label_ends` and `write_legend` wrote, before it is written anew for more lines."""
    legend = ax.get_legend()
    written = [*ax.texts, *([legend] if legend else [])]
    for artist in written:
        if artist.get_label() == OURS:
            artist.remove()


def label_axis(axis: "Axis", texts: Sequence[str]) -> float:
    """Label an axis with the first text that is no longer than it, or else with the last; the share it takes."""
    axis.labelpad = 2
    side = "width" if axis is axis.axes.xaxis else "height"
    cramped = len(axis.axes.figure.axes) > 1 and not style.makes_room(axis.axes)  # a plain grid: others are near
    sizes = [] if cramped else [require("matplotlib", "plot").rcParams["axes.labelsize"]]
    for text, fontsize in product(texts, [*sizes, style.SMALL]):
        axis.set_label_text(text, fontsize=fontsize)
        share = getattr(axis.label.get_window_extent(), side) / getattr(axis.axes.bbox, side)
        if share <= 1:
            break
    return share
