"""Walk two sparse label matrices row block by row block: nothing dense, and nothing copied but a block at a time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._validation import refuse_entry_where
from choral.rows.blocks import ErrorBlock, all_binary, binary_rule

BLOCK_ENTRIES = 1 << 18  # sorting their errors takes 100 bytes an entry


def sparse_blocks(y_true: sp.csr_matrix, y_pred: sp.csr_matrix, pred_name: str, count: bool) -> Iterator[ErrorBlock]:
    """Errors of one block of rows after another: see `choral.rows.pairs.error_blocks`."""
    for rows in _row_slices(y_true, y_pred):
        true, pred = _row_view(y_true, rows), _row_view(y_pred, rows)
        _check_binary("y_true", true, rows.start)
        if _check_scores(pred_name, pred, rows.start) and count:
            yield ErrorBlock(rows, np.diff(_difference(true, pred, np.int8).indptr), None)
        else:
            yield ErrorBlock(rows, None, abs(_difference(true, pred, float)))


def _difference(true: sp.csr_matrix, pred: sp.csr_matrix, dtype: Any) -> sp.csr_matrix:
    """True minus predicted; SciPy stores no zeros in a difference, so its entries are the errors."""
    return true.astype(dtype, copy=False) - pred.astype(dtype, copy=False)


def _row_slices(*matrices: sp.csr_matrix) -> Iterator[slice]:
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
        refuse_entry_where(binary_rule(name, block.data), name, block, wrong, first_row)


def _check_scores(name: str, block: sp.csr_matrix, first_row: int) -> bool:
    """Refuse scores outside [0, 1]; say whether all are 0 or 1."""
    if all_binary(block.data):
        return True
    wrong = ~((block.data >= 0) & (block.data <= 1))
    refuse_entry_where(f"{name} must lie in [0, 1]", name, block, wrong, first_row)
    return False
