"""Products of the errors of all pairs of labels: where the strongest pairs are looked for.

The work grows with the number of rows and the square of the number of labels (sparse: of wrong labels in a row). Beyond
a budget, an even sample of blocks of rows is searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.explanation.error_blocks import ErrorsOfRows, error_blocks, known_labels
from choral.explanation.interactions import Pair
from choral.rows import PairBlock, Rows
from choral.rows.label_errors import label_sums

MAX_PRODUCTS = 25 * 10**7
MAX_SPARSE_PRODUCTS = 10**7  # each takes longer, and memory
MAX_ERRORS = 1000  # of a row in a sparse matrix; rows with more are not searched
MAX_DENSE_LABELS = 2000  # with more, a matrix of all pairs is sparse
MAX_FREQUENT = 500  # of a sparse matrix: labels that are searched for pairs that are never wrong together


@dataclass(frozen=True, eq=False)
class CoErrors:
    """Sums of products of errors of all pairs of labels; those of two batches add up.

    Attributes
    ----------
    both : ndarray or CSR matrix of shape (n_labels, n_labels)
        Sums of products of the errors of two labels.
    errors, squares : ndarray of shape (n_labels,), or (n_labels, n_labels) where labels are missing
        Sums of errors, and of squared errors, of the same rows: at [i, j] those of label i where label j is known.
    known : float, or ndarray of shape (n_labels, n_labels) where labels are missing
        The weight of the rows in which both labels are known.
    is_sampled : bool
    """

    both: Any
    errors: FloatArray
    squares: FloatArray
    known: Any
    is_sampled: bool

    def __add__(self, other: "CoErrors") -> "CoErrors":
        return CoErrors(
            self.both + other.both,
            _add_wide(self.errors, other.errors),
            _add_wide(self.squares, other.squares),
            self.known + other.known,
            self.is_sampled or other.is_sampled,
        )

    def correlations(self, labels: np.ndarray) -> FloatArray:
        """Correlations of the errors of these labels, of each pair in the rows in which both are known.

        0 where a label is always or never wrong.
        """
        _, known, errors, squares = self._among(labels)
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.sqrt(np.maximum(squares / known - (errors / known) ** 2, 0))
            found = self.excess_among(labels) / (deviations * deviations.T)
        found[~np.isfinite(found)] = 0
        np.fill_diagonal(found, 1)
        return found.clip(-1, 1)

    def excess_among(self, labels: np.ndarray) -> FloatArray:
        """mean(a b) - mean(a) mean(b) of all pairs of these labels; 0 where both are never known."""
        both, known, errors, _ = self._among(labels)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nan_to_num(both / known - (errors / known) * (errors / known).T)

    def _among(self, labels: np.ndarray) -> tuple[FloatArray, Any, FloatArray, FloatArray]:
        """The sums of these labels, all of shape (n, n) but one that may be a number."""
        block = np.ix_(labels, labels)
        both = self.both[labels][:, labels].toarray() if sp.issparse(self.both) else self.both[block]
        if np.ndim(self.known):
            return both, self.known[block], self.errors[block], self.squares[block]
        errors, squares = (
            np.broadcast_to(sums[labels][:, np.newaxis], both.shape) for sums in (self.errors, self.squares)
        )
        return both, np.float64(self.known), errors, squares

    def strongest(self, n_pairs: int) -> list[Pair]:
        """The pairs with the largest excess, so many above 0 and so many below.

        In a sparse matrix, among all pairs that are ever wrong together and all pairs of the labels that are wrong most
        often. The excess of others is below 0, by the product of their error rates.
        """
        n_labels = len(self.errors)
        totals = np.diag(self.errors) if self.errors.ndim == 2 else self.errors
        n_frequent = MAX_FREQUENT if sp.issparse(self.both) else n_labels
        labels = np.sort(np.argsort(-totals, kind="stable")[:n_frequent])
        excess = np.triu(self.excess_among(labels), 1)
        first, second = np.nonzero(excess)
        pairs, values = labels[np.column_stack([first, second])], excess[first, second]
        if sp.issparse(self.both) and self.known:
            above = sp.triu(self.both, 1, format="coo")
            others = above.data / self.known - totals[above.row] * totals[above.col] / self.known**2
            rest = ~(np.isin(above.row, labels) & np.isin(above.col, labels))
            pairs = np.vstack([pairs, np.column_stack([above.row, above.col])[rest]])
            values = np.concatenate([values, others[rest]])
        order = np.argsort(-values, kind="stable")
        n_more, n_less = int((values > 0).sum()), int((values < 0).sum())
        chosen = [*order[: min(n_pairs, n_more)], *order[order.size - min(n_pairs, n_less) :]]
        return [(int(i), int(j)) for i, j in pairs[chosen]] if chosen else []


def _add_wide(first: FloatArray, second: FloatArray) -> FloatArray:
    """The sum of two, where one may be of rows without missing labels: the same whichever other label is known."""
    if first.ndim != second.ndim:
        first, second = (sums if sums.ndim == 2 else sums[:, np.newaxis] for sums in (first, second))
    return first + second


def sum_co_errors(models: Sequence[Rows]) -> CoErrors:
    """The products of errors of the first model's rows, or of an even sample of its blocks."""
    search = _Search(models[0])
    for block in error_blocks(models[0], search.is_wanted):
        search.add(block)
    return search.finish()


class _Search:
    """Adds up products of errors over blocks of rows, within a budget."""

    def __init__(self, rows: Rows):
        self._rows = rows
        self._sums: CoErrors | None = None
        self._budget = 1.0  # the first block is always searched, others are left out evenly
        self._is_sampled = False

    def is_wanted(self, block: PairBlock) -> bool:
        """Whether a block is searched. For sparse ones that depends on their errors: see `add`."""
        n_labels = self._rows.n_labels
        if sp.issparse(block.true) or n_labels > MAX_DENSE_LABELS:
            return True
        return self._is_next(MAX_PRODUCTS / (n_labels**2 * self._rows.n_rows))

    def _is_next(self, share: float) -> bool:
        """Whether a block belongs to a sample of such a share of blocks."""
        share = min(1.0, share)
        self._budget = min(self._budget + share, 1 + share)
        if self._budget < 1:
            self._is_sampled = True
            return False
        self._budget -= 1
        return True

    def add(self, block: ErrorsOfRows) -> None:
        """Add the rows of a block, unless it is left out of the sample."""
        if block.errors.shape[1] > MAX_DENSE_LABELS and not sp.issparse(block.errors):
            block = replace(block, errors=sp.csr_array(block.errors))
        if sp.issparse(block.errors):
            lengths = np.diff(block.errors.indptr).astype(float)
            work = float(lengths @ lengths) / block.n_rows * self._rows.n_rows
            if not self._is_next(MAX_SPARSE_PRODUCTS / max(work, 1)):
                return
        found = _co_errors(block, self._known(block))
        self._sums = found if self._sums is None else self._sums + found

    def _known(self, block: ErrorsOfRows) -> np.ndarray | None:
        """Which labels are known, where some are missing and a matrix of all pairs fits.

        Beyond that, pairs are looked for as if all labels were known, an error of 0.
        """
        if block.n_observed is None or block.errors.shape[1] > MAX_DENSE_LABELS:
            return None
        return known_labels(self._rows, block.rows)

    def finish(self) -> CoErrors:
        """The sums of all blocks that were searched."""
        sums: Any = self._sums  # of the first block at least
        return replace(sums, is_sampled=sums.is_sampled or self._is_sampled)


def _co_errors(block: ErrorsOfRows, known: np.ndarray | None) -> CoErrors:
    """The sums of a block; whole numbers are exact in single precision, which is twice as fast."""
    errors, weights, is_sampled = block.errors, block.row_weights(), False
    if sp.issparse(errors) and known is None:
        fits = _fitting_rows(errors)
        if not fits.all():
            errors, weights, is_sampled = errors[fits], weights[fits], True
    is_whole = block.wrong is not None and block.weights is None
    kind = np.float32 if is_whole and not sp.issparse(errors) else np.float64
    values = errors.astype(kind)
    both = values.T @ _times(values, weights, kind)
    if sp.issparse(both):
        both = both.toarray() if both.shape[0] <= MAX_DENSE_LABELS else sp.csr_array(both)
    else:
        both = both.astype(float)
    if known is None:
        of_squares = both.diagonal().copy()
        of_errors = of_squares if block.wrong is not None else label_sums(values, weights)
        return CoErrors(both, of_errors, of_squares, float(weights.sum()), is_sampled)
    squares = values if block.wrong is not None else values.power(2) if sp.issparse(values) else values**2
    flags = known.astype(kind)
    scaled = _times(flags, weights, kind)
    wide = [np.asarray(some.T @ scaled).astype(float) for some in (values, squares)]
    return CoErrors(both, wide[0], wide[1], (flags.T @ scaled).astype(float), is_sampled)


def _times(values: Any, weights: FloatArray, kind: Any) -> Any:
    """A row times its weight each."""
    if (weights == 1).all():
        return values
    scale = weights.astype(kind)[:, np.newaxis]
    return sp.csr_array(values.multiply(scale)) if sp.issparse(values) else values * scale


def _fitting_rows(errors: Any) -> np.ndarray:
    """Which rows of a sparse block have products of errors that fit into the budget, from the first on."""
    lengths = np.diff(errors.indptr).astype(float)
    is_short = lengths <= MAX_ERRORS
    return is_short & (np.cumsum(np.where(is_short, lengths**2, 0)) <= MAX_SPARSE_PRODUCTS)
