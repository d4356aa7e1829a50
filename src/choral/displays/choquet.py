"""One row's integral drawn twice: the weighted mean by vertical bars, the Choquet integral by horizontal slices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import FloatArray
from choral._validation import check_distribution, check_vector, refuse_where
from choral.displays import _style as style
from choral.displays._text import label_axis, shorten, text_size
from choral.integrals import add_steps
from choral.measures import ByRelevance, Form, Measure, Terms, check_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MAX_NAMED = 12  # labels: with more, their names would overlap
MAX_EDGED = 50  # bars: with more, white edges would hide them
LEGEND_LINES = 2.5  # room above the bars, in lines of text


class ChoquetDisplay:
    """The Choquet integral of the values of one row beside their weighted mean, as the paper draws them.

    On the left is the weighted mean, which looks at each label on its own: a bar for each label, as wide as its weight.
    On the right is the Choquet integral, which looks at sets of labels: a slice for each level, as wide as the worth of
    the set of labels that reach the level. The areas are the two integrals.

    Parameters
    ----------
    u : array-like of shape (n_labels,)
        Non-negative values, for instance to which degree each label is right.
    measure : Measure
        What each set of labels is worth.
    label_names : sequence of str, optional
        ``"label 0"``, ``"label 1"``, ... unless given.
    weights : array-like of shape (n_labels,), optional
        Weights of the labels in the mean, summing to 1. Unless given: those of an additive measure, else equal ones,
        which lead to the Hamming loss.
    y_true : array-like of shape (n_labels,), optional
        The true labels, 0 or 1: needed if the measure depends on them, as a `RelevanceMeasure` does.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        The labels from the least value to the largest.
    levels : ndarray of shape (n_labels,)
        Their values, the upper edges of the slices.
    worths : ndarray of shape (n_labels,)
        What the labels that reach each level are worth together: the widths of the slices.
    weights : ndarray of shape (n_labels,)
        The widths of the bars, in the order of the labels.
    integral, mean : float
        The Choquet integral and the weighted mean.
    axes_ : tuple of two matplotlib Axes
        Where `plot` drew.
    figure_ : matplotlib Figure

    See Also
    --------
    choral.choquet_integral : The Choquet integral, in the sorted form.
    choral.choquet_loss : The loss of any measure.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> display = ChoquetDisplay([0.8, 0.3, 0.9], BinomialMeasure(2))
    >>> display.levels, display.worths.round(3)
    (array([0.3, 0.8, 0.9]), array([1.   , 0.333, 0.   ]))
    >>> round(display.integral, 3), round(display.mean, 3)
    (0.467, 0.667)

    ``display.plot()`` draws it.
    """

    axes_: "tuple[Axes, Axes]"
    figure_: "Figure | SubFigure"

    def __init__(
        self,
        u: ArrayLike,
        measure: Measure,
        *,
        label_names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        y_true: ArrayLike | None = None,
    ):
        self.u = check_vector("u", u)
        refuse_where("u must be finite and non-negative", "u", self.u, ~((self.u >= 0) & (self.u < np.inf)))
        n_labels = self.u.size
        self.measure = measure
        names = [f"label {i}" for i in range(n_labels)] if label_names is None else label_names
        self.label_names = tuple(map(str, names))
        self.order = np.argsort(self.u, kind="stable")
        self.levels = self.u[self.order]
        check_measure(measure)
        form = measure.form(n_labels)
        self.worths = _nested_worths(form, self.order, y_true)
        self.weights = _default_weights(form) if weights is None else check_distribution("weights", weights)
        for name, values in (("label_names", self.label_names), ("weights", self.weights)):
            if len(values) != n_labels:
                raise ValueError(f"{name} must have one entry for each of {n_labels} values; got {len(values)}.")
        self.integral = float(add_steps(self.u[np.newaxis], self.order[np.newaxis], self.worths)[0])
        self.mean = float(self.weights @ self.u)

    @classmethod
    def from_prediction(
        cls,
        y_true_row: ArrayLike,
        y_pred_row: ArrayLike,
        measure: Measure,
        *,
        label_names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> "ChoquetDisplay":
        """A display of how far the prediction for one row is right, u = 1 - abs(score - label).

        The losses are one minus the integrals.

        Parameters
        ----------
        y_true_row : array-like of shape (n_labels,)
            True labels, 0 or 1.
        y_pred_row : array-like of shape (n_labels,)
            Predicted labels, or scores in [0, 1].
        measure : Measure
            What a set of right labels is worth.
        label_names : sequence of str, optional
            Names of the labels; their numbers unless given.
        weights : array-like of shape (n_labels,), optional
            Weights of the mean beside it; equal ones unless given.

        Examples
        --------
        >>> from choral import SubsetMeasure
        >>> display = ChoquetDisplay.from_prediction([1, 0, 1], [0.8, 0.7, 0.9], SubsetMeasure())
        >>> round(1 - display.integral, 3), round(1 - display.mean, 3)  # subset 0/1 and Hamming loss
        (0.7, 0.333)
        """
        y_true, y_pred = check_vector("y_true_row", y_true_row), check_vector("y_pred_row", y_pred_row)
        if y_true.shape != y_pred.shape:
            raise ValueError(
                f"y_true_row and y_pred_row must have the same length; got {y_true.size} and {y_pred.size}."
            )
        refuse_where("y_true_row must be 0 or 1", "y_true_row", y_true, (y_true != 0) & (y_true != 1))
        refuse_where("y_pred_row must lie in [0, 1]", "y_pred_row", y_pred, ~((y_pred >= 0) & (y_pred <= 1)))
        u = 1 - np.abs(y_pred - y_true)
        return cls(u, measure, label_names=label_names, weights=weights, y_true=y_true)

    def plot(self, axes: "Sequence[Axes] | None" = None) -> "ChoquetDisplay":
        """Draw the bars and the slices, labels from the largest value to the least.

        The dashed outline on the right is that of the bars on the left: under an additive measure with these weights
        the slices fill it exactly.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            For the bars and for the slices, such as ``plt.subplots(1, 2)[1]``; a new figure unless given.

        Returns
        -------
        display : ChoquetDisplay
            Itself.
        """
        if axes is None:
            left, right = style.new_axes(6.4, 2.9, ncols=2, sharey=True)
        else:
            left, right = _check_axes(axes)
        self.axes_, self.figure_ = (left, right), left.figure
        for ax in self.axes_:
            style.tidy(ax)
            ax.set_xlim(0, 1)
        self._draw_bars(left)
        self._draw_slices(right)
        line = max(text_size(ax, [""], style.SMALL)[1] for ax in self.axes_)
        for ax in self.axes_:  # the same height for both, with room for the legends above the bars
            ax.set_ylim(0, (self.levels[-1] or 1.0) / max(1 - LEGEND_LINES * line, 0.5))
        return self

    def _draw_bars(self, ax: "Axes") -> None:
        falling = self.order[::-1]
        widths, heights = self.weights[falling], self.u[falling]
        lefts = np.cumsum(widths) - widths
        bars = ax.bar(lefts, heights, widths, align="edge", color=style.COLOURS[0], **self._edges())
        _write_legend(ax, {f"weighted mean: {self.mean:.3g}": bars})
        label_axis(ax.yaxis, ["value of the label"])
        if self.u.size > MAX_NAMED:
            label_axis(ax.xaxis, ["weight of the labels"])
            return
        names = [shorten(self.label_names[i], 16) for i in falling]
        _name_bars(ax, lefts + widths / 2, widths, names)

    def _draw_slices(self, ax: "Axes") -> None:
        heights = np.diff(self.levels, prepend=0)
        floors = self.levels - heights
        slices = ax.barh(floors, self.worths, heights, align="edge", color=style.COLOURS[1], **self._edges())
        falling = self.order[::-1]
        edges = np.append(0, np.cumsum(self.weights[falling]))
        outline = ax.stairs(self.u[falling], edges, color=style.GREY, linestyle="--")
        _write_legend(ax, {f"Choquet integral: {self.integral:.3g}": slices, "weighted mean": outline})
        label_axis(ax.xaxis, ["worth of the set"])

    def _edges(self) -> dict[str, Any]:
        """White lines between bars if there are few."""
        return {"alpha": 0.75, "edgecolor": "white", "linewidth": 0.8 if self.u.size <= MAX_EDGED else 0.0}


def _write_legend(ax: "Axes", areas: dict[str, Any]) -> None:
    """Name areas in a legend above them: a title could overlap the labels of the axes above in a grid."""
    look = {
        "fontsize": style.SMALL,
        "frameon": False,
        "labelspacing": 0.25,
        "borderaxespad": 0,
        "borderpad": 0.2,
        "handlelength": 1.6,
    }
    ax.legend(areas.values(), areas.keys(), loc="upper right", **look)


def _name_bars(ax: "Axes", centres: np.ndarray, widths: np.ndarray, names: list[str]) -> None:
    """Write names below bars; slanted if they would touch, and then without a label of the axis below."""
    ax.set_xticks(centres, labels=names)
    ax.tick_params("x", length=0)
    style.apply_layout(ax)
    fitting = [size for size in (style.SMALL, "x-small") if _fit(ax, names, widths, size)]
    slant = {} if fitting else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    for text in ax.get_xticklabels():
        text.set(parse_math=False, fontsize=[*fitting, style.SMALL][0], **slant)
    if fitting:
        label_axis(ax.xaxis, ["label, as wide as its weight", "label"])


def _fit(ax: "Axes", names: list[str], widths: np.ndarray, fontsize: str) -> bool:
    sizes = [text_size(ax, [name], fontsize)[0] for name in names]
    return bool((sizes < 0.95 * widths).all())


def _nested_worths(form: Form, order: np.ndarray, y_true: ArrayLike | None) -> FloatArray:
    """The worths of the nested sets of labels, from all labels to the one with the largest value."""
    if not isinstance(form, ByRelevance):
        worths = form.nested_worths(order[np.newaxis])
    elif y_true is None:
        raise ValueError("the measure depends on the true labels: give y_true, or use ChoquetDisplay.from_prediction.")
    else:
        worths = form.nested_worths(order[np.newaxis], check_vector("y_true", y_true)[np.newaxis])
    return np.broadcast_to(worths, (1, order.size))[0].copy()


def _default_weights(form: Form) -> FloatArray:
    """The weights of an additive measure, else equal ones."""
    if isinstance(form, Terms) and not form.larger:
        return form.singles
    return np.full(form.n_labels, 1 / form.n_labels)


def _check_axes(axes: Any) -> "tuple[Axes, Axes]":
    try:
        left, right = axes
    except (TypeError, ValueError):
        raise TypeError(f"axes must be two matplotlib Axes, as of plt.subplots(1, 2); got {axes!r}.") from None
    return style.check_axes(left), style.check_axes(right)
