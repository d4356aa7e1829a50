"""Errors by rank: sums and weighted averages of the largest, the second largest, ... error of each row.

Dense blocks are sorted in place, upwards, and the *other* factor of a product is turned round: a reversed view of the
block would keep BLAS out. Sparse blocks are packed to the left: the largest error of each row in column 0. Foreign
arrays have their own file.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import is_foreign, rows_times
from choral.rows.array_sums import sorted_rows

Errors = Any  # a 2-D array or a SciPy CSR matrix


def rank_sums(errors: Errors, row_weights: np.ndarray | None) -> np.ndarray:
    """Sum over rows of the largest, second largest, ... error."""
    rows = np.ones(errors.shape[0]) if row_weights is None else row_weights
    if sp.issparse(errors):
        return rows @ _packed(errors)
    errors.sort(axis=1)
    return (rows @ errors)[::-1]


def rank_averages(errors: Errors, weights: Callable[[int], np.ndarray]) -> Any:
    """Ordered weighted averages of each row.

    ``weights(n)`` gives those of the n largest errors along its last axis; its other axis, if any, becomes the second
    one of the result (but not for foreign arrays).
    """
    if sp.issparse(errors):
        packed = _packed(errors)
        return packed @ weights(packed.shape[1]).T
    if is_foreign(errors):
        return rows_times(sorted_rows(errors), weights(errors.shape[1])[::-1])
    errors.sort(axis=1)
    return errors @ weights(errors.shape[1])[..., ::-1].T


def _packed(errors: sp.csr_matrix) -> sp.csr_array:
    lengths = np.diff(errors.indptr)
    rows = np.repeat(np.arange(errors.shape[0]), lengths)
    values = errors.data[np.lexsort((-errors.data, rows))]
    ranks = np.arange(values.size) - np.repeat(errors.indptr[:-1], lengths)
    return sp.csr_array((values, ranks, errors.indptr), shape=(errors.shape[0], int(lengths.max(initial=0))))
