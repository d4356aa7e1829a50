"""Features as scikit-learn's trees take them, without those that are no use."""

from typing import Any

import numpy as np
import scipy.sparse as sp

MAX_DENSE_ENTRIES = 1 << 25  # 128 MiB; smaller sparse matrices become dense, on which trees grow faster


def for_trees(X: Any) -> Any:
    """Features in single precision, and dense if that is small."""
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    values = X.data if sp.issparse(X) else X
    np.nan_to_num(values, copy=False)  # infinite ones become the largest number, on the same side of every threshold
    return dense_if_small(X)


def dense_if_small(X: Any) -> Any:
    """A sparse matrix as an array, if that is small."""
    return X.toarray() if sp.issparse(X) and X.shape[0] * X.shape[1] <= MAX_DENSE_ENTRIES else X


def columns_in_use(X: Any) -> np.ndarray:
    """Features that are not the same in all rows, nor in all rows but one; all if there are none.

    A word that occurs in a single row tells nothing about others, but trees would look at it at every node.

    Examples
    --------
    >>> columns_in_use(np.array([[1.0, 0, 5, 2], [1, 0, 5, 3], [1, 7, 4, 4], [1, 0, 4, 5]]))
    array([2, 3])
    """
    if sp.issparse(X):
        n_rows = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        in_use = np.flatnonzero(n_rows > 1)
    else:
        above, below = (X.min(axis=0) < X).sum(axis=0), (X.max(axis=0) > X).sum(axis=0)
        in_use = np.flatnonzero(np.minimum(above, below) > 1)
    return in_use if in_use.size else np.arange(X.shape[1])


def to_tree_features(X: Any) -> Any:
    """Features in the form in which trees are grown; the caller's matrix is not changed.

    scikit-learn's trees take sparse columns with sorted indices of 32 bits, and sort unsorted ones in place.
    """
    if not sp.issparse(X):
        return X
    X = X.tocsc().sorted_indices()
    if X.nnz <= np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X
