"""Probabilistic classifier chains: the joint distribution of the labels by the product rule."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.decisions.label_weights import distinct_rows
from choral.learners.base import append_labels, positive_share
from choral.learners.classifier_chain import ClassifierChain

EXACT_LABELS = 10  # with "auto": 2^10 label sets, no more
BLOCK_ENTRIES = 1 << 22  # features and labels of all paths that are followed at a time


class ProbabilisticClassifierChain(ClassifierChain):
    r"""A chain whose joint distribution is taken at its word (Dembczyński, Cheng and Hüllermeier 2010).

    .. math:: p(y \mid x) = \prod_i p(y_i \mid x, y_1, \dots, y_{i-1})

    Parameters
    ----------
    estimator : classifier, optional
        With probabilities; `PrunedTreeClassifier` unless given.
    order : sequence of int, "random" or None
        In which order the labels are predicted; as they come unless given.
    inference : {"auto", "exact", "beam", "sampling"}
        Which label sets of a row are followed: all that have a probability, the ``width`` most probable beginnings at
        each label, or ``width`` label sets drawn from the distribution. Auto is exact up to 10 labels and draws beyond.
    width : int
    n_jobs : int, optional
        Labels fitted at a time, as in joblib.
    random_state : int, RandomState or None

    Examples
    --------
    >>> from choral.learners import ProbabilisticClassifierChain
    >>> X, Y = [[0.0]] * 16, [[0, 1], [1, 0], [1, 0], [1, 0]] * 4
    >>> chain = ProbabilisticClassifierChain().fit(X, Y)
    >>> distribution = chain.predict_distribution([[0.0]])
    >>> distribution.labelsets.tolist(), distribution.probabilities.toarray().tolist()
    ([[1, 0], [0, 1]], [[0.75, 0.25]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        inference: Literal["auto", "exact", "beam", "sampling"] = "auto",
        width: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.order = order
        self.inference = inference
        self.width = width
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> "ProbabilisticClassifierChain":
        """Fit the classifiers, each with the true labels before it."""
        X, Y = self._check_training(X, Y)
        check_count("width", self.width)
        kinds = ("auto", "exact", "beam", "sampling")
        if self.inference not in kinds:
            raise ValueError(f"inference must be one of {', '.join(map(repr, kinds))}; got {self.inference!r}.")
        self._fit_chain(X, Y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label set of each row: the best prediction for the subset 0/1 loss."""
        return self.predict_distribution(X).mode()

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels)."""
        return self.predict_distribution(X).marginals()

    def predict_distribution(self, X: Any) -> LabelDistribution:
        """The joint distribution of the labels of each row."""
        X = self._check_features(X)
        kind = self.inference
        if kind == "auto":
            kind = "exact" if self.n_labels_ <= EXACT_LABELS else "sampling"
        rng = check_random_state(self.random_state)
        parts = [self._follow(X, rows, kind, rng) for rows in self._blocks(X, kind)]
        rows, labels, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        in_order = np.empty_like(labels)
        in_order[:, self.order_] = labels
        return _distribution(X.shape[0], rows, in_order, weights)

    def _blocks(self, X: Any, kind: str) -> list[np.ndarray]:
        """Rows taken at a time: each path of a row is a copy of its features."""
        paths = min(2**self.n_labels_, BLOCK_ENTRIES if kind == "exact" else self.width)
        entries = X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1]
        step = max(1, BLOCK_ENTRIES // (paths * (entries + self.n_labels_)))
        return [np.arange(first, min(first + step, X.shape[0])) for first in range(0, X.shape[0], step)]

    def _follow(
        self, X: Any, rows: np.ndarray, kind: str, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Paths along the chain: their rows, labels, and weights, be they probabilities or how often each is drawn."""
        weights = np.full(rows.size, float(self.width) if kind == "sampling" else 1.0)
        labels = np.zeros((rows.size, 0), dtype=np.uint8)
        for model in self.estimators_:
            share = positive_share(model, append_labels(X[rows], labels))
            # Of several draws that are alike so far, a binomial number goes on with the label.
            ones = rng.binomial(weights.astype(np.int64), share) if kind == "sampling" else weights * share
            rows, weights = np.tile(rows, 2), np.concatenate([weights - ones, ones])
            value = np.repeat(np.array([0, 1], dtype=np.uint8), share.size)[:, np.newaxis]
            labels = np.hstack([np.tile(labels, (2, 1)), value])
            kept = _heaviest(rows, weights, self.width) if kind == "beam" else np.flatnonzero(weights)
            rows, weights, labels = rows[kept], weights[kept], labels[kept]
        return rows, labels, weights


def _heaviest(rows: np.ndarray, weights: np.ndarray, most: int) -> np.ndarray:
    """The paths of each row with the largest weights, at most so many, none without weight."""
    order = np.lexsort((-weights, rows))
    first = np.searchsorted(rows[order], rows[order])
    return order[(np.arange(order.size) - first < most) & (weights[order] > 0)]


def _distribution(n_rows: int, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> LabelDistribution:
    """Weighted label sets of each row, as a distribution over all that occur."""
    labelsets, which = distinct_rows(labels)
    joint = sp.coo_array((weights, (rows, which)), shape=(n_rows, len(labelsets))).tocsr()
    joint.data /= np.repeat(np.asarray(joint.sum(axis=1)).ravel(), np.diff(joint.indptr))
    return LabelDistribution(labelsets, joint)
