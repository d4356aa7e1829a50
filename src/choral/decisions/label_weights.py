"""Weights of label sets in NumPy and SciPy, one row for each instance: merging equal label sets, and drawing."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral.decisions.words import row_keys


def merge_equal(labelsets: np.ndarray, weights: Any) -> tuple[np.ndarray, Any]:
    """Label sets without repetition, in the order of their first coming, and the weights that fall on each."""
    distinct, which = distinct_rows(labelsets)
    if len(distinct) == len(labelsets):
        return labelsets, weights
    ones = np.ones(len(labelsets))
    merging = sp.csr_array((ones, (np.arange(len(labelsets)), which)), shape=(len(labelsets), len(distinct)))
    merged = weights @ merging
    if not sp.issparse(weights):
        return distinct, np.asarray(merged)
    merged = sp.csr_array(merged)
    merged.sort_indices()
    return distinct, merged


def distinct_rows(labelsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows in the order of their first coming, and for each row which of them it is."""
    _, first, which = np.unique(row_keys(labelsets), return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return labelsets[first[order]], place[which]


def draw_columns(weights: Any, uniform: np.ndarray) -> np.ndarray:
    """Label sets drawn for each instance by its weights, from numbers in [0, 1): one column of draws a number.

    All rows are one long row, and the numbers of an instance fall into its part of it.
    """
    n_instances, n_labelsets = weights.shape
    if sp.issparse(weights):
        data, ends, columns = weights.data, weights.indptr[1:].astype(np.intp), weights.indices
    else:
        data, ends, columns = weights.ravel(), n_labelsets * np.arange(1, n_instances + 1), None
    sums = np.cumsum(data)
    upper = sums[ends - 1, np.newaxis]
    lower = np.append(0, upper[:-1])[:, np.newaxis]
    entries = np.searchsorted(sums, lower + uniform * (upper - lower), side="right")
    first = np.append(0, ends[:-1])[:, np.newaxis]
    entries = entries.clip(first, ends[:, np.newaxis] - 1)
    return entries % n_labelsets if columns is None else columns[entries]


def total_weights(weights: Any) -> np.ndarray:
    """The weight of each label set over all instances."""
    return np.asarray(weights.sum(axis=0)).ravel()
