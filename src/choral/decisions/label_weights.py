"""Weights of label sets, one row for each instance: checked, normalised, and merged where label sets are equal."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._validation import LARGEST_WEIGHT, check_array, check_matrix, check_vector, refuse_entry_where, refuse_where
from choral.decisions.words import row_keys

EXACT = 1e-14  # a sum this near to 1 is left alone: dividing by it once more would change the last bits


def check_weights(probabilities: Any, n_labelsets: int) -> tuple[Any, bool]:
    """Rows of probabilities as floats, dense or CSR, and whether they came with an axis for instances."""
    name = "probabilities"
    probabilities = check_array(name, probabilities)
    check_weights_shape(probabilities.shape, n_labelsets)
    has_instances = sp.issparse(probabilities) or np.ndim(probabilities) == 2
    tolerance = _tolerance(probabilities)
    weights = check_matrix(name, probabilities) if has_instances else check_vector(name, probabilities)[np.newaxis]
    rule = f"{name} must be finite and non-negative"
    if sp.issparse(weights):
        weights = sp.csr_array(weights, dtype=float, copy=True)
        refuse_entry_where(rule, name, weights, ~((weights.data >= 0) & (weights.data <= LARGEST_WEIGHT)))
        weights.eliminate_zeros()
    else:
        weights = weights.astype(float)
        wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
        refuse_where(rule, name, *((weights, wrong) if has_instances else (weights[0], wrong[0])))
    return _normalised(weights, has_instances, tolerance), has_instances


def check_weights_shape(shape: tuple[int, ...], n_labelsets: int) -> None:
    """Refuse probabilities that are not one for each label set, for one instance or several."""
    if len(shape) not in (1, 2):
        raise ValueError(
            f"probabilities must have the shape (n_labelsets,) or (n_instances, n_labelsets); got {shape}."
        )
    if shape[-1] != n_labelsets:
        raise ValueError(f"probabilities must have one entry for each of {n_labelsets} label sets; got {shape[-1]}.")


def _tolerance(probabilities: Any) -> float:
    """How far sums may be off: as in scikit-learn, the square root of what the numbers resolve."""
    dtype = probabilities.dtype if probabilities.dtype.kind == "f" else np.dtype(float)
    return float(np.sqrt(np.finfo(dtype).eps))


def _normalised(weights: Any, has_instances: bool, tolerance: float) -> Any:
    sums = np.asarray(weights.sum(axis=1)).ravel()
    wrong = np.flatnonzero(~(np.abs(sums - 1) <= tolerance))
    if wrong.size:
        raise ValueError(off_one(float(sums[wrong[0]]), int(wrong[0]) if has_instances else None))
    sums[np.abs(sums - 1) <= EXACT] = 1
    if sp.issparse(weights):
        weights.data /= np.repeat(sums, np.diff(weights.indptr))
    else:
        weights /= sums[:, np.newaxis]
    return weights


def off_one(total: float, row: int | None) -> str:
    """What is wrong with probabilities that do not sum to 1, in a row or, without an axis for instances, in all."""
    where = f"their sum is {total:.10g}" if row is None else f"those in row {row} sum to {total:.10g}"
    return f"probabilities must sum to 1{'' if row is None else ' in each row'}; {where}."


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


def draw(weights: Any, uniform: np.ndarray) -> np.ndarray:
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
