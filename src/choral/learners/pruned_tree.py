"""PrunedTreeClassifier: a decision tree with C4.5's pruning, the base learner of the published study."""

from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from choral._saved import SavedState
from choral._typing import Features, RandomState, RowWeights
from choral._validation import check_count
from choral.trees import SortedFeatures, TreeArrays, check_confidence, grow_tree, prune_tree, sort_features


class PrunedTreeClassifier(SavedState, ClassifierMixin, BaseEstimator):
    """A decision tree that is pruned as in C4.5.

    By information gain it is scikit-learn's entropy tree, pruned. As in C4.5 (WEKA's J48): at least two rows a leaf,
    the price that a numeric split pays for being chosen among many, error-based pruning with subtree raising.
    Different: splits are chosen by information gain, not by the gain ratio among those of at least average gain; the
    least number of rows on a side does not grow with the node; nominal features are columns of 0 and 1; thresholds lie
    between two values, not on one; rows without a value are not split into fractions. With ``criterion="gain_ratio"``
    only the last three remain.

    Features may be missing, nan: such rows go to the side of a split where they fit better, as in scikit-learn. Where
    no training row of a node lacked the value, they go with the majority.

    Parameters
    ----------
    criterion : {"entropy", "gain_ratio"}
        Splits by information gain, or by C4.5's gain ratio.
    min_samples_leaf : int
        Counted by weight.
    confidence : float
        In (0, 0.5]: the smaller, the more is pruned. None leaves the tree as it is grown.
    raising : bool
        Whether a large branch may take the place of its parent.
    random_state : int, RandomState or None
        Of splits with the same gain, which one is taken. By the gain ratio it is always the first.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    tree_ : TreeArrays
    values_ : ndarray of shape (n_nodes, n_classes)
        The share of each class in each node.

    See Also
    --------
    BinaryRelevance : One classifier for each label.
    sklearn.tree.DecisionTreeClassifier : Trees that are pruned by cost and complexity.

    Examples
    --------
    >>> from choral.learners import PrunedTreeClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6], [7]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> tree = PrunedTreeClassifier().fit(X, y)
    >>> tree.predict([[1], [6]]), tree.n_leaves_
    (array([0, 1]), 2)
    """

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    tree_: TreeArrays
    values_: np.ndarray

    def __init__(
        self,
        *,
        criterion: Literal["entropy", "gain_ratio"] = "entropy",
        min_samples_leaf: int = 2,
        confidence: float | None = 0.25,
        raising: bool = True,
        random_state: RandomState = 0,
    ):
        self.criterion = criterion
        self.min_samples_leaf = min_samples_leaf
        self.confidence = confidence
        self.raising = raising
        self.random_state = random_state

    def fit(self, X: Features, y: Any, sample_weight: RowWeights | None = None) -> "PrunedTreeClassifier":
        """Grow a tree and prune it.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        y : array-like of shape (n_samples,)
            Classes of the rows.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; all 1 unless given.
        """
        self._check_options()
        X, y = validate_data(self, X, y, accept_sparse="csc", ensure_all_finite="allow-nan")
        check_classification_targets(y)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            if not weights.any():  # later versions of scikit-learn refuse it too
                raise ValueError("Sample weights must contain at least one non-zero number.")
        return self._fit_sorted(sort_features(X), X, y, weights)

    def _check_options(self) -> None:
        check_confidence(self.confidence)
        check_count("min_samples_leaf", self.min_samples_leaf)
        if self.criterion not in ("entropy", "gain_ratio"):
            raise ValueError(f"criterion must be 'entropy' or 'gain_ratio'; got {self.criterion!r}.")

    def _fit_sorted(
        self, features: SortedFeatures, X: Any, y: np.ndarray, weights: np.ndarray | None
    ) -> "PrunedTreeClassifier":
        """Fit to checked data; the tree uses the first of the sorted features, as many as it has been told."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        has_weight = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        present = np.unique(codes[has_weight])
        numbers = np.zeros(self.classes_.size, dtype=np.intp)
        numbers[present] = np.arange(present.size)
        codes = numbers[codes][:, np.newaxis]
        by_gain = self.criterion == "entropy"
        columns = np.arange(self.n_features_in_)
        grown = grow_tree(
            features,
            codes,
            criterion=self.criterion,
            min_samples_leaf=self.min_samples_leaf,
            weights=weights,
            pays=by_gain and self.confidence is not None,
            columns=check_random_state(self.random_state).permutation(columns) if by_gain else columns,
        )
        weights = np.ones(len(y)) if weights is None else weights
        self.tree_, shares, _ = prune_tree(grown, X, codes, weights, confidence=self.confidence, raising=self.raising)
        self.values_ = np.zeros((len(shares), self.classes_.size))  # some classes may have no weight
        self.values_[:, present] = shares[:, 0]
        return self

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        check_is_fitted(self)
        return int(np.count_nonzero(self.tree_.is_leaf))

    def predict_proba(self, X: Features) -> np.ndarray:
        """The share of each class among the training rows of the leaf, of shape (n_samples, n_classes).

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite="allow-nan", reset=False)
        return self.values_[self.tree_.apply(X)]

    def predict(self, X: Features) -> np.ndarray:
        """The most frequent class in the leaf of each row, the first of several.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        most_frequent = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_frequent]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def fit_trees(
    trees: list[PrunedTreeClassifier],
    X: Features,
    targets: list[np.ndarray],
    *,
    n_features: list[int] | None = None,
    n_jobs: int | None = None,
) -> list[PrunedTreeClassifier]:
    """Fit trees to the same rows: features are sorted once, and threads share them.

    Parameters
    ----------
    trees : list of PrunedTreeClassifier
    X : features of all trees
    targets : list of ndarray of shape (n_samples,)
        The classes for each tree.
    n_features : list of int, optional
        How many of the features each tree gets, the first ones; all unless given.
    n_jobs : int, optional
    """
    first = trees[0]
    checked = validate_data(first, X, accept_sparse="csc", ensure_all_finite="allow-nan")
    features, names = sort_features(checked), getattr(first, "feature_names_in_", None)
    for tree, count in zip(trees, n_features or [checked.shape[1]] * len(trees), strict=True):
        tree._check_options()
        tree.n_features_in_ = count
        if names is not None:
            tree.feature_names_in_ = names[:count]
    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(tree._fit_sorted)(features, checked, y, None) for tree, y in zip(trees, targets, strict=True)
    )
