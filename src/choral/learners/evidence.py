"""Label sets that a row may have, and what models say of them, in logarithms.

Candidates are all label sets seen in training, and the most probable ones of the others. A model says something of
labels one by one (`MarginalEvidence`), of label sets (`JointEvidence`), or the same whatever the row (`PriorEvidence`).
What a model of label sets says besides its marginals is a `JointLift`.
"""

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from choral.decisions import LabelDistribution
from choral.decisions.base import Distribution
from choral.decisions.words import row_keys
from choral.measures.subsets import members_table

UNCERTAIN_LABELS = 10  # all combinations of the 10 least certain labels of a row are looked at
MAX_OTHERS_PER_ROW = 32  # label sets not seen in training
FLOOR = 1e-4  # no model is surer than this of a label


class Candidates:
    """Label sets that may be true of each of some rows.

    Parameters
    ----------
    seen : ndarray of shape (n_seen, n_labels)
        Label sets of the training data, the same for all rows.
    log_odds : ndarray of shape (n_rows, n_labels)
        Of each label, by which the most probable label sets are found as if labels were independent.
    own : ndarray of shape (n_rows,), optional
        For training rows: the place of their own label set if no other row has it, else -1. Then it does not count as
        seen, as the label set of a new row may be one not seen. It may still be one of the others.

    Attributes
    ----------
    others : ndarray of shape (n_rows, n_others, n_labels)
    is_open : ndarray of bool, of shape (n_rows, n_seen + n_others)
        Which of them count. Not counted are: one of the others that was seen, and the own label set of a row.
    """

    def __init__(self, seen: np.ndarray, log_odds: np.ndarray, own: np.ndarray | None = None):
        self.seen = seen
        self.others = top_labelsets(log_odds, MAX_OTHERS_PER_ROW)
        n_rows, n_others, n_labels = self.others.shape
        places = find_labelsets(self.others.reshape(-1, n_labels), seen).reshape(n_rows, n_others)
        self.is_open = np.ones((n_rows, len(seen) + n_others), dtype=bool)
        self.is_open[:, len(seen) :] = places < 0
        if own is not None:
            alone = np.flatnonzero(own >= 0)
            self.is_open[alone, own[alone]] = False
            self.is_open[alone, len(seen) :] |= places[alone] == own[alone, np.newaxis]

    def labelsets(self, picked: np.ndarray) -> np.ndarray:
        """The label sets at places of shape (n_rows, n_picked), as an array of shape (n_rows, n_picked, n_labels)."""
        n_seen = len(self.seen)
        of_rows = np.take_along_axis(self.others, (picked - n_seen).clip(0)[..., np.newaxis], axis=1)
        return np.where((picked < n_seen)[..., np.newaxis], self.seen[picked.clip(max=n_seen - 1)], of_rows)


def top_labelsets(log_odds: np.ndarray, n_labelsets: int) -> np.ndarray:
    """The most probable label sets of each row if labels were independent, at most ``n_labelsets`` of them.

    A label set costs the log odds of all labels in which it differs from the most probable one. So the best ones differ
    in the least certain labels alone: at most in the ten least certain ones, whatever the number of labels.

    Examples
    --------
    >>> top_labelsets(np.array([[-2.0, 0.5, 3.0]]), 3)[0]
    array([[0, 1, 1],
           [0, 0, 1],
           [1, 1, 1]], dtype=uint8)
    """
    n_rows, n_labels = log_odds.shape
    log_odds = without_last_bits(log_odds)
    n_flips = min(UNCERTAIN_LABELS, n_labels)
    costs = np.abs(log_odds)
    uncertain = np.argsort(costs, axis=1, kind="stable")[:, :n_flips]
    flips = members_table(np.arange(1 << n_flips), n_flips)
    totals = without_last_bits(np.take_along_axis(costs, uncertain, axis=1) @ flips.T.astype(float))
    n_best = min(n_labelsets, totals.shape[1])
    best = cheapest(totals, n_best)
    cheapest_first = np.argsort(np.take_along_axis(totals, best, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(best, cheapest_first, axis=1)
    found = np.repeat((log_odds > 0).astype(np.uint8)[:, np.newaxis], n_best, axis=1)
    rows, places = np.arange(n_rows)[:, np.newaxis, np.newaxis], np.arange(n_best)[:, np.newaxis]
    found[rows, places, uncertain[:, np.newaxis]] ^= flips[best]
    return found


def cheapest(costs: np.ndarray, n_cheapest: int) -> np.ndarray:
    """Places of the least costs of each row, in order of places; of equal costs the first.

    Costs are often equal, as those of label sets are where a model knows nothing of some labels. Which of them
    `np.argpartition` takes depends on the processor, and so would what is learned.

    Examples
    --------
    >>> cheapest(np.array([[3.0, 1.0, 0.5, 0.2, 1.0], [2.0, 2.0, 2.0, 2.0, 1.0]]), 3)
    array([[1, 2, 3],
           [0, 1, 4]])
    """
    n_cheapest = min(n_cheapest, costs.shape[1])
    bound = np.partition(costs, n_cheapest - 1, axis=1)[:, n_cheapest - 1 : n_cheapest]
    below, equal = costs < bound, costs == bound
    taken = below | (equal & (equal.cumsum(axis=1) <= n_cheapest - below.sum(axis=1, keepdims=True)))
    return np.nonzero(taken)[1].reshape(len(costs), n_cheapest)


def without_last_bits(logs: np.ndarray) -> np.ndarray:
    """Logarithms in steps of 1e-9: those that differ by rounding, which depends on the processor, become equal."""
    return logs.round(9)


def find_labelsets(labelsets: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The place of each label set among others that are distinct, -1 where it is not there."""
    keys, known = row_keys(labelsets), row_keys(among)
    order = np.argsort(known)
    places = order[np.searchsorted(known, keys, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places] == keys, places, -1)


class Evidence(Protocol):
    """What a model says of the label sets of each row, up to a constant."""

    log_odds: np.ndarray | None  # of shape (n_rows, n_labels); None if the model knows nothing about single rows

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
        self.product = MarginalEvidence(np.asarray(weights @ labelsets.astype(float)))
        self.log_odds = self.product.log_odds

    def __getitem__(self, rows: Any) -> "JointEvidence":
        return JointEvidence(self.labelsets, self.weights[rows], self.smoothing)

    def scores(self, candidates: Candidates) -> np.ndarray:
        return self.smoothed(candidates, self.product.scores(candidates))

    def smoothed(self, candidates: Candidates, product: np.ndarray) -> np.ndarray:
        """Logarithms, mixed with those of the product of marginals."""
        n_seen, (n_rows, n_others, n_labels) = len(candidates.seen), candidates.others.shape
        weights = self.weights.toarray() if sp.issparse(self.weights) else self.weights
        of_candidates = np.zeros((n_rows, n_seen + n_others))
        places = find_labelsets(candidates.seen, self.labelsets)
        of_candidates[:, :n_seen][:, places >= 0] = weights[:, places[places >= 0]]
        places = find_labelsets(candidates.others.reshape(-1, n_labels), self.labelsets).reshape(n_rows, n_others)
        known = np.take_along_axis(weights, places.clip(0), axis=1)
        of_candidates[:, n_seen:] = np.where(places >= 0, known, 0)
        return np.logaddexp(_log((1 - self.smoothing) * of_candidates), np.log(self.smoothing) + product)


class JointLift:
    """How much more probable a model finds label sets than if labels were independent, with its marginals.

    It is mixed with 1, the lift of independent labels, so that no label set is impossible. Apart from the marginals, a
    pool can trust the one more than the other.
    """

    log_odds: np.ndarray | None = None

    def __init__(self, labelsets: np.ndarray, weights: Any, smoothing: float):
        self._joint = JointEvidence(labelsets, weights, smoothing)

    def __getitem__(self, rows: Any) -> "JointLift":
        return JointLift(self._joint.labelsets, self._joint.weights[rows], self._joint.smoothing)

    def scores(self, candidates: Candidates) -> np.ndarray:
        product = self._joint.product.scores(candidates)
        return self._joint.smoothed(candidates, product) - product


class PriorEvidence:
    """How much more frequent label sets are in training than if labels were independent, whatever the row.

    For a training row both frequencies, of the label set and of its labels, are those of all other rows: what would
    have been counted without it. So a label set that only this row has is as good as never seen. Counts of other
    folds would be as honest, but of fewer rows than there are when the learner predicts.

    Parameters
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        Those of the training data.
    counts : ndarray of shape (n_labelsets,)
    own : ndarray of shape (n_rows,)
        Which of them a training row has, to be left out of the counts; -1 for a new row.
    """

    log_odds: np.ndarray | None = None
    smoothing = 0.3

    def __init__(self, labelsets: np.ndarray, counts: np.ndarray, own: np.ndarray):
        self.labelsets, self.counts, self.own = labelsets, counts, own

    def __getitem__(self, rows: Any) -> "PriorEvidence":
        return PriorEvidence(self.labelsets, self.counts, self.own[rows])

    def scores(self, candidates: Candidates) -> np.ndarray:
        distinct, which = np.unique(self.own, return_inverse=True)  # rows with the same one have the same lifts
        trained = np.flatnonzero(distinct >= 0)
        counts = np.tile(self.counts.astype(float), (len(distinct), 1))
        counts[trained, distinct[trained]] -= 1
        of_labels = np.tile(self.counts @ self.labelsets.astype(float), (len(distinct), 1))
        of_labels[trained] -= self.labelsets[distinct[trained]]
        total = counts.sum(axis=1, keepdims=True).clip(1)  # the only row there is knows of no other
        marginals = (of_labels / total).clip(1 / (total + 1), total / (total + 1))
        places = find_labelsets(candidates.seen, self.labelsets)
        frequencies = np.where(places >= 0, counts[:, places], 0) / total
        log_odds = np.log(marginals) - np.log1p(-marginals)
        # The product itself underflows for many labels: we keep its logarithm.
        log_product = log_odds @ candidates.seen.T.astype(float) + np.log1p(-marginals).sum(axis=1, keepdims=True)
        lifts = np.logaddexp(_log((1 - self.smoothing) * frequencies) - log_product, np.log(self.smoothing))
        others = np.full((len(self.own), candidates.others.shape[1]), np.log(self.smoothing))
        return np.hstack([lifts[which.ravel()], others])


def evidence_of(distribution: Distribution, smoothing: float) -> Evidence:
    """What a distribution says of candidates; only one of label sets needs smoothing."""
    if isinstance(distribution, LabelDistribution):
        return JointEvidence(distribution.labelsets, distribution.weights, smoothing)
    return MarginalEvidence(distribution.marginals())


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(values)
