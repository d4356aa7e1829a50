"""What models say of candidate label sets, in logarithms: one by one, as label sets, or whatever the row."""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from choral.decisions import LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.candidates import Candidates, find_labelsets

FLOOR = 1e-4  # no model is surer than this of a label


class Evidence(Protocol):
    """What a model says of the label sets of each row, up to a constant."""

    log_odds: np.ndarray | None  # of each label, (n_rows, n_labels), where it knows them

    def __getitem__(self, rows: Any, /) -> "Evidence":
        """The same of some rows."""

    def scores(self, candidates: Candidates) -> np.ndarray:
        """Logarithms, of shape (n_rows, n_seen + n_others)."""


class MarginalEvidence:
    """A model of each label by itself: the product of its probabilities."""

    log_odds: np.ndarray | None

    def __init__(self, marginals: np.ndarray):
        self.marginals = marginals.clip(FLOOR, 1 - FLOOR)
        self.log_odds = self._log_odds = np.log(self.marginals) - np.log1p(-self.marginals)

    def __getitem__(self, rows: Any) -> "MarginalEvidence":
        return MarginalEvidence(self.marginals[rows])

    def scores(self, candidates: Candidates) -> np.ndarray:
        seen = self._log_odds @ candidates.seen.T.astype(float)
        others = np.matmul(candidates.others.astype(float), self._log_odds[:, :, np.newaxis])[..., 0]
        return np.hstack([seen, others]) + np.log1p(-self.marginals).sum(axis=1, keepdims=True)


class JointEvidence:
    """A model of label sets, mixed with the product of its marginals so that no label set is impossible."""

    log_odds: np.ndarray | None

    def __init__(self, labelsets: np.ndarray, weights: Any, smoothing: float):
        self.labelsets, self.weights, self.smoothing = labelsets, weights, smoothing
        self._product = MarginalEvidence(np.asarray(weights @ labelsets.astype(float)))
        self.log_odds = self._product.log_odds

    def __getitem__(self, rows: Any) -> "JointEvidence":
        return JointEvidence(self.labelsets, self.weights[rows], self.smoothing)

    def scores(self, candidates: Candidates) -> np.ndarray:
        n_seen, (n_rows, n_others, n_labels) = len(candidates.seen), candidates.others.shape
        weights = self.weights.toarray() if sp.issparse(self.weights) else self.weights
        of_candidates = np.zeros((n_rows, n_seen + n_others))
        places = find_labelsets(candidates.seen, self.labelsets)
        of_candidates[:, :n_seen][:, places >= 0] = weights[:, places[places >= 0]]
        places = find_labelsets(candidates.others.reshape(-1, n_labels), self.labelsets).reshape(n_rows, n_others)
        known = np.take_along_axis(weights, places.clip(0), axis=1)
        of_candidates[:, n_seen:] = np.where(places >= 0, known, 0)
        product = self._product.scores(candidates)
        return np.logaddexp(_log((1 - self.smoothing) * of_candidates), np.log(self.smoothing) + product)


class PriorEvidence:
    """How much more frequent label sets are in training than if labels were independent, whatever the row.

    Parameters
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        Those of the training data.
    counts : ndarray of shape (n_labelsets,)
    own : ndarray of shape (n_rows,)
        Which of them a training row has, to be left out of the count; -1 for a new row.
    """

    log_odds: np.ndarray | None = None  # it knows nothing about a row
    smoothing = 0.3

    def __init__(self, labelsets: np.ndarray, counts: np.ndarray, own: np.ndarray):
        self.labelsets, self.counts, self.own = labelsets, counts, own
        total = counts.sum()
        self._marginals = ((counts @ labelsets) / total).clip(1 / (total + 1), total / (total + 1))

    def __getitem__(self, rows: Any) -> "PriorEvidence":
        return PriorEvidence(self.labelsets, self.counts, self.own[rows])

    def scores(self, candidates: Candidates) -> np.ndarray:
        counts = np.tile(self.counts.astype(float), (len(self.own), 1))
        trained = np.flatnonzero(self.own >= 0)
        counts[trained, self.own[trained]] -= 1
        places = find_labelsets(candidates.seen, self.labelsets)
        frequencies = np.where(places >= 0, counts[:, places], 0) / self.counts.sum()
        log_odds = np.log(self._marginals) - np.log1p(-self._marginals)
        log_product = candidates.seen @ log_odds + np.log1p(-self._marginals).sum()  # too small to be no logarithm
        lifts = np.logaddexp(_log((1 - self.smoothing) * frequencies) - log_product, np.log(self.smoothing))
        others = np.full((len(self.own), candidates.others.shape[1]), np.log(self.smoothing))
        return np.hstack([lifts, others])


def evidence_of(distribution: Distribution, smoothing: float) -> Evidence:
    """What a distribution says of candidates; only one of label sets needs smoothing."""
    if isinstance(distribution, LabelDistribution):
        return JointEvidence(distribution.labelsets, distribution.weights, smoothing)
    return MarginalEvidence(distribution.marginals())


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values)
