"""Rows of two sparse matrices: nothing dense, and nothing copied but a block at a time.

A label that is not stored is a known 0; one that is stored as nan is not known.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._validation import Labels, refuse_entry_where
from choral.rows.blocks import (
    CorrectBlock,
    ErrorBlock,
    KnownBlock,
    PairBlock,
    Rows,
    all_binary,
    as_dense,
    binary_rule,
    label_remedy,
    row_slices,
    score_remedy,
)

BLOCK_ENTRIES = 1 << 18  # sorting their errors takes 100 bytes an entry


class Missing(NamedTuple):
    """Which labels of sparse matrices are not known."""

    n_observed: np.ndarray  # (n_rows,) how many are known
    is_nan: sp.csr_array  # True where nan is stored in the true labels
    observed: Labels | None  # the user's mask

    def part(self, rows: slice) -> "Missing":
        """Of some rows."""
        observed = None if self.observed is None else self.observed[rows]
        return Missing(self.n_observed[rows], self.is_nan[rows], observed)

    def known(self) -> np.ndarray:
        """True where a label is known, dense."""
        known = ~self.is_nan.toarray()
        return known if self.observed is None else known & as_dense(self.observed)


class SparseRows(Rows):
    """Rows of two CSR matrices; see `choral.rows.open_rows` for the arguments."""

    def __init__(
        self,
        y_true: sp.csr_matrix,
        y_pred: sp.csr_matrix,
        weights: np.ndarray | None,
        missing: Missing | None,
        *,
        pred_name: str,
    ):
        self.n_rows, self.n_labels = y_true.shape
        self.weights = weights
        self._true, self._pred, self._missing, self._name = y_true, y_pred, missing, pred_name

    def part(self, rows: slice) -> "SparseRows":
        matrices = _row_view(self._true, rows), _row_view(self._pred, rows)
        missing = None if self._missing is None else self._missing.part(rows)
        return SparseRows(*matrices, self.weights_of(rows), missing, pred_name=self._name)

    def predicting_nothing(self) -> "SparseRows":
        nothing = sp.csr_array((self.n_rows, self.n_labels), dtype=np.uint8)
        return SparseRows(self._true, nothing, self.weights, self._missing, pred_name=self._name)

    def pair_blocks(self) -> Iterator[PairBlock]:
        yield from self._pairs(_slices_by_entries(self._true, self._pred))

    def error_blocks(self, *, count: bool = True) -> Iterator[ErrorBlock]:
        for rows, true, pred, hard, n_observed in self.pair_blocks():
            if hard and count:
                yield ErrorBlock(rows, np.diff(difference(true, pred, np.int8).indptr), None, n_observed)
            else:
                yield ErrorBlock(rows, None, abs(difference(true, pred, float)), n_observed)

    def correct_blocks(self) -> Iterator[CorrectBlock]:
        for _, true, pred, hard, n_observed in self._pairs(row_slices((self.n_rows, self.n_labels), 8)):
            dense, guess = true.toarray(), pred.toarray()
            correct = dense == guess if hard else 1 - np.abs(dense.astype(float) - guess)
            yield CorrectBlock(dense, correct, hard, n_observed)

    def known_blocks(self) -> Iterator[KnownBlock]:
        if self._missing is None:
            yield KnownBlock(slice(0, self.n_rows), None)
            return
        for rows in row_slices((self.n_rows, self.n_labels), 1):
            known = self._missing.part(rows).known()
            yield KnownBlock(rows, None if known.all() else known)

    def _pairs(self, slices: Iterator[slice]) -> Iterator[PairBlock]:
        for rows in slices:
            true, pred = _row_view(self._true, rows), _row_view(self._pred, rows)
            _check_binary("y_true", true, rows.start)
            hard = _check_scores(self._name, pred, rows.start)
            yield PairBlock(rows, true, pred, hard, None if self._missing is None else self._missing.n_observed[rows])


def drop_unknown(
    y_true: sp.csr_matrix, y_pred: sp.csr_matrix, observed: Labels | None
) -> tuple[sp.csr_matrix, sp.csr_matrix, Missing | None]:
    """Both matrices with 0 for labels that are not known, and which these are (None: all are known)."""
    is_nan = np.isnan(y_true.data) if y_true.dtype.kind == "f" else np.zeros(y_true.nnz, dtype=bool)
    if observed is None and not is_nan.any():
        return y_true, y_pred, None
    stored_nan = _like(y_true, is_nan)
    in_mask = y_true.shape[1] if observed is None else _row_sums(observed)
    n_observed = in_mask - _row_sums(_like(y_true, is_nan & _entries_of(observed, y_true)))
    true, pred = (
        _like(matrix, np.where(_entries_of(observed, matrix) & ~_entries_of(stored_nan, matrix), matrix.data, 0))
        for matrix in (y_true, y_pred)
    )
    return true, pred, Missing(n_observed, stored_nan, observed)


def _entries_of(mask: Labels | None, matrix: sp.csr_matrix) -> np.ndarray:
    """What a mask says of each entry of a sparse matrix."""
    if mask is None or not matrix.nnz:  # SciPy answers an empty question with an empty matrix
        return np.ones(matrix.nnz, dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(mask[rows, matrix.indices]).ravel()


def _like(matrix: sp.csr_matrix, data: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _row_sums(mask: Labels) -> np.ndarray:
    return np.asarray(mask.sum(axis=1)).ravel()


def difference(true: sp.csr_matrix, pred: sp.csr_matrix, dtype: Any) -> sp.csr_matrix:
    """True minus predicted; SciPy stores no zeros in a difference, so its entries are the errors."""
    return true.astype(dtype, copy=False) - pred.astype(dtype, copy=False)


def _slices_by_entries(*matrices: sp.csr_matrix) -> Iterator[slice]:
    """Consecutive slices of rows, as many as fit into ``BLOCK_ENTRIES`` of each matrix, and at least one."""
    start, n_rows = 0, matrices[0].shape[0]
    while start < n_rows:
        ends = [np.searchsorted(m.indptr, m.indptr[start] + BLOCK_ENTRIES, side="right") - 1 for m in matrices]
        stop = min(max(int(min(ends)), start + 1), n_rows)
        yield slice(start, stop)
        start = stop


def _row_view(matrix: sp.csr_matrix, rows: slice) -> sp.csr_matrix:
    """Rows of a CSR matrix without a copy, which ``matrix[rows]`` would make."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(starts[0], starts[-1])
    parts = matrix.data[entries], matrix.indices[entries], starts - starts[0]
    return type(matrix)(parts, shape=(rows.stop - rows.start, matrix.shape[1]))


def _check_binary(name: str, block: sp.csr_matrix, first_row: int) -> None:
    if not all_binary(block.data):
        wrong = ~((block.data == 0) | (block.data == 1))
        remedy = label_remedy(name, block.data)
        refuse_entry_where(binary_rule(name, block.data), name, block, wrong, first_row, remedy=remedy)


def _check_scores(name: str, block: sp.csr_matrix, first_row: int) -> bool:
    """Refuse scores outside [0, 1]; say whether all are 0 or 1."""
    if all_binary(block.data):
        return True
    wrong = ~((block.data >= 0) & (block.data <= 1))
    remedy = score_remedy(name, block.data)
    refuse_entry_where(f"{name} must lie in [0, 1]", name, block, wrong, first_row, remedy=remedy)
    return False


def harden_sparse(name: str, scores: sp.csr_matrix, threshold: float) -> sp.csr_array:
    """Hard labels: 1 where a stored score is at least the threshold, which is above 0."""
    if scores.dtype.kind == "f":
        refuse_entry_where(f"{name} must not be nan", name, scores, np.isnan(scores.data))
    labels = sp.csr_array((scores.data >= threshold, scores.indices, scores.indptr), shape=scores.shape, copy=True)
    labels.eliminate_zeros()
    return labels.astype(np.uint8)
