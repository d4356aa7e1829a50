"""Which labels of a block are wrong, and sums over its rows for each label: what is asked of labels, not of rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array, is_foreign, to_host, widest, xp_of
from choral._typing import FloatArray
from choral.rows.blocks import PairBlock
from choral.rows.dense import MAX_BYTE_SUM
from choral.rows.device import absolute_errors, differ
from choral.rows.ranks import column_sums
from choral.rows.sparse import difference


def label_errors(block: PairBlock, *, out: FloatArray | None = None) -> Any:
    """The label-wise errors of a block: which labels are wrong for hard predictions, |y - s| for scores.

    Those of dense scores on the host are written to ``out``, where it is given.

    Returns
    -------
    errors : array or CSR matrix of shape (n_rows, n_labels)
        Booleans for hard predictions, floats for scores; the entries of a CSR matrix are its errors, without zeros.
        Labels that are not known have no error.

    Examples
    --------
    >>> from choral.rows import open_rows
    >>> [label_errors(block) for block in open_rows([[1, 0, 1]], [[1, 1, 0]]).pair_blocks()]
    [array([[False,  True,  True]])]
    """
    _, true, pred, is_hard, _ = block
    if sp.issparse(true):
        return difference(true, pred, np.int8).astype(bool) if is_hard else abs(difference(true, pred, float))
    if is_foreign(true):
        return differ(true, pred) if is_hard else absolute_errors(true, pred)
    if is_hard:
        return np.not_equal(true, pred, order="C")
    errors = np.subtract(true, pred, out=out, dtype=float)  # in doubles: 0 - 1 in uint8 would be 255
    return np.abs(errors, out=errors)


def label_sums(errors: Any, weights: Array | None) -> np.ndarray:
    """Sum of the errors of each label over rows, of whole numbers for flags without weights; on the host.

    Examples
    --------
    >>> label_sums(np.array([[True, False], [True, True]]), None)
    array([2, 1])
    >>> label_sums(np.array([[True, False], [True, True]]), np.array([0.5, 2.0]))
    array([2.5, 2. ])
    """
    if sp.issparse(errors):
        return _entry_sums(errors, weights)
    if is_foreign(errors):
        return _device_sums(errors, weights)
    if weights is not None:
        return weights @ errors
    return _count_columns(errors) if errors.dtype == bool else errors.sum(axis=0)


def level_sums(errors: Any, weights: Array | None, n_levels: int) -> FloatArray:
    """Sums over rows of the part of each error that lies in each level, clip(n_levels * error - level, 0, 1).

    Returns
    -------
    sums : ndarray of shape (n_levels, n_labels)

    Examples
    --------
    >>> level_sums(np.array([[0.75, 0.25], [1.0, 0.0]]), None, 2)
    array([[2. , 0.5],
           [1.5, 0. ]])
    """
    if is_foreign(errors):
        scaled, xp = errors * n_levels, xp_of(errors)
        parts = (xp.clip(scaled - level, min=0, max=1) for level in range(n_levels))
        return np.stack([label_sums(part, weights) for part in parts])
    n_labels = errors.shape[1]
    if sp.issparse(errors):
        labels, values = errors.indices, errors.data
        lengths = np.diff(errors.indptr)
    else:
        labels, values = np.tile(np.arange(n_labels), len(errors)), errors.ravel()
        lengths = np.full(len(errors), n_labels)
    row_weights = 1.0 if weights is None else np.repeat(weights, lengths)
    scaled = values * n_levels
    full = scaled.astype(np.intp)  # levels below the one in which an error ends
    part = (scaled - full) * row_weights
    # An error adds its last part to that level, and the rest to the one before; then it fills all levels below.
    ends = np.zeros((n_levels + 2) * n_labels)
    _add_at(ends, full * n_labels + labels, row_weights - part)
    _add_at(ends, (full + 1) * n_labels + labels, part)
    sums = np.cumsum(ends.reshape(n_levels + 2, n_labels)[:0:-1], axis=0)[::-1]
    return sums[:n_levels]


def _add_at(sums: FloatArray, places: np.ndarray, numbers: FloatArray) -> None:
    if places.size * 4 < sums.size:
        np.add.at(sums, places, numbers)
    else:
        sums += np.bincount(places, weights=numbers, minlength=sums.size)


def _entry_sums(errors: sp.csr_matrix, weights: np.ndarray | None) -> np.ndarray:
    n_labels = errors.shape[1]
    if weights is None and errors.dtype == bool:
        return np.bincount(errors.indices, minlength=n_labels)
    data = errors.data.astype(float)
    if weights is not None:
        data *= np.repeat(weights, np.diff(errors.indptr))
    return np.bincount(errors.indices, weights=data, minlength=n_labels)


def _device_sums(errors: Array, weights: Array | None) -> np.ndarray:
    xp = xp_of(errors)
    is_flags = xp.isdtype(errors.dtype, "bool")
    if weights is not None:
        numbers = xp.astype(errors, weights.dtype) * weights[:, None]
    else:
        numbers = xp.astype(errors, widest(errors).integer) if is_flags else errors
    sums = to_host(column_sums(numbers))
    return sums.astype(np.int64 if is_flags and weights is None else float)


def _count_columns(flags: np.ndarray) -> np.ndarray:
    """Number of True in each column: bytes are added while they cannot overflow, 255 rows at a time."""
    n_rows, n_labels = flags.shape
    whole = n_rows - n_rows % MAX_BYTE_SUM
    some = flags[:whole].view(np.uint8).reshape(-1, MAX_BYTE_SUM, n_labels)
    counts = np.add.reduce(some, axis=1, dtype=np.uint8).sum(axis=0, dtype=np.int64)
    return counts + np.add.reduce(flags[whole:].view(np.uint8), axis=0, dtype=np.uint8)
