"""Ensembles of classifier chains: chains in random orders, on rows drawn anew, that vote."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import _safe_indexing, check_random_state

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.learners.base import MAX_SEED, MetaClassifier
from choral.learners.classifier_chain import ClassifierChain


class EnsembleOfChains(MetaClassifier):
    """Classifier chains that vote, each in a random order and on rows drawn with replacement (ECC; Read et al. 2011).

    A chain votes with the labels that it predicts. Its vote is a whole label set: the votes together are a sample of
    the joint distribution.

    Parameters
    ----------
    estimator : classifier, optional
        The base classifier of the chains; `PrunedTreeClassifier` unless given. It gets features and labels as in
        `ClassifierChain`.
    n_estimators : int
        The number of chains.
    n_jobs : int, optional
        Chains fitted at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of ClassifierChain

    See Also
    --------
    ClassifierChain : Classifiers that see the labels before them.
    ProbabilisticClassifierChain : A chain with its joint distribution.

    Examples
    --------
    >>> from choral.learners import EnsembleOfChains
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = EnsembleOfChains(random_state=0).fit(X, Y)
    >>> model.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> model.predict_distribution([[0.2], [2.9]])
    LabelDistribution(2 instances, 2 label sets, 2 labels)
    """

    estimators_: list[ClassifierChain]

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 10,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "EnsembleOfChains":
        """Fit each chain on rows drawn with replacement.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        check_count("n_estimators", self.n_estimators)
        rng = check_random_state(self.random_state)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_chain)(self._new_chain(rng), X, Y, rng.randint(len(Y), size=len(Y)))  # drawn here, in order
            for _ in range(self.n_estimators)
        )
        return self

    def _new_chain(self, rng: np.random.RandomState) -> ClassifierChain:
        return ClassifierChain(self.estimator, order="random", random_state=rng.randint(MAX_SEED))

    def _votes(self, X: Any) -> np.ndarray:
        """The labels that each chain predicts, of shape (n_estimators, n_samples, n_labels)."""
        return np.array([chain.predict(X) for chain in self.estimators_], dtype=np.uint8)

    def predict_proba(self, X: Features) -> np.ndarray:
        """The share of chains that vote for each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return self._votes(self._check_features(X)).mean(axis=0)

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The label sets that the chains predict; all chains have the same weight.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return LabelDistribution.from_samples(self._votes(self._check_features(X)).swapaxes(0, 1))


def _fit_chain(chain: ClassifierChain, X: Any, Y: np.ndarray, rows: np.ndarray) -> ClassifierChain:
    return chain.fit(_safe_indexing(X, rows), Y[rows])
