"""The walk over rows with missing labels: errors on the observed labels alone.

A label that is not observed is set to 0 on both sides. It is right then, so that the number of wrong labels is that
among the observed ones, and the largest, second largest, ... errors are theirs, with zeros after them. In a sparse
matrix, a label that is not stored is a known 0, and one that is stored as nan is not known.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import read_in_place
from choral._validation import Labels, check_columns, check_labels, check_matrix
from choral.rows.blocks import dense
from choral.rows.pairs import error_blocks, row_slices
from choral.rows.row_counts import count_rows

Mask = Any  # a boolean array or CSR matrix, True where a label is known; None where all are that are not nan


class ObservedBlock(NamedTuple):
    """Errors on the observed labels of some rows: see `choral.rows.blocks.ErrorBlock`."""

    rows: slice
    n_observed: np.ndarray
    wrong: np.ndarray | None
    errors: Any


def check_observed(y_true: Any, y_pred: Any, observed: Any, pred_name: str) -> tuple[Labels, Labels, Mask]:
    """True labels and predictions as `check_labels` has them, and a mask of their shape."""
    check_columns(y_true, y_pred, pred_name)
    true, mask = check_truth(y_true, observed)
    return *check_labels(true, with_nan(y_pred), pred_name=pred_name), mask


def check_truth(y_true: Any, observed: Any) -> tuple[Labels, Mask]:
    """True labels, and a mask of their shape."""
    true = check_matrix("y_true", with_nan(y_true))
    if observed is None:
        return true, None
    check_columns(y_true, observed, "observed")
    _, mask = check_labels(true, read_in_place(observed), pred_name="observed")
    if mask.dtype != bool:
        raise ValueError(f"observed must hold booleans, True where a label is known; got dtype {mask.dtype}.")
    return true, mask


def observed_blocks(y_true: Labels, y_pred: Labels, mask: Mask, pred_name: str) -> Iterator[ObservedBlock]:
    """Errors of one block of rows after another; raises at the first observed value that is not allowed."""
    known = KnownLabels(y_true, mask)
    for rows, wrong, errors in error_blocks(known.part(y_true), known.part(y_pred), pred_name):
        yield ObservedBlock(rows, known.count(rows), wrong, errors)


def some_missing(y_true: Labels, mask: Mask) -> "KnownLabels | None":
    """Which labels are known, or None where all are."""
    if mask is None and y_true.dtype.kind != "f":
        return None
    known = KnownLabels(y_true, mask)
    return None if (known.counts == y_true.shape[1]).all() else known


class KnownLabels:
    """Which labels of matrices and a mask that have passed `check_observed` are known."""

    def __init__(self, y_true: Labels, mask: Mask):
        self._y_true = y_true
        self._mask = mask
        self._last: tuple[slice | None, np.ndarray] = None, np.zeros(0)

    def __getitem__(self, rows: slice) -> np.ndarray:
        """True where a label of a block of rows is known; the last answer is kept, since each is asked for thrice."""
        if rows != self._last[0]:
            self._last = rows, self._block(rows)
        return self._last[1]

    def part(self, matrix: Labels) -> Labels:
        """A matrix in the eyes of `error_blocks`, with 0 for labels that are not known."""
        if not (sp.issparse(self._y_true) and sp.issparse(matrix)):
            return KnownPart(matrix, self)
        known = _entries_of(self._mask, matrix) & ~_entries_of(self._stored_nan, matrix)
        return _like(matrix, np.where(known, matrix.data, 0))

    def count(self, rows: slice) -> np.ndarray:
        """How many labels of each row are known."""
        return self._sparse_counts[rows] if sp.issparse(self._y_true) else count_rows(self[rows])

    @cached_property
    def counts(self) -> np.ndarray:
        """How many labels of all rows are known."""
        return np.concatenate(
            [self.count(rows) for rows in row_slices(self._y_true.shape, self._y_true.dtype.itemsize)]
        )

    def _block(self, rows: slice) -> np.ndarray:
        true, mask = dense(self._y_true[rows]), None if self._mask is None else dense(self._mask[rows])
        if true.dtype.kind != "f":  # no nan among integers
            return np.ones(true.shape, dtype=bool) if mask is None else np.ascontiguousarray(mask)
        known = np.equal(true, true, order="C")
        return known if mask is None else np.logical_and(known, mask, out=known)

    @cached_property
    def _stored_nan(self) -> sp.csr_array:
        return _like(self._y_true, np.isnan(self._y_true.data))

    @cached_property
    def _sparse_counts(self) -> np.ndarray:
        in_mask = self._y_true.shape[1] if self._mask is None else _row_sums(self._mask)
        nan_in_mask = self._stored_nan.data & _entries_of(self._mask, self._y_true)
        return in_mask - _row_sums(_like(self._y_true, nan_in_mask))


class KnownPart:
    """A matrix that shows blocks of rows, with 0 for labels that are not known.

    A block is valid until the next one: fresh memory for each would take as long as the rest.
    """

    def __init__(self, matrix: Labels, known: KnownLabels):
        self.shape = matrix.shape
        self.dtype = matrix.dtype
        self.itemsize = matrix.dtype.itemsize
        self._matrix = matrix
        self._known = known
        self._bits = np.empty((0, 0), dtype=np.int8)

    def __getitem__(self, rows: slice) -> np.ndarray:
        block, known = dense(self._matrix[rows]), self._known[rows]
        if known.all():
            return block
        if block.itemsize > 8:  # long doubles: no integer is as long
            return np.where(known, block, 0)
        if len(self._bits) < len(block):
            self._bits = np.empty(block.shape, dtype=f"i{block.itemsize}")
        # A zero has no bit set, and nan loses its own; np.where takes 3 times as long, for bytes 20 times.
        bits = self._bits[: len(block)]
        np.bitwise_and(block.view(bits.dtype), -known.view(np.int8), out=bits)
        return bits.view(block.dtype)


def with_nan(labels: Any) -> Any:
    """Labels in the memory of the host; of a frame, with nan for whatever pandas calls missing: NA is no number."""
    if not hasattr(labels, "isna"):
        return read_in_place(labels)
    array = np.asarray(labels)
    return np.where(labels.isna(), np.nan, array) if array.dtype == object else array


def _entries_of(mask: Mask, matrix: sp.csr_matrix) -> np.ndarray:
    """What a mask says of each entry of a sparse matrix."""
    if mask is None or not matrix.nnz:  # SciPy answers an empty question with an empty matrix
        return np.ones(matrix.nnz, dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(mask[rows, matrix.indices]).ravel()


def _like(matrix: sp.csr_matrix, data: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _row_sums(mask: Mask) -> np.ndarray:
    return np.asarray(mask.sum(axis=1)).ravel()
