"""All pairs of models on one page: a small plot of the difference of losses for each pair."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._validation import ROUNDING
from choral.curves import PairwiseCurve
from choral.displays import _style as style
from choral.displays._curves import isolated_points
from choral.displays._pairs import check_pairs, end_names, pair_look
from choral.displays._text import LEGEND_LOOK, label_axis, new_legend, shorten, to_one_line
from choral.displays.ratio import PositionAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

PAGE_WIDTH = 7.4  # inches: the width of all panels on a sheet of A4
MAX_PANEL = 2.4
MIN_WIDTH = 3.3  # of a figure: a column of text
SCALE_HEIGHT = 0.09  # of the number above a square
MARGIN = 0.6  # for names and ticks, on two sides
FULL_PANEL = 1.4  # inches: on squares of this size, lines are as thick as in a `PairwiseDisplay`
SCALES = (0.6, 1.0)  # least and largest thickness of lines, of that
ROUND_NUMBERS = (1, 1.5, 2, 3, 5, 7)  # times a power of ten: how far from 0 a square reaches
FAR = 2.5  # a line that reaches so many times as far as all others may leave its square ...
MIN_LINES = 4  # ... of so many lines or more
HEADROOM = 1.12  # beyond the limit of a square
LOOK = {**LEGEND_LOOK, "frameon": False, "title_fontsize": style.SMALL, "alignment": "left"}  # of the legend
MAX_COLUMNS = 6  # of the legend
MAX_NAME_LENGTH = 28  # characters of the name of a data set
MAX_LINE_LENGTH = 40  # characters of the note


class PairGridDisplay:
    """Every pair of models on one page: a square for each pair, a line for each data set.

    A line is the loss of the model named beside the row minus the loss of the one named below the column, from Hamming
    at the left to subset 0/1 at the right; the x axis is that of `RatioDisplay`. Above 0 the model of the column is
    better. Some pairs lie much closer together than others, so each square has a scale of its own: its ticks are as far
    above and below 0 as the number above it says. "1 beyond" says that one line leaves the square: it goes so much
    further than all others that these would lie on 0.

    Parameters
    ----------
    pairs : mapping from (first, second) to a mapping from names of data sets to PairwiseCurve
        Of one family. Pairs without data sets, and pairs that are missing, leave their place empty.
    note : str
        What else a reader should know, written above the names of the data sets.

    Attributes
    ----------
    pairs : dict from (first, second) to dict from name to PairwiseCurve
        Those that have data sets.
    data_names : tuple of str
        All data sets, each with a colour of its own.
    figure_ : matplotlib Figure
        Where `plot` drew, as are the next two.
    axes_ : dict from (first, second) to matplotlib Axes
    legend_ : matplotlib Legend

    See Also
    --------
    PairwiseDisplay : Two models against each other.
    RatioDisplay : The ratio of two losses.

    Examples
    --------
    >>> from itertools import combinations
    >>> from choral import LossCurve
    >>> losses = {"BR": [0.2, 0.6], "CC": [0.3, 0.5], "LP": [0.3, 0.4]}
    >>> curves = [LossCurve("binomial", [1, 2], losses[name], n_labels=2, name=name) for name in losses]
    >>> pairs = {(a.name, b.name): {"toy": PairwiseCurve(a, b)} for a, b in combinations(curves, 2)}
    >>> display = PairGridDisplay(pairs)
    >>> list(display.pairs), display.data_names
    ([('BR', 'CC'), ('BR', 'LP'), ('CC', 'LP')], ('toy',))

    ``display.plot()`` draws it.
    """

    figure_: "Figure"
    axes_: dict[tuple[str, str], "Axes"]
    legend_: "Legend"

    def __init__(self, pairs: Mapping[tuple[str, str], Mapping[str, PairwiseCurve]], *, note: str = ""):
        self.note = note
        self.pairs = {models: dict(by_data) for models, by_data in pairs.items() if by_data}
        if not self.pairs:
            raise ValueError("a PairGridDisplay needs at least one pair of curves; got none.")
        for by_data in self.pairs.values():
            check_pairs(tuple(by_data.values()))
        families = sorted({pair.curve_a.family for pair in self._all_pairs()})
        if len(families) > 1:
            raise ValueError(f"pairs on one page have one family; got {' and '.join(families)}.")
        self.data_names = tuple(dict.fromkeys(name for by_data in self.pairs.values() for name in by_data))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of a new figure in inches: at most as wide as a sheet of A4."""
        columns, rows = self._models()
        panel = min(MAX_PANEL, PAGE_WIDTH / len(columns))
        return max(panel * len(columns) + MARGIN, MIN_WIDTH), (panel + SCALE_HEIGHT) * len(rows) + MARGIN

    def _models(self) -> tuple[list[str], list[str]]:
        """The models of the columns and those of the rows."""
        return list(dict.fromkeys(first for first, _ in self.pairs)), list(dict.fromkeys(b for _, b in self.pairs))

    def _all_pairs(self) -> list[PairwiseCurve]:
        return [pair for by_data in self.pairs.values() for pair in by_data.values()]

    def plot(self, figure: "Figure | None" = None) -> "PairGridDisplay":
        """Draw all squares, with the names of the data sets in the free corner, or below if there is none.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            An empty one to draw on; a new one unless given, of the ``size`` of the display.

        Returns
        -------
        display : PairGridDisplay
            Itself.
        """
        columns, rows = self._models()
        own_figure = figure is None
        if figure is None:
            figure = require("matplotlib.pyplot", "plot").figure(figsize=self.size)
        self.figure_ = _check_figure(figure)
        grid = self.figure_.add_gridspec(len(rows), len(columns))
        panel = (self.figure_.get_size_inches() / (len(columns), len(rows))).min()
        self._scale = float(np.clip(panel / FULL_PANEL, *SCALES))
        axis = PositionAxis([pair.curve_a for pair in self._all_pairs()])
        self.axes_ = {}
        self._n_beyond = 0
        for (first, second), by_data in self.pairs.items():
            ax = self.figure_.add_subplot(grid[rows.index(second), columns.index(first)])
            self.axes_[first, second] = ax
            limit, n_beyond = _find_limit([np.abs(pair.differences).max() for pair in by_data.values()])
            self._n_beyond += n_beyond
            _prepare_axes(ax, axis, limit, n_beyond)
            for name, pair in by_data.items():
                _draw_difference(ax, axis, pair, self._look(name))
        self._name_models(columns, rows)
        self._write_legend(grow=own_figure)
        return self

    def _look(self, name: str) -> dict[str, Any]:
        look = pair_look(self.data_names.index(name))
        return {**look, "linewidth": self._scale * look["linewidth"]}

    def _name_models(self, columns: list[str], rows: list[str]) -> None:
        """Write the names of models below the columns and to the left of the rows."""
        lowest = [max(self._pairs_with(0, first), key=lambda models: rows.index(models[1])) for first in columns]
        leftmost = [min(self._pairs_with(1, second), key=lambda models: columns.index(models[0])) for second in rows]
        for models, ax in self.axes_.items():
            # short labels first, so that the layout leaves room for names
            ax.set(xlabel="x" if models in lowest else "", ylabel="y" if models in leftmost else "")
        style.apply_layout(ax)  # names are shortened to the final size of the squares
        for models in lowest:
            _name_axis(self.axes_[models].xaxis, models[0])
        for models in leftmost:
            _name_axis(self.axes_[models].yaxis, models[1])

    def _pairs_with(self, position: int, name: str) -> list[tuple[str, str]]:
        """The pairs in which a model has this position: 0 for its column, 1 for its row."""
        return [models for models in self.axes_ if models[position] == name]

    def _write_legend(self, *, grow: bool) -> None:
        """Write the legend into the upper right corner if a triangle of pairs leaves it free, else below all."""
        handles, names = self._handles()
        title = self._title()
        legend = new_legend(self.figure_, handles, names, **LOOK, title=title, ncols=1, loc="upper right")
        style.apply_layout(next(iter(self.axes_.values())))
        taken: list[Any] = [ax.get_tightbbox() for ax in self.axes_.values()]
        if legend.get_window_extent().count_overlaps(taken):
            legend.remove()
            legend = _write_legend_below(self.figure_, handles, names, title=title)
            if grow:
                height = legend.get_window_extent().height / self.figure_.dpi
                self.figure_.set_figheight(self.figure_.get_figheight() + height)
        self.legend_ = legend

    def _title(self) -> str:
        """What the squares show."""
        pairs = self._all_pairs()
        ends = {end_names(pair) for pair in pairs}
        way = "from {} (left) to {} (right)".format(*ends.pop()) if len(ends) == 1 else "along the parameters"
        return (
            f"{pairs[0].curve_a.family} loss of the row\nminus that of the column,\n{way}.\n"
            "Above 0 the column is better.\n\N{PLUS-MINUS SIGN}: the scale of a square."
            + ("\n1 beyond: one line leaves the square." if self._n_beyond else "")
            + "".join(f"\n{line}" for line in wrap(to_one_line(self.note), MAX_LINE_LENGTH))
        )

    def _handles(self) -> tuple[list["Line2D"], list[str]]:
        """A sample of each line, and the name of its data set."""
        line2d = require("matplotlib.lines", "plot").Line2D
        lines = [line2d([], [], **self._look(name)) for name in self.data_names]
        return lines, [shorten(name, MAX_NAME_LENGTH) for name in self.data_names]


def _check_figure(figure: Any) -> "Figure":
    if not isinstance(figure, require("matplotlib.figure", "plot").Figure):
        raise TypeError(f"figure must be a matplotlib Figure; got {type(figure).__name__}.")
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("compressed")  # squares side by side, whatever the shape of the figure
    return figure


def _prepare_axes(ax: "Axes", axis: PositionAxis, limit: float, n_beyond: int) -> None:
    """Set up a square around the line at 0, with its scale above it."""
    pad = 0.04 * (axis.right - axis.low) or 0.5  # of a single parameter, into the middle
    ax.set(xlim=(axis.low - pad, axis.right + pad), ylim=(-HEADROOM * limit, HEADROOM * limit), box_aspect=1)
    ax.axhline(0, color=style.GREY, linewidth=0.6, zorder=1)
    style.tidy(ax)
    ax.set(xticks=[], yticks=[-limit, 0, limit], yticklabels=[])
    ax.tick_params(length=2)
    text = f"\N{PLUS-MINUS SIGN}{limit:g}" + (f", {n_beyond} beyond" if n_beyond else "")
    ax.set_title(text, loc="left", fontsize="x-small", color=style.GREY, pad=1)


def _draw_difference(ax: "Axes", axis: PositionAxis, pair: PairwiseCurve, look: dict[str, Any]) -> None:
    """Draw the line of a pair; the point at infinity stands apart."""
    x, y = axis.position(pair.parameters, pair.curve_a.n_labels), pair.differences
    if np.isinf(pair.parameters[-1]):
        x, y = np.insert(x, -1, np.nan), np.insert(y, -1, np.nan)
    ax.plot(x, y, marker=".", markersize=4, markevery=isolated_points(x), **look)


def _find_limit(sizes: Sequence[float]) -> tuple[float, int]:
    """How far from 0 a square should reach for lines of these sizes, and how many lines go beyond that.

    A single line far beyond all others would leave them no room.

    Examples
    --------
    >>> _find_limit([0.01, 0.02, 0.03, 0.5]), _find_limit([0.01, 0.5])
    ((0.03, 1), (0.5, 0))
    """
    *_, second, largest = 0.0, *sorted(sizes)
    is_alone = len(sizes) >= MIN_LINES and largest > FAR * second > ROUNDING
    limit = _round_limit(second if is_alone else largest)
    return limit, int(largest > limit * (1 + ROUNDING))


def _round_limit(size: float) -> float:
    """The least round number that is not below a size; 1 for 0.

    Examples
    --------
    >>> _round_limit(0.031), _round_limit(0.05), _round_limit(0.0)
    (0.05, 0.05, 1.0)
    >>> _round_limit(0.0071), _round_limit(0.91)
    (0.01, 1.0)
    """
    if size <= ROUNDING:  # models that are equal
        return 1.0
    power = int(np.floor(np.log10(size)))
    limits = [float(f"{digit}e{exponent}") for exponent in (power, power + 1) for digit in ROUND_NUMBERS]
    return next(limit for limit in limits if size <= limit * (1 + ROUNDING))


def _name_axis(axis: Any, name: str) -> None:
    axis.label.set_parse_math(False)
    label_axis(axis, [shorten(name, max_length) for max_length in (32, 24, 18, 14, 10, 6)])


def _write_legend_below(figure: "Figure", handles: list["Line2D"], names: list[str], *, title: str) -> "Legend":
    """A legend below all squares, in as many columns as fit the width."""
    for ncols in range(MAX_COLUMNS, 0, -1):
        legend = new_legend(figure, handles, names, **LOOK, title=title, ncols=ncols, loc="outside lower center")
        if legend.get_window_extent().width <= figure.bbox.width or ncols == 1:
            break
        legend.remove()
    return legend
