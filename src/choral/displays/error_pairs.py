"""Which labels are wrong together: a heat map with a sign."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from choral._text import counted
from choral._typing import FloatArray
from choral._validation import ROUNDING, check_count
from choral.displays import _style as style
from choral.displays._text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage

MAX_LABELS = 24
MAX_NAME_LENGTH = 24
MAX_WITH_NUMBERS = 12  # labels: a larger map has no numbers in its cells
CELL = 0.34  # inches, in a figure of our own
COLOURS = "PuOr_r"  # from violet over white to orange: told apart in all kinds of colour blindness


class ErrorPairsDisplay:
    """Which labels are wrong together more often than by chance, and which less often.

    Parameters
    ----------
    labels : sequence of str
        Names of the labels.
    matrix : array-like of shape (n_labels, n_labels)
        Symmetric, in [-1, 1]: how much two labels are wrong together, such as the correlation of their errors. What is
        on the diagonal does not matter; nan where it is not known, as for a label that is never wrong.
    title : str
        What the numbers are, written beside the scale.
    max_labels : int
        Draw those labels only that are in the strongest pairs, and say how many are left out.

    Attributes
    ----------
    labels : tuple of str
    matrix : ndarray of shape (n_labels, n_labels)
    drawn : ndarray of shape (n_drawn,)
        Indices of the labels that are drawn, in their order.
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next two.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage

    See Also
    --------
    choral.explain : Which labels, pairs and rows the loss comes from.
    LabelSharesDisplay : The part of each label in the loss.

    Examples
    --------
    >>> display = ErrorPairsDisplay(["sea", "sky", "sun"], [[1, 0.5, 0], [0.5, 1, -0.2], [0, -0.2, 1]], max_labels=2)
    >>> [display.labels[label] for label in display.drawn]
    ['sea', 'sky']

    ``display.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    image_: "AxesImage"

    def __init__(
        self,
        labels: Sequence[str],
        matrix: ArrayLike,
        *,
        title: str = "correlation of errors",
        max_labels: int = MAX_LABELS,
    ):
        self.labels = tuple(str(label) for label in labels)
        self.matrix = _check_matrix(matrix, len(self.labels))
        self.title = title
        check_count("max_labels", max_labels)
        strengths = np.abs(self._off_diagonal())
        strongest = np.nan_to_num(strengths, nan=0.0).max(axis=1, initial=0.0)
        self.drawn = np.sort(np.argsort(-strongest, kind="stable")[:max_labels])

    def plot(self, ax: "Axes | None" = None) -> "ErrorPairsDisplay":
        """Draw the pairs as cells below the diagonal: orange where labels are wrong together, violet where apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        display : ErrorPairsDisplay
            Itself.
        """
        n_drawn = self.drawn.size
        if ax is None:
            side = CELL * max(n_drawn, 4)
            ax = style.new_axes(2.4 + side, 1.4 + side)
        self.ax_, self.figure_ = style.check_axes(ax), ax.figure
        values = self._off_diagonal()[np.ix_(self.drawn, self.drawn)]
        below = np.tril(np.ones_like(values, dtype=bool), -1)
        limit = float(np.nanmax(np.abs(values[below]), initial=0.0)) or 1.0
        shown = np.ma.masked_where(~below | np.isnan(values), values)
        self.image_ = ax.imshow(shown, cmap=COLOURS, vmin=-limit, vmax=limit, aspect="equal")
        self._write_cells(values, below, limit)
        self._write_names()
        if n_drawn > 1:
            bar = ax.figure.colorbar(self.image_, ax=ax, shrink=0.8, pad=0.03)
            bar.outline.set_visible(False)
            bar.ax.tick_params(labelsize=style.SMALL, length=2)
            bar.set_label(self.title, fontsize=style.SMALL)
        else:
            ax.text(0, 0, "one label:\nno pairs", ha="center", va="center", fontsize=style.SMALL, color=style.GREY)
        n_left_out = len(self.labels) - n_drawn
        if n_left_out:
            ax.set_title(
                f"{counted(n_left_out, 'label')} in weaker pairs left out",
                fontsize=style.SMALL,
                color=style.darken(style.GREY),
                loc="left",
            )
        return self

    def _off_diagonal(self) -> FloatArray:
        values = self.matrix.copy()
        np.fill_diagonal(values, np.nan)
        return values

    def _write_cells(self, values: FloatArray, below: np.ndarray, limit: float) -> None:
        """Numbers in the cells of a small map, and a dash where a number is not known."""
        numbers = self.drawn.size <= MAX_WITH_NUMBERS
        for row, column in np.argwhere(below):
            value = values[row, column]
            if np.isnan(value) or numbers:
                text = "\N{EN DASH}" if np.isnan(value) else f"{value:z.2f}".replace("-", "\N{MINUS SIGN}")
                colour = "white" if abs(value) > 0.65 * limit else "black"
                self.ax_.text(column, row, text, ha="center", va="center", fontsize="x-small", color=colour)

    def _write_names(self) -> None:
        """Rows are named from the second label on and columns up to the last but one: there are no other pairs."""
        ax, n_drawn = self.ax_, self.drawn.size
        names = [shorten(self.labels[label], MAX_NAME_LENGTH) for label in self.drawn]
        first, last = (1, n_drawn - 1) if n_drawn > 1 else (0, 0)
        ax.set_yticks(range(first, n_drawn), labels=names[first:])
        ax.set_xticks(range(last), labels=names[:last], rotation=90)
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            text.set_parse_math(False)  # a name with dollar signs is not a formula
        if n_drawn > 1:
            ax.set(xlim=(-0.5, n_drawn - 1.5), ylim=(n_drawn - 0.5, 0.5))
        style.tidy(ax)
        ax.tick_params(length=0)
        ax.spines[["left", "bottom"]].set_visible(False)


def _check_matrix(matrix: ArrayLike, n_labels: int) -> FloatArray:
    checked = np.array(matrix, dtype=float)
    if checked.shape != (n_labels, n_labels) or not n_labels:
        raise ValueError(
            f"matrix must have a row and a column for each of {counted(n_labels, 'label')}; got {checked.shape}."
        )
    pairs = ~np.eye(n_labels, dtype=bool)
    outside = pairs & (np.abs(checked) > 1 + ROUNDING)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ValueError(f"matrix must lie in [-1, 1]; matrix[{row}, {column}] is {checked[row, column]}.")
    if not np.allclose(checked[pairs], checked.T[pairs], atol=1e-9, equal_nan=True):
        raise ValueError("matrix must be symmetric: the pair of a and b is the pair of b and a.")
    return checked
