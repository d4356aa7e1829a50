"""Walk two label matrices row block by row block, checking values on the way; sparse and foreign pairs have their own
files.

A block is small enough for the cache, so checking, comparing and counting cost one trip to memory, and the
extra memory does not grow with the number of rows.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import namespace_of
from choral._validation import Labels
from choral.rows.array_pairs import array_correct_blocks, array_error_blocks
from choral.rows.blocks import (
    CorrectBlock,
    ErrorBlock,
    all_binary,
    check_binary,
    check_unit_interval,
    dense,
    slices_of,
)
from choral.rows.row_counts import count_rows
from choral.rows.sparse_pairs import sparse_blocks

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
    if namespace_of(y_true, y_pred) is not None:
        yield from array_error_blocks(y_true, y_pred, pred_name, count)
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


def correct_blocks(y_true: Labels, y_pred: Labels) -> Iterator[CorrectBlock]:
    """Which labels are right in one dense block of rows after another; raises as `error_blocks` does."""
    if namespace_of(y_true, y_pred) is not None:
        yield from array_correct_blocks(y_true, y_pred)
        return
    for _, true, pred in dense_blocks(y_true, y_pred):
        hard = is_hard(pred)
        yield CorrectBlock(true, true == pred if hard else 1 - np.abs(true.astype(float) - pred), hard)


def dense_blocks(y_true: Labels, y_pred: Labels, pred_name: str = "y_pred") -> Iterator[DenseBlock]:
    """Checked blocks of rows of both matrices as arrays, views where they are dense already."""
    for rows in row_slices(y_true.shape, max(_itemsize(y_true), _itemsize(y_pred))):
        true, pred = dense(y_true[rows]), dense(y_pred[rows])
        check_binary("y_true", true, rows.start)
        check_unit_interval(pred_name, pred, rows.start)
        yield DenseBlock(rows, true, pred)


def row_slices(shape: tuple[int, int], itemsize: int) -> Iterator[slice]:
    """Consecutive slices of rows of about ``BLOCK_BYTES`` each."""
    n_rows, n_labels = shape
    return slices_of(n_rows, BLOCK_BYTES // (itemsize * n_labels))


def is_hard(pred: Labels) -> bool:
    """Whether predictions are labels, 0 or 1, rather than scores."""
    if sp.issparse(pred):
        return all_binary(pred.data)
    # Most scores are told by their first row.
    return all_binary(pred[:1]) and all(all_binary(pred[rows]) for rows in row_slices(pred.shape, pred.itemsize))


def _itemsize(matrix: Labels) -> int:
    return matrix.dtype.itemsize
