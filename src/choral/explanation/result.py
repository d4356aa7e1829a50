"""What explain() found about one model: which labels, pairs of labels, rows and label sets its loss comes from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choral._array_api import to_host
from choral._optional import require
from choral._outputs import plain_numbers
from choral._typing import FloatArray
from choral.explanation.error_pairs import ErrorPairs
from choral.explanation.label_sets import (
    CostlyRow,
    LabelSetMistake,
    LabelSetReport,
    Names,
    NeverPredicted,
    RowNumbers,
    read_labels,
)
from choral.explanation.sections import as_html, as_text
from choral.explanation.summary import notes_of, sections_of, title_of
from choral.explanation.tables import TABLES, Columns, check_table, columns_of, plain
from choral.explanation.usual_figures import UsualFigures, usual_figures
from choral.losses import choquet_rows
from choral.measures import Measure
from choral.rows import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from choral.displays import ErrorPairsDisplay, LabelSharesDisplay


class SharesAlong(NamedTuple):
    """The shares of labels along the slide from Hamming to subset 0/1 loss.

    Parameters
    ----------
    family : {"binomial", "polynomial"}
        The family of losses.
    parameters : ndarray of shape (n_points,)
        Values of k or alpha.
    shares : ndarray of shape (n_points, n_labels)
        Each row adds up to the loss at that parameter.
    hamming : ndarray of shape (n_labels,)
        The shares in the Hamming loss.

    See Also
    --------
    choral.loss_shares : The part of each label in a loss.
    choral.displays.LabelSharesDisplay : The part of each label in the loss.

    Examples
    --------
    >>> from choral import explain
    >>> along = explain([[1, 1], [0, 1]], [[1, 0], [0, 1]]).along
    >>> along.parameters, along.shares.round(2).tolist()  # k = 1, 2; label 1 alone is wrong
    (array([1, 2]), [[0.0, 0.25], [0.0, 0.5]])
    """

    family: str
    parameters: np.ndarray
    shares: FloatArray
    hamming: FloatArray

    @property
    def losses(self) -> FloatArray:
        """The loss at each parameter, of shape (n_points,)."""
        return self.shares.sum(axis=1)

    @property
    def gains(self) -> FloatArray:
        """How many times its part of the Hamming loss a label's part of the loss is, of shape (n_points, n_labels).

        Above 1 where it gains in weight; nan for labels that are never wrong.
        """
        return np.array([_gains(shares, self.hamming) for shares in self.shares])


def _gains(shares: FloatArray, hamming: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return (shares / shares.sum()) / (hamming / hamming.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Where the loss of a model comes from; printed, it is a summary of a screen.

    Parameters
    ----------
    name : str
        Of the model.
    measure : Measure
        Its loss is explained.
    labels : tuple of str
        Names of the labels.
    n_rows, n_unobserved : int
        Rows with a known label, and rows that were left out since none of their labels is known.
    shares : ndarray of shape (n_labels,)
        The part of each label in the loss, which they add up to: see `choral.loss_shares`.
    error_rates : ndarray of shape (n_labels,)
        How often each label is wrong where it is known (the mean error, for scores); nan for labels never known.
    along : SharesAlong
        The shares along a family of losses.
    pairs : ErrorPairs
        Labels that are wrong together more often, or less often, than independent errors would be.
    confidence : float
        Of the intervals of pairs, for all pairs at once.
    n_most : int
        How many of the most costly rows, and of the most frequent mistakes, are listed.

    See Also
    --------
    explain : Which labels, pairs and rows the loss comes from.
    Explanations : Where the losses of several models come from.
    choral.displays.LabelSharesDisplay : The part of each label in the loss.
    choral.displays.ErrorPairsDisplay : Which labels are wrong together.

    Examples
    --------
    >>> from choral import explain
    >>> found = explain([[1, 1], [0, 1]], [[1, 0], [0, 1]], labels=["sea", "sky"])
    >>> found.shares  # of the subset 0/1 loss, which is 0.5
    array([0. , 0.5])
    """

    name: str
    measure: Measure
    labels: Names
    n_rows: int
    n_unobserved: int
    shares: FloatArray
    error_rates: FloatArray
    along: SharesAlong
    pairs: ErrorPairs
    confidence: float
    n_most: int
    _rows: Rows
    _ids: Sequence[Any] | None  # None for dask arrays

    @property
    def loss(self) -> float:
        """The mean loss: what all shares add up to."""
        return float(self.shares.sum())

    @property
    def gains(self) -> FloatArray:
        """How many times its part of the Hamming loss a label's part of this loss is, of shape (n_labels,).

        Above 1 for labels that are wrong alone more often than others; nan for labels that are never wrong.
        """
        return _gains(self.shares, self.along.hamming)

    @property
    def order(self) -> np.ndarray:
        """The labels, by number, from the largest share down."""
        return np.argsort(-self.shares, kind="stable")

    # What looks at single rows is computed when it is first asked for

    @cached_property
    def row_losses(self) -> FloatArray | None:
        """The loss of each row, of shape (n_samples,): nan where no label is known. None for dask arrays."""
        if self._ids is None:
            return None
        return np.concatenate([to_host(some) for some in choquet_rows(self._rows, self.measure)])

    @cached_property
    def _numbers(self) -> RowNumbers:
        return RowNumbers.from_rows(self._rows)

    @cached_property
    def costly_rows(self) -> tuple[CostlyRow, ...] | None:
        """The rows with the largest losses; of equal ones, those with more wrong labels, then the earlier.

        None for dask arrays, of which only sums are kept.
        """
        if self._ids is None or self.row_losses is None:
            return None
        places = self._numbers.most_costly(self.row_losses, self.n_most)
        sets = read_labels(self._rows, places, self.labels)
        losses = self.row_losses[places].tolist()
        return tuple(
            CostlyRow(self._ids[place], place, loss, *of_row)
            for place, loss, of_row in zip(places.tolist(), losses, sets, strict=True)
        )

    @cached_property
    def label_sets(self) -> LabelSetReport | None:
        """The mistakes of whole label sets, and those that are never predicted; None for dask arrays."""
        return None if self._ids is None else self._numbers.report(self._rows, self.labels, self.n_most)

    @property
    def mistakes(self) -> tuple[LabelSetMistake, ...] | None:
        """The most frequent mistakes of whole label sets, true -> predicted; None for dask arrays."""
        return None if self.label_sets is None else self.label_sets.mistakes

    @property
    def never_predicted(self) -> tuple[NeverPredicted, ...] | None:
        """The most frequent of the true label sets that are never predicted; None for dask arrays."""
        return None if self.label_sets is None else self.label_sets.never_predicted

    @cached_property
    def figures(self) -> UsualFigures | None:
        """F1, Jaccard, precision and recall by scikit-learn; None for dask arrays."""
        return None if self._rows.is_lazy else usual_figures(self._rows)

    # Tables: dicts of columns

    def label_table(self) -> Columns:
        """A row for each label, from the largest share down.

        Columns ``label``, ``error_rate``, ``hamming_share``, ``share`` and ``gain``.
        """
        order = self.order
        return {
            "label": [self.labels[label] for label in order],
            "error_rate": self.error_rates[order],
            "hamming_share": self.along.hamming[order],
            "share": self.shares[order],
            "gain": self.gains[order],
        }

    def along_table(self) -> Columns:
        """A row for each parameter and label, labels from the largest share down.

        Columns ``parameter``, ``label``, ``share`` and ``gain``.
        """
        order, n_points = self.order, len(self.along.parameters)
        return {
            "parameter": np.repeat(self.along.parameters, len(order)),
            "label": [self.labels[label] for label in order] * n_points,
            "share": self.along.shares[:, order].ravel(),
            "gain": self.along.gains[:, order].ravel(),
        }

    def pair_table(self) -> Columns:
        """A row for each of the strongest pairs, from the largest excess down to the one furthest below 0.

        Columns ``first``, ``second`` (names), ``together``, ``expected``, ``excess``, ``lower``, ``upper``,
        ``p_value`` and ``interaction``.
        """
        names = ("together", "expected", "excess", "lower", "upper", "p_value", "interaction")
        pairs = self.pairs.pairs
        return {
            "first": [self.labels[pair.first] for pair in pairs],
            "second": [self.labels[pair.second] for pair in pairs],
            **{name: np.array([getattr(pair, name) for pair in pairs], dtype=float) for name in names},
        }

    def row_table(self) -> Columns:
        """A row for each of the most costly rows: columns ``id``, ``row``, ``loss``, ``true`` and ``predicted``."""
        return columns_of(CostlyRow, self.costly_rows or ())

    def mistake_table(self) -> Columns:
        """A row for each of the most frequent mistakes: columns ``true``, ``predicted`` and ``n_rows``."""
        return columns_of(LabelSetMistake, self.mistakes or ())

    def figure_table(self) -> Columns:
        """A row for each label, in the order of columns: ``label``, ``precision``, ``recall``, ``f1``, ``support``."""
        if self.figures is None:
            return {name: [] for name in ("label", "precision", "recall", "f1", "support")}
        figures = self.figures
        return {
            "label": list(self.labels),
            "precision": figures.precision,
            "recall": figures.recall,
            "f1": figures.f1,
            "support": figures.support,
        }

    def table(self, what: str = "labels") -> Columns:
        """One of the tables by its name: ``labels``, ``pairs``, ``rows``, ``mistakes`` or ``figures``.

        Parameters
        ----------
        what : str
            The name of the table.
        """
        tables: dict[str, Callable[[], Columns]] = dict(
            zip(
                TABLES,
                (self.label_table, self.pair_table, self.row_table, self.mistake_table, self.figure_table),
                strict=True,
            )
        )
        return tables[check_table(what, TABLES)]()

    def to_pandas(self, what: str = "labels") -> Any:
        """One of the tables as a frame of pandas; see `table`.

        Parameters
        ----------
        what : str
            The name of the table.
        """
        return require("pandas", "tables").DataFrame(self.table(what))

    def plot_labels(self, ax: "Axes | None" = None, *, parameter: float | None = None) -> "LabelSharesDisplay":
        """Draw the shares of labels as bars: in the Hamming loss, and at a parameter of `along`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        parameter : float, optional
            One of ``along.parameters``; the last one unless given, subset 0/1 loss as a rule.
        """
        return self._shares_display().plot(ax, parameter=parameter)

    def plot_along(self, ax: "Axes | None" = None) -> "LabelSharesDisplay":
        """Draw the shares of labels as lines along the parameters of `along`.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; new axes unless given.
        """
        return self._shares_display().plot_along(ax)

    def _shares_display(self) -> "LabelSharesDisplay":
        from choral.displays import LabelSharesDisplay  # here: only drawing needs it

        along = self.along
        return LabelSharesDisplay(self.labels, along.parameters, along.shares, family=along.family)

    def plot_pairs(self, ax: "Axes | None" = None) -> "ErrorPairsDisplay":
        """Draw a map of the correlations of errors of the labels with the largest shares.

        Parameters
        ----------
        ax : Axes of matplotlib, optional
            Where to draw; new axes unless given.
        """
        from choral.displays import ErrorPairsDisplay  # as above

        return ErrorPairsDisplay([self.labels[label] for label in self.pairs.labels], self.pairs.correlations).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists, ready for JSON: nan is None, infinity the text ``inf``."""
        pairs, figures = self.pairs, self.figures
        return {
            "name": self.name,
            "measure": repr(self.measure),
            "n_rows": self.n_rows,
            "n_unobserved": self.n_unobserved,
            "loss": self.loss,
            "labels": list(self.labels),
            "shares": plain(self.shares),
            "error_rates": plain(self.error_rates),
            "gains": plain(self.gains),
            "along": {
                "family": self.along.family,
                "parameters": plain_numbers(self.along.parameters),
                "shares": plain(self.along.shares),
                "losses": plain(self.along.losses),
                "gains": plain(self.along.gains),
                "hamming": plain(self.along.hamming),
            },
            "pairs": {
                "confidence": self.confidence,
                "is_sampled": pairs.is_sampled,
                "strongest": [{**plain(pair._asdict()), "excess": pair.excess} for pair in pairs.pairs],
                "matrix_labels": list(pairs.labels),
                "correlations": plain(pairs.correlations),
            },
            "costly_rows": plain(self.costly_rows),
            "label_sets": None if self.label_sets is None else plain(self.label_sets._asdict()),
            "figures": None if figures is None else {**plain(figures._asdict()), "conventions": figures.conventions},
        }

    def __repr__(self) -> str:
        return as_text(title_of(self), list(sections_of(self)), notes_of(self))

    def _repr_html_(self) -> str:
        return as_html(title_of(self), list(sections_of(self)), notes_of(self))
