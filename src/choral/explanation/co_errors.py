"""Products of the errors of all pairs of labels: where the strongest pairs are looked for.

The work grows with the number of rows and the square of the number of labels (sparse: of wrong labels in a row). Beyond
a budget, an even sample of blocks of rows is searched.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray
from choral.explanation.error_blocks import ErrorsOfRows
from choral.explanation.interactions import Pair
from choral.rows import Rows
from choral.rows.label_errors import label_sums

MAX_PRODUCTS = 5 * 10**8
MAX_SPARSE_PRODUCTS = 5 * 10**7  # each takes longer, and memory
MAX_ERRORS = 1000  # of a row in a sparse matrix; rows with more are not searched
MAX_DENSE_LABELS = 2000  # with more, a matrix of all pairs is sparse


@dataclass(frozen=True, eq=False)
class CoErrors:
    """Sums of products of errors of all pairs of labels; those of two batches add up.

    Attributes
    ----------
    both : ndarray or CSR matrix of shape (n_labels, n_labels)
        Sums of products of the errors of two labels.
    squares, errors : ndarray of shape (n_labels,)
        Sums of squared errors, and of errors, of the same rows.
    known_both : ndarray of shape (n_labels, n_labels), or float
        The weight of the rows in which two labels are known; one number where nothing is missing.
    errors_where_known : ndarray of shape (n_labels, n_labels), or None
        Sums of the errors of one label where the other one is known; None where nothing is missing.
    is_sampled : bool
    """

    both: Any
    errors: FloatArray
    squares: FloatArray
    known_both: Any
    errors_where_known: FloatArray | None
    is_sampled: bool

    def __add__(self, other: "CoErrors") -> "CoErrors":
        where_known: Any = None
        if self.errors_where_known is not None or other.errors_where_known is not None:
            where_known = self._errors_where_known() + other._errors_where_known()
        return CoErrors(
            self.both + other.both,
            self.errors + other.errors,
            self.squares + other.squares,
            self.known_both + other.known_both,
            where_known,
            self.is_sampled or other.is_sampled,
        )

    def _errors_where_known(self) -> FloatArray:
        if self.errors_where_known is None:
            return np.broadcast_to(self.errors[:, np.newaxis], self.both.shape)
        return self.errors_where_known

    def excess_among(self, labels: np.ndarray) -> FloatArray:
        """mean(a b) - mean(a) mean(b) of all pairs of these labels."""
        both, known, first = self._among(labels)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(both / known - first * first.T / known**2)

    def _among(self, labels: np.ndarray) -> tuple[FloatArray, Any, FloatArray]:
        block = np.ix_(labels, labels)
        both = self.both[labels][:, labels].toarray() if sp.issparse(self.both) else self.both[block]
        if self.errors_where_known is None:
            return both, float(self.known_both), np.broadcast_to(self.errors[labels][:, np.newaxis], both.shape)
        return both, self.known_both[block], self.errors_where_known[block]

    def correlations(self, labels: np.ndarray) -> FloatArray:
        """Correlations of the errors of these labels, of each pair where both are known as far as means go."""
        excess = self.excess_among(labels)
        known = self.known_both if np.ndim(self.known_both) == 0 else np.diag(self.known_both)[labels]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = self.errors[labels] / known
            deviations = np.sqrt(np.maximum(self.squares[labels] / known - mean**2, 0))
            found = excess / np.outer(deviations, deviations)
        found[~np.isfinite(found)] = 0
        np.fill_diagonal(found, 1)
        return found.clip(-1, 1)

    def strongest(self, n_pairs: int) -> list[Pair]:
        """The pairs with the largest excess of either sign.

        With many labels, among all pairs that are ever wrong together and all pairs of the labels that are wrong most
        often. The excess of others is below 0, by the product of their error rates.
        """
        labels = np.argsort(-self.errors, kind="stable")[:MAX_DENSE_LABELS]
        excess = np.triu(self.excess_among(np.sort(labels)), 1)
        first, second = np.nonzero(excess)
        pairs, values = np.sort(labels)[np.column_stack([first, second])], excess[first, second]
        if sp.issparse(self.both) and labels.size < self.errors.size:
            above = sp.triu(self.both, 1, format="coo")
            weight = self.known_both
            others = above.data / weight - self.errors[above.row] * self.errors[above.col] / weight**2
            rest = ~(np.isin(above.row, labels) & np.isin(above.col, labels))
            pairs = np.vstack([pairs, np.column_stack([above.row, above.col])[rest]])
            values = np.concatenate([values, others[rest]])
        order = np.argsort(-np.abs(values), kind="stable")[:n_pairs]
        return [(int(i), int(j)) for i, j in pairs[order]]


class PairCollector:
    """Adds up products of errors over blocks of rows, for those who walk the rows for more than one reason."""

    def __init__(self, rows: Rows):
        self._rows = rows
        self._sums: CoErrors | None = None
        self._budget = 1.0  # the first block is always searched, others are left out evenly
        self._is_sampled = False

    def add(self, block: ErrorsOfRows) -> None:
        """Add the rows of a block, unless it is left out of the sample."""
        self._budget += self._share_of_rows(block)
        if self._budget < 1:
            self._is_sampled = True
            return
        self._budget -= 1
        found = _co_errors(block, self._known(block))
        self._sums = found if self._sums is None else self._sums + found

    def _share_of_rows(self, block: ErrorsOfRows) -> float:
        """The share of blocks that are searched, from how much work this one makes."""
        if sp.issparse(block.errors):
            lengths = np.diff(block.errors.indptr).astype(float)
            work, budget = float(lengths @ lengths) / block.n_rows, MAX_SPARSE_PRODUCTS
        else:
            work, budget = float(block.errors.shape[1]) ** 2, MAX_PRODUCTS
        return min(1.0, budget / max(work * self._rows.n_rows, 1))

    def _known(self, block: ErrorsOfRows) -> np.ndarray | None:
        """Which labels are known, where some are missing and a matrix of all pairs fits."""
        if block.n_observed is None or block.errors.shape[1] > MAX_DENSE_LABELS:
            return None
        return known_labels(self._rows, block.rows)

    def finish(self) -> CoErrors:
        """The sums of all blocks that were searched."""
        sums: Any = self._sums  # of the first block at least
        return replace(sums, is_sampled=sums.is_sampled or self._is_sampled)


def known_labels(rows: Rows, some: slice) -> np.ndarray | None:
    """Which labels of some rows are known, as dense booleans; None where all are."""
    part = rows.part(some)
    blocks = [(block.rows, to_host(block.known)) for block in part.known_blocks()]
    if all(known is None for _, known in blocks):
        return None
    shape = (some.stop - some.start, rows.n_labels)
    return np.vstack([np.ones((of.stop - of.start, shape[1]), dtype=bool) if k is None else k for of, k in blocks])


def _co_errors(block: ErrorsOfRows, known: np.ndarray | None) -> CoErrors:
    if not sp.issparse(block.errors) and block.errors.shape[1] > MAX_DENSE_LABELS:
        block = block._replace(errors=sp.csr_array(block.errors))
    block, is_sampled = _leave_out_long_rows(block) if sp.issparse(block.errors) else (block, False)
    errors, weights = block.errors, block.weights
    weight = errors.shape[0] if weights is None else float(weights.sum())
    sums = label_sums(errors, weights).astype(float)
    if sp.issparse(errors):
        values = sp.csr_array(errors.astype(float))
        scaled = values if weights is None else sp.csr_array(values.multiply(weights[:, np.newaxis]))
        both = sp.csr_array(values.T @ scaled)
        both = both.toarray() if both.shape[0] <= MAX_DENSE_LABELS else both
        return _with_known(both, sums, label_sums(values.power(2), weights), weight, values, weights, known, is_sampled)
    # Whole numbers up to 2^24 are exact in single precision; of scores, this is only the search.
    values = errors.astype(np.float32)
    scaled = values if weights is None else values * weights.astype(np.float32)[:, np.newaxis]
    both = (values.T @ scaled).astype(float)
    return _with_known(both, sums, np.diag(both).copy(), weight, values, weights, known, is_sampled)


def _leave_out_long_rows(block: ErrorsOfRows) -> tuple[ErrorsOfRows, bool]:
    """The rows of a sparse block whose products of errors fit into the budget, and whether some do not."""
    lengths = np.diff(block.errors.indptr).astype(float)
    work = np.cumsum(np.where(lengths > MAX_ERRORS, 0, lengths**2))
    fits = (lengths <= MAX_ERRORS) & (work <= MAX_SPARSE_PRODUCTS)
    if fits.all() or not fits.any() or block.n_observed is not None:
        return block, False
    weights = None if block.weights is None else block.weights[fits]
    return block._replace(errors=block.errors[fits], weights=weights), True


def _with_known(
    both: Any,
    sums: FloatArray,
    squares: FloatArray,
    weight: float,
    values: Any,
    weights: np.ndarray | None,
    known: np.ndarray | None,
    is_sampled: bool,
) -> CoErrors:
    if known is None:
        return CoErrors(both, sums, squares, weight, None, is_sampled)
    flags = known.astype(np.float32)
    scaled = flags if weights is None else flags * weights.astype(np.float32)[:, np.newaxis]
    where_known = np.asarray(values.T @ scaled).astype(float)
    return CoErrors(both, sums, squares, (flags.T @ scaled).astype(float), where_known, is_sampled)
