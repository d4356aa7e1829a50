"""Predictions that look at no feature: the baseline that Hamming loss may make look good."""

from typing import Literal

import numpy as np

from choral._typing import Features, LabelMatrix
from choral.decisions import LabelDistribution
from choral.learners.base import MultiLabelClassifier


class ConstantLabels(MultiLabelClassifier):
    """The same labels for every row.

    Parameters
    ----------
    strategy : {"irrelevant", "most_frequent"}
        No label at all, or the label set that is most frequent in training.

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        What is predicted.

    See Also
    --------
    BinaryRelevance : One classifier for each label.

    Examples
    --------
    >>> from choral.learners import ConstantLabels
    >>> Y = [[0, 1], [0, 1], [1, 1]]
    >>> ConstantLabels("most_frequent").fit([[0], [1], [2]], Y).predict([[5]])
    array([[0, 1]])
    """

    labels_: np.ndarray
    distribution_: LabelDistribution

    def __init__(self, strategy: Literal["irrelevant", "most_frequent"] = "irrelevant"):
        self.strategy = strategy

    def fit(self, X: Features, Y: LabelMatrix) -> "ConstantLabels":
        """See which label sets there are.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if self.strategy not in ("irrelevant", "most_frequent"):
            raise ValueError(f"strategy must be 'irrelevant' or 'most_frequent'; got {self.strategy!r}.")
        self.distribution_ = LabelDistribution.from_samples(Y)
        most_frequent = self.distribution_.mode()[0]
        self.labels_ = most_frequent if self.strategy == "most_frequent" else np.zeros_like(most_frequent)
        return self

    def predict(self, X: Features) -> np.ndarray:
        """The same labels for every row, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        n_rows = self._check_features(X).shape[0]
        return self._to_target(np.tile(self.labels_, (n_rows, 1)))

    def predict_proba(self, X: Features) -> np.ndarray:
        """How frequent each label is in training, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        n_rows = self._check_features(X).shape[0]
        return np.tile(self.distribution_.marginals(), (n_rows, 1))

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The label sets of training, for every row alike.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        n_rows = self._check_features(X).shape[0]
        return LabelDistribution(self.distribution_.labelsets, np.tile(self.distribution_.probabilities, (n_rows, 1)))
