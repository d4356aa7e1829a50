"""Classifier chains: each label sees the features and the labels before it."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from choral._optional import require
from choral._typing import Features, LabelMatrix, RandomState
from choral.learners.base import MetaClassifier, fit_model, fit_models, positive_share, predict_class, seeded_clones
from choral.learners.pruned_tree import PrunedTreeClassifier


class ClassifierChain(MetaClassifier):
    """A chain of binary classifiers, each with the labels before it as further features (Read et al. 2011).

    In training these are the true labels, in prediction those predicted. scikit-learn has a chain too; this one may
    feed scores forward, takes frames, and works with labels of a single class.

    Labels are further columns of the features. In a frame they are named ``label 0``, ``label 1``, ... by their number.
    Where the estimator is a `Pipeline`, its last step alone gets the labels. Its other steps see the features alone, so
    that a `ColumnTransformer` cannot drop the labels as columns that it does not know.

    Parameters
    ----------
    estimator : classifier, optional
        `PrunedTreeClassifier` unless given. It gets the features as they come, and the labels before it.
    order : sequence of int, "random" or None
        The order in which labels are predicted: that of the columns of Y unless given.
    feed : {"hard", "soft"}
        Whether predicted labels or their probabilities are fed forward.
    n_jobs : int, optional
        Labels fitted at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    order_ : ndarray of int
    estimators_ : list of fitted classifiers, in this order

    See Also
    --------
    EnsembleOfChains : Chains that vote.
    ProbabilisticClassifierChain : A chain with its joint distribution.
    sklearn.multioutput.ClassifierChain : The same in scikit-learn.

    Examples
    --------
    >>> from choral.learners import ClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> ClassifierChain().fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    order_: np.ndarray
    estimators_: list[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Sequence[int] | Literal["random"] | None = None,
        feed: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.order = order
        self.feed = feed
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "ClassifierChain":
        """Fit the classifiers, each with the true labels before it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if self.feed not in ("hard", "soft"):
            raise ValueError(f"feed must be 'hard' or 'soft'; got {self.feed!r}.")
        self._fit_chain(X, Y)
        return self

    def _fit_chain(self, X: Any, Y: np.ndarray) -> None:
        copies = seeded_clones(self.estimator, self.n_labels_, self.random_state)
        self.order_ = check_order(self.order, self.n_labels_, check_random_state(self.random_state))
        n_columns = np.shape(X)[1] if np.ndim(X) == 2 else 0
        if type(copies[0]) is PrunedTreeClassifier and n_columns > 0:
            # Trees share the features, sorted once with all labels.
            appended = append_labels(X, Y[:, self.order_], self.order_)
            n_features = [n_columns + place for place in range(self.n_labels_)]
            targets = list(Y[:, self.order_].T)
            self.estimators_ = fit_models(copies, appended, targets, n_features=n_features, n_jobs=self.n_jobs)
            return
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_link)(copy, X, Y, self.order_[:place], Y[:, label])
            for place, (copy, label) in enumerate(zip(copies, self.order_, strict=True))
        )

    def predict(self, X: Features) -> np.ndarray:
        """What each classifier predicts, of shape (n_samples, n_labels); with scores fed, where they exceed 0.5.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        if self.feed == "soft":
            return super().predict(X)
        return self._to_target(self._hard_labels(self._check_features(X)))

    def _hard_labels(self, X: Any) -> np.ndarray:
        labels = np.zeros((_num_samples(X), self.n_labels_), dtype=np.uint8)
        for place, (model, label) in enumerate(zip(self.estimators_, self.order_, strict=True)):
            before, (last, features) = self.order_[:place], split_link(model, X)
            labels[:, label] = predict_class(last, append_labels(features, labels[:, before], before))
        return labels

    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label given those fed forward, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        shares = np.zeros((_num_samples(X), self.n_labels_))
        fed = shares if self.feed == "soft" else self._hard_labels(X)
        for place, (model, label) in enumerate(zip(self.estimators_, self.order_, strict=True)):
            before, (last, features) = self.order_[:place], split_link(model, X)
            shares[:, label] = positive_share(last, append_labels(features, fed[:, before], before))
        return shares


def _fit_link(estimator: Any, X: Any, Y: np.ndarray, before: np.ndarray, y: np.ndarray) -> Any:
    """Fit one classifier of a chain to the features and the labels before it."""
    if np.all(y == y[0]):
        return fit_model(estimator, X, y)  # which needs no features
    if not isinstance(estimator, Pipeline) or len(estimator) == 1:
        return fit_model(estimator, append_labels(X, Y[:, before], before), y)
    first, (name, last) = estimator[:-1], estimator.steps[-1]
    features = first.fit_transform(X, y.astype(np.intp))
    return Pipeline([*first.steps, (name, fit_model(last, append_labels(features, Y[:, before], before), y))])


def split_link(model: Any, X: Any) -> tuple[Any, Any]:
    """The part of a fitted classifier that gets the labels, and the features that it gets."""
    if isinstance(model, DummyClassifier):
        return model, np.zeros((_num_samples(X), 1))  # it looks at none
    if isinstance(model, Pipeline) and len(model) > 1:
        return model[-1], model[:-1].transform(X)
    return model, X


def append_labels(X: Any, labels: np.ndarray, numbers: np.ndarray) -> Any:
    """Labels as further features; sparse matrices stay sparse, and frames stay frames.

    Parameters
    ----------
    X : array, sparse matrix or pandas frame of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples, n_before)
    numbers : ndarray of shape (n_before,)
        Which labels these are, for their names in a frame.
    """
    if not numbers.size:
        return X
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(labels.astype(float))], format="csr")
    if hasattr(X, "iloc"):
        return _append_columns(X, labels, numbers)
    if hasattr(X, "columns"):
        raise TypeError(
            f"A chain appends labels to arrays, sparse matrices and pandas frames; got {type(X).__module__} "
            f"{type(X).__name__}. Convert it first, or give a Pipeline whose transformers take it."
        )
    return np.hstack([X, labels])


def _append_columns(frame: Any, labels: np.ndarray, numbers: np.ndarray) -> Any:
    pandas = require("pandas", "tables")
    columns = pandas.DataFrame(labels, frame.index, _label_names(frame.columns, numbers))
    if all(isinstance(dtype, pandas.SparseDtype) for dtype in frame.dtypes):  # else scikit-learn makes all of it dense
        columns = columns.astype(pandas.SparseDtype(labels.dtype, 0))
    return pandas.concat([frame, columns], axis=1)


def _label_names(columns: Any, numbers: np.ndarray) -> list[Any]:
    """Names of labels that no column of a frame has: strings, or numbers where columns are numbered."""
    if all(isinstance(name, int) for name in columns):
        first = max(columns, default=-1) + 1
        return [first + int(label) for label in numbers]
    prefix = "label"
    while any(f"{prefix} {label}" in columns for label in numbers):
        prefix += "_"
    return [f"{prefix} {label}" for label in numbers]


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
