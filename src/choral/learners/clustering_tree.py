"""Predictive clustering trees: one tree for all labels, whose leaves hold whole label sets."""

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.learners.base import MultiLabelClassifier
from choral.trees import TreeArrays, check_confidence, prune_tree, to_tree_features


class PredictiveClusteringTree(MultiLabelClassifier):
    """One decision tree for all labels, split by what it tells about them on average (Blockeel et al. 1998; CLUS).

    Parameters
    ----------
    criterion : {"entropy", "variance"}
        Entropy summed over the labels, or variance, each label's divided by its variance in training. The paper
        describes these trees by variance; the runs that were published with it split by entropy, the default of CLUS.
    min_samples_leaf : int
        Small leaves hold few label sets and so capture more dependence.
    max_features : int, float, {"sqrt", "log2"} or None
        Features drawn at each node, among which the best split is sought, as in scikit-learn's trees; all unless given.
    confidence : float or None
        Of the pruning, as in `PrunedTreeClassifier`, on errors averaged over the labels; None for no pruning.
    random_state : int, RandomState or None
        Of the features that are drawn, and of splits equally good, which one is taken.

    Warns
    -----
    UserWarning
        Where training rows differ in their labels, but the tree is a single node: then all rows get the same labels,
        often none at all, which Hamming loss may well reward.

    Attributes
    ----------
    tree_ : TreeArrays
    values_ : ndarray of shape (n_nodes, n_labels)
        The share of training rows with each label.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
    weights_ : CSR array of shape (n_nodes, n_labelsets)
        The share of each label set among the training rows of a leaf.

    Examples
    --------
    >>> from choral.learners import PredictiveClusteringTree
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 3, [[0, 1], [0, 1], [1, 0], [1, 0]] * 3
    >>> PredictiveClusteringTree().fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    tree_: TreeArrays
    values_: np.ndarray
    labelsets_: np.ndarray
    weights_: Any

    def __init__(
        self,
        *,
        criterion: Literal["entropy", "variance"] = "entropy",
        min_samples_leaf: int = 2,
        max_features: int | float | Literal["sqrt", "log2"] | None = None,
        confidence: float | None = 0.25,
        random_state: RandomState = 0,
    ):
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.confidence = confidence
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "PredictiveClusteringTree":
        """Grow the tree and prune it."""
        self._fit_quietly(X, Y)
        if len(self.values_) == 1 and len(self.labelsets_) > 1:
            warn_single_node(
                "the clustering tree is a single node", self.values_[0], pruned=self.confidence is not None
            )
        return self

    def _fit_quietly(self, X: Features, Y: LabelMatrix) -> "PredictiveClusteringTree":
        """Fit without a warning where the tree is a single node: in a forest, one of many trees may be."""
        check_confidence(self.confidence)
        if self.criterion not in ("entropy", "variance"):
            raise ValueError(f"criterion must be 'entropy' or 'variance'; got {self.criterion!r}.")
        X, Y = self._check_training(X, Y)
        X = to_tree_features(X)
        self.tree_, values = prune_tree(self._grow(X, Y), X, Y, np.ones(len(Y)), confidence=self.confidence)
        self.values_ = values[..., 1] if values.shape[2] == 2 else np.zeros(values.shape[:2])  # 2, or no label anywhere
        self.labelsets_, which = np.unique(Y, axis=0, return_inverse=True)
        self.weights_ = leaf_weights(self.tree_.apply(X), which.ravel(), (len(self.values_), len(self.labelsets_)))
        return self

    def _grow(self, X: Any, Y: np.ndarray) -> Any:
        least = check_count("min_samples_leaf", self.min_samples_leaf)
        options = {
            "min_samples_leaf": least,
            "max_features": self.max_features,
            "random_state": self.random_state,
        }
        if self.criterion == "entropy":
            return DecisionTreeClassifier(criterion="entropy", **options).fit(X, Y).tree_
        spread = Y.std(axis=0)
        return DecisionTreeRegressor(**options).fit(X, Y / np.where(spread > 0, spread, 1)).tree_

    def predict(self, X: Features) -> np.ndarray:
        """The labels of at least half of the training rows of the leaf, of shape (n_samples, n_labels)."""
        return self._to_target(self.predict_proba(X) >= 0.5)

    def predict_proba(self, X: Features) -> np.ndarray:
        """The share of training rows of the leaf that have each label, of shape (n_samples, n_labels)."""
        X = self._check_features(X)
        return self.values_[self.tree_.apply(X)]

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The label sets of the training rows of the leaf."""
        X = self._check_features(X)
        return LabelDistribution(self.labelsets_, self.weights_[self.tree_.apply(X)])


def warn_single_node(what: str, marginals: np.ndarray, *, pruned: bool) -> None:
    """Tell whoever called what called this that all rows get the same labels."""
    count = int((marginals >= 0.5).sum())
    labels = "no label at all" if count == 0 else "the same label" if count == 1 else f"the same {count} labels"
    advice = " A larger confidence prunes less, None not at all." if pruned else ""
    warnings.warn(f"{what}: it predicts {labels} for every row, whatever its features.{advice}", stacklevel=3)


def leaf_weights(leaves: np.ndarray, which: np.ndarray, shape: tuple[int, int]) -> Any:
    """The share of each label set among the rows of each leaf."""
    counts = sp.coo_array((np.ones(leaves.size), (leaves, which)), shape=shape).tocsr()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    counts.data /= np.repeat(totals, np.diff(counts.indptr))
    return counts
