"""Probabilistic classifier chains: the joint distribution of the labels by the product rule."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.decisions.label_weights import distinct_rows
from choral.learners.base import positive_share
from choral.learners.classifier_chain import ClassifierChain, append_labels, split_link
from choral.learners.joint import JointClassifier
from choral.overlap import AnyLoss

EXACT_LABELS = 10  # with "auto": 2^10 label sets, no more
BLOCK_ENTRIES = 1 << 22  # features and labels of all paths that are followed at a time


class ProbabilisticClassifierChain(JointClassifier, ClassifierChain):
    r"""A chain whose joint distribution is taken at its word (Dembczyński, Cheng and Hüllermeier 2010).

    .. math:: p(y \mid x) = \prod_i p(y_i \mid x, y_1, \dots, y_{i-1})

    Parameters
    ----------
    estimator : classifier, optional
        With probabilities; `PrunedTreeClassifier` unless given. It gets features and labels as in `ClassifierChain`.
    order : sequence of int, "random" or None
        The order in which labels are predicted: that of the columns of Y unless given.
    inference : {"auto", "exact", "beam", "sampling"}
        Which label sets of a row are followed: all that have a probability, the ``width`` most probable beginnings at
        each label, or ``width`` label sets drawn from the distribution. Auto is exact up to 10 labels and draws beyond.
    width : int
        The width of the beam.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Labels fitted at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    See Also
    --------
    ClassifierChain : Classifiers that see the labels before them.
    ExpectedLossClassifier : Decide for a loss by what another learner says.

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
        order: Sequence[int] | Literal["random"] | None = None,
        inference: Literal["auto", "exact", "beam", "sampling"] = "auto",
        width: int = 100,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.order = order
        self.inference = inference
        self.width = width
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "ProbabilisticClassifierChain":
        """Fit the classifiers, each with the true labels before it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        check_count("width", self.width)
        kinds = ("auto", "exact", "beam", "sampling")
        if self.inference not in kinds:
            raise ValueError(f"inference must be one of {', '.join(map(repr, kinds))}; got {self.inference!r}.")
        self._fit_chain(X, Y)
        return self

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The joint distribution of the labels of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        kind = self.inference
        if kind == "auto":
            kind = "exact" if self.n_labels_ <= EXACT_LABELS else "sampling"
        rng = check_random_state(self.random_state)
        parts = [self._follow(X, rows, kind, rng) for rows in self._blocks(X, kind)]
        rows, labels, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        in_order = np.empty_like(labels)
        in_order[:, self.order_] = labels
        return _distribution(_num_samples(X), rows, in_order, weights)

    def _blocks(self, X: Any, kind: str) -> list[np.ndarray]:
        """Rows taken at a time: each path of a row is a copy of its features."""
        n_rows = _num_samples(X)
        paths = min(2**self.n_labels_, BLOCK_ENTRIES if kind == "exact" else self.width)
        entries = X.nnz // n_rows if sp.issparse(X) else getattr(self, "n_features_in_", 1)
        step = max(1, BLOCK_ENTRIES // (paths * (entries + self.n_labels_)))
        return [np.arange(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]

    def _follow(
        self, X: Any, block: np.ndarray, kind: str, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Paths along the chain: their rows, labels, and weights, be they probabilities or how often each is drawn."""
        weights = np.full(block.size, float(self.width) if kind == "sampling" else 1.0)
        places, labels = np.arange(block.size), np.zeros((block.size, 0), dtype=np.uint8)
        of_block = _safe_indexing(X, block)
        for model in self.estimators_:
            last, features = split_link(model, of_block)
            fed = append_labels(_safe_indexing(features, places), labels, self.order_[: labels.shape[1]])
            share = positive_share(last, fed)
            # Of several draws that are alike so far, a binomial number goes on with the label.
            ones = rng.binomial(weights.astype(np.int64), share) if kind == "sampling" else weights * share
            places, weights = np.tile(places, 2), np.concatenate([weights - ones, ones])
            value = np.repeat(np.array([0, 1], dtype=np.uint8), share.size)[:, np.newaxis]
            labels = np.hstack([np.tile(labels, (2, 1)), value])
            kept = _heaviest(places, weights, self.width) if kind == "beam" else np.flatnonzero(weights)
            places, weights, labels = places[kept], weights[kept], labels[kept]
        return block[places], labels, weights


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
