"""Predictive clustering trees: one tree for all labels, whose leaves hold whole label sets."""

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from choral._typing import Features, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.learners.base import MAX_SEED, MultiLabelClassifier
from choral.trees import SortedFeatures, TreeArrays, check_confidence, grow_tree, prune_tree, sort_features


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
        Features drawn at each node, among which the best split is sought; all unless given. As in scikit-learn, a float
        is a share of the features, and features are drawn on until one can be split.
    confidence : float or None
        Of the pruning, as in `PrunedTreeClassifier`, on errors averaged over the labels; None for no pruning.
    random_state : int, RandomState or None
        Of the features that are drawn, and of splits equally good, which one is taken.

    Attributes
    ----------
    tree_ : TreeArrays
    values_ : ndarray of shape (n_nodes, n_labels)
        The share of training rows with each label.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
    weights_ : CSR array of shape (n_nodes, n_labelsets)
        The share of each label set among the training rows of a leaf.

    Warns
    -----
    UserWarning
        Where training rows differ in their labels, but the tree is a single node: then all rows get the same labels,
        often none at all, which Hamming loss may well reward.

    See Also
    --------
    PredictiveClusteringForest : Many such trees.
    JointForest : A forest whose leaves keep label sets.

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

    _takes_missing_features = True

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
        """Grow the tree and prune it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        self._fit_quietly(X, Y)
        if len(self.values_) == 1 and len(self.labelsets_) > 1:
            warn_single_node(
                "the clustering tree is a single node", self.values_[0], pruned=self.confidence is not None
            )
        return self

    def _fit_quietly(self, X: Features, Y: LabelMatrix) -> "PredictiveClusteringTree":
        """Fit without a warning where the tree is a single node."""
        self._check_options()
        X, Y = self._check_training(X, Y)
        labelsets, which = np.unique(Y, axis=0, return_inverse=True)
        return self._fit_sorted(sort_features(X), X, Y, labelsets, which.ravel(), np.ones(len(Y)))

    def _check_options(self) -> None:
        check_confidence(self.confidence)
        check_count("min_samples_leaf", self.min_samples_leaf)
        if self.criterion not in ("entropy", "variance"):
            raise ValueError(f"criterion must be 'entropy' or 'variance'; got {self.criterion!r}.")

    def _fit_sorted(
        self,
        features: SortedFeatures,
        X: Any,
        Y: np.ndarray,
        labelsets: np.ndarray,
        which: np.ndarray,
        times: np.ndarray,
    ) -> "PredictiveClusteringTree":
        """Fit to checked data, each row so many times; ``which`` is the label set of each row."""
        rng = check_random_state(self.random_state)
        grown = grow_tree(
            features,
            Y,
            criterion="entropy" if self.criterion == "entropy" else "gini",
            min_samples_leaf=self.min_samples_leaf,
            weights=times,
            label_weights=None if self.criterion == "entropy" else _inverse_variances(Y, times),
            columns=rng.permutation(features.n_features),
            max_features=count_features(self.max_features, features.n_features),
            seed=rng.randint(MAX_SEED),
        )
        self.tree_, shares, leaves = prune_tree(grown, X, Y, times, confidence=self.confidence)
        self.values_ = shares[..., 1] if shares.shape[2] == 2 else np.zeros(shares.shape[:2])  # 2, or no label anywhere
        drawn = np.flatnonzero(times)
        present, places = np.unique(which[drawn], return_inverse=True)
        self.labelsets_ = labelsets[present]
        self.weights_ = leaf_weights(leaves[drawn], places, times[drawn], (len(shares), present.size))
        return self

    def predict(self, X: Features) -> np.ndarray:
        """The labels of at least half of the training rows of the leaf, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return self._to_target(self.predict_proba(X) >= 0.5)

    def predict_proba(self, X: Features) -> np.ndarray:
        """The share of training rows of the leaf that have each label, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return self.values_[self.tree_.apply(X)]

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The label sets of the training rows of the leaf.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        return LabelDistribution(self.labelsets_, self.weights_[self.tree_.apply(X)])


def warn_single_node(what: str, marginals: np.ndarray, *, pruned: bool) -> None:
    """Tell whoever called what called this that all rows get the same labels."""
    count = int((marginals >= 0.5).sum())
    labels = "no label at all" if count == 0 else "the same label" if count == 1 else f"the same {count} labels"
    advice = " A larger confidence prunes less, None not at all." if pruned else ""
    warnings.warn(f"{what}: it predicts {labels} for every row, whatever its features.{advice}", stacklevel=3)


def count_features(max_features: int | float | str | None, n_features: int) -> int:
    """How many features are drawn at each node, by scikit-learn's rules."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        if max_features not in ("sqrt", "log2"):
            raise ValueError(
                f"max_features must be a number of features, a share of them, 'sqrt', 'log2' or None; "
                f"got {max_features!r}."
            )
        return max(1, int(np.sqrt(n_features) if max_features == "sqrt" else np.log2(n_features)))
    if isinstance(max_features, float):
        if not 0 < max_features <= 1:
            raise ValueError(f"max_features, as a share of the features, must lie in (0, 1]; got {max_features}.")
        return max(1, int(max_features * n_features))
    return min(check_count("max_features", max_features), n_features)


def _inverse_variances(Y: np.ndarray, times: np.ndarray) -> np.ndarray:
    share = times @ Y / times.sum()
    variance = share * (1 - share)
    return 1 / np.where(variance > 0, variance, 1)


def leaf_weights(leaves: np.ndarray, which: np.ndarray, times: np.ndarray, shape: tuple[int, int]) -> Any:
    """The share of each label set among the rows of each leaf."""
    counts = sp.coo_array((times, (leaves, which)), shape=shape).tocsr()
    totals = np.asarray(counts.sum(axis=1)).ravel()
    counts.data /= np.repeat(totals, np.diff(counts.indptr))
    return counts
