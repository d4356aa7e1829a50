"""Which labels the loss comes from: bars by label, and lines along the parameter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choral._text import counted
from choral._typing import FloatArray
from choral._validation import check_count, check_vector
from choral.curves import LossCurve
from choral.displays import _style as style
from choral.displays._curves import SIZE, ParameterAxis, draw_curves, label_axes, next_looks, write_names
from choral.displays._pairs import SYMBOLS
from choral.displays._text import new_legend, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

MAX_LABELS = 20
MAX_NAME_LENGTH = 28
ROW = 0.24  # inches, the height of a label in a figure of our own
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "white", "edgecolor": style.GREY, "linewidth": 1.0},
    {"color": style.COLOURS[0], "edgecolor": style.COLOURS[0], "linewidth": 1.0},
)


class LabelSharesDisplay:
    """How much each label has in the loss: bars at the Hamming end and at another parameter, or lines between them.

    Shares add up to the loss. At the Hamming end they are the error rates of the labels over their number. Towards
    subset 0/1 loss a label that is wrong alone in its row weighs more than one that is wrong together with others.

    Parameters
    ----------
    labels : sequence of str
        Names of the labels.
    parameters : array-like of shape (n_points,)
        Increasing values of k or alpha.
    shares : array-like of shape (n_points, n_labels)
        The share of each label in the loss at each parameter; not negative.
    family : {"binomial", "polynomial"}
    n_labels : int, optional
        Of the data, where ``labels`` are some of them; the number of ``labels`` unless given.
    relative : bool
        Whether to draw shares in per cent of the loss of these labels, so that losses of different size compare; else
        in the unit of the loss.
    max_labels : int
        Draw the labels with the largest shares only, and say how many are left out.

    Attributes
    ----------
    labels : tuple of str
    parameters : ndarray of shape (n_points,)
    shares : ndarray of shape (n_points, n_labels)
    ax_ : matplotlib Axes
        Where `plot` or `plot_along` drew, as is the next one.
    figure_ : matplotlib Figure
    bars_ : list of matplotlib BarContainer
        Of `plot`: at the first parameter, then at the chosen one, the largest share first.
    lines_ : list of matplotlib Line2D
        Of `plot_along`: one for each label drawn, the largest share at the last parameter first.

    See Also
    --------
    choral.explain : Which labels, pairs and rows the loss comes from.
    choral.loss_shares : The part that each label has in the loss.
    ErrorPairsDisplay : Which labels are wrong together.

    Examples
    --------
    >>> display = LabelSharesDisplay(["sea", "sky"], [1, 2], [[0.1, 0.2], [0.25, 0.2]])
    >>> display.percentages.round(1)
    array([[33.3, 66.7],
           [55.6, 44.4]])

    ``display.plot()`` draws bars, ``display.plot_along()`` lines.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    bars_: list["BarContainer"]
    lines_: list["Line2D"]

    def __init__(
        self,
        labels: Sequence[str],
        parameters: ArrayLike,
        shares: ArrayLike,
        *,
        family: str = "binomial",
        n_labels: int | None = None,
        relative: bool = True,
        max_labels: int = MAX_LABELS,
    ):
        self.labels = tuple(str(label) for label in labels)
        self.parameters = check_vector("parameters", parameters)
        self.shares = _check_shares(shares, (self.parameters.size, len(self.labels)))
        if family not in SYMBOLS:
            raise ValueError(f"family must be one of {', '.join(map(repr, SYMBOLS))}; got {family!r}.")
        self.family = family
        self.n_labels = len(self.labels) if n_labels is None else n_labels
        self.relative = relative
        check_count("max_labels", max_labels)
        self.max_labels = max_labels

    @property
    def percentages(self) -> FloatArray:
        """Shares in per cent of the loss at each parameter; 0 where there is no loss."""
        totals = self.shares.sum(axis=1, keepdims=True)
        return np.divide(100 * self.shares, totals, out=np.zeros_like(self.shares), where=totals > 0)

    def plot(self, ax: "Axes | None" = None, *, parameter: float | None = None) -> "LabelSharesDisplay":
        """Draw two bars for each label: at the first parameter, and at a chosen one by which labels are sorted.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        parameter : float, optional
            One of ``parameters``; the last one unless given.

        Returns
        -------
        display : LabelSharesDisplay
            Itself.
        """
        chosen = self._find(parameter)
        values = self.percentages if self.relative else self.shares
        drawn = self._largest(values[chosen])
        n_rows = drawn.size + (drawn.size < len(self.labels))
        if ax is None:
            ax = style.new_axes(SIZE[0] + 0.6, 0.9 + ROW * max(n_rows, 3))
        self.ax_, self.figure_ = style.check_axes(ax), ax.figure
        points = list(dict.fromkeys((0, chosen)))
        height = 0.8 / len(points)
        self.bars_ = []
        for place, point in enumerate(points):
            rows = np.arange(drawn.size) + (place - (len(points) - 1) / 2) * height
            look = LOOKS[1] if len(points) == 1 else LOOKS[place]
            self.bars_.append(ax.barh(rows, values[point][drawn], height=0.85 * height, **look))
        self._write_names(drawn, n_rows)
        if len(points) > 1:
            texts = [self._name_point(point) for point in points]
            look = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2, "frameon": False, "borderaxespad": 0}
            new_legend(ax, self.bars_, texts, fontsize=style.SMALL, **look)  # type: ignore[arg-type]
        note = self._note_left_out(values[chosen], drawn)
        if note:
            ax.text(0, drawn.size, f" {note}", va="center", fontsize=style.SMALL, color=style.darken(style.GREY))
        where = f" at {self._name_point(chosen)}" if len(points) == 1 else ""
        ax.set_xlabel(("share of the loss, %" if self.relative else f"share in the {self.family} loss") + where)
        return self

    def plot_along(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "LabelSharesDisplay":
        """Draw a line for each label along the parameter.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``, such as ``linewidth``.

        Returns
        -------
        display : LabelSharesDisplay
            Itself.
        """
        own_figure = ax is None
        ax = style.new_axes(*SIZE) if own_figure else style.check_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        values = self.percentages / 100 if self.relative else self.shares
        drawn = self._largest(values[-1])
        curves = [
            LossCurve(self.family, self.parameters, values[:, label], n_labels=self.n_labels, name=self.labels[label])
            for label in drawn
        ]
        looks = next_looks(ax)
        properties = style.line_properties(line_kwargs)
        axis = ParameterAxis(curves)
        self.lines_ = draw_curves(
            ax, axis, curves, [{**next(looks), **properties} for _ in curves], [None] * len(curves)
        )
        title = "share of the loss" if self.relative else f"share in the {self.family} loss"
        note = self._note_left_out(values[-1], drawn)
        short = f"{counted(len(self.labels) - drawn.size, 'label')} left out"
        label_axes(ax, axis, [f"{title}\n({note})", f"{title}\n({short})"] if note else [title])
        write_names(ax, axis, grow=own_figure)
        return self

    def _find(self, parameter: float | None) -> int:
        if parameter is None:
            return self.parameters.size - 1
        places = np.flatnonzero(self.parameters == parameter)
        if not places.size:
            raise ValueError(
                f"parameter must be one of {', '.join(f'{each:g}' for each in self.parameters)}; got {parameter}."
            )
        return int(places[0])

    def _largest(self, shares: FloatArray) -> np.ndarray:
        """The labels to draw, the largest share first; of equal ones in their order."""
        return np.argsort(-shares, kind="stable")[: self.max_labels]

    def _note_left_out(self, shares: FloatArray, drawn: np.ndarray) -> str:
        n_left_out = len(self.labels) - drawn.size
        if not n_left_out:
            return ""
        largest = np.delete(shares, drawn).max()
        unit = f"{largest:.2g} %" if self.relative and shares.max() > 1 else f"{largest:.2g}"
        return f"{counted(n_left_out, 'label')} left out, each at most {unit}"

    def _name_point(self, point: int) -> str:
        parameter = self.parameters[point]
        if parameter == 1:
            return "Hamming"
        last = np.inf if self.family == "polynomial" else self.n_labels
        return "subset 0/1" if parameter == last else f"{SYMBOLS[self.family]} = {parameter:g}"

    def _write_names(self, drawn: np.ndarray, n_rows: int) -> None:
        ax = self.ax_
        ax.set_yticks(range(drawn.size), labels=[shorten(self.labels[label], MAX_NAME_LENGTH) for label in drawn])
        for text in ax.get_yticklabels():
            text.set_parse_math(False)  # a name with dollar signs is not a formula
        ax.set_ylim(n_rows - 0.4, -0.6)  # the largest on top
        style.tidy(ax)
        ax.tick_params(axis="y", length=0)


def _check_shares(shares: ArrayLike, shape: tuple[int, int]) -> FloatArray:
    checked = np.array(shares, dtype=float)
    if checked.shape != shape:
        raise ValueError(
            f"shares must have a row for each parameter and a column for each label, {shape}; got {checked.shape}."
        )
    if 0 in shape:
        raise ValueError(f"a LabelSharesDisplay needs at least one parameter and one label; got {shape}.")
    if not (checked >= 0).all():  # nan fails too
        point, label = np.argwhere(~(checked >= 0))[0]
        raise ValueError(f"shares must not be negative; shares[{point}, {label}] is {checked[point, label]}.")
    return checked
