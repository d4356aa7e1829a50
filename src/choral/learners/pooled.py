"""What learners share whose joint distribution is a pool of models, one or several."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from choral.decisions import LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.evidence import Evidence, evidence_of
from choral.learners.joint import JointClassifier
from choral.learners.pooling import Pool, best_score, fit_pool

SMOOTHINGS = (0.02, 0.05, 0.1, 0.2, 0.4)
MOST_ROWS = 5000  # to learn a handful of numbers from


class PooledJoint(JointClassifier):
    """Parent of learners that multiply what models say of label sets.

    Attributes
    ----------
    pool_ : Pool
    smoothings_ : list of float
        How much of the product of its marginals is mixed into each model of label sets.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The label sets seen in training.
    counts_ : ndarray of shape (n_labelsets,)
        In how many rows.
    """

    labelsets_: np.ndarray
    counts_: np.ndarray
    pool_: Pool
    smoothings_: list[float]

    def fit(self, X: Any, Y: Any) -> "PooledJoint":
        """Fit the models, then smoothing and exponents on what they say of rows that they were not fitted on."""
        X, Y = self._check_training(X, Y)
        self._is_dense = not sp.issparse(X)
        self._fit_pool(self.fit_views(_narrow(X), Y), Y)
        return self

    def fit_views(self, X: Any, Y: np.ndarray) -> Sequence[Distribution]:
        """Fit the models to checked data; what each says of the training rows, not fitted on the row in question."""
        raise NotImplementedError

    def views(self, X: Any) -> Sequence[Distribution]:
        """What each model says of checked rows."""
        raise NotImplementedError

    def _fit_pool(self, views: Sequence[Distribution], Y: np.ndarray) -> None:
        """Learn smoothing and exponents from what models say of training rows that they were not fitted on."""
        rng = check_random_state(self.random_state)
        rows = np.sort(rng.permutation(len(Y))[:MOST_ROWS])
        self.labelsets_, which, self.counts_ = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
        self.smoothings_ = [_best_smoothing(view, Y, rows) for view in views]
        self.pool_ = fit_pool(self._evidence(views, which.ravel()), Y, rows)

    def _evidence(self, views: Sequence[Distribution], own: np.ndarray) -> list[Evidence]:
        """What the models say; ``own`` is which label set a training row has, -1 for a new row."""
        return [evidence_of(view, share) for view, share in zip(views, self.smoothings_, strict=True)]

    def predict_distribution(self, X: Any) -> LabelDistribution:
        """The joint distribution of the labels of each row, over label sets seen in training and probable others."""
        X = _narrow(self._check_features(X))
        if self._is_dense and sp.issparse(X):
            X = X.toarray()  # some models take nothing else then
        new = np.full(X.shape[0], -1)
        return self.pool_.distribution(self._evidence(self.views(X), new), len(new))


def _narrow(X: Any) -> Any:
    """Sparse features with indices of 32 bits where these do: many models of scikit-learn refuse wider ones."""
    if not sp.issparse(X) or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    places = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
    return sp.csr_array((X.data, *places), shape=X.shape)


def _best_smoothing(view: Distribution, Y: np.ndarray, rows: np.ndarray) -> float:
    """How much of the product of its marginals makes a model of label sets best by itself."""
    if not isinstance(view, LabelDistribution):
        return 0.0
    return max(SMOOTHINGS, key=lambda share: best_score([evidence_of(view, share)], Y, rows))
