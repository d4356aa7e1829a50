"""Walk two label matrices on their device, row block by row block: `choral.rows.pairs` for foreign arrays.

Blocks are as large as a device likes them, and the extra memory still does not grow with the number of rows. The host
waits once a block, for three flags that say whether all values are allowed and whether the predictions are labels. A
matrix of NumPy or SciPy beside a foreign one is moved to the device, a block at a time.
"""

from collections.abc import Iterator
from typing import NamedTuple

from choral._array_api import (
    Array,
    as_real,
    device_of,
    first_foreign,
    is_foreign,
    to_device_of,
    to_host,
    widest,
    xp_of,
)
from choral._validation import Labels
from choral.rows.blocks import CorrectBlock, ErrorBlock, check_binary, check_unit_interval, dense, slices_of

BLOCK_BYTES = 1 << 26  # of errors as doubles; sorting them takes about three times as much besides


class PairBlock(NamedTuple):
    """Some rows of both matrices, checked, and whether the predictions are labels rather than scores."""

    rows: slice
    true: Array
    pred: Array
    is_hard: bool


def array_error_blocks(y_true: Labels, y_pred: Labels, pred_name: str, count: bool) -> Iterator[ErrorBlock]:
    """Errors of one block of rows after another: see `choral.rows.pairs.error_blocks`."""
    for rows, true, pred, is_hard in _checked_blocks(y_true, y_pred, pred_name):
        if is_hard and count:
            yield ErrorBlock(rows, _count_rows(_differ(true, pred)), None)
        else:
            yield ErrorBlock(rows, None, _errors(true, pred))


def array_correct_blocks(y_true: Labels, y_pred: Labels) -> Iterator[CorrectBlock]:
    """Which labels are right, block by block: see `choral.rows.pairs.correct_blocks`."""
    for _, true, pred, is_hard in _checked_blocks(y_true, y_pred, "y_pred"):
        yield CorrectBlock(true, ~_differ(true, pred) if is_hard else 1 - _errors(true, pred), is_hard)


def array_row_sums(matrix: Array) -> Iterator[Array]:
    """The sum of each row, block by block: whole, a matrix of another type would be copied to add it up."""
    xp = xp_of(matrix)
    for rows in _row_slices(matrix.shape):
        yield xp.sum(as_real(matrix[rows, :]), axis=1)


def _checked_blocks(y_true: Labels, y_pred: Labels, pred_name: str) -> Iterator[PairBlock]:
    like = first_foreign(y_true, y_pred)
    for rows in _row_slices(y_true.shape):
        true, pred = _on_device(y_true, rows, like), _on_device(y_pred, rows, like)
        true_fine, pred_fine, is_hard = _flags(true, pred)
        # One row of what is wrong goes to the host, where NumPy's checks name the place.
        if not true_fine:
            row = _first_row(~_is_binary(true))
            check_binary("y_true", to_host(true[row : row + 1, :]), rows.start + row)
        if not pred_fine:
            row = _first_row(~((pred >= 0) & (pred <= 1)))
            check_unit_interval(pred_name, to_host(pred[row : row + 1, :]), rows.start + row)
        yield PairBlock(rows, true, pred, is_hard)


def _row_slices(shape: tuple[int, int]) -> Iterator[slice]:
    n_rows, n_labels = shape
    return slices_of(n_rows, BLOCK_BYTES // (8 * n_labels))


def _on_device(matrix: Labels, rows: slice, like: Array) -> Array:
    if is_foreign(matrix):
        return matrix[rows, :]
    return to_device_of(dense(matrix[rows]), like)


def _flags(true: Array, pred: Array) -> tuple[bool, bool, bool]:
    """Whether true labels are binary, predictions lie in [0, 1], and these are binary: one answer from the device."""
    xp = xp_of(true)
    is_float = xp.isdtype(pred.dtype, "real floating")
    hard = _all_binary(pred)
    fine = (xp.min(pred) >= 0) & (xp.max(pred) <= 1) if is_float else hard  # nan fails
    return tuple(to_host(xp.stack([_all_binary(true), fine, hard])).tolist())


def _all_binary(block: Array) -> Array:
    xp = xp_of(block)
    if xp.isdtype(block.dtype, "bool"):
        return xp.ones((), dtype=xp.bool, device=device_of(block))
    if xp.isdtype(block.dtype, "integral"):  # two passes without a temporary
        return (xp.min(block) >= 0) & (xp.max(block) <= 1)
    return xp.all(_is_binary(block))


def _is_binary(block: Array) -> Array:
    return (block == 0) | (block == 1)


def _first_row(flags: Array) -> int:
    """The first row with a flag."""
    xp = xp_of(flags)
    return int(xp.argmax(xp.astype(xp.any(flags, axis=1), xp.uint8)))


def _differ(true: Array, pred: Array) -> Array:
    """Which labels of hard predictions are wrong; the standard compares one type of numbers with itself alone."""
    xp = xp_of(true)
    if true.dtype == pred.dtype:
        return true != pred
    return xp.astype(true, xp.bool) != xp.astype(pred, xp.bool)


def _count_rows(flags: Array) -> Array:
    xp = xp_of(flags)
    return xp.sum(xp.astype(flags, xp.uint8), axis=1, dtype=widest(flags).integer)


def _errors(true: Array, pred: Array) -> Array:
    return xp_of(true).abs(as_real(true) - as_real(pred))
