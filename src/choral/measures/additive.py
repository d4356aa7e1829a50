"""Additive measures: the only ones whose loss decomposes into losses of single labels."""

from typing import Any

import numpy as np

from choral._validation import check_distribution
from choral.measures.base import Measure, Value, check_fits, listed, reversed_sums


class AdditiveMeasure(Value, Measure):
    r"""A set is worth the sum of its labels' weights; the loss is the weighted mean of the errors.

    Parameters
    ----------
    weights : array-like of shape (n_labels,)
        What each label is worth: non-negative, summing to 1.

    Examples
    --------
    >>> AdditiveMeasure([0.5, 0.25, 0.25]).worth(np.array([[1, 0, 1]]))
    array([0.75])
    """

    weights: np.ndarray

    def __init__(self, weights: Any):
        self._freeze(weights=check_distribution("weights", weights))

    def _identity(self) -> bytes:
        return self.weights.tobytes()

    def __repr__(self) -> str:
        return f"AdditiveMeasure({listed(self.weights)})"

    def check_n_labels(self, n_labels: int) -> None:
        check_fits("this AdditiveMeasure", self.weights.size, n_labels)

    def worth(self, sets: np.ndarray) -> np.ndarray:
        self.check_n_labels(sets.shape[1])
        return sets.astype(float) @ self.weights

    def chain(self, order: np.ndarray) -> np.ndarray:
        self.check_n_labels(order.shape[1])
        return reversed_sums(self.weights[order])
