"""Ensembles of predictive clustering trees."""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.learners.base import MAX_SEED, MultiLabelClassifier
from choral.learners.clustering_tree import PredictiveClusteringTree, warn_single_node
from choral.trees import sort_features


class PredictiveClusteringForest(MultiLabelClassifier):
    """Bagged predictive clustering trees, not pruned; ten of them are the EPCT of the published study.

    With features drawn at each node it is a random forest of clustering trees, known as RFPCT:
    ``PredictiveClusteringForest(100, criterion="variance", max_features="sqrt", min_samples_leaf=1, vote="soft")``.

    The label sets in the leaves give a joint distribution. Small leaves and few trees keep whole label sets together;
    large leaves and many trees average labels apart: both steer between the ends of the losses.

    Parameters
    ----------
    n_estimators : int
        The number of trees.
    criterion : {"entropy", "variance"}
        As in `PredictiveClusteringTree`.
    min_samples_leaf : int
        As in `PredictiveClusteringTree`.
    max_features : int, float, {"sqrt", "log2"} or None
        As in `PredictiveClusteringTree`.
    confidence : float or None
        As in `PredictiveClusteringTree`; None for no pruning.
    vote : {"hard", "soft"}
        Whether each tree votes with the labels of at least half of its leaf, or with their shares there.
    n_jobs : int, optional
        Trees grown at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of PredictiveClusteringTree
    labelsets_ : ndarray of shape (n_labelsets, n_labels)

    See Also
    --------
    PredictiveClusteringTree : One tree for all labels.
    JointForest : A forest whose leaves keep label sets.

    Examples
    --------
    >>> from choral.learners import PredictiveClusteringForest
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> PredictiveClusteringForest(random_state=0).fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    estimators_: list[PredictiveClusteringTree]
    labelsets_: np.ndarray

    _takes_missing_features = True

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        criterion: Literal["entropy", "variance"] = "entropy",
        min_samples_leaf: int = 2,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        confidence: float | None = None,
        vote: Literal["hard", "soft"] = "hard",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.confidence = confidence
        self.vote = vote
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "PredictiveClusteringForest":
        """Fit each tree on rows drawn with replacement.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        check_count("n_estimators", self.n_estimators)
        if self.vote not in ("hard", "soft"):
            raise ValueError(f"vote must be 'hard' or 'soft'; got {self.vote!r}.")
        rng = check_random_state(self.random_state)
        features = sort_features(X)  # once for all trees: rows drawn twice are rows of weight 2
        labelsets, which = np.unique(Y, axis=0, return_inverse=True)
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(self._new_tree(rng)._fit_sorted)(
                features,
                X,
                Y,
                labelsets,
                which.ravel(),
                _draw_rows(len(Y), rng),  # drawn here, in order
            )
            for _ in range(self.n_estimators)
        )
        self.labelsets_ = np.unique(np.concatenate([tree.labelsets_ for tree in self.estimators_]), axis=0)
        if all(len(tree.values_) == 1 for tree in self.estimators_) and len(self.labelsets_) > 1:
            votes = [tree.values_[0] >= 0.5 if self.vote == "hard" else tree.values_[0] for tree in self.estimators_]
            what = "each tree of the forest is a single node"
            warn_single_node(what, np.mean(votes, axis=0), pruned=self.confidence is not None)
        return self

    def _new_tree(self, rng: np.random.RandomState) -> PredictiveClusteringTree:
        tree = PredictiveClusteringTree(
            criterion=self.criterion,
            min_samples_leaf=self.min_samples_leaf,
            max_features=self.max_features,
            confidence=self.confidence,
            random_state=rng.randint(MAX_SEED),
        )
        tree._check_options()
        tree.n_labels_, tree.classes_, tree.n_features_in_ = self.n_labels_, self.classes_, self.n_features_in_
        return tree

    def predict(self, X: Features) -> np.ndarray:
        """The labels with at least half of the votes, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return self._to_target(self.predict_proba(X) >= 0.5)

    def predict_proba(self, X: Features) -> np.ndarray:
        """The mean vote for each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        votes = [tree.predict(X) if self.vote == "hard" else tree.predict_proba(X) for tree in self.estimators_]
        return np.mean(votes, axis=0)

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The label sets in the leaves that a row comes to; all trees have the same weight.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        parts = [tree.predict_distribution(X) for tree in self.estimators_]
        labelsets = np.concatenate([part.labelsets for part in parts])
        return LabelDistribution(labelsets, sp.hstack([part.probabilities for part in parts]) / len(parts))


def _draw_rows(n_rows: int, rng: np.random.RandomState) -> np.ndarray:
    """How often each row is drawn, with replacement."""
    return np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows).astype(float)
