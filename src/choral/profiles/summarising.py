"""All rows of two label matrices in a few numbers: the walk that makes an ErrorProfile."""

from typing import NamedTuple

import numpy as np

from choral._kernels.pairs import error_blocks
from choral._kernels.ranks import rank_sums
from choral._validation import Labels

ROWS_PER_SUM = 1024


class Totals(NamedTuple):
    """Rows (or their weights) by number of errors for hard predictions, sums of errors by rank for scores.

    Trailing zeros are not kept: with a million labels, few rows have more than a handful of errors.
    """

    histogram: np.ndarray | None
    sums: np.ndarray


@np.errstate(under="ignore")
def total_errors(y_true: Labels, y_pred: Labels, weights: np.ndarray | None, pred_name: str) -> Totals:
    """The totals of matrices and weights that have passed `check_labels` and `check_sample_weight`."""
    histogram = np.zeros(1, dtype=np.int64 if weights is None else float)
    sums = np.zeros(0)
    hard = True
    for rows, wrong, errors in error_blocks(y_true, y_pred, pred_name):
        some = None if weights is None else weights[rows]
        if wrong is not None:
            histogram = add_padded(histogram, np.bincount(wrong) if some is None else _weighted_counts(wrong, some))
        else:
            hard = False
            sums = add_padded(sums, rank_sums(errors, some))
    return Totals(histogram, sums) if hard else Totals(None, add_padded(sums_by_rank(histogram), sums))


def sums_by_rank(histogram: np.ndarray) -> np.ndarray:
    """Hard predictions as scores: rows with at least 1, 2, ... errors."""
    return np.cumsum(histogram[:0:-1])[::-1].astype(float)


def _weighted_counts(wrong: np.ndarray, weights: np.ndarray) -> np.ndarray:
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
