"""What a measure must tell so that its expected loss can be minimised."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from choral.decisions.support import Rows, Support


class Bound(NamedTuple):
    """What is known of the predictions that agree with a partial one on the labels it has decided."""

    risks: np.ndarray  # (n_rows,) no such prediction has a smaller risk
    ones: np.ndarray  # (n_rows, n_labels) what may still be gained by predicting 1 for a label that is not decided
    zeros: np.ndarray  # (n_rows, n_labels) by predicting 0


class Risk(ABC):
    """The expected loss under one measure, of predictions on a weighted support."""

    @abstractmethod
    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        """Loss of each candidate where each label set is true, of shape (n_labelsets, n_candidates)."""

    @abstractmethod
    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        """Expected loss of one prediction for each instance."""

    @abstractmethod
    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        """Expected loss after changing each single label of each prediction, of shape (n_instances, n_labels)."""

    def guides(self) -> Sequence["Risk"]:
        """Smoother risks, to be descended on before this one."""
        return []

    @abstractmethod
    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        """A lower bound on the risk of all predictions that agree with these on the decided labels.

        Labels that are not decided are 0 in ``predictions``.
        """


def gains(
    rows: Rows, decided: Support, values: np.ndarray, labels: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted values by whether a label (of some) is in the true label set or not; 0 for labels that are decided."""
    left = 1 - (decided.labelsets if labels is None else decided.labelsets[:, labels])
    ones = rows.by_label(values, labels)
    zeros = rows.total(values)[:, np.newaxis] - ones
    return ones * left, zeros.clip(0) * left
