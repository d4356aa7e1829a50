"""Text that does not overlap: names at the ends of lines, legends below, notes beside points."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral.displays import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_LABEL_ROOM = 0.45  # of the width of the axes: beyond, the names go below in a legend
MOST_LEGEND_HEIGHT = 0.35  # of the height of axes that are not ours to make taller
LINE_SPACING = 1.25
LEAD = 14  # points between the end of a line and its name
LEGEND_SPACING = 0.35  # between two lines, of the font size

# From a point, where a note may stand: to its right first, then around it.
DIRECTIONS = ((1, 0), (1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 1), (-1, -1))
DISTANCES = (6, 16, 30)  # points


def spread(positions: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move positions as little as possible so that neighbours are a gap apart, within [low, high].

    Examples
    --------
    >>> spread(np.array([0.5, 0.1, 0.5]), gap=0.2, low=0.0, high=1.0)
    array([0.4, 0.1, 0.6])
    """
    from scipy.optimize import isotonic_regression  # a tenth of a second that only drawing should cost

    order = np.argsort(positions, kind="stable")
    steps = gap * np.arange(positions.size)
    nearest = isotonic_regression(positions[order] - steps).x
    placed = np.empty(positions.size)
    placed[order] = steps + nearest.clip(low, max(low, high - steps[-1]))
    return placed


def shortened(name: str, most: int) -> str:
    """A name on one line; a long one loses its middle, since names from files differ at the end.

    Examples
    --------
    >>> shortened("runs/monday/classifier chains, 10 folds", 20)
    'runs/monda…10 folds'
    """
    name = " ".join(name.split())
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


def label_ends(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, left: float, fontsize: str) -> None:
    """Write each name to the right of the end of its line, a little after ``left``, a share of the axes.

    Limits must be final: names that would overlap move apart, and a thin line leads to each.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = np.array([np.asarray(line.get_xydata())[-1] for line in lines])
    _, gap = text_size(ax, names, fontsize)
    placed = spread(to_axes.transform(ends)[:, 1], gap, gap / 2, 1 - gap / 2)
    left += style.points(ax, LEAD) / ax.bbox.width
    anchors = to_axes.inverted().transform([(left, height) for height in placed])
    for line, name, end, anchor in zip(lines, names, ends, anchors, strict=True):
        colour = line.get_color()
        lead = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}
        text = ax.annotate(
            name,
            xy=end,
            xytext=anchor,
            color=style.darker(colour),
            fontsize=fontsize,
            va="center_baseline",
            annotation_clip=False,
            arrowprops={**lead, "relpos": (0, 0.5)},
        )
        text.set_parse_math(False)  # a name is not a formula, whatever its dollars


def legend_below(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, grow: bool) -> None:
    """Write the names below the axes in as many columns as fit; a figure of our own grows by their height."""
    transforms = require("matplotlib.transforms", "plot")
    names, columns = legend_columns(ax, names)
    below = ax.xaxis.get_tightbbox()
    drop = (ax.bbox.y0 - (below.y0 if below else ax.bbox.y0)) / ax.figure.dpi + 6 / 72
    legend = ax.legend(
        lines,
        ["name"] * len(names),  # set below: here, a name that starts with _ would be left out
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        # in inches, not in shares of the axes: their height may still change
        bbox_transform=ax.transAxes + transforms.ScaledTranslation(0, -drop, ax.figure.dpi_scale_trans),
        ncols=columns,
        fontsize=style.SMALL,
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        labelspacing=LEGEND_SPACING,
        handlelength=2.6,
        columnspacing=1.6,
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    if grow:
        figure = ax.figure.figure
        figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)


def legend_columns(ax: "Axes", names: Sequence[str]) -> tuple[list[str], int]:
    """The names of a legend, shortened to the width of the axes, and in how many columns they fit."""
    alone = len(ax.figure.axes) == 1
    whole = ax.figure.bbox.width / ax.bbox.width if alone else 1.0  # room, in widths of the axes
    key = style.points(ax, 42) / ax.bbox.width  # a sample of the line, and space
    width, _ = text_size(ax, names, style.SMALL)
    if width + key > whole:
        most = int(max(map(len, names)) * (whole - key) / width)
        names = [shortened(name, most) for name in names]
        width, _ = text_size(ax, names, style.SMALL)
    return list(names), max(1, min(len(names), int(whole / (width + key))))


def legend_height(ax: "Axes", names: Sequence[str]) -> float:
    """The height of `legend_below`, as a share of the axes."""
    names, columns = legend_columns(ax, names)
    _, line = text_size(ax, names, style.SMALL)
    return -(-len(names) // columns) * line * (1 + LEGEND_SPACING) / LINE_SPACING


class Notes:
    """Writes notes on axes one by one, each where it hides the least of the lines and of the notes before it.

    Limits must be final.
    """

    def __init__(self, ax: "Axes"):
        self.ax = ax
        paths = [ax.transData.transform(np.asarray(line.get_xydata())) for line in ax.lines]
        self.taken = np.concatenate(
            [_walk(path) for path in paths if path.size]
        )  # what a note should not cover, in pixels

    def beside(self, point: tuple[float, float], text: str, colour: Any) -> None:
        """Write a note beside a point; a thin line leads to one that stands apart."""
        x, y = self.ax.transData.transform(point)
        size = self._size(text)
        spots = []
        for distance in DISTANCES:
            for right, up in DIRECTIONS:
                gap = style.points(self.ax, distance)
                offset = np.array([right * (gap + size[0] / 2), up * (gap + size[1] / 2)])
                spots.append((offset, distance))
        costs = [far + self._cost(np.array([x, y]) + offset, size) for offset, far in spots]
        offset, distance = spots[int(np.argmin(costs))]  # the first of the best
        lead = {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}
        self.ax.annotate(
            text,
            point,
            tuple(offset / style.points(self.ax, 1)),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=style.SMALL,
            arrowprops=lead if distance > DISTANCES[0] else None,
        )
        self._take(np.array([x, y]) + offset, size)

    def in_corner(self, text: str, colour: Any, *, upper_left: bool) -> None:
        """Write a note of some lines into the upper left or the lower right, moved in where lines pass."""
        size = self._size(text)
        away = np.array([(0, 0), (0, 0.2), (0.2, 0), (0, 0.35), (0.35, 0)])
        corners = (0.03, 0.97) + away * (1, -1) if upper_left else (0.97, 0.03) + away * (-1, 1)
        sign = np.array((1, -1) if upper_left else (-1, 1))
        centres = self.ax.transAxes.transform(corners) + sign * size / 2
        best = int(np.argmin([self._cost(centre, size) for centre in centres]))
        x, y = corners[best]
        self.ax.text(
            x,
            y,
            text,
            transform=self.ax.transAxes,
            ha="left" if upper_left else "right",
            va="top" if upper_left else "bottom",
            color=colour,
            fontsize=style.SMALL,
            parse_math=False,
        )
        self._take(centres[best], size)

    def _size(self, text: str) -> np.ndarray:
        width, height = text_size(self.ax, text.split("\n"), style.SMALL)
        return np.array([width * self.ax.bbox.width, height * self.ax.bbox.height * len(text.split("\n"))])

    def _cost(self, centre: np.ndarray, size: np.ndarray) -> float:
        """How much a note would hide, and far more for leaving the axes."""
        inside = (np.abs(self.taken - centre) <= size / 2 + style.points(self.ax, 2)).all(axis=1)
        low, high = centre - size / 2, centre + size / 2
        outside = np.maximum(self.ax.bbox.min - low, high - self.ax.bbox.max)
        slack = style.points(self.ax, 1) * np.array([-3, 3])  # the height has room above and below the letters
        return float(inside.sum() + 100 * np.maximum(outside - slack, 0).sum())

    def _take(self, centre: np.ndarray, size: np.ndarray) -> None:
        steps = np.linspace(-0.5, 0.5, 12)
        grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        self.taken = np.concatenate([self.taken, centre + grid * size])


def _walk(vertices: np.ndarray) -> np.ndarray:
    """Points along a path at steps of one."""
    lengths = np.append(0, np.cumsum(np.hypot(*np.diff(vertices, axis=0).T)))
    steps = np.arange(0, lengths[-1] + 1)
    return np.column_stack([np.interp(steps, lengths, coordinate) for coordinate in vertices.T])
