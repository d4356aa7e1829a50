r"""The loss of a row shared out among its labels: which labels it comes from.

The *game* of a row says what it costs to be wrong on a set of labels and right on all others, with the errors that the
row has: :math:`c(S) = \ell(e \cdot 1_S)`. The share of a label is its Shapley value in that game: what it adds to the
cost, averaged over all orders in which the labels may go wrong. Shares add up to the loss of the row; a label that is
right has none.

For hard predictions with the wrong labels W, the shares follow from the *potential* of Hart and Mas-Colell (1989),

.. math:: P(W) = \frac{c(W) + \sum_{i \in W} P(W \setminus i)}{|W|}, \quad \phi_i(W) = P(W) - P(W \setminus i),

averages of costs alone, so that nothing cancels: for a counting measure, each of e wrong labels gets deficit(e) / e.
For scores the loss is an integral over levels t, each a game of hard predictions whose wrong labels have errors above
t. With the errors of a row from the largest down,

.. math:: \phi_{[r]} = \sum_{j \ge r} (e_{[j]} - e_{[j+1]}) \, \phi(W_j), \quad W_j = \{[1], \dots, [j]\}.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import first_foreign, to_library_of
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral.explanation.error_blocks import ErrorsOfRows, chunks, error_blocks
from choral.explanation.levels import even_parts
from choral.explanation.shares_by_form import shares_of_block
from choral.losses import Reduction
from choral.measures import ByCount, Measure, check_measure
from choral.rows import Rows, add_up, open_rows
from choral.rows.label_errors import label_sums

ROUNDING_OF_TABLES = 1e-15  # entries that differ by less are the same: those of k = 1 and of Hamming loss


@np.errstate(under="ignore")
def loss_shares(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    measure: Measure,
    *,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Any:
    """The part that each label has in the loss: Shapley values, which add up to `choquet_loss`.

    At the Hamming end it is the error rate of the label divided by the number of labels. Towards subset 0/1, a label
    that is wrong alone in its row weighs more than one that is wrong in company.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing: it has no share.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    measure : Measure
        Defines the loss.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives a row of shares for each row, sparse where both matrices are. Rows of which nothing is known
        are nan (0 where they are sparse).

    Returns
    -------
    shares : ndarray of shape (n_labels,), or (n_samples, n_labels)
        Arrays on a device are shared out on the host; ``"none"`` gives them back in their library.

    See Also
    --------
    explain : Which labels, pairs and rows the loss comes from.
    choquet_loss : The loss of any measure.

    Examples
    --------
    Two labels are wrong in the first row, one in the second:

    >>> from choral import HammingMeasure, SubsetMeasure
    >>> y_true, y_pred = [[1, 0, 1], [1, 0, 1]], [[0, 1, 1], [1, 0, 0]]
    >>> loss_shares(y_true, y_pred, HammingMeasure()).round(3)  # each was wrong once
    array([0.167, 0.167, 0.167])
    >>> loss_shares(y_true, y_pred, SubsetMeasure(), reduction="none")
    array([[0.5, 0.5, 0. ], [0. , 0. , 1. ]])
    """
    check_measure(measure)
    if reduction not in ("mean", "none"):
        raise ValueError(f"reduction must be 'mean' or 'none'; got {reduction!r}.")
    rows = open_rows(y_true, y_pred, sample_weight=sample_weight)
    if not rows.is_lazy:
        measure.form(rows.n_labels)  # refuses what does not fit before any row is read
    if reduction == "none":
        found = add_up([rows], partial(_stack_shares, measure=measure)).matrix
        return found if sp.issparse(found) else to_library_of(found, first_foreign(y_pred, y_true))
    return add_up([rows], partial(ShareSums.of_models, measures=(measure,))).means()[0]


@dataclass(frozen=True, eq=False)
class ShareSums:
    """The shares of labels under some measures, added up over rows; those of two batches add up.

    Attributes
    ----------
    sums : ndarray of shape (n_measures, n_labels)
    weight : float
        The weights of the rows with a known label.
    """

    sums: FloatArray
    weight: float

    def __add__(self, other: "ShareSums") -> "ShareSums":
        return ShareSums(self.sums + other.sums, self.weight + other.weight)

    def means(self) -> FloatArray:
        """The mean share of each label under each measure."""
        if not self.weight:
            raise ValueError("shares of a loss need a row with a known label and a positive weight; there is none.")
        return self.sums / self.weight

    @classmethod
    def of_models(cls, models: Sequence[Rows], measures: Sequence[Measure]) -> "ShareSums":
        """The sums of the first model's rows: what `add_up` asks for."""
        return cls.from_rows(models[0], measures)

    @classmethod
    def from_rows(cls, rows: Rows, measures: Sequence[Measure]) -> "ShareSums":
        """The sums of rows in memory."""
        collected = ShareCollector(rows, measures)
        for block in error_blocks(rows):
            collected.add(block)
        return collected.finish()


class ShareCollector:
    """Adds up the shares of blocks of rows, for those who walk the rows for more than one reason."""

    def __init__(self, rows: Rows, measures: Sequence[Measure]):
        self._measures, self._n_labels = measures, rows.n_labels
        self._forms = [measure.form(rows.n_labels) for measure in measures]
        self._sums = np.zeros((len(measures), rows.n_labels))
        self._by_count = np.zeros((1, rows.n_labels))  # rows in which a label is one of 0, 1, ... wrong ones
        self._weight = 0.0

    def add(self, block: ErrorsOfRows) -> None:
        """Add the rows of a block."""
        self._weight += float(block.row_weights().sum())
        counted: list[int] = []
        if self._counted and block.n_observed is None and not sp.issparse(block.errors):
            counted = self._counted
            add = self._add_by_level if block.wrong is None else self._add_by_count
            add(block)
        for place, (measure, form) in enumerate(zip(self._measures, self._forms, strict=True)):
            if place not in counted:
                for part in chunks(block):
                    self._sums[place] += part.row_weights() @ shares_of_block(part, measure, form)

    def _add_by_count(self, block: ErrorsOfRows) -> None:
        """Count for each number e of wrong labels the rows, or their weight, in which each label is one of e wrong."""
        wrong: Any = block.wrong
        order = np.argsort(wrong, kind="stable")
        numbers, starts = np.unique(wrong[order], return_index=True)
        if numbers[-1] >= len(self._by_count):
            self._by_count = np.pad(self._by_count, ((0, numbers[-1] + 1 - len(self._by_count)), (0, 0)))
        errors, weights = block.errors[order], None if block.weights is None else block.weights[order]
        for number, start, stop in zip(numbers.tolist(), starts, [*starts[1:], order.size], strict=True):
            some = slice(start, stop)
            self._by_count[number] += label_sums(errors[some], None if weights is None else weights[some])

    def _add_by_level(self, block: ErrorsOfRows) -> None:
        """Add scores: sorted once for all counting measures, and equal measures once."""
        tables, which = self._tables
        is_even = np.ptp(tables[:, 1:], axis=1) < ROUNDING_OF_TABLES  # Hamming loss: each label by itself
        found = np.zeros((len(tables), self._n_labels))
        for part in chunks(block):
            found[is_even] += tables[is_even, 1:2] * part.label_sums
            if not is_even.all():
                running = part.levels.running_sums(tables[~is_even], part.weights)
                found[~is_even] += part.levels.label_sums(running)
        self._sums[self._counted] += found[which]

    @cached_property
    def _counted(self) -> list[int]:
        """The places of counting measures, which are added up together."""
        return [place for place, form in enumerate(self._forms) if isinstance(form, ByCount)]

    @cached_property
    def _tables(self) -> tuple[FloatArray, np.ndarray]:
        """The different tables of even parts of counting measures, and which of them each measure has."""
        forms: list[Any] = [self._forms[place] for place in self._counted]
        tables = np.array([even_parts(form, self._n_labels) for form in forms])
        rounded = np.rint(tables / ROUNDING_OF_TABLES)
        _, first, which = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        return tables[first], which.ravel()

    def finish(self) -> ShareSums:
        """The sums of all rows."""
        for place, form in enumerate(self._forms):
            if isinstance(form, ByCount) and self._by_count.any():
                self._sums[place] += even_parts(form, len(self._by_count) - 1) @ self._by_count
        return ShareSums(self._sums, self._weight)


# One matrix of all rows


class _Stacked:
    """Shares of rows, block after block."""

    def __init__(self, matrix: Any):
        self.matrix = matrix

    def __add__(self, other: "_Stacked") -> "_Stacked":
        stack = sp.vstack if sp.issparse(self.matrix) else np.vstack
        return _Stacked(stack([self.matrix, other.matrix]))


def _stack_shares(models: Sequence[Rows], measure: Measure) -> _Stacked:
    rows, found = models[0], []
    form = measure.form(rows.n_labels)
    for block in error_blocks(rows):
        for part in chunks(block):
            shares = shares_of_block(part, measure, form)
            if part.n_observed is not None and not sp.issparse(shares):
                shares[part.n_observed == 0] = np.nan
            found.append(shares)
    return _Stacked(sp.vstack(found, format="csr") if sp.issparse(found[0]) else np.vstack(found))
