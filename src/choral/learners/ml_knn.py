"""MLkNN: each label by how many of the nearest neighbours have it."""

from typing import Any

import numpy as np
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from choral._typing import Features, LabelMatrix
from choral._validation import check_count
from choral.decisions import IndependentLabels
from choral.learners.base import MultiLabelClassifier
from choral.rows.blocks import row_slices

STEPS = 2.0**40  # squared distances are compared in so many steps: rounding does not tell equal ones apart


class MLkNN(MultiLabelClassifier):
    """Nearest neighbours for each label, with the rule of Bayes (Zhang and Zhou 2007).

    What counts is how many of the nearest training rows have a label. How probable the label is at each of these counts
    is learned from the training rows, each beside its neighbours among the others.

    Parameters
    ----------
    n_neighbors : int
        By Euclidean distance, of equally near rows the first; all other training rows where these are fewer.
    smoothing : float
        Added to each count, so that no probability is 0; 1 is the rule of Laplace.

    Attributes
    ----------
    n_neighbors_ : int
        How many there are.
    priors_ : ndarray of shape (n_labels,)
        How probable each label is.
    posteriors_ : ndarray of shape (n_labels, n_neighbors + 1)
        How probable each label is where 0, 1, ... neighbours have it.

    See Also
    --------
    BinaryRelevance : One classifier for each label.
    JointForest : A forest whose leaves keep label sets.

    Examples
    --------
    >>> from choral.learners import MLkNN
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = MLkNN(n_neighbors=4).fit(X, Y)
    >>> model.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    n_neighbors_: int
    priors_: np.ndarray
    posteriors_: np.ndarray

    def __init__(self, n_neighbors: int = 10, *, smoothing: float = 1.0):
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing

    def fit(self, X: Features, Y: LabelMatrix) -> "MLkNN":
        """Find the neighbours of all training rows, and learn how much they tell.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if not 0 < self.smoothing < np.inf:
            raise ValueError(f"smoothing must be positive and finite; got {self.smoothing}.")
        self.n_neighbors_ = min(check_count("n_neighbors", self.n_neighbors), len(Y) - 1)
        self._rows, self._norms, self._labels = X, row_norms(X, squared=True), Y
        having = self._count_neighbors(X, training=True)
        with_label, without = (_frequencies(having, chosen, self.n_neighbors_) for chosen in (Y == 1, Y == 0))
        totals = np.stack([with_label.sum(axis=1), without.sum(axis=1)])
        self.priors_ = (self.smoothing + totals[0]) / (2 * self.smoothing + len(Y))
        likelihoods = (self.smoothing + np.stack([with_label, without])) / (
            self.smoothing * (self.n_neighbors_ + 1) + totals[..., np.newaxis]
        )
        joint = likelihoods * np.stack([self.priors_, 1 - self.priors_])[..., np.newaxis]
        self.posteriors_ = joint[0] / joint.sum(axis=0)
        return self

    def _count_neighbors(self, X: Any, *, training: bool = False) -> np.ndarray:
        """How many neighbours of each row have each label; no training row is its own neighbour."""
        having = np.zeros((X.shape[0], self.n_labels_), dtype=np.intp)
        for block in row_slices((X.shape[0], len(self._labels)), itemsize=8):
            ranks = self._rank_rows(X[block])
            if training:
                own = np.arange(block.start, block.stop)
                ranks[np.arange(own.size), own] = np.iinfo(np.int64).max
            for nearest in np.argpartition(ranks, self.n_neighbors_ - 1, axis=1)[:, : self.n_neighbors_].T:
                having[block] += self._labels[nearest]
        return having

    def _rank_rows(self, X: Any) -> np.ndarray:
        """A number for each training row beside each row of X: the lower, the nearer; of equals the first has less."""
        # squared distances but for the norm of the row in X, which is the same for all training rows
        squares = self._norms - 2 * safe_sparse_dot(X, self._rows.T, dense_output=True)
        largest = np.abs(squares).max(axis=1, keepdims=True)
        steps = np.rint(squares / np.where(largest > 0, largest, 1) * STEPS).astype(np.int64)
        return steps * len(self._labels) + np.arange(len(self._labels))

    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        having = self._count_neighbors(self._check_features(X))
        return self.posteriors_[np.arange(self.n_labels_), having]

    def predict_distribution(self, X: Features) -> IndependentLabels:
        """Independent labels: all that the neighbours say.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return IndependentLabels(self.predict_proba(X))


def _frequencies(having: np.ndarray, chosen: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Of the chosen rows of each label, how many have 0, 1, ... neighbours with it; (n_labels, n_neighbors + 1)."""
    n_labels, n_counts = having.shape[1], n_neighbors + 1
    places = having + n_counts * np.arange(n_labels)
    return np.bincount(places[chosen], minlength=n_labels * n_counts).reshape(n_labels, n_counts)
