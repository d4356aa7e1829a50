"""Errors by rank: the sums that profiles keep, and the averages that losses are.

Dense blocks are sorted in place, upwards, and the *other* factor of a product is turned round: a reversed view of the
block would keep BLAS out. Sparse blocks are packed to the left: the largest error of each row in column 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array, is_foreign, rows_times, xp_of

ROWS_PER_SUM = 1024  # a plain sum of more rows is off by 1e-11, and by 1e-3 in single precision

Errors = Any  # a 2-D array, an array on a device, or a SciPy CSR matrix


def rank_sums(errors: Errors, row_weights: Array | None) -> Array:
    """Sum over rows of the largest, second largest, ... error."""
    if is_foreign(errors):
        ordered = _sort_rows(errors)
        return xp_of(errors).flip(column_sums(ordered if row_weights is None else ordered * row_weights[:, None]))
    rows = np.ones(errors.shape[0]) if row_weights is None else row_weights
    if sp.issparse(errors):
        return rows @ _pack_left(errors)
    errors.sort(axis=1)
    return (rows @ errors)[::-1]


def rank_averages(errors: Errors, weights: Callable[[int], np.ndarray]) -> Any:
    """Ordered weighted averages of each row.

    ``weights(n)`` gives those of the n largest errors along its last axis; its other axis, if any, becomes the second
    one of the result (but not for arrays on a device).
    """
    if sp.issparse(errors):
        packed = _pack_left(errors)
        return packed @ weights(packed.shape[1]).T
    if is_foreign(errors):
        return rows_times(_sort_rows(errors), weights(errors.shape[1])[::-1])
    errors.sort(axis=1)
    return errors @ weights(errors.shape[1])[..., ::-1].T


def _sort_rows(errors: Array) -> Array:
    """The numbers of each row, upwards."""
    return xp_of(errors).sort(errors, axis=1, stable=False)


def column_sums(matrix: Array) -> Array:
    """Sum over rows of an array on a device, some at a time: a long plain sum is off."""
    xp = xp_of(matrix)
    n_rows, n_columns = matrix.shape
    n_groups = n_rows // ROWS_PER_SUM
    groups = xp.reshape(matrix[: n_groups * ROWS_PER_SUM, :], (n_groups, ROWS_PER_SUM, n_columns))
    rest = matrix[n_groups * ROWS_PER_SUM :, :]
    return _sum(_sum(groups, axis=1), axis=0) + _sum(rest, axis=0)


def _sum(numbers: Array, axis: int) -> Array:
    """In their own type: the standard would have 64 bits for 32, which not all devices have."""
    return xp_of(numbers).sum(numbers, axis=axis, dtype=numbers.dtype)


def _pack_left(errors: sp.csr_matrix) -> sp.csr_array:
    lengths = np.diff(errors.indptr)
    rows = np.repeat(np.arange(errors.shape[0]), lengths)
    values = errors.data[np.lexsort((-errors.data, rows))]
    ranks = np.arange(values.size) - np.repeat(errors.indptr[:-1], lengths)
    return sp.csr_array((values, ranks, errors.indptr), shape=(errors.shape[0], int(lengths.max(initial=0))))
