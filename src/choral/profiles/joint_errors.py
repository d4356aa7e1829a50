"""Rows by their numbers of wrong labels under several models at once: what a paired bootstrap of hard labels needs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choral._array_api import is_foreign, to_host
from choral.rows import Rows

MAX_CODES = 1 << 62  # that an integer tells apart


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
    >>> from choral.rows import open_rows
    >>> batch = JointErrors.from_rows([open_rows(y_true, 1 - y_true), open_rows(y_true, np.ones((3, 2)))])
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
    def from_rows(cls, models: Sequence[Rows]) -> "JointErrors":
        """The groups of rows of several models with hard predictions for the same true labels."""
        rows = cls.of_each_row(*models)
        return _grouped(rows.wrong, rows.counts, rows.weights, rows.n_observed)

    @classmethod
    def of_each_row(cls, *models: Rows) -> "JointErrors":
        """Likewise, but each row is a group of its own, in its place; rows of which nothing is known weigh nothing."""
        columns = [_count_wrong_and_observed(rows) for rows in models]
        n_observed = columns[0][1]
        weights, counts = models[0].weights, np.ones(models[0].n_rows, dtype=np.int64)
        weights = np.ones(counts.size) if weights is None else to_host(weights) if is_foreign(weights) else weights
        wrong = np.column_stack([wrong for wrong, _ in columns])
        return cls(wrong, counts, np.where(n_observed > 0, weights, 0.0), n_observed)

    def __add__(self, other: "JointErrors") -> "JointErrors":
        names = ("wrong", "counts", "weights", "n_observed")
        return _grouped(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.counts)


def _count_wrong_and_observed(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of wrong and of known labels of all rows."""
    wrong, n_observed = [], []
    for block in rows.error_blocks():
        wrong.append(to_host(block.wrong) if is_foreign(block.wrong) else block.wrong)
        known = np.full(len(wrong[-1]), rows.n_labels) if block.n_observed is None else block.n_observed
        n_observed.append(to_host(known) if is_foreign(known) else known)
    return np.concatenate(wrong), np.concatenate(n_observed)


def _grouped(wrong: np.ndarray, counts: np.ndarray, weights: np.ndarray, n_observed: np.ndarray) -> JointErrors:
    keys = list(wrong.T)
    if (n_observed != n_observed[0]).any():
        keys.append(n_observed)
    if (weights != weights[0]).any():
        keys.append(np.unique(weights, return_inverse=True)[1])
    codes, n_codes = np.zeros(len(wrong), dtype=np.int64), 1
    for key in keys:
        n_values = int(key.max()) + 1
        if n_codes * n_values > MAX_CODES:  # no more codes than there are rows
            codes = np.unique(codes, return_inverse=True)[1]
            n_codes = len(wrong)
        codes, n_codes = codes * n_values + key, n_codes * n_values
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, group, counts)
    return JointErrors(wrong[first], totals, weights[first], n_observed[first])
