"""Binary relevance: one model for each label, as if the others were not there."""

from typing import Any

import numpy as np

from choral._typing import Features, LabelMatrix, RandomState
from choral.decisions import IndependentLabels
from choral.learners.base import MetaClassifier, fit_models, positive_share, predict_class, seeded_clones


class BinaryRelevance(MetaClassifier):
    """One binary classifier for each label.

    Parameters
    ----------
    estimator : classifier, optional
        `PrunedTreeClassifier` unless given. It gets the features as they come, frames included.
    n_jobs : int, optional
        Labels fitted at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of fitted classifiers, one for each label

    See Also
    --------
    LabelPowerset : One classifier of label sets.
    ClassifierChain : Classifiers that see the labels before them.
    sklearn.multioutput.MultiOutputClassifier : The same in scikit-learn.

    Examples
    --------
    >>> from choral.learners import BinaryRelevance
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 1], [1, 1]]
    >>> BinaryRelevance().fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 1]])
    """

    estimators_: list[Any]

    def __init__(self, estimator: Any = None, *, n_jobs: int | None = None, random_state: RandomState = None):
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "BinaryRelevance":
        """Fit a classifier for each label.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        copies = seeded_clones(self.estimator, self.n_labels_, self.random_state)
        self.estimators_ = fit_models(copies, X, list(Y.T), n_jobs=self.n_jobs)
        return self

    def predict(self, X: Features) -> np.ndarray:
        """What each classifier predicts, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return self._to_target(np.stack([predict_class(model, X) for model in self.estimators_], axis=1))

    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return np.stack([positive_share(model, X) for model in self.estimators_], axis=1)

    def predict_distribution(self, X: Features) -> IndependentLabels:
        """Independent labels: all that the models say.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return IndependentLabels(self.predict_proba(X))
