"""Classifier chains: each label sees the features and the labels before it."""

from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from choral.learners.base import (
    MultiLabelClassifier,
    append_labels,
    fit_model,
    positive_share,
    predict_class,
    seeded_clones,
)


class ClassifierChain(MultiLabelClassifier):
    """A chain of binary classifiers, each with the labels before it as further features (Read et al. 2011).

    In training these are the true labels, in prediction those predicted. scikit-learn has a chain too; this one may
    feed scores forward, keeps sparse features sparse, and works with labels of a single class.

    Parameters
    ----------
    estimator : classifier, optional
        `PrunedTreeClassifier` unless given.
    order : sequence of int, "random" or None
        In which order the labels are predicted; as they come unless given.
    feed : {"hard", "soft"}
        Whether predicted labels or their probabilities are fed forward.
    n_jobs : int, optional
        Labels fitted at a time, as in joblib.
    random_state : int, RandomState or None

    Attributes
    ----------
    order_ : ndarray of int
    estimators_ : list of fitted classifiers, in this order

    Examples
    --------
    >>> from choral.learners import ClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> ClassifierChain().fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]], dtype=uint8)
    """

    order_: np.ndarray
    estimators_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        feed: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.order = order
        self.feed = feed
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> "ClassifierChain":
        """Fit the classifiers, each with the true labels before it."""
        X, Y = self._check_training(X, Y)
        if self.feed not in ("hard", "soft"):
            raise ValueError(f"feed must be 'hard' or 'soft'; got {self.feed!r}.")
        self._fit_chain(X, Y)
        return self

    def _fit_chain(self, X: Any, Y: np.ndarray) -> None:
        copies = seeded_clones(self.estimator, self.n_labels_, self.random_state)
        self.order_ = check_order(self.order, self.n_labels_, check_random_state(self.random_state))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_model)(copy, append_labels(X, Y[:, self.order_[:place]]), Y[:, label])
            for place, (copy, label) in enumerate(zip(copies, self.order_, strict=True))
        )

    def predict(self, X: Any) -> np.ndarray:
        """What each classifier predicts, of shape (n_samples, n_labels); with scores fed, where they exceed 0.5."""
        return super().predict(X) if self.feed == "soft" else self._hard_labels(self._check_features(X))

    def _hard_labels(self, X: Any) -> np.ndarray:
        labels = np.zeros((X.shape[0], self.n_labels_), dtype=np.uint8)
        for place, (model, label) in enumerate(zip(self.estimators_, self.order_, strict=True)):
            labels[:, label] = predict_class(model, append_labels(X, labels[:, self.order_[:place]]))
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label given those fed forward, of shape (n_samples, n_labels)."""
        X = self._check_features(X)
        shares = np.zeros((X.shape[0], self.n_labels_))
        fed = shares if self.feed == "soft" else self._hard_labels(X)
        for place, (model, label) in enumerate(zip(self.estimators_, self.order_, strict=True)):
            shares[:, label] = positive_share(model, append_labels(X, fed[:, self.order_[:place]]))
        return shares


def check_order(order: Any, n_labels: int, rng: np.random.RandomState) -> np.ndarray:
    """A permutation of the labels."""
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str):
        if order != "random":
            raise ValueError(f"order must be a permutation of the labels, 'random' or None; got {order!r}.")
        return rng.permutation(n_labels)
    labels = np.asarray(order)
    if labels.shape != (n_labels,) or not np.array_equal(np.sort(labels), np.arange(n_labels)):
        raise ValueError(f"order must be a permutation of 0..{n_labels - 1}, the labels; got {labels.tolist()}.")
    return labels.astype(np.intp)
