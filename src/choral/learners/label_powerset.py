"""Label powerset: whole label sets as the classes of one model."""

import warnings
from typing import Any

import numpy as np

from choral._typing import Features, LabelMatrix, RandomState
from choral.decisions import LabelDistribution
from choral.learners.base import MetaClassifier, class_shares, fit_model, predict_class, seeded_clones

MANY_CLASSES = "The number of unique classes is greater than 50% of the number of samples"  # scikit-learn's words


class LabelPowerset(MetaClassifier):
    """Predict whole label sets with one multi-class classifier.

    Only label sets seen in training are ever predicted.

    Parameters
    ----------
    estimator : classifier, optional
        `PrunedTreeClassifier` unless given. It gets the features as they come, frames included.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The label sets seen in training.
    estimator_ : the fitted classifier; its classes are rows of ``labelsets_``

    See Also
    --------
    BinaryRelevance : One classifier for each label.
    RandomKLabelsets : Label powersets on some labels, which vote.

    Examples
    --------
    >>> from choral.learners import LabelPowerset
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> model = LabelPowerset().fit(X, Y)
    >>> model.predict([[0.2], [2.9]]).tolist(), model.predict_distribution([[0.2]])
    ([[0, 1], [1, 0]], LabelDistribution(1 instance, 2 label sets, 2 labels))
    """

    labelsets_: np.ndarray
    estimator_: Any

    def __init__(self, estimator: Any = None, *, random_state: RandomState = None):
        self.estimator = estimator
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "LabelPowerset":
        """Fit a classifier of label sets.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        which = self._find_labelsets(Y)
        (copy,) = seeded_clones(self.estimator, 1, self.random_state)
        with warnings.catch_warnings():  # label sets may well be as many as rows
            warnings.filterwarnings("ignore", MANY_CLASSES, UserWarning)
            self.estimator_ = fit_model(copy, X, which)
        return self

    def _find_labelsets(self, Y: np.ndarray) -> np.ndarray:
        """The number of the label set of each row."""
        self.labelsets_, which = np.unique(Y, axis=0, return_inverse=True)
        return which.ravel()

    def predict(self, X: Features) -> np.ndarray:
        """The label set that the classifier predicts, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return self._to_target(self.labelsets_[predict_class(self.estimator_, X)])

    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return self.predict_distribution(X).marginals()

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The probabilities of the label sets seen in training.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return LabelDistribution(self.labelsets_[self.estimator_.classes_], class_shares(self.estimator_, X))
