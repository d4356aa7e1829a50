"""All rows of two label matrices in a few numbers: the walk that makes an ErrorProfile."""

from typing import NamedTuple

import numpy as np

from choral._array_api import (
    Array,
    Namespace,
    device_of,
    first_foreign,
    namespace_of,
    to_host,
    widest,
    xp_of,
)
from choral._validation import Labels
from choral.rows.array_pairs import array_error_blocks
from choral.rows.array_sums import ROWS_PER_SUM, array_rank_sums, rows_by_count
from choral.rows.gpu import serves
from choral.rows.pairs import error_blocks
from choral.rows.ranks import rank_sums


class Totals(NamedTuple):
    """Rows (or their weights) by number of errors for hard predictions, sums of errors by rank for scores.

    Trailing zeros are not kept: with a million labels, few rows have more than a handful of errors.
    """

    histogram: np.ndarray | None
    sums: np.ndarray


@np.errstate(under="ignore")
def total_errors(y_true: Labels, y_pred: Labels, weights: Array | None, pred_name: str) -> Totals:
    """The totals of matrices and weights that have passed `check_pair` and `check_row_weights`."""
    xp = namespace_of(y_true, y_pred)
    if xp is not None:
        return total_errors_of_arrays(y_true, y_pred, weights, xp, pred_name)
    histogram = np.zeros(1, dtype=np.int64 if weights is None else float)
    sums = np.zeros(0)
    hard = True
    for rows, wrong, errors in error_blocks(y_true, y_pred, pred_name):
        some = None if weights is None else weights[rows]
        if wrong is not None:
            histogram = add_padded(histogram, np.bincount(wrong) if some is None else weighted_counts(wrong, some))
        else:
            hard = False
            sums = add_padded(sums, rank_sums(errors, some))
    return Totals(histogram, sums) if hard else Totals(None, add_padded(sums_by_rank(histogram), sums))


def total_errors_of_arrays(
    y_true: Labels, y_pred: Labels, weights: Array | None, xp: Namespace, pred_name: str
) -> Totals:
    """The totals of arrays that stay on their device: only these numbers travel to the host."""
    if serves(y_true, y_pred):
        found = _by_kernels(y_true, y_pred, weights)
        if found is not None:
            return found
    n_labels, like = y_true.shape[1], first_foreign(y_true, y_pred)
    real, integer = widest(like)
    histogram = xp.zeros(n_labels + 1, dtype=integer if weights is None else real, device=device_of(like))
    sums = xp.zeros(n_labels, dtype=real, device=device_of(like))
    hard = True
    for rows, wrong, errors in array_error_blocks(y_true, y_pred, pred_name, count=True):
        some = None if weights is None else weights[rows]
        if wrong is not None:
            histogram = histogram + rows_by_count(wrong, some, n_labels)
        else:
            hard = False
            sums = sums + array_rank_sums(errors, some)
    counts = to_host(histogram).astype(np.int64 if weights is None else float)
    if hard:
        return Totals(np.trim_zeros(counts, "b"), np.zeros(0))
    return Totals(None, np.trim_zeros(sums_by_rank(counts) + to_host(sums), "b"))


def _by_kernels(y_true: Array, y_pred: Array, weights: Array | None) -> Totals | None:
    """The totals of tensors on a CUDA device, where there is a kernel for them and nothing to refuse."""
    from choral.rows.gpu.totals import gpu_totals

    found = gpu_totals(y_true, y_pred, weights)
    if found is None:
        return None
    if found.histogram is not None:
        return Totals(np.trim_zeros(to_host(found.histogram), "b"), np.zeros(0))
    return Totals(None, np.trim_zeros(to_host(found.sums), "b"))


def total_weight(weights: Array) -> float:
    """All weights added up, wherever they are."""
    return float(xp_of(weights).sum(weights))


def sums_by_rank(histogram: np.ndarray) -> np.ndarray:
    """Hard predictions as scores: rows with at least 1, 2, ... errors."""
    return np.cumsum(histogram[:0:-1])[::-1].astype(float)


def weighted_counts(wrong: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum of the weights of rows with 0, 1, ... errors: some rows at a time, since a long plain sum is off by 1e-11."""
    width = int(wrong.max()) + 1
    group = np.arange(wrong.size) // ROWS_PER_SUM
    sums = np.bincount(group * width + wrong, weights=weights, minlength=(int(group[-1]) + 1) * width)
    return sums.reshape(-1, width).sum(axis=0)


def add_padded(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sum of two vectors, the shorter one filled up with zeros."""
    if first.size < second.size:
        first, second = second, first
    total = first.astype(np.result_type(first, second))
    total[: second.size] += second
    return total
