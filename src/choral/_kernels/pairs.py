"""Walk two label matrices row block by row block, checking values on the way.

A block is small enough for the cache, so checking, comparing and counting cost one trip to memory, and the
extra memory does not grow with the number of rows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._validation import Labels

BLOCK_BYTES = 1 << 20
SPARSE_BLOCK_ENTRIES = 1 << 18  # sorting their errors takes 100 bytes an entry
MAX_BYTE_SUM = 255  # a byte counts this far without a carry into its neighbour
EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)


class ErrorBlock(NamedTuple):
    """The label-wise errors |y - s| of some rows: counted for hard predictions, in full for scores."""

    rows: slice
    wrong: np.ndarray | None  # (n_rows,) number of wrong labels, or None for scores
    errors: np.ndarray | sp.csr_matrix | None  # (n_rows, n_labels), valid until the next block; None for hard


class DenseBlock(NamedTuple):
    """Some rows of both matrices as arrays."""

    rows: slice
    y_true: np.ndarray
    y_pred: np.ndarray


def error_blocks(
    y_true: Labels, y_pred: Labels, pred_name: str = "y_pred", *, count: bool = True
) -> Iterator[ErrorBlock]:
    """Errors of one block of rows after another; raises at the first value that is not allowed.

    Hard predictions are counted unless ``count`` is False, scores never.
    """
    if sp.issparse(y_true) and sp.issparse(y_pred):
        yield from _sparse_blocks(y_true, y_pred, pred_name, count)
        return
    buffer = np.empty(0)
    for rows, true, pred in dense_blocks(y_true, y_pred, pred_name):
        if count and is_hard(pred):
            yield ErrorBlock(rows, _count_rows(np.not_equal(true, pred, order="C")), None)
            continue
        if buffer.shape[:1] < true.shape[:1]:
            buffer = np.empty(true.shape)
        errors = buffer[: len(true)]
        np.subtract(true, pred, out=errors, dtype=float)  # in doubles: 0 - 1 in uint8 would be 255
        yield ErrorBlock(rows, None, np.abs(errors, out=errors))


def dense_blocks(y_true: Labels, y_pred: Labels, pred_name: str = "y_pred") -> Iterator[DenseBlock]:
    """Checked blocks of rows of both matrices as arrays, views where they are dense already."""
    for rows in row_slices(y_true.shape, max(_itemsize(y_true), _itemsize(y_pred))):
        true, pred = _dense(y_true[rows]), _dense(y_pred[rows])
        check_binary("y_true", true, rows.start)
        check_unit_interval(pred_name, pred, rows.start)
        yield DenseBlock(rows, true, pred)


def row_slices(shape: tuple[int, int], itemsize: int) -> Iterator[slice]:
    """Consecutive slices of rows of about ``BLOCK_BYTES`` each."""
    n_rows, n_labels = shape
    step = max(1, BLOCK_BYTES // (itemsize * n_labels))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def is_hard(pred: Labels) -> bool:
    """Whether predictions are labels, 0 or 1, rather than scores."""
    if pred.dtype.kind != "f":
        return True
    if sp.issparse(pred):
        return not pred.nnz or _all_binary(pred.data)
    # Most scores are told by their first row.
    return _all_binary(pred[:1]) and all(_all_binary(pred[rows]) for rows in row_slices(pred.shape, pred.itemsize))


def check_binary(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse true labels other than 0 and 1."""
    if not _all_binary(block):
        _refuse(f"{name} must be binary, 0 or 1", name, block, ~((block == 0) | (block == 1)), first_row)


def check_unit_interval(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse predictions outside [0, 1], nan among them."""
    if not (block.min() >= 0 and block.max() <= 1 if block.dtype.kind == "f" else _all_binary(block)):  # nan fails too
        _refuse(f"{name} must lie in [0, 1]", name, block, ~((block >= 0) & (block <= 1)), first_row)


def _all_binary(block: np.ndarray) -> bool:
    kind = block.dtype.kind
    if kind == "b":
        return True
    if kind == "u":
        return bool(block.max() <= 1)
    if kind == "i":
        if block.flags.c_contiguous:  # read as unsigned, a negative number is a huge one: one pass, not two
            return bool(block.view(f"u{block.itemsize}").max() <= 1)
        return bool(block.min() >= 0 and block.max() <= 1)
    return bool(((block == 0) | (block == 1)).all())


def _refuse(rule: str, name: str, block: np.ndarray, wrong: np.ndarray, first_row: int) -> None:
    row, label = np.argwhere(wrong)[0]
    raise ValueError(f"{rule}; {name}[{first_row + row}, {label}] is {block[row, label]}.")


def _count_rows(flags: np.ndarray) -> np.ndarray:
    """Number of True in each row.

    Eight (or four, or two) flags are read as one word. Adding words adds their bytes side by side, without
    a carry as long as a byte counts at most 255; einsum has the least overhead a row of all NumPy's sums.
    """
    n_rows, n_labels = flags.shape
    size = next(size for size in (8, 4, 2, 1) if n_labels % size == 0)
    words = flags.view(f"u{size}")
    counts = np.zeros(n_rows, dtype=np.intp)
    for start in range(0, words.shape[1], MAX_BYTE_SUM):
        sums = np.einsum("ij->i", words[:, start : start + MAX_BYTE_SUM])
        counts += _add_bytes(sums.astype(np.uint64))
    return counts


def _add_bytes(words: np.ndarray) -> np.ndarray:
    """The sum of the eight bytes of each word: pairs of bytes first, then four pairs by one product."""
    pairs = (words & EVEN_BYTES) + ((words >> np.uint64(8)) & EVEN_BYTES)
    return ((pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)).astype(np.intp)


def _sparse_blocks(y_true: sp.csr_matrix, y_pred: sp.csr_matrix, pred_name: str, count: bool) -> Iterator[ErrorBlock]:
    for rows in _sparse_row_slices(y_true, y_pred):
        true, pred = _canonical(_row_view(y_true, rows)), _canonical(_row_view(y_pred, rows))
        _check_sparse_binary("y_true", true, rows.start)
        if _check_sparse_scores(pred_name, pred, rows.start) and count:
            difference = true.astype(np.int8, copy=False) - pred.astype(
                np.int8, copy=False
            )  # zeros are not stored in a difference
            yield ErrorBlock(rows, np.diff(difference.indptr), None)
        else:
            yield ErrorBlock(rows, None, abs(true.astype(float, copy=False) - pred.astype(float, copy=False)))


def _sparse_row_slices(*matrices: sp.csr_matrix) -> Iterator[slice]:
    """Consecutive slices of rows, as many as fit into ``SPARSE_BLOCK_ENTRIES`` of each matrix, and at least one."""
    start, n_rows = 0, matrices[0].shape[0]
    while start < n_rows:
        ends = [np.searchsorted(m.indptr, m.indptr[start] + SPARSE_BLOCK_ENTRIES, side="right") - 1 for m in matrices]
        stop = min(max(int(min(ends)), start + 1), n_rows)
        yield slice(start, stop)
        start = stop


def _row_view(matrix: sp.csr_matrix, rows: slice) -> sp.csr_matrix:
    """Rows of a CSR matrix without a copy, which ``matrix[rows]`` would make."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(starts[0], starts[-1])
    parts = matrix.data[entries], matrix.indices[entries], starts - starts[0]
    return type(matrix)(parts, shape=(rows.stop - rows.start, matrix.shape[1]))


def _canonical(block: sp.csr_matrix) -> sp.csr_matrix:
    if block.has_canonical_format:
        return block
    block = block.copy()
    block.sum_duplicates()
    return block


def _check_sparse_binary(name: str, block: sp.csr_matrix, first_row: int) -> None:
    if block.nnz and not _all_binary(block.data):
        wrong = ~((block.data == 0) | (block.data == 1))
        _refuse_entry(f"{name} must be binary, 0 or 1", name, block, wrong, first_row)


def _check_sparse_scores(name: str, block: sp.csr_matrix, first_row: int) -> bool:
    """Refuse scores outside [0, 1]; say whether all are 0 or 1."""
    if not block.nnz or _all_binary(block.data):
        return True
    wrong = ~((block.data >= 0) & (block.data <= 1))
    if wrong.any():
        _refuse_entry(f"{name} must lie in [0, 1]", name, block, wrong, first_row)
    return False


def _refuse_entry(rule: str, name: str, block: sp.csr_matrix, wrong: np.ndarray, first_row: int) -> None:
    entry = np.flatnonzero(wrong)[0]
    row = np.searchsorted(block.indptr, entry, side="right") - 1
    label = block.indices[entry]
    raise ValueError(f"{rule}; {name}[{first_row + row}, {label}] is {block.data[entry]}.")


def _dense(block: Labels) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


def _itemsize(matrix: Labels) -> int:
    return matrix.dtype.itemsize
