"""How much labels depend on each other: a heat map of all pairs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from choral._optional import require
from choral._typing import FloatArray, LabelMatrix
from choral._validation import check_matrix, refuse_where
from choral.displays import _style as style
from choral.displays._text import shorten, text_size
from choral.stats import Description, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.image import AxesImage

    from choral.datasets import Dataset

DependenceMeasure = Literal["cramers_v", "mutual_information"]
TITLES = {"cramers_v": "Cramér's V", "mutual_information": "mutual information (bits)"}
SIZE = (6.4, 5.2)
COLOURS = "Blues"  # from white for no dependence to dark blue
DIAGONAL = "#D9D9D9"  # grey: the dependence of a label on itself tells nothing, and would set the scale
MAX_NAME_LENGTH = 24  # characters of a name beside the axes
MAX_NUMBERS = 12  # labels: with more, numbers in the cells would be too small to read


class DependenceDisplay:
    """A heat map of how much each pair of labels depends on each other.

    Parameters
    ----------
    matrix : array-like of shape (n_labels, n_labels)
        Non-negative; the diagonal is not shown.
    label_names : sequence of str, optional
        ``"label 0"``, ``"label 1"``, ... unless given.
    title : str, default="dependence"
        What the numbers are, written beside the colour bar.

    Attributes
    ----------
    matrix : ndarray of shape (n_labels, n_labels)
    label_names : tuple of str
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next three.
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage
    colorbar_ : matplotlib Colorbar

    See Also
    --------
    choral.stats.describe : Describe a data set and its labels.
    ErrorPairsDisplay : Which labels are wrong together.

    Examples
    --------
    >>> from choral.datasets import load_digits_segments
    >>> display = DependenceDisplay.from_dataset(load_digits_segments())
    >>> display.title, display.label_names[:2], display.matrix[:2, :2].round(2)
    ("Cramér's V", ('top', 'top right'), array([[1.  , 0.25], [0.25, 1.  ]]))

    ``display.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    image_: "AxesImage"
    colorbar_: "Colorbar"

    def __init__(self, matrix: ArrayLike, label_names: Sequence[str] | None = None, *, title: str = "dependence"):
        self.matrix = np.array(check_matrix("matrix", matrix), dtype=float)
        n_labels = len(self.matrix)
        if self.matrix.shape != (n_labels, n_labels):
            raise ValueError(f"matrix must have a row and a column for each label; got shape {self.matrix.shape}.")
        wrong = ~((self.matrix >= 0) & (self.matrix < np.inf))
        refuse_where("matrix must be finite and non-negative", "matrix", self.matrix, wrong)
        names = [f"label {i}" for i in range(n_labels)] if label_names is None else label_names
        if len(names) != n_labels:
            raise ValueError(f"label_names must have one entry for each of {n_labels} labels; got {len(names)}.")
        self.label_names, self.title = tuple(map(str, names)), title

    @classmethod
    def from_dataset(
        cls, dataset: "Dataset | LabelMatrix", *, measure: DependenceMeasure = "cramers_v"
    ) -> "DependenceDisplay":
        """A display of the labels of a data set.

        Parameters
        ----------
        dataset : Dataset, or array-like or sparse matrix of shape (n_samples, n_labels)
            See `choral.stats.describe`.
        measure : {"cramers_v", "mutual_information"}
        """
        return cls.from_description(describe(dataset), measure=measure)

    @classmethod
    def from_description(
        cls, description: Description, *, measure: DependenceMeasure = "cramers_v"
    ) -> "DependenceDisplay":
        """A display of labels that are described already; see `from_dataset`.

        Parameters
        ----------
        description : Description
            What `choral.stats.describe` found.
        measure : {"cramers_v", "mutual_information"}
            How dependence is measured.
        """
        if measure not in TITLES:
            raise ValueError(f"measure must be {' or '.join(map(repr, TITLES))}; got {measure!r}.")
        return cls(getattr(description, measure), description.label_names, title=TITLES[measure])

    def plot(self, ax: "Axes | None" = None, *, vmax: float | None = None) -> "DependenceDisplay":
        """Draw the heat map, white for pairs that do not depend on each other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. ``plt.subplots(layout="constrained")`` keeps room for the names.
        vmax : float, optional
            The number with the darkest colour; the largest number of all pairs unless given. To compare data sets,
            give the same number for all.

        Returns
        -------
        display : DependenceDisplay
            Itself.
        """
        ax = style.new_axes(*SIZE) if ax is None else style.check_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        shown = np.ma.array(self.matrix, mask=np.eye(len(self.matrix), dtype=bool))
        vmax = float(shown.max(fill_value=0) or 1) if vmax is None else vmax
        self.image_ = ax.imshow(shown, cmap=_colour_map(), vmin=0, vmax=vmax, interpolation="nearest")
        # An inset of the axes is as high as the map, whatever shape the figure has.
        bar = ax.inset_axes((1.03, 0, 0.04, 1))
        self.colorbar_ = ax.figure.colorbar(self.image_, cax=bar)
        self.colorbar_.outline.set_visible(False)
        bar.tick_params(labelsize=style.SMALL, length=3, pad=2.5)
        bar.set_ylabel(self.title, fontsize=style.SMALL)
        _draw_grid(ax, len(self.matrix))
        _name_cells(ax, [shorten(name, MAX_NAME_LENGTH) for name in self.label_names])
        if len(self.matrix) <= MAX_NUMBERS:
            _write_numbers(ax, self.matrix, vmax)
        return self


def _colour_map() -> Any:
    return require("matplotlib", "plot").colormaps[COLOURS].with_extremes(bad=DIAGONAL)


def _draw_grid(ax: "Axes", n_labels: int) -> None:
    """White lines between cells, thinner where there are many."""
    between = np.arange(1, n_labels) - 0.5
    ax.set_xticks(between, minor=True)
    ax.set_yticks(between, minor=True)
    ax.grid(which="minor", color="white", linewidth=min(1.0, 12 / n_labels))
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)


def _name_cells(ax: "Axes", names: list[str]) -> None:
    """Name rows and columns: all of them if there is room, else every second, third, ..."""
    look: dict[str, Any] = {"fontsize": style.SMALL if len(names) <= MAX_NUMBERS else "x-small", "parse_math": False}
    slant = (
        {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if len(names) <= MAX_NUMBERS else {"rotation": 90}
    )
    step = 1
    for _ in range(2):  # fewer names may leave more room for the map: measure again
        places = np.arange(0, len(names), step)
        ax.set_xticks(places, labels=names[::step], **look, **slant)
        ax.set_yticks(places, labels=names[::step], **look)
        style.apply_layout(ax)
        line = text_size(ax, ["x"], look["fontsize"])[1]
        step = int(np.ceil(line * len(names)))
    if len(places) < len(names):
        ax.tick_params(which="major", length=2)  # ticks show which row or column a name belongs to


def _write_numbers(ax: "Axes", matrix: FloatArray, vmax: float) -> None:
    """Write the number of each pair into its cell, if all fit."""
    numbers = [[f"{number:.2f}" for number in row] for row in matrix]
    fitting = [size for size in (style.SMALL, "x-small") if text_size(ax, ["0.00"], size)[0] * len(matrix) < 0.9]
    if not fitting:
        return
    for row, column in zip(*np.nonzero(~np.eye(len(matrix), dtype=bool)), strict=True):
        colour = "white" if matrix[row, column] > 0.6 * vmax else "black"
        ax.text(column, row, numbers[row][column], color=colour, fontsize=fitting[0], ha="center", va="center")
