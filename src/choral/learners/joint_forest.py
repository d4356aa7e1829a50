"""Forests that keep the training label sets in their leaves."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state

from choral._typing import RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.learners.base import MAX_SEED
from choral.learners.pooled import PooledJoint
from choral.overlap import AnyLoss

MAX_CLASSES = 100  # label sets that trees are grown for, at most half as many as rows; rarer ones join the nearest
MAX_DENSE_ENTRIES = 1 << 25  # 128 MiB; smaller sparse matrices become dense, on which trees grow faster


class JointForest(PooledJoint):
    r"""A forest whose leaves keep the training label sets: a joint distribution for every row.

    A new row comes to one leaf of each tree. The weight of a training row for it is its share in these leaves, averaged
    over trees, as in quantile regression forests (Meinshausen 2006). The label set of the training row gets this
    weight. With weights :math:`w(y \mid x)` and their marginals :math:`m_i`,

    .. math:: p(y \mid x) \propto \Big[ (1 - \delta) \, w(y \mid x)
        + \delta \prod_i m_i^{y_i} (1 - m_i)^{1 - y_i} \Big]^b,

    so that label sets never seen are possible, and the distribution is as sharp as it should be. Both numbers are
    chosen by the out-of-bag score for all binomial losses together (see `choral.learners.pooling`).

    Parameters
    ----------
    n_estimators : int
        Trees, extremely randomised (Geurts, Ernst and Wehenkel 2006) on rows drawn with replacement.
    target : {"labels", "labelsets"}
        What trees are grown for: all labels at once, or the most frequent label sets as classes.
    max_features : float, int or str
        Features tried at each split, as in scikit-learn.
    min_samples_leaf : int
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Trees at a time, as in joblib.
    random_state : int, RandomState or None

    Attributes
    ----------
    forest_ : the fitted forest of scikit-learn
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The label sets seen in training.
    oob_distribution_ : LabelDistribution
        Of each training row, by the trees that have not seen it, without smoothing.
    pool_, smoothings_ : exponent and smoothing

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> from choral.learners import JointForest
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = JointForest(50, random_state=0).fit(X, Y)
    >>> model.predict([[0.2], [2.9]], measure=BinomialMeasure(2))
    array([[0, 1],
           [1, 0]])
    """

    forest_: ExtraTreesClassifier
    labelsets_: np.ndarray
    oob_distribution_: LabelDistribution

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        target: Literal["labels", "labelsets"] = "labels",
        max_features: float | int | str | None = 0.2,
        min_samples_leaf: int = 1,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_estimators = n_estimators
        self.target = target
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> list[LabelDistribution]:
        """Grow the trees; what those say of a row that have not seen it."""
        n_estimators = check_count("n_estimators", self.n_estimators)
        if self.target not in ("labels", "labelsets"):
            raise ValueError(f"target must be 'labels' or 'labelsets'; got {self.target!r}.")
        self.labelsets_, which = np.unique(Y, axis=0, return_inverse=True)
        which = which.ravel()
        target = Y if self.target == "labels" else _classes(self.labelsets_, which)
        self.forest_ = ExtraTreesClassifier(
            n_estimators,
            bootstrap=True,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            random_state=check_random_state(self.random_state).randint(MAX_SEED),
        )
        self.forest_.fit(_for_trees(X), target.ravel() if Y.shape[1] == 1 else target)
        self._keep_labelsets(self._leaves(X), which)
        return [self.oob_distribution_]

    def _leaves(self, X: Any) -> np.ndarray:
        """The leaf of each row in each tree, numbered through all trees; of shape (n_samples, n_estimators)."""
        n_nodes = [tree.tree_.node_count for tree in self.forest_.estimators_]
        return self.forest_.apply(_for_trees(X)) + np.cumsum([0, *n_nodes[:-1]])

    def _keep_labelsets(self, leaves: np.ndarray, which: np.ndarray) -> None:
        """The shares of label sets in all leaves, and what trees say of rows they have not seen."""
        n_rows = len(leaves)
        n_leaves = sum(tree.tree_.node_count for tree in self.forest_.estimators_)
        drawn = np.stack([np.bincount(rows, minlength=n_rows) for rows in self.forest_.estimators_samples_], axis=1)
        rows, trees = np.nonzero(drawn)
        counts = sp.coo_array(
            (drawn[rows, trees].astype(float), (leaves[rows, trees], which[rows])),
            shape=(n_leaves, len(self.labelsets_)),
        ).tocsr()
        self._shares = _rows_to_one(counts)
        rows, trees = np.nonzero(drawn == 0)
        visits = sp.csr_array((np.ones(rows.size), (rows, leaves[rows, trees])), shape=(n_rows, n_leaves))
        weights = (visits @ self._shares).tolil()
        # With a few trees, some rows are never left out: all we know of them is how often label sets occur elsewhere.
        never_left_out = np.flatnonzero((drawn > 0).all(axis=1))
        if never_left_out.size:
            elsewhere = np.tile(np.bincount(which).astype(float), (never_left_out.size, 1))
            elsewhere[np.arange(never_left_out.size), which[never_left_out]] -= n_rows > 1
            weights[never_left_out] = elsewhere
        self.oob_distribution_ = LabelDistribution(self.labelsets_, _rows_to_one(weights.tocsr()))

    def views(self, X: Any) -> list[LabelDistribution]:
        """The label sets in the leaves that a row comes to; all trees have the same weight."""
        leaves = self._leaves(X)
        rows = np.repeat(np.arange(leaves.shape[0]), leaves.shape[1])
        visits = sp.csr_array((np.ones(rows.size), (rows, leaves.ravel())), shape=(len(leaves), self._shares.shape[0]))
        return [LabelDistribution(self.labelsets_, _rows_to_one(visits @ self._shares))]


def _for_trees(X: Any) -> Any:
    """Features as scikit-learn's trees take them: in single precision, and dense if that is small."""
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    values = X.data if sp.issparse(X) else X
    np.nan_to_num(values, copy=False)  # infinite ones become the largest number, on the same side of every threshold
    return X.toarray() if sp.issparse(X) and X.shape[0] * X.shape[1] <= MAX_DENSE_ENTRIES else X


def _classes(labelsets: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The label set of each row as a class; rare label sets count as the nearest of the frequent ones."""
    counts = np.bincount(which)
    frequent = np.argsort(-counts, kind="stable")[: min(MAX_CLASSES, max(1, which.size // 2))]
    ones = labelsets.astype(float)
    distances = ones.sum(axis=1)[:, np.newaxis] + ones[frequent].sum(axis=1) - 2 * ones @ ones[frequent].T
    return frequent[distances.argmin(axis=1)][which]  # the first of the nearest: the most frequent


def _rows_to_one(weights: Any) -> Any:
    """Rows of a sparse matrix scaled to sum to 1, those without an entry left as they are."""
    weights = sp.csr_array(weights)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(sums, np.diff(weights.indptr))
    return weights
