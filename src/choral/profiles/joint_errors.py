"""Rows by their numbers of wrong labels under several models at once: what a paired bootstrap of hard labels needs."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from choral._validation import Labels
from choral.rows.pairs import error_blocks

MOST_CODES = 1 << 62  # that an integer tells apart


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Rows alike in the numbers of wrong labels under each model and of known labels, and in weight, with their number.

    Those of two batches add up as profiles do. A few models have few different combinations; many models, or weights
    that all differ, have about as many as there are rows.

    Attributes
    ----------
    wrong : ndarray of shape (n_groups, n_models)
        Wrong labels of each row of a group under each model, in increasing order.
    counts : ndarray of shape (n_groups,)
        Rows of each group.
    weights : ndarray of shape (n_groups,)
        The sample weight of each such row.
    n_observed : ndarray of shape (n_groups,)
        Known labels of each such row.

    Examples
    --------
    >>> y_true = np.array([[1, 0], [0, 1], [1, 1]])
    >>> batch = JointErrors.from_checked(y_true, [1 - y_true, np.ones((3, 2), dtype=int)], None)
    >>> batch.wrong, batch.counts
    (array([[2, 0], [2, 1]]), array([1, 2]))
    >>> (batch + batch).counts
    array([2, 4])
    """

    wrong: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    n_observed: np.ndarray

    @classmethod
    def from_checked(
        cls,
        true: Labels,
        predictions: Iterable[Labels],
        weights: np.ndarray | None,
        n_observed: np.ndarray | None = None,
    ) -> "JointErrors":
        """The groups of rows of checked matrices of hard labels, all of them known unless their numbers are given."""
        wrong = np.column_stack([_wrong_labels(true, pred) for pred in predictions])
        n_rows = len(wrong)
        weights = np.ones(n_rows) if weights is None else weights
        n_observed = np.full(n_rows, true.shape[1]) if n_observed is None else n_observed
        return _grouped(wrong, np.ones(n_rows, dtype=np.int64), weights, n_observed)

    def __add__(self, other: "JointErrors") -> "JointErrors":
        names = ("wrong", "counts", "weights", "n_observed")
        return _grouped(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.counts)


def _wrong_labels(true: Labels, pred: Labels) -> np.ndarray:
    return np.concatenate([block.wrong for block in error_blocks(true, pred)])


def _grouped(wrong: np.ndarray, counts: np.ndarray, weights: np.ndarray, n_observed: np.ndarray) -> JointErrors:
    keys = list(wrong.T)
    if (n_observed != n_observed[0]).any():
        keys.append(n_observed)
    if (weights != weights[0]).any():
        keys.append(np.unique(weights, return_inverse=True)[1])
    codes, n_codes = np.zeros(len(wrong), dtype=np.int64), 1
    for key in keys:
        n_values = int(key.max()) + 1
        if n_codes * n_values > MOST_CODES:  # no more codes than there are rows
            codes = np.unique(codes, return_inverse=True)[1]
            n_codes = len(wrong)
        codes, n_codes = codes * n_values + key, n_codes * n_values
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, group, counts)
    return JointErrors(wrong[first], totals, weights[first], n_observed[first])
