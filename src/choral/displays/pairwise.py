"""The loss of one model against the loss of another, as in the paper."""

from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral.curves import PairwiseCurve
from choral.displays import _labels as labels
from choral.displays import _style as style
from choral.displays._legend import write_legend
from choral.displays._notes import Notes
from choral.displays._pair_lines import (
    SYMBOLS,
    crossing_points,
    draw_pair,
    end_names,
    highest_loss,
    mark_keys,
    pair_look,
)
from choral.displays._pair_table import PairTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


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
        style.settle(ax)
        self._label_axes(ax)  # in words that fit the size that the axes have now
        notes = Notes(ax)
        if not self.data_names:
            _name_places(notes, self.pairs[0], self.lines_[0].get_color())
        for name, side in zip(self.names, ("above", "below"), strict=True):
            texts = [f"{side}:\n{labels.shortened(name, 24)} better"]
            texts += [f"{labels.shortened(name, most)}\nbetter" for most in (24, 14)]
            notes.in_corner(texts, style.GREY, upper_left=side == "above")
        return self

    def _label_axes(self, ax: "Axes") -> None:
        """Say which model's loss each axis is, in fewer words where there is little room."""
        family = self.pairs[0].curve_a.family
        for axis, name in zip((ax.xaxis, ax.yaxis), self.names, strict=True):
            axis.label.set_parse_math(False)
            long, short = labels.shortened(name, 24), labels.shortened(name, 14)
            labels.label_axis(axis, [f"{family} loss of {long}", f"loss of {long}", f"loss of {short}", short])

    def _write_legend(self, ax: "Axes", *, grow: bool) -> None:
        """Name the data sets and where they cross, and the three kinds of markers."""
        symbol = SYMBOLS[self.pairs[0].curve_a.family]
        names = [_name_with_crossings(*named) for named in zip(self.data_names, self.pairs, strict=True)]
        keys = mark_keys(self.pairs, crossing=f"crossing at {symbol}")
        write_legend(ax, [*self.lines_, *keys.values()], [*names, *keys], grow=grow)


def _crossing_name(pair: PairwiseCurve, parameter: float) -> str:
    return f"> {pair.parameters[-2]:g}" if np.isinf(parameter) else f"= {parameter:.3g}"


def _name_with_crossings(name: str, pair: PairwiseCurve) -> str:
    name = labels.plain(name)
    crossings = [_crossing_name(pair, parameter).removeprefix("= ") for parameter in pair.crossings()]
    return f"{name} \N{MULTIPLICATION SIGN} {', '.join(crossings)}" if crossings else name


def _name_places(notes: Notes, pair: PairwiseCurve, colour: Any) -> None:
    """Name the ends of a single line and its crossings."""
    for parameter, loss in crossing_points(pair):
        notes.beside((loss, loss), f"{SYMBOLS[pair.curve_a.family]} {_crossing_name(pair, parameter)}", "black")
    x, y = pair.curve_a.losses, pair.curve_b.losses
    for index, name in zip((0, -1), end_names(pair), strict=True):
        notes.beside((float(x[index]), float(y[index])), name, colour)
