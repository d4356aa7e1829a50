"""Sums over rows and over labels of foreign arrays, where they lie.

Products with a vector are written as sums: integers have no matrix product on a GPU, and some devices round the factors
of one to ten bits.
"""

import numpy as np

from choral._array_api import Array, to_device_of, widest, xp_of

ROWS_PER_SUM = 1024


def sorted_rows(errors: Array) -> Array:
    """The numbers of each row, upwards."""
    return xp_of(errors).sort(errors, axis=1, stable=False)


def array_rank_sums(errors: Array, row_weights: Array | None) -> Array:
    """Sum over rows of the largest, second largest, ... error."""
    ordered = sorted_rows(errors)
    return xp_of(errors).flip(_column_sums(ordered if row_weights is None else ordered * row_weights[:, None]))


def rows_by_count(counts: Array, row_weights: Array | None, largest: int) -> Array:
    """How many rows, or what weights of them, have the count 0, 1, ..., largest."""
    xp = xp_of(counts)
    if row_weights is None and hasattr(xp, "bincount"):  # every library has it, though not the standard
        return xp.bincount(counts, minlength=largest + 1)
    # Weights are not scattered into bins: a GPU would add them up in another order each time.
    in_bin = counts[:, None] == to_device_of(np.arange(largest + 1), counts)
    if row_weights is None:
        return _column_sums(xp.astype(in_bin, widest(counts).integer))
    return _column_sums(xp.where(in_bin, row_weights[:, None], xp.zeros_like(row_weights)[:, None]))


def _column_sums(matrix: Array) -> Array:
    """Sum over rows, some at a time: a long plain sum is off by 1e-11, and by 1e-3 in single precision."""
    xp = xp_of(matrix)
    n_rows, n_columns = matrix.shape
    n_groups = n_rows // ROWS_PER_SUM
    groups = xp.reshape(matrix[: n_groups * ROWS_PER_SUM, :], (n_groups, ROWS_PER_SUM, n_columns))
    rest = matrix[n_groups * ROWS_PER_SUM :, :]
    return _sum(_sum(groups, axis=1), axis=0) + _sum(rest, axis=0)


def _sum(numbers: Array, axis: int) -> Array:
    """In their own type: the standard would have 64 bits for 32, which not all devices have."""
    return xp_of(numbers).sum(numbers, axis=axis, dtype=numbers.dtype)
