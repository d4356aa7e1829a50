"""Rows with missing labels in a few numbers: totals apart for each number of observed labels."""

from typing import Any

import numpy as np

from choral._validation import Labels
from choral.profiles.observing import Mask, observed_blocks
from choral.profiles.summarising import add_padded, sums_by_rank, weighted_counts
from choral.rows.ranks import rank_sums


class GroupTotals:
    """Rows with one number of observed labels, added up block by block as `total_errors` adds up all rows."""

    def __init__(self, n_observed: int):
        self.n_observed = n_observed
        self.n_rows = 0
        self.is_hard = True
        self._histogram = np.zeros(1, dtype=np.int64)
        self._sums = np.zeros(0)
        self._weights: list[np.ndarray] = []

    def add(self, n_rows: int, wrong: np.ndarray | None, errors: Any, weights: np.ndarray | None) -> None:
        self.n_rows += n_rows
        if weights is not None:
            self._weights.append(weights)
        if wrong is not None:
            counts = np.bincount(wrong) if weights is None else weighted_counts(wrong, weights)
            self._histogram = add_padded(self._histogram, counts)
        else:
            self.is_hard = False
            self._sums = add_padded(self._sums, rank_sums(errors, weights)[: self.n_observed])

    def to_dict(self, *, hard: bool) -> dict[str, Any]:
        """What an ErrorProfile of these rows is made from: see `ErrorProfile.from_dict`."""
        # One long sum: the total of an ErrorProfile to the last bit where no label is missing.
        total = float(np.concatenate(self._weights).sum()) if self._weights else self.n_rows
        data = {"n_labels": self.n_observed, "n_rows": self.n_rows, "total_weight": total}
        if hard:
            return {**data, "rows_by_errors": self._histogram.tolist()}
        return {**data, "error_sums": add_padded(sums_by_rank(self._histogram), self._sums).tolist()}


@np.errstate(under="ignore")
def totals_by_observed(
    y_true: Labels, y_pred: Labels, mask: Mask, weights: np.ndarray | None, pred_name: str
) -> dict[int, GroupTotals]:
    """The totals of rows with 0, 1, ... observed labels, for each number that occurs."""
    groups: dict[int, GroupTotals] = {}
    for rows, n_observed, wrong, errors in observed_blocks(y_true, y_pred, mask, pred_name):
        parts = (wrong, errors, None if weights is None else weights[rows])
        for some in rows_by_number(n_observed):
            number = int(n_observed[some[0]])
            group = groups.setdefault(number, GroupTotals(number))
            group.add(some.size, *(None if part is None else part[some] for part in parts))
    return groups


def rows_by_number(n_observed: np.ndarray) -> list[np.ndarray]:
    """Rows with the same number of observed labels together."""
    order = np.argsort(n_observed, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(n_observed[order])) + 1)
