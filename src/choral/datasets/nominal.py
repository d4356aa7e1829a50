"""Nominal features as numbers: a column for each value."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def one_hot(column: Any, n_values: int) -> Any:
    """One column for each value, 1 where the feature has it; all are nan where the value is missing.

    Parameters
    ----------
    column : ndarray or sparse matrix of shape (n_rows, 1)
        Places in the list of values, or nan.
    n_values : int
        How many values the list has.

    Returns
    -------
    hot : ndarray or CSC array of shape (n_rows, n_values)
        Sparse as the column is.

    Examples
    --------
    >>> one_hot(np.array([[1.0], [np.nan], [0.0]]), 2)
    array([[ 0.,  1.],
           [nan, nan],
           [ 1.,  0.]])
    """
    if not sp.issparse(column):
        return np.where(np.isnan(column), np.nan, column == np.arange(n_values))
    places = column.toarray().ravel()
    is_missing = np.isnan(places)
    known, missing = np.flatnonzero(~is_missing), np.flatnonzero(is_missing)
    rows = np.concatenate([known, np.repeat(missing, n_values)])
    columns = np.concatenate([places[known].astype(np.intp), np.tile(np.arange(n_values), missing.size)])
    entries = np.repeat([1.0, np.nan], [known.size, missing.size * n_values])
    return sp.csc_array((entries, (rows, columns)), shape=(places.size, n_values))
