"""Which of several predictions with the same risk is taken: the one with the fewest labels, then the first in order.

Two risks are the same if they differ by at most 1e-12: transforms and sums perturb the last bits. Of two predictions
with as many labels, that one comes first which has the first label in which they differ.
"""

from collections.abc import Callable

import numpy as np

from choral._array_api import Array, xp_of
from choral.decisions.device_arrays import first_true

TOLERANCE = 1e-12


def first_in_order(labels: np.ndarray) -> int:
    """The row of a matrix of labels that is taken where all have the same risk."""
    sizes = np.count_nonzero(labels, axis=1)
    rows = np.flatnonzero(sizes == sizes.min())
    for label in range(labels.shape[1]):
        if rows.size == 1:
            break
        having = rows[labels[rows, label] == 1]
        rows = having if having.size else rows
    return int(rows[0])


def in_order(labels: np.ndarray) -> np.ndarray:
    """The rows of a matrix of labels, from the one that is taken first down."""
    without = 1 - labels[:, ::-1]  # lexsort sorts by its last key first
    return np.lexsort([*without.T, np.count_nonzero(labels, axis=1)])


def best_row(risks: np.ndarray, labels: np.ndarray) -> int:
    """The row of least risk, ties broken."""
    tied = np.flatnonzero(risks <= risks.min() + TOLERANCE)
    return int(tied[first_in_order(labels[tied])])


def comes_first(labels: Array, others: Array) -> Array:
    """Whether a row of labels is taken rather than the same row of others, where both have the same risk."""
    xp = xp_of(labels)
    sizes, other_sizes = xp.count_nonzero(labels, axis=1), xp.count_nonzero(others, axis=1)
    first = first_true(labels != others)
    has_it = xp.take_along_axis(labels > others, first[:, None], axis=1)[:, 0]
    return (sizes < other_sizes) | ((sizes == other_sizes) & has_it)


def first_of_size(strengths: np.ndarray, size: int, is_enough: Callable[[np.ndarray], bool]) -> np.ndarray:
    """The first in order of all sets of this size that are good enough.

    Of all sets that contain some labels and lack others, the one filled up with the strongest labels is best; so label
    after label is put in if the best set with it is still good enough.
    """
    order = np.argsort(-strengths, kind="stable")
    chosen = np.zeros(strengths.size, dtype=bool)
    for label in range(strengths.size):
        if chosen.sum() == size:
            break
        filled = chosen.copy()
        filled[label] = True
        rest = order[order > label]
        filled[rest[: size - filled.sum()]] = True
        chosen[label] = filled.sum() == size and is_enough(filled)
    return chosen
