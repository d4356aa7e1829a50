"""Sparse logistic regressions, tied together by how often label sets occur: a joint model for many sparse features."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import expit, logit
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import check_random_state

from choral._typing import CrossValidation, IntArray, RandomState
from choral.decisions import IndependentLabels
from choral.decisions.base import Distribution
from choral.learners.base import MAX_SEED
from choral.learners.pooled import OutOfTime, PooledJoint, Splits, inner_splits
from choral.overlap import AnyLoss
from choral.trees import columns_in_use

SPARSE_STRENGTHS = (0.1, 0.3, 1.0, 3.0)
DENSE_STRENGTHS = (0.03, 0.1, 0.3)
MAX_CHOICE_ROWS, MAX_CHOICE_LABELS = 3000, 50  # of more, so many are drawn to choose the strength of the penalty by
# scikit-learn 1.8 has another name for the L1 penalty
L1: dict[str, Any] = {"l1_ratio": 1.0} if getattr(LogisticRegression(), "penalty", None) != "l2" else {"penalty": "l1"}


class LogisticJoint(PooledJoint):
    r"""One sparse logistic regression a label, and how often label sets occur in training.

    .. math:: p(y \mid x) \propto \Big[ \prod_i p_i(y_i \mid x) \Big]^a
        \Big[ \frac{\pi(y)}{\prod_i \pi_i(y_i)} \Big]^b

    with the frequencies :math:`\pi` of label sets and :math:`\pi_i` of labels in training: the second factor is what is
    known of the dependence of labels when nothing is known of the row. Regressions with an L1 penalty choose few of
    many features, where forests rarely meet the few that matter; the frequency of label sets needs no features at all.
    Both exponents and the strength of the penalty are chosen by inner cross-validation. There the frequencies for a row
    are those of all other rows: had it counted for itself, a label set that occurs once would seem worth knowing. For
    new rows, coefficients are the mean of those of all folds.

    Parameters
    ----------
    strengths : sequence of float, optional
        Inverse strengths of the penalty, C in scikit-learn, of which one is chosen: the first, from small to large,
        after which the Brier score on left-out rows gets worse, on at most 3,000 rows and 50 labels. Unless given, 0.03
        to 0.3 for dense features and 0.1 to 3 for sparse ones. Features are scaled first, dense ones to unit variance,
        sparse ones to a largest value of 1.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Fits at a time, as in joblib; in processes, the result does not depend on it.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    strength_ : float
    coef_ : CSR array of shape (n_labels, n_features)
        Of features as they come, not scaled.
    intercept_ : ndarray of shape (n_labels,)
    pool_ : with the exponents a and b

    See Also
    --------
    AutoJoint : The learner to begin with.
    BoostedJoint : Boosted trees of all labels at once.

    Examples
    --------
    >>> from choral.learners import LogisticJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> LogisticJoint(random_state=0).fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    ties_labels = True
    learns_from_known = True
    strength_: float
    coef_: sp.csr_array
    intercept_: np.ndarray

    def __init__(
        self,
        strengths: Sequence[float] | None = None,
        *,
        cv: CrossValidation = 4,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.strengths = strengths
        self.cv = cv
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> list[Distribution]:
        """Choose the strength by the Brier score, and fit with it; what regressions say of rows they have not seen.

        Only known labels are learned from. No further strength is tried if it would not be done by the deadline;
        `OutOfTime` if not even the first would be.

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
        strengths = self.strengths
        if strengths is None:
            strengths = SPARSE_STRENGTHS if sp.issparse(X) else DENSE_STRENGTHS
        if not len(strengths):
            raise ValueError("strengths must hold at least one number; got none.")
        if not all(0 < strength < np.inf for strength in strengths):  # written so that nan is refused
            raise ValueError(f"strengths must be above 0, and finite; got {list(strengths)}.")
        rng = check_random_state(self.random_state)
        splits = inner_splits(self.cv, X, Y, rng)
        in_use = columns_in_use(X)
        n_features, X = X.shape[1], X[:, in_use]
        scaler = MaxAbsScaler() if sp.issparse(X) else StandardScaler()
        known = np.ones(Y.shape, dtype=bool) if known is None else known
        data = _Data(scaler.fit_transform(X.astype(float)), Y, known, rng.randint(MAX_SEED))
        models = self._choose_and_fit(data, splits, sorted(strengths), rng, deadline)
        left_out = np.empty(Y.shape)
        for (_, test), model in zip(splits, models, strict=True):
            left_out[test] = _predict(data.X[test], model)
        mean = sum(models) / len(models)
        coefficients = sp.csr_array(mean[:, :-1] @ sp.diags_array(1 / scaler.scale_))
        self.intercept_ = _intercepts(mean) - coefficients @ getattr(scaler, "mean_", np.zeros(X.shape[1]))
        places = coefficients.data, in_use[coefficients.indices], coefficients.indptr
        self.coef_ = sp.csr_array(places, shape=(Y.shape[1], n_features))
        return [IndependentLabels(left_out)]

    def _choose_and_fit(
        self,
        data: "_Data",
        splits: Splits,
        strengths: Sequence[float],
        rng: np.random.RandomState,
        deadline: float | None,
    ) -> list[sp.csr_array]:
        """The regressions of each fold with the best strength."""
        n_rows, n_labels = data.Y.shape
        rows = np.sort(rng.permutation(n_rows)[:MAX_CHOICE_ROWS])
        labels = np.sort(rng.permutation(n_labels)[:MAX_CHOICE_LABELS])
        some = [(np.intersect1d(train, rows), np.intersect1d(test, rows)) for train, test in splits]
        some_are_left = rows.size < n_rows or labels.size < n_labels
        best: list[sp.csr_array] = []
        least = np.inf
        if deadline is not None:
            self._check_time(data, splits, strengths[0], deadline)
        for strength in strengths:
            start = time.monotonic()
            models = self._fit_folds(data, some, labels, strength)
            error = _brier_score(data, some, labels, models)
            if error > least:
                break
            if error < least:  # as long as the penalty leaves nothing, scores are equal
                best, least, self.strength_ = models, error, strength
            now = time.monotonic()
            left_over = n_rows * n_labels / (rows.size * labels.size) if some_are_left else 0
            if deadline is not None and now + (now - start) * (1 + left_over) > deadline:
                break
        if rows.size < n_rows:
            return self._fit_folds(data, splits, np.arange(n_labels), self.strength_)
        others = np.setdiff1d(np.arange(n_labels), labels)
        if not others.size:
            return best
        order = np.argsort(np.concatenate([labels, others]))
        rest = self._fit_folds(data, splits, others, self.strength_)
        return [sp.csr_array(sp.vstack(parts))[order] for parts in zip(best, rest, strict=True)]

    def _check_time(self, data: "_Data", splits: Splits, strength: float, deadline: float) -> None:
        """Refuse to begin if the regressions of all labels and folds, as long as the first, would not be done."""
        start = time.monotonic()
        _fit_labels(data, splits[0][0], np.array([int(data.Y.sum(axis=0).argmax())]), strength)
        now = time.monotonic()
        needed = (now - start) * data.Y.shape[1] * len(splits) / effective_n_jobs(self.n_jobs)
        if now + needed > deadline:
            raise OutOfTime(f"which would take about {needed:.1f} s; {max(0.0, deadline - now):.1f} s were left for it")

    def _fit_folds(self, data: "_Data", splits: Splits, labels: IntArray, strength: float) -> list[sp.csr_array]:
        """For each split, the coefficients of these labels, fitted on its training rows."""
        parts = np.array_split(labels, min(effective_n_jobs(self.n_jobs), labels.size))
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_labels)(data, train, part, strength) for train, _ in splits for part in parts
        )
        return [
            sp.csr_array(sp.vstack(found[start : start + len(parts)])) for start in range(0, len(found), len(parts))
        ]

    def views(self, X: Any) -> list[Distribution]:
        """What the regressions say.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        return [IndependentLabels(_logistic(X, self.coef_, self.intercept_))]


class _Data(NamedTuple):
    """What regressions are fitted to."""

    X: Any  # scaled
    Y: np.ndarray
    known: np.ndarray
    seed: int


def _fit_labels(data: _Data, train: IntArray, labels: IntArray, strength: float) -> sp.csr_array:
    """Coefficients of each label, and the intercept as the last; of shape (n_labels, n_features + 1)."""
    X, Y, known = data.X[train], data.Y[train], data.known[train]
    return sp.csr_array(
        sp.vstack(
            [
                _fit_label(X, Y[:, label], strength, data.seed)
                if known[:, label].all()
                else _fit_label(X[known[:, label]], Y[known[:, label], label], strength, data.seed)
                for label in labels
            ]
        )
    )


def _fit_label(X: Any, y: np.ndarray, strength: float, seed: int) -> sp.csr_array:
    """The coefficients of one label; log odds alone, as if each class had come half a time more, if only one has."""
    regression = LogisticRegression(C=strength, solver="liblinear", max_iter=1000, tol=1e-3, random_state=seed, **L1)
    if y.size and y.min() < y.max():
        with config_context(assume_finite=True, skip_parameter_validation=True):  # once for all labels is enough
            regression.fit(X, y)
        coefficients, intercept = regression.coef_[0], regression.intercept_[0]
    else:
        coefficients, intercept = np.zeros(X.shape[1]), logit((y.sum() + 0.5) / (y.size + 1))
    return sp.csr_array(np.append(coefficients, intercept)[np.newaxis])


def _predict(X: Any, model: sp.csr_array) -> np.ndarray:
    """The probability of each label by coefficients with the intercept as the last."""
    return _logistic(X, model[:, :-1], _intercepts(model))


def _intercepts(model: sp.csr_array) -> np.ndarray:
    return model[:, [-1]].toarray().ravel()


def _logistic(X: Any, coefficients: sp.csr_array, intercepts: np.ndarray) -> np.ndarray:
    scores = X @ coefficients.T
    return expit((scores.toarray() if sp.issparse(scores) else scores) + intercepts)


def _brier_score(data: _Data, splits: Splits, labels: IntArray, models: Sequence[sp.csr_array]) -> float:
    """The mean squared error of the known labels of left-out rows."""
    total, n_known = 0.0, 0
    for (_, test), model in zip(splits, models, strict=True):
        known = data.known[np.ix_(test, labels)]
        errors = _predict(data.X[test], model) - data.Y[np.ix_(test, labels)]
        total += float((errors[known] ** 2).sum())
        n_known += int(np.count_nonzero(known))
    return total / max(n_known, 1)
