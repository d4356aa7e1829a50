"""Walk two label matrices row block by row block, checking values on the way; sparse pairs have their own file.

A block is small enough for the cache, so checking, comparing and counting cost one trip to memory, and the
extra memory does not grow with the number of rows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._kernels.blocks import ErrorBlock, all_binary
from choral._kernels.row_counts import count_rows
from choral._kernels.sparse_pairs import sparse_blocks
from choral._validation import Labels, refuse_where

BLOCK_BYTES = 1 << 20


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
        yield from sparse_blocks(y_true, y_pred, pred_name, count)
        return
    buffer = np.empty(0)
    for rows, true, pred in dense_blocks(y_true, y_pred, pred_name):
        if count and (pred.dtype.kind != "f" or is_hard(pred)):  # checked integers are 0 or 1
            yield ErrorBlock(rows, count_rows(np.not_equal(true, pred, order="C")), None)
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
    if sp.issparse(pred):
        return all_binary(pred.data)
    # Most scores are told by their first row.
    return all_binary(pred[:1]) and all(all_binary(pred[rows]) for rows in row_slices(pred.shape, pred.itemsize))


def check_binary(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse true labels other than 0 and 1."""
    if not all_binary(block):
        refuse_where(f"{name} must be binary, 0 or 1", name, block, ~((block == 0) | (block == 1)), first_row)


def check_unit_interval(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse predictions outside [0, 1], nan among them."""
    is_float = block.dtype.kind == "f"
    if not (block.min() >= 0 and block.max() <= 1 if is_float else all_binary(block)):  # nan fails too
        refuse_where(f"{name} must lie in [0, 1]", name, block, ~((block >= 0) & (block <= 1)), first_row)


def _dense(block: Labels) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


def _itemsize(matrix: Labels) -> int:
    return matrix.dtype.itemsize
