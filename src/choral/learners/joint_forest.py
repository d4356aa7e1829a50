"""Forests that keep the training label sets in their leaves."""

import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from sklearn.utils import check_random_state

from choral._typing import RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import MAX_SEED
from choral.learners.pooled import PooledJoint
from choral.overlap import AnyLoss
from choral.trees import PackedTree, columns_in_use, dense_if_small, for_trees, narrow, to_tree_features

MAX_TREE_ROWS = 6_000  # drawn for one tree: more rows cost no more time to grow it and no more memory to keep it
MAX_CLASSES = 50  # label sets that trees are grown for, at most a quarter as many as rows; others join the nearest
MAX_OUTPUTS = 24  # labels by which a split is judged; more are projected to
N_PROJECTIONS = 8  # random directions, others for each tree
PROJECTION_STEPS = 64  # directions are whole numbers, this many to a standard deviation: so sums of targets are exact
BATCH_SIZE = 10  # trees grown in one task
TRIAL_BATCHES = 3  # grown with each setting, to choose one
# Options of trees, to choose from by out-of-bag rows: small leaves, larger ones, more features, and the best thresholds
SETTINGS: dict[str, tuple[Any, ...]] = {
    "max_features": (0.2, 0.2, 100, "sqrt"),
    "min_samples_leaf": (1, 3, 5, 3),
    "splitter": ("random", "random", "random", "best"),
}
TARGETS = {"labels": ("labels",), "labelsets": ("labelsets",), "both": ("labels", "labelsets")}


class LabelsetTree(NamedTuple):
    """A tree and the training label sets in its leaves, leaf by leaf."""

    tree: PackedTree
    sizes: np.ndarray  # (n_leaves,) the number of different label sets in each leaf
    labelsets: np.ndarray  # (sum of sizes,) which ones
    counts: np.ndarray  # how often each was drawn there


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
        Trees, on rows drawn with replacement, at most 6,000 for each tree.
    target : {"both", "labels", "labelsets"}
        What trees are grown for: all labels at once, the 50 most frequent label sets as classes (rarer ones count as
        the nearest of them), or in turn one tree for labels and one for label sets. More than 24 labels are projected
        to 8 random directions, others for each tree (Joly, Geurts and Wehenkel 2014).
    max_features : "auto", float, int or str
        Features tried at each split, as in scikit-learn.
    min_samples_leaf : "auto" or int
        Rows of a leaf.
    splitter : {"auto", "random", "best"}
        Whether thresholds are drawn at random, as in extremely randomised trees (Geurts, Ernst and Wehenkel 2006), or
        the best ones, as in random forests. Of these three options, "auto" is what is best for out-of-bag rows by
        thirty trees of each of four settings: random thresholds with a fifth of the features and leaves of 1 or 3 rows,
        or with up to 100 features and leaves of 5; best ones with the root of the number of features and leaves of 3.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Tasks at a time, as in joblib; each task grows ten trees. The result does not depend on it.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    trees_ : list of LabelsetTree
    setting_ : dict
        The options of trees that were chosen.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The label sets seen in training.
    oob_distribution_ : LabelDistribution
        Of each training row, by the trees that have not seen it, without smoothing.
    pool_, smoothings_ : exponent and smoothing

    See Also
    --------
    AutoJoint : The learner to begin with.
    PredictiveClusteringForest : Many such trees.

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

    trees_: list[LabelsetTree]
    labelsets_: np.ndarray
    oob_distribution_: LabelDistribution

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        target: Literal["both", "labels", "labelsets"] = "both",
        max_features: float | int | str | None = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        splitter: Literal["auto", "random", "best"] = "auto",
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_estimators = n_estimators
        self.target = target
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.splitter = splitter
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> list[Distribution]:
        """Grow the trees; what those say of a row that have not seen it.

        Labels that are not known are taken as they were filled in. A first task is done even after the deadline.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array of shape (n_samples, n_labels)
            Their labels, 0 and 1.
        known : array of bool of shape (n_samples, n_labels), optional
            Which labels are known; all unless given.
        deadline : float, optional
            When to stop, by `time.monotonic`.
        """
        n_estimators = check_count("n_estimators", self.n_estimators)
        if self.target not in TARGETS:
            raise ValueError(f"target must be 'both', 'labels' or 'labelsets'; got {self.target!r}.")
        self.labelsets_, which = np.unique(Y, axis=0, return_inverse=True)
        self._columns = columns_in_use(X)
        kinds = [TARGETS[self.target][number % len(TARGETS[self.target])] for number in range(n_estimators)]
        growing = _Growing(
            self._features(X),
            which.ravel(),
            _targets(self.labelsets_, which.ravel(), kinds),
            [kinds[start : start + BATCH_SIZE] for start in range(0, n_estimators, BATCH_SIZE)],
            check_random_state(self.random_state).randint(MAX_SEED, size=-(-n_estimators // BATCH_SIZE)).tolist(),
        )
        grown = self._choose_and_grow(growing, Y, deadline)
        self.trees_ = [tree for trees, _ in grown for tree in trees]
        weights = _fill_rows(sum(of_unseen for _, of_unseen in grown), growing.which)
        self.oob_distribution_ = LabelDistribution(self.labelsets_, _rows_to_one(weights))
        return [self.oob_distribution_]

    def _features(self, X: Any) -> Any:
        return for_trees(X if len(self._columns) == X.shape[1] else X[:, self._columns])

    def _choose_and_grow(self, growing: "_Growing", Y: np.ndarray, deadline: float | None) -> "list[Batch]":
        """A few trees of each setting, then the others of the best one by out-of-bag rows."""
        settings = self._settings(growing.X.shape[1])
        n_first = len(growing.batches) if len(settings) == 1 else min(TRIAL_BATCHES, len(growing.batches))
        grown: list[Batch] = []
        best, least = settings[0], np.inf
        for setting in settings:
            if grown and deadline is not None and time.monotonic() > deadline:
                break
            trial = self._grow_batches(growing, slice(0, n_first), setting, deadline)
            error = _error_of_many([weights for _, weights in trial], self.labelsets_, Y)
            if error < least or not grown:
                grown, best, least = trial, setting, error
        self.setting_ = best
        return grown + self._grow_batches(growing, slice(len(grown), None), best, deadline)

    def _settings(self, n_features: int) -> list[dict[str, Any]]:
        """Options of trees to choose from; what is given is taken as it is."""
        given = {name: getattr(self, name) for name in SETTINGS if getattr(self, name) != "auto"}
        settings = [
            dict(zip(SETTINGS, setting, strict=True)) | given for setting in zip(*SETTINGS.values(), strict=True)
        ]
        for setting in settings:
            if isinstance(setting["max_features"], int):
                setting["max_features"] = min(setting["max_features"], n_features)
        return [setting for place, setting in enumerate(settings) if setting not in settings[:place]]

    def _grow_batches(
        self, growing: "_Growing", which: slice, options: dict[str, Any], deadline: float | None
    ) -> "list[Batch]":
        """Trees of some batches; no more are begun after the deadline, but for the first of all."""
        batches, seeds = growing.batches[which], growing.seeds[which]
        at_a_time = effective_n_jobs(self.n_jobs)
        grown: list[Batch] = []
        with Parallel(n_jobs=self.n_jobs) as parallel:
            begun = time.monotonic()
            for start in range(0, len(batches), at_a_time):
                before, begun = begun, time.monotonic()
                if (grown or which.start) and deadline is not None and begun + (begun - before) > deadline:
                    break  # it would not be done, if it takes as long as the last
                now = slice(start, start + at_a_time)
                grown += parallel(
                    delayed(_grow)(growing.X, growing.which, growing.targets, batch, options, seed)
                    for batch, seed in zip(batches[now], seeds[now], strict=True)
                )
        return grown

    def views(self, X: Any) -> list[Distribution]:
        """The label sets in the leaves that a row comes to; all trees have the same weight.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._features(X)
        weights = sp.csr_array((X.shape[0], len(self.labelsets_)))
        for start in range(0, len(self.trees_), BATCH_SIZE):
            trees = self.trees_[start : start + BATCH_SIZE]
            leaves = np.stack([tree.tree.apply(X) for tree in trees], axis=1)
            weights += _leaf_shares(trees, leaves, np.ones(leaves.shape, dtype=bool), len(self.labelsets_))
        return [LabelDistribution(self.labelsets_, _rows_to_one(weights))]


class _Growing(NamedTuple):
    """What trees are grown from."""

    X: Any  # as trees take it
    which: np.ndarray  # the label set of each row
    targets: dict[str, np.ndarray]
    batches: list[list[str]]  # of each tree, what it is grown for
    seeds: list[int]  # of the batches


Batch = tuple[list[LabelsetTree], sp.csr_array]  # trees, and the sum of what they say of rows that they have not seen


def _error_of_many(weights: Sequence[sp.csr_array], labelsets: np.ndarray, Y: np.ndarray) -> float:
    """The Brier score of labels in out-of-bag rows that many trees would have, told from a few batches.

    It falls with the number of trees T as a + b / T, faster where leaves are small. Both are told from the scores of
    single batches and of all of them together.
    """
    together = _brier_score(sum(weights), labelsets, Y)
    if len(weights) == 1:
        return together
    alone = float(np.mean([_brier_score(of_batch, labelsets, Y) for of_batch in weights]))
    return together - (alone - together) / (len(weights) - 1)


def _brier_score(weights: Any, labelsets: np.ndarray, Y: np.ndarray) -> float:
    """Mean squared error of the labels of rows that some tree has not seen; as if nothing were known, if none has."""
    rows = np.flatnonzero(np.diff(weights.indptr))
    marginals = _rows_to_one(weights[rows]) @ labelsets.astype(float)
    return float(np.mean((marginals - Y[rows]) ** 2)) if rows.size else 0.25


def _grow(
    X: Any, which: np.ndarray, targets: dict[str, np.ndarray], kinds: Sequence[str], options: dict[str, Any], seed: int
) -> tuple[list[LabelsetTree], sp.csr_array]:
    """Some trees, and the sum of what they say of the rows that they have not seen."""
    rng = np.random.RandomState(seed)
    trees: list[LabelsetTree] = []
    leaves, unseen = [], []
    n_rows, n_labelsets = len(which), len(next(iter(targets.values())))
    for kind in kinds:
        drawn = np.bincount(rng.randint(n_rows, size=min(n_rows, MAX_TREE_ROWS)), minlength=n_rows)
        rows = np.flatnonzero(drawn)
        # Of labels as 0 and 1, the variance that a split lessens is the Gini index of each.
        grower = (ExtraTreeRegressor if kind == "labels" else ExtraTreeClassifier)(
            **options, random_state=rng.randint(MAX_SEED)
        )
        target = _project(targets[kind], rng)[which[rows]].astype(np.float64)
        weights = drawn[rows].astype(np.float64)
        with config_context(skip_parameter_validation=bool(trees)):  # once is enough: it takes as long as a small tree
            grown = grower.fit(_rows_for_trees(X, rows), target, weights, check_input=False).tree_
        packed = PackedTree.pack(grown)
        found = packed.leaf_numbers()[grown.apply(X)]
        trees.append(_keep_labelsets(packed, found[rows], which[rows], drawn[rows], n_labelsets))
        leaves.append(found)
        unseen.append(drawn == 0)
    return trees, _leaf_shares(trees, np.stack(leaves, axis=1), np.stack(unseen, axis=1), n_labelsets)


def _targets(labelsets: np.ndarray, which: np.ndarray, kinds: Sequence[str]) -> dict[str, np.ndarray]:
    """For each kind of tree, what it is grown for: of each label set its labels or its class."""
    targets = {"labels": labelsets}
    if "labelsets" in kinds:
        targets["labelsets"] = _classes(labelsets, which)[:, np.newaxis]
    return {kind: targets[kind] for kind in dict.fromkeys(kinds)}


def _project(target: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Many numbers projected to a few, which keep the variance of all in expectation."""
    if target.shape[1] <= MAX_OUTPUTS:
        return target
    directions = rng.standard_normal((target.shape[1], N_PROJECTIONS))
    return target @ np.rint(PROJECTION_STEPS * directions)


def _keep_labelsets(
    tree: PackedTree, leaves: np.ndarray, which: np.ndarray, drawn: np.ndarray, n_labelsets: int
) -> LabelsetTree:
    """The tree with the label sets of its rows, each in its leaf as often as it was drawn."""
    counts = sp.coo_array((drawn, (leaves, which)), shape=(tree.n_leaves, n_labelsets)).tocsr()
    return LabelsetTree(tree, narrow(np.diff(counts.indptr)), narrow(counts.indices), narrow(counts.data))


def _leaf_shares(
    trees: Sequence[LabelsetTree], leaves: np.ndarray, asked: np.ndarray, n_labelsets: int
) -> sp.csr_array:
    """The sum over trees of the shares of label sets in the leaf of each row; only of the trees asked about it.

    Parameters
    ----------
    trees : sequence of LabelsetTree
    leaves, asked : ndarrays of shape (n_rows, n_trees)
    n_labelsets : int
    """
    counts = np.concatenate([tree.counts for tree in trees]).astype(float)
    which = np.concatenate([tree.labelsets for tree in trees]).astype(np.int32)
    sizes = np.concatenate([tree.sizes for tree in trees]).astype(np.int32)
    shares = _rows_to_one(sp.csr_array((counts, which, _starts(sizes)), shape=(len(sizes), n_labelsets)))
    first = _starts([len(tree.sizes) for tree in trees])[:-1]
    visited = (leaves + first)[asked]
    visits = sp.csr_array((np.ones(visited.size), visited, _starts(asked.sum(axis=1))), shape=(len(leaves), len(sizes)))
    return visits @ shares


def _starts(sizes: Any) -> np.ndarray:
    """Where each of several parts begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _fill_rows(weights: sp.csr_array, which: np.ndarray) -> sp.csr_array:
    """Rows that every one of a few trees has seen get what is known of them: how often label sets occur elsewhere."""
    never_left_out = np.flatnonzero(np.diff(weights.indptr) == 0)
    if not never_left_out.size:
        return weights
    n_rows, n_labelsets = weights.shape
    elsewhere = np.tile(np.bincount(which, minlength=n_labelsets).astype(float), (never_left_out.size, 1))
    elsewhere[np.arange(never_left_out.size), which[never_left_out]] -= n_rows > 1
    place = sp.csr_array(
        (np.ones(never_left_out.size), (never_left_out, np.arange(never_left_out.size))),
        shape=(n_rows, never_left_out.size),
    )
    return weights + place @ sp.csr_array(elsewhere)


def _rows_for_trees(X: Any, rows: np.ndarray) -> Any:
    """The rows for one tree, dense if that is small."""
    return to_tree_features(dense_if_small(X[rows]))


def _classes(labelsets: np.ndarray, which: np.ndarray) -> np.ndarray:
    """The class of each label set; rare label sets count as the nearest of the frequent ones."""
    counts = np.bincount(which)
    frequent = np.argsort(-counts, kind="stable")[: min(MAX_CLASSES, max(1, which.size // 4))]
    ones = labelsets.astype(float)
    distances = ones.sum(axis=1)[:, np.newaxis] + ones[frequent].sum(axis=1) - 2 * ones @ ones[frequent].T
    return frequent[distances.argmin(axis=1)]  # the first of the nearest: the most frequent


def _rows_to_one(weights: Any) -> Any:
    """Rows of a sparse matrix scaled to sum to 1, those without an entry left as they are."""
    weights = sp.csr_array(weights)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    weights.data /= np.repeat(sums, np.diff(weights.indptr))
    return weights
