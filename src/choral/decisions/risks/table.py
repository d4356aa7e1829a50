"""Risks under any measure on few labels, from the loss of each of the 2^K sets of wrong labels."""

import numpy as np

from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.support import BLOCK_ENTRIES, Rows, Support
from choral.measures import Capacity, Measure
from choral.measures.subsets import members_table


class TableRisk(Risk):
    """Expected loss from a table by the set of wrong labels."""

    def __init__(self, measure: Measure, n_labels: int):
        self.losses = loss_table(measure, n_labels)

    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        return self.losses[support.index()[:, np.newaxis] ^ candidates.index()]

    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        return rows.total(self.losses[rows.index_differences(predictions)])

    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        wrong = rows.index_differences(predictions)
        labels = range(predictions.n_labels)
        return np.stack([rows.total(self.losses[wrong ^ (1 << label)]) for label in labels], axis=1)

    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        """All that is not decided matches."""
        wrong = rows.index_differences(predictions) & rows.of_instances(decided.index())
        certain = self.losses[wrong]
        return Bound(rows.total(certain), *gains(rows, decided, 1 - certain))


def loss_table(measure: Measure, n_labels: int) -> np.ndarray:
    """One minus the worth of what is left, by the index of the set of wrong labels."""
    if isinstance(measure, Capacity):
        return 1 - measure.values[::-1]  # the complement of a set has the index from the other end
    losses = np.empty(1 << n_labels)
    step = max(1, BLOCK_ENTRIES // n_labels)
    for start in range(0, losses.size, step):
        wrong = np.arange(start, min(start + step, losses.size))
        losses[start : start + step] = 1 - measure.worth(1 - members_table(wrong, n_labels))
    return losses
