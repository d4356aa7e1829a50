r"""Boosted trees of all labels at once, tied together by how often label sets occur.

One model a label costs K models, and none of them learns from the others. Here each round grows one small tree for all
labels, and each of its leaves corrects the log odds of every label by a Newton step:

.. math:: f_i \leftarrow f_i + \eta \, \frac{\sum_{x \in \text{leaf}} y_i - p_i}
    {\lambda + \sum_{x \in \text{leaf}} p_i (1 - p_i)}

Thresholds are drawn at random, as in extremely randomised trees: nothing is sorted, so a round takes milliseconds, and
what a tree misses the next one mends. Of many labels, trees see random projections of the residuals.
"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context
from sklearn.tree import ExtraTreeRegressor
from sklearn.utils import check_random_state

from choral._typing import CrossValidation, RandomState
from choral._validation import check_count
from choral.decisions import IndependentLabels
from choral.decisions.base import Distribution
from choral.learners.base import MAX_SEED
from choral.learners.pooled import PooledJoint, inner_splits
from choral.overlap import AnyLoss
from choral.trees import PackedTree, columns_in_use, for_trees

CHECKED_EVERY = 20  # rounds
SHARE_FOR_GROWING = 0.85  # of the time there is; the rest is to walk the trees once more for left-out rows
PATIENCE = 60  # rounds without a better score of left-out rows
MAX_ROWS = 10_000  # that a model learns from; each of the inner folds draws its own
MAX_ROWS_A_TREE = 2_500
SHARE_OF_ROWS = 0.7  # that a tree sees
MAX_FEATURES = 400  # that go best with the labels of a model's rows; of words, most occur in a few rows
SHARE_OF_FEATURES = 0.1  # tried at a node
MIN_FEATURES = 32  # tried at a node, if there are so many
MAX_OUTPUTS = 8  # of more labels, a tree sees random projections
MIN_ROWS_A_LEAF = 3
PENALTY = 1.0  # lambda above: as if so much variance had been seen without a residual
SMALLEST_SPREAD = 1e-9  # of a feature or label that is not constant
# Two features may part the rows alike. Which one a tree takes must not hang on the rounding of exponentials, which
# depends on the processor: what trees see is in steps of 1 / 2^20, far coarser than that, and then sums are exact.
TARGET_STEPS = 2.0**20
LEAST_VARIANCE = 1e-3  # residuals of a label are divided by their standard deviation, not by less than the root of this


class BoostedJoint(PooledJoint):
    """Boosted trees of all labels at once, and how often label sets occur in training.

    A model is fitted for each inner fold on the other rows; what it says of the fold tells how many rounds are best.
    The fitted learner is the mean of these models, in log odds. Labels are tied together as in `LogisticJoint`.

    Parameters
    ----------
    n_rounds : int
        Trees of each model, at most; fewer if left-out rows are no better for more.
    learning_rate : float
        The share of a Newton step that is taken.
    max_leaf_nodes : int
        Leaves of a tree.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Models fitted at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    models_ : list of BoostedModel, one an inner fold
    n_rounds_ : int
        The number that was best for left-out rows.
    pool_ : exponents

    See Also
    --------
    AutoJoint : The learner to begin with.
    LogisticJoint : Sparse regressions, and frequencies of label sets.

    Examples
    --------
    >>> from choral.learners import BoostedJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> BoostedJoint(random_state=0).fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    ties_labels = True
    learns_from_known = True
    models_: "list[BoostedModel]"
    n_rounds_: int

    def __init__(
        self,
        n_rounds: int = 300,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 16,
        cv: CrossValidation = 4,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.cv = cv
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> list[Distribution]:
        """Boost a model for each inner fold; what each says of the fold after the best number of rounds.

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
        n_rounds, n_leaves = (
            check_count("n_rounds", self.n_rounds),
            check_count("max_leaf_nodes", self.max_leaf_nodes, least=2),
        )
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0; got {self.learning_rate}.")
        rng = check_random_state(self.random_state)
        splits = inner_splits(self.cv, X, Y, rng)
        X = for_trees(X)
        seconds = None
        if deadline is not None:
            share = SHARE_FOR_GROWING * min(1, effective_n_jobs(self.n_jobs) / len(splits))
            seconds = share * max(0.0, deadline - time.monotonic())
        done = Parallel(n_jobs=self.n_jobs)(
            delayed(_boost)(
                _Growing(self.learning_rate, n_leaves, rng.randint(MAX_SEED)),
                *_of_rows(train, X, Y, known),
                *_of_rows(test, X, Y, known),
                n_rounds,
                seconds,
            )
            for train, test in splits
        )
        self.n_rounds_ = _best_rounds([scores for _, scores in done])
        self.models_ = [model.cut(self.n_rounds_) for model, _ in done]
        marginals = np.empty(Y.shape)
        for model, (_, test) in zip(self.models_, splits, strict=True):
            marginals[test] = _logistic(model.log_odds(X[test]))
        return [IndependentLabels(marginals)]

    def views(self, X: Any) -> list[Distribution]:
        """What the models say in the mean.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = for_trees(X)
        return [IndependentLabels(_logistic(np.mean([model.log_odds(X) for model in self.models_], axis=0)))]


def _of_rows(rows: np.ndarray, X: Any, Y: np.ndarray, known: np.ndarray | None) -> tuple[Any, Any, Any]:
    return X[rows], Y[rows], None if known is None else known[rows]


@dataclass(frozen=True)
class _Growing:
    """How a model grows."""

    learning_rate: float
    max_leaf_nodes: int
    seed: int


class BoostedTree(NamedTuple):
    """A tree, and what it adds to the log odds of each label in each leaf."""

    tree: PackedTree
    steps: np.ndarray  # (n_leaves, n_labels)


@dataclass(frozen=True, eq=False)
class BoostedModel:
    """Trees whose steps add up.

    Attributes
    ----------
    base : ndarray of shape (n_labels,)
        The log odds to begin with.
    columns : ndarray of int
        The features that trees see.
    trees : list of BoostedTree
    """

    base: np.ndarray
    columns: np.ndarray
    trees: list[BoostedTree]

    def cut(self, n_trees: int) -> "BoostedModel":
        """The first trees alone."""
        return BoostedModel(self.base, self.columns, self.trees[:n_trees])

    def log_odds(self, X: Any) -> np.ndarray:
        """Of rows as trees take them, of shape (n_rows, n_labels)."""
        X, found = _dense_columns(X, self.columns), np.tile(self.base, (X.shape[0], 1))
        for tree, steps in self.trees:
            found += steps[tree.apply(X)]
        return found


def _boost(
    growing: _Growing,
    X: Any,
    Y: np.ndarray,
    known: np.ndarray | None,
    X_left: Any,
    Y_left: np.ndarray,
    known_left: np.ndarray | None,
    n_rounds: int,
    seconds: float | None,
) -> tuple[BoostedModel, list[float]]:
    """A model of some rows, and the squared errors of left-out ones after every few rounds.

    It ends after so many rounds or seconds, or when left-out rows are no better for many rounds.
    """
    start, rng = time.monotonic(), np.random.default_rng(growing.seed)
    if X.shape[0] > MAX_ROWS:
        X, Y, known = _of_rows(rng.choice(X.shape[0], MAX_ROWS, replace=False), X, Y, known)
    weights = np.ones(Y.shape) if known is None else known.astype(float)
    columns = _useful_columns(X, Y, weights)
    X, X_left = _dense_columns(X, columns), _dense_columns(X_left, columns)
    base = np.log((Y * weights).sum(axis=0) + 0.5) - np.log(((1.0 - Y) * weights).sum(axis=0) + 0.5)
    log_odds, log_odds_left = np.tile(base, (len(Y), 1)), np.tile(base, (len(Y_left), 1))
    trees: list[BoostedTree] = []
    scores: list[float] = []
    for n_done in range(n_rounds + 1):
        is_over = n_done == n_rounds or (seconds is not None and n_done and time.monotonic() - start > seconds)
        if n_done % CHECKED_EVERY == 0 or is_over:
            errors = (_logistic(log_odds_left) - Y_left) ** 2
            scores.append(float(errors.sum() if known_left is None else errors[known_left].sum()))
            stale = len(scores) - 1 - int(np.argmin(scores))
            if is_over or stale * CHECKED_EVERY >= PATIENCE:
                break
        grown, steps = _grow_tree(growing, X, Y, weights, log_odds, rng)
        log_odds += steps[grown.apply(X)]
        log_odds_left += steps[grown.apply(X_left)]
        trees.append(BoostedTree(PackedTree.pack(grown), steps[grown.children_left < 0]))
    return BoostedModel(base, columns, trees), scores


def _grow_tree(
    growing: _Growing, X: Any, Y: np.ndarray, weights: np.ndarray, log_odds: np.ndarray, rng: np.random.Generator
) -> tuple[Any, np.ndarray]:
    """A tree of scikit-learn's that parts rows by their residuals, and the Newton step of each label in each node."""
    shares = _logistic(log_odds)
    residuals, variances = weights * (Y - shares), weights * shares * (1 - shares)
    rows = np.flatnonzero(rng.random(len(Y)) < min(SHARE_OF_ROWS, MAX_ROWS_A_TREE / len(Y)))
    rows = rows if len(rows) > 1 else np.arange(len(Y))
    target = residuals[rows] / np.sqrt(variances.mean(axis=0) + LEAST_VARIANCE)
    if Y.shape[1] > MAX_OUTPUTS:
        target = target @ rng.standard_normal((Y.shape[1], MAX_OUTPUTS))
    target = np.rint(target * TARGET_STEPS) / TARGET_STEPS
    tree = ExtraTreeRegressor(
        max_features=min(X.shape[1], max(MIN_FEATURES, round(SHARE_OF_FEATURES * X.shape[1]))),
        max_leaf_nodes=growing.max_leaf_nodes,
        min_samples_leaf=MIN_ROWS_A_LEAF,
        random_state=int(rng.integers(MAX_SEED)),
    )
    drawn = X[rows]
    with config_context(skip_parameter_validation=True):  # which would take longer than a small tree
        grown = tree.fit(drawn, target, check_input=False).tree_
    visits = np.ones(len(rows)), (grown.apply(drawn), np.arange(len(rows)))
    of_nodes = sp.csr_array(visits, shape=(grown.node_count, len(rows)))
    newton = (of_nodes @ residuals[rows]) / (of_nodes @ variances[rows] + PENALTY)
    return grown, (growing.learning_rate * newton).astype(np.float32)


def _useful_columns(X: Any, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The features with the largest squared correlations with labels, summed over labels; all if they are not many."""
    in_use = columns_in_use(X)
    if len(in_use) <= MAX_FEATURES:
        return in_use
    X = X[:, in_use]
    shares = (weights * Y).sum(axis=0) / weights.sum(axis=0).clip(1)
    centred = weights * (Y - shares)
    of_labels = centred / np.sqrt((centred**2).sum(axis=0)).clip(SMALLEST_SPREAD)
    means = np.asarray(X.mean(axis=0)).ravel().astype(float)
    squares = np.asarray((X.multiply(X) if sp.issparse(X) else np.square(X)).mean(axis=0)).ravel().astype(float)
    spreads = np.sqrt((squares - means**2).clip(0))
    products = np.asarray(X.T @ of_labels) - np.outer(means, of_labels.sum(axis=0))
    worth = ((products / spreads.clip(SMALLEST_SPREAD)[:, np.newaxis]) ** 2).sum(axis=1)
    return in_use[np.sort(np.argsort(-worth, kind="stable")[:MAX_FEATURES])]


def _dense_columns(X: Any, columns: np.ndarray) -> np.ndarray:
    if sp.issparse(X):
        return np.ascontiguousarray(X[:, columns].toarray())
    return X if len(columns) == X.shape[1] else np.ascontiguousarray(X[:, columns])


def _best_rounds(scores: list[list[float]]) -> int:
    """The number of rounds with the least squared errors in all folds together; a fold that ended keeps its last."""
    longest = max(map(len, scores))
    totals = np.sum([np.pad(of_fold, (0, longest - len(of_fold)), mode="edge") for of_fold in scores], axis=0)
    return int(totals.argmin()) * CHECKED_EVERY


def _logistic(log_odds: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-log_odds))
