"""The loss of one model against the loss of another, as in the paper."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._typing import FloatArray
from choral.curves import PairwiseCurve
from choral.displays import _style as style
from choral.displays._pairs import (
    SYMBOLS,
    PairTable,
    crossing_points,
    draw_pair,
    end_names,
    highest_loss,
    is_beyond_finite,
    mark_keys,
    pair_look,
)
from choral.displays._text import label_axis, shorten, text_size, to_one_line, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

# Where a note may stand, seen from its point: to the right first, then around it.
NOTE_DIRECTIONS = ((1, 0), (1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 1), (-1, -1))
NOTE_DISTANCES = (6, 16, 30)  # points
# How far a note in a corner may move inwards, as shares of the axes.
CORNER_STEPS = np.array([(0, 0), (0, 0.2), (0.2, 0), (0, 0.35), (0.35, 0)])


class PairwiseDisplay(PairTable):
    """Two models against each other: a line for each data set, first on x, second on y.

    Above the diagonal the first model is better, below it the second; a line that crosses the diagonal is a
    ranking that depends on the loss.

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
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next two.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each pair, in their order.

    See Also
    --------
    choral.PairwiseCurve : The loss of one model against that of another.
    PairGridDisplay : Every pair of models on one page.
    RatioDisplay : The ratio of two losses.

    Examples
    --------
    >>> from choral import LossCurve
    >>> first = LossCurve("binomial", [1, 2, 3], [0.2, 0.4, 0.6], n_labels=3, name="BR")
    >>> second = LossCurve("binomial", [1, 2, 3], [0.3, 0.4, 0.5], n_labels=3, name="LP")
    >>> display = PairwiseDisplay.from_curves(first, second)
    >>> display.names, display.pairs[0].crossings()
    (('BR', 'LP'), array([2.]))

    ``display.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: list["Line2D"]

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "PairwiseDisplay":
        """Draw the lines: an open circle at the Hamming end, a square at the subset end, a cross at each crossing.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. ``plt.subplots(layout="constrained")`` keeps room for a legend.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``, such as ``linewidth``.

        Returns
        -------
        display : PairwiseDisplay
            Itself.
        """
        own_figure = ax is None
        ax = style.new_axes(4.0, 4.0) if own_figure else style.check_axes(ax)
        line_kwargs = style.line_properties(line_kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        limit = 1.1 * highest_loss(self.pairs) or 1.0
        ax.set(xlim=(0, limit), ylim=(0, limit), aspect="equal")
        ax.plot([0, limit], [0, limit], color=style.GREY, linewidth=0.8, zorder=1)
        self.lines_ = [
            draw_pair(ax, pair, {**pair_look(index), **line_kwargs}) for index, pair in enumerate(self.pairs)
        ]
        style.tidy(ax)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(require("matplotlib.ticker", "plot").MaxNLocator(6, steps=[1, 2, 5, 10]))
        self._label_axes(ax)
        if self.data_names:
            self._write_legend(ax, grow=own_figure)
        style.apply_layout(ax)
        self._label_axes(ax)  # again, in words that fit the final size of the axes
        self._write_notes(ax)
        return self

    def _label_axes(self, ax: "Axes") -> None:
        """Say which model's loss each axis shows, in fewer words if there is little room."""
        family = self.pairs[0].curve_a.family
        for axis, name in zip((ax.xaxis, ax.yaxis), self.names, strict=True):
            axis.label.set_parse_math(False)
            long, short = shorten(name, 24), shorten(name, 14)
            label_axis(axis, [f"{family} loss of {long}", f"loss of {long}", f"loss of {short}", short])

    def _write_legend(self, ax: "Axes", *, grow: bool) -> None:
        """Name the data sets with their crossings, and the three kinds of markers."""
        symbol = SYMBOLS[self.pairs[0].curve_a.family]
        names = [_name_with_crossings(*named) for named in zip(self.data_names, self.pairs, strict=True)]
        keys = mark_keys(self.pairs, crossing=f"crossing at {symbol}")
        write_legend(ax, [*self.lines_, *keys.values()], [*names, *keys], grow=grow)

    def _write_notes(self, ax: "Axes") -> None:
        """Say which model is better on which side of the diagonal; name the ends and crossings of a single line."""
        notes = _Notes(ax)
        if not self.data_names:
            _name_ends_and_crossings(notes, self.pairs[0], self.lines_[0].get_color())
        for name, side in zip(self.names, ("above", "below"), strict=True):
            texts = [f"{side}:\n{shorten(name, 24)} better"]
            texts += [f"{shorten(name, max_length)}\nbetter" for max_length in (24, 14)]
            notes.write_in_corner(texts, style.GREY, upper_left=side == "above")


def _crossing_text(pair: PairwiseCurve, parameter: float) -> str:
    return f"> {pair.parameters[-2]:g}" if is_beyond_finite(pair, parameter) else f"= {parameter:.3g}"


def _name_with_crossings(name: str, pair: PairwiseCurve) -> str:
    name, symbol = to_one_line(name), SYMBOLS[pair.curve_a.family]
    first, *others = [_crossing_text(pair, parameter) for parameter in pair.crossings()] or [""]
    where = ", ".join([f"{symbol} {first}", *(text.removeprefix("= ") for text in others)])
    return f"{name} ({where})" if first else name


def _name_ends_and_crossings(notes: "_Notes", pair: PairwiseCurve, colour: Any) -> None:
    for parameter, loss in crossing_points(pair):
        notes.write_beside((loss, loss), f"{SYMBOLS[pair.curve_a.family]} {_crossing_text(pair, parameter)}", "black")
    x, y = pair.curve_a.losses, pair.curve_b.losses
    for index, name in zip((0, -1), end_names(pair), strict=True):
        notes.write_beside((float(x[index]), float(y[index])), name, colour)


class _Notes:
    """Writes notes on axes one by one, each where it hides the least of the lines and of earlier notes.

    Limits must be final.
    """

    def __init__(self, ax: "Axes"):
        self.ax = ax
        paths = [ax.transData.transform(np.asarray(line.get_xydata())) for line in ax.lines]
        # the pixels that a note should not cover
        self.taken = np.concatenate([_points_along(path) for path in paths if path.size])
        legend = ax.get_legend()
        if legend is not None:
            box = legend.get_window_extent()
            self._take_pixels(box.get_points().mean(axis=0), np.array(box.size))

    def write_beside(self, point: tuple[float, float], text: str, colour: Any) -> None:
        """Write a note beside a point; a thin line leads to it if it does not stand next to the point."""
        place = self.ax.transData.transform(point)
        self._take_pixels(place, np.full(2, style.to_pixels(self.ax, 6)))  # its marker
        size = self._size(text, style.SMALL)
        low, high = self._room(size)
        spots = []
        for distance, direction in product(NOTE_DISTANCES, NOTE_DIRECTIONS):
            centre = place + np.array(direction) * (style.to_pixels(self.ax, distance) + size / 2)
            spots.append((centre.clip(low, high), distance))
        costs = [distance + self._cost(centre, size) for centre, distance in spots]
        centre, distance = spots[int(np.argmin(costs))]  # the first of the best
        self.ax.annotate(
            text,
            point,
            tuple((centre - place) / style.to_pixels(self.ax, 1)),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=style.SMALL,
            arrowprops=style.leader_look(colour) if distance > NOTE_DISTANCES[0] else None,
        )
        self._take_pixels(centre, size)

    def write_in_corner(self, texts: Sequence[str], colour: Any, *, upper_left: bool) -> None:
        """Write the first text, if any, that hides nothing near the upper left or the lower right corner."""
        sign = np.array((1, -1) if upper_left else (-1, 1))
        corners = np.array((0.03, 0.97) if upper_left else (0.97, 0.03)) + sign * CORNER_STEPS
        for text, fontsize in product(texts, (style.SMALL, "x-small")):
            size = self._size(text, fontsize)
            for corner, place in zip(corners, self.ax.transAxes.transform(corners), strict=True):
                if self._cost(place + sign * size / 2, size) > 0:
                    continue
                align = {"ha": "left", "va": "top"} if upper_left else {"ha": "right", "va": "bottom"}
                look = {"color": colour, "fontsize": fontsize, "parse_math": False, **align}
                self.ax.text(corner[0], corner[1], text, transform=self.ax.transAxes, **look)
                self._take_pixels(place + sign * size / 2, size)
                return

    def _size(self, text: str, fontsize: str) -> FloatArray:
        width, height = text_size(self.ax, text.split("\n"), fontsize)
        return np.array([width * self.ax.bbox.width, height * self.ax.bbox.height * len(text.split("\n"))])

    def _cost(self, centre: FloatArray, size: FloatArray) -> float:
        """How many pixels a note would hide; far more if it would leave the axes."""
        inside = (np.abs(self.taken - centre) <= size / 2 + style.to_pixels(self.ax, 2)).all(axis=1)
        low, high = self._room(size)
        return float(3 * inside.sum() + 100 * np.abs(centre - centre.clip(low, high)).sum())

    def _room(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The lower left and the upper right corner of the area in which the centre of a note may lie."""
        slack = style.to_pixels(self.ax, 1) * np.array([-3, 3])  # the height includes space above and below the letters
        return self.ax.bbox.min + size / 2 - slack, self.ax.bbox.max - size / 2 + slack

    def _take_pixels(self, centre: FloatArray, size: FloatArray) -> None:
        across, up = (np.arange(-length / 2, length / 2) for length in size)
        self.taken = np.concatenate([self.taken, centre + np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)])


def _points_along(vertices: FloatArray) -> FloatArray:
    """Points on a path, one pixel apart."""
    lengths = np.append(0, np.cumsum(np.hypot(*np.diff(vertices, axis=0).T)))
    steps = np.arange(0, lengths[-1] + 1)
    return np.column_stack([np.interp(steps, lengths, coordinate) for coordinate in vertices.T])
