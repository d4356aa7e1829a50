"""How much more frequent label sets are than if labels were independent, whatever the row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from choral._typing import FloatArray
from choral.learners.evidence import Candidates

PRIOR_ROWS = 3.0  # sizes begin with those of independent labels, as if seen in so many rows
MAX_LOG_LIFT = 8.0


class Lift(Protocol):
    """A model of lifts."""

    def log_lifts(self, labelsets: np.ndarray) -> FloatArray:
        """Logarithms for label sets of shape (..., n_labels), up to a constant."""


@dataclass(frozen=True, eq=False)
class SizeLift:
    """How much more often a number of labels is relevant together than if they were independent.

    Where each row has one label or two, the label set without any is rare, whatever the label.

    Attributes
    ----------
    logs : ndarray of shape (n_labels + 1,)
    """

    logs: FloatArray

    def log_lifts(self, labelsets: np.ndarray) -> FloatArray:
        return self.logs[labelsets.sum(axis=-1, dtype=np.intp)]


def fit_sizes(labels: np.ndarray, known: np.ndarray) -> SizeLift:
    """Lifts of numbers of relevant labels in complete rows.

    Parameters
    ----------
    labels, known : bool ndarrays of shape (n_rows, n_labels)
    """
    complete = known.all(axis=1)
    marginals = (labels.sum(axis=0) + 0.5) / (known.sum(axis=0) + 1)
    independent = np.ones(1)
    for share in marginals:
        independent = np.convolve(independent, [1 - share, share])
    counts = np.bincount(labels[complete].sum(axis=1), minlength=len(independent))
    shares = (counts + PRIOR_ROWS * independent) / (counts.sum() + PRIOR_ROWS)
    least = np.finfo(float).tiny  # of many labels, all at once are impossible in doubles
    logs = np.log(shares.clip(least)) - np.log(independent.clip(least))
    return SizeLift(logs.clip(-MAX_LOG_LIFT, MAX_LOG_LIFT))


@dataclass(frozen=True)
class LabelPrice:
    """The number of relevant labels, or minus it: the exponent is what each label costs, whatever its score."""

    sign: float

    def log_lifts(self, labelsets: np.ndarray) -> FloatArray:
        return self.sign * labelsets.sum(axis=-1, dtype=float)


class LiftEvidence:
    """What models of lifts say of the candidates of each row, as evidence for a pool.

    Parameters
    ----------
    lifts : sequence of Lift
    which : ndarray of shape (n_rows,)
        The one that was not fitted on the row.
    """

    log_odds: np.ndarray | None = None

    def __init__(self, lifts: Sequence[Lift], which: np.ndarray):
        self.lifts, self.which = lifts, which

    def __getitem__(self, rows: Any) -> "LiftEvidence":
        return LiftEvidence(self.lifts, self.which[rows])

    def scores(self, candidates: Candidates) -> np.ndarray:
        n_seen, n_others = len(candidates.seen), candidates.others.shape[1]
        scores = np.empty((len(self.which), n_seen + n_others))
        for number in np.unique(self.which).tolist():
            rows, lift = self.which == number, self.lifts[number]
            scores[rows, :n_seen] = lift.log_lifts(candidates.seen)
            scores[rows, n_seen:] = lift.log_lifts(candidates.others[rows])
        return scores
