"""The loss of one model against the loss of another, as in the paper."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral.curves import LossCurve, PairwiseCurve
from choral.displays import _labels as labels
from choral.displays import _style as style
from choral.displays._legend import write_legend
from choral.displays._notes import Notes
from choral.displays.loss_curve import LossCurveDisplay
from choral.measures.families import get_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

SYMBOLS = {"binomial": "k", "polynomial": "\N{GREEK SMALL LETTER ALPHA}"}
HAMMING_END: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "markersize": 6}
SUBSET_END: dict[str, Any] = {"marker": "s", "markersize": 6}
CROSSING: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 1.6}
MOST_DOTS = 25  # parameters of a line, each shown as a dot


class PairwiseDisplay:
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

    def __init__(self, pairs: PairwiseCurve | Mapping[str, PairwiseCurve]):
        named = pairs if isinstance(pairs, Mapping) else {"": pairs}
        self.pairs = _check_pairs(tuple(named.values()))
        self.data_names = tuple(named) if isinstance(pairs, Mapping) else ()
        self.names = self.pairs[0].names

    @classmethod
    def from_curves(
        cls,
        first: LossCurve | Mapping[str, LossCurve] | PairwiseCurve,
        second: LossCurve | Mapping[str, LossCurve] | None = None,
    ) -> "PairwiseDisplay":
        """A display of two models: one curve each, one mapping from data sets to curves each, or a pair of curves."""
        if isinstance(first, PairwiseCurve) and second is None:
            return cls(first)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            if set(first) != set(second):
                only = sorted(map(repr, set(first) ^ set(second)))
                raise ValueError(f"first and second must have the same data sets; only one has {', '.join(only)}.")
            return cls({data: PairwiseCurve(first[data], second[data]) for data in first})
        if isinstance(first, LossCurve) and isinstance(second, LossCurve):
            return cls(PairwiseCurve(first, second))
        raise TypeError(
            "first and second must both be LossCurve or both be mappings from data sets to LossCurve; "
            f"got {type(first).__name__} and {type(second).__name__}."
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred_first: Any,
        y_pred_second: Any = None,
        *,
        family: str = "binomial",
        parameters: Any = None,
        sample_weight: Any = None,
        names: tuple[str, str] = ("first", "second"),
    ) -> "PairwiseDisplay":
        """A display of the predictions of two models for the same rows.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_pred_first, y_pred_second : array-like or sparse matrix of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1]; or in place of both, a mapping from two names to them.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `loss_curve`.
        sample_weight : array-like of shape (n_samples,), optional
        names : tuple of two str
            Of the first and the second model.
        """
        if isinstance(y_pred_first, Mapping) and y_pred_second is None:
            if len(y_pred_first) != 2:
                raise ValueError(f"a PairwiseDisplay compares two models; got {len(y_pred_first)}.")
            names, (y_pred_first, y_pred_second) = tuple(y_pred_first), y_pred_first.values()
        predictions = {"first": y_pred_first, "second": y_pred_second}
        curves = LossCurveDisplay.from_predictions(
            y_true, predictions, family=family, parameters=parameters, sample_weight=sample_weight
        ).curves
        first, second = (replace(curve, name=name) for curve, name in zip(curves, names, strict=True))
        return cls.from_curves(first, second)

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
        highest = max(curve.losses.max() for pair in self.pairs for curve in (pair.curve_a, pair.curve_b))
        limit = 1.1 * float(highest) if highest > 0 else 1.0
        ax.set(xlim=(0, limit), ylim=(0, limit), aspect="equal")
        ax.plot([0, limit], [0, limit], color=style.GREY, linewidth=0.8, zorder=1)
        self.lines_ = [_draw_pair(ax, pair, {**_look(index), **line_kwargs}) for index, pair in enumerate(self.pairs)]
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
        line2d = require("matplotlib.lines", "plot").Line2D
        symbol = SYMBOLS[self.pairs[0].curve_a.family]
        names = [_name_with_crossings(*named) for named in zip(self.data_names, self.pairs, strict=True)]
        whole = all(_end_names(pair) == ("Hamming", "subset 0/1") for pair in self.pairs)
        ends = ("Hamming", "subset 0/1") if whole else (f"least {symbol}", f"largest {symbol}")
        keys = dict(zip(ends, (HAMMING_END, SUBSET_END), strict=True))
        if any(pair.crossings().size for pair in self.pairs):
            keys[f"crossing at {symbol}"] = CROSSING
        marks = [line2d([], [], color="black", linestyle="none", **look) for look in keys.values()]
        write_legend(ax, [*self.lines_, *marks], [*names, *keys], grow=grow)


def _look(index: int) -> dict[str, Any]:
    """Colours and dashes both change from line to line: markers are for the ends."""
    dashes = style.DASHES[index % len(style.DASHES)]
    return {"color": style.COLOURS[index % len(style.COLOURS)], "linestyle": dashes, "linewidth": 1.6}


def _draw_pair(ax: "Axes", pair: PairwiseCurve, look: dict[str, Any]) -> "Line2D":
    x, y = pair.curve_a.losses, pair.curve_b.losses
    (line,) = ax.plot(x, y, clip_on=False, **look)
    colour = line.get_color()
    if 2 < x.size <= MOST_DOTS:  # an empty line would count as a point in the corner of the figure
        ax.plot(x[1:-1], y[1:-1], ".", color=colour, markersize=5, clip_on=False)
    ax.plot(x[0], y[0], color=colour, clip_on=False, zorder=3, **HAMMING_END)
    ax.plot(x[-1], y[-1], color=colour, clip_on=False, zorder=3, **SUBSET_END)
    for _, loss in _crossing_points(pair):
        ax.plot(loss, loss, color="black", zorder=4, **CROSSING)
    return line


def _crossing_points(pair: PairwiseCurve) -> list[tuple[float, float]]:
    """Parameter and loss, the same for both models, of each crossing."""
    x, losses = pair.curve_a.x, pair.curve_a.losses
    found = []
    for parameter in pair.crossings():
        if np.isfinite(parameter):
            family = get_family(pair.curve_a.family)
            loss = np.interp(family.position(parameter, pair.curve_a.n_labels), x, losses)
        else:  # between the last finite alpha and infinity: where the segment meets the diagonal
            before, after = pair.differences[-2:]
            loss = losses[-2] + before / (before - after) * (losses[-1] - losses[-2])
        found.append((float(parameter), float(loss)))
    return found


def _crossing_name(pair: PairwiseCurve, parameter: float) -> str:
    return f"> {pair.parameters[-2]:g}" if np.isinf(parameter) else f"= {parameter:.3g}"


def _name_with_crossings(name: str, pair: PairwiseCurve) -> str:
    name = labels.plain(name)
    crossings = [_crossing_name(pair, parameter).removeprefix("= ") for parameter in pair.crossings()]
    return f"{name} \N{MULTIPLICATION SIGN} {', '.join(crossings)}" if crossings else name


def _end_names(pair: PairwiseCurve) -> tuple[str, str]:
    """Which losses the ends are, or their parameters where the curve is not whole."""
    low, high = pair.parameters[0], pair.parameters[-1]
    last = np.inf if pair.curve_a.family == "polynomial" else pair.curve_a.n_labels
    symbol = SYMBOLS[pair.curve_a.family]
    return (
        "Hamming" if low == 1 else f"{symbol} = {low:g}",
        "subset 0/1" if high == last else f"{symbol} = {high:g}",
    )


def _name_places(notes: Notes, pair: PairwiseCurve, colour: Any) -> None:
    """Name the ends of a single line and its crossings."""
    for parameter, loss in _crossing_points(pair):
        notes.beside((loss, loss), f"{SYMBOLS[pair.curve_a.family]} {_crossing_name(pair, parameter)}", "black")
    x, y = pair.curve_a.losses, pair.curve_b.losses
    for index, name in zip((0, -1), _end_names(pair), strict=True):
        notes.beside((float(x[index]), float(y[index])), name, colour)


def _check_pairs(pairs: tuple[PairwiseCurve, ...]) -> tuple[PairwiseCurve, ...]:
    if not pairs:
        raise ValueError("a PairwiseDisplay needs at least one pair of curves; got none.")
    for pair in pairs:
        if not isinstance(pair, PairwiseCurve):
            raise TypeError(f"pairs must be PairwiseCurve; got {type(pair).__name__}.")
    families = sorted({pair.curve_a.family for pair in pairs})
    if len(families) > 1:
        raise ValueError(f"pairs on one pair of axes have one family; got {' and '.join(families)}.")
    models = sorted({pair.names for pair in pairs})
    if len(models) > 1:
        came = " and ".join(f"{first} against {second}" for first, second in models)
        raise ValueError(f"pairs on one pair of axes compare the same two models; got {came}.")
    return pairs
