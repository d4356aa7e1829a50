"""Sparse logistic regressions, tied together by how often label sets occur: a joint model for many sparse features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import check_random_state

from choral._typing import CrossValidation, IntArray, RandomState
from choral.decisions import IndependentLabels
from choral.decisions.base import Distribution
from choral.learners.base import MAX_SEED
from choral.learners.binary_relevance import BinaryRelevance
from choral.learners.pooled import PooledJoint, inner_splits
from choral.overlap import AnyLoss

SPARSE_STRENGTHS = (0.1, 0.3, 1.0, 3.0)
DENSE_STRENGTHS = (0.03, 0.1, 0.3)
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
    are those of all other rows: had it counted for itself, a label set that occurs once would seem worth knowing.

    Parameters
    ----------
    strengths : sequence of float, optional
        Inverse strengths of the penalty, C in scikit-learn, of which one is chosen. Unless given, 0.03 to 0.3 for dense
        features and 0.1 to 3 for sparse ones. Features are scaled first, dense ones to unit variance, sparse ones to a
        largest value of 1.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None

    Attributes
    ----------
    strength_ : float
    estimator_ : pipeline of a scaler and BinaryRelevance
    pool_ : with the exponents a and b

    Examples
    --------
    >>> from choral.learners import LogisticJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> LogisticJoint(random_state=0).fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    ties_labels = True
    strength_: float
    estimator_: Pipeline

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
        """Choose the strength by the Brier score, and fit with it; what regressions say of rows they have not seen."""
        strengths = self.strengths
        if strengths is None:
            strengths = SPARSE_STRENGTHS if sp.issparse(X) else DENSE_STRENGTHS
        if not len(strengths):
            raise ValueError("strengths must hold at least one number; got none.")
        rng = check_random_state(self.random_state)
        splits = inner_splits(self.cv, X, Y, rng)
        seed = rng.randint(MAX_SEED)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_and_predict)(_regressions(X, strength, seed), X, Y, train, test)
            for strength in strengths
            for train, test in splits
        )
        marginals = np.zeros((len(strengths), *Y.shape))
        for place, proba in enumerate(found):
            strength, split = divmod(place, len(splits))
            marginals[strength, splits[split][1]] = proba
        best = int(((marginals - Y) ** 2).mean(axis=(1, 2)).argmin())
        self.strength_ = strengths[best]
        chosen = _regressions(X, self.strength_, seed).set_params(binaryrelevance__n_jobs=self.n_jobs)
        self.estimator_ = chosen.fit(X, Y)
        return [IndependentLabels(marginals[best])]

    def views(self, X: Any) -> list[Distribution]:
        """What the regressions say."""
        return [IndependentLabels(self.estimator_.predict_proba(X))]


def _regressions(X: Any, strength: float, seed: int) -> Pipeline:
    """Regressions of all labels on features that are scaled once for all."""
    scaler = MaxAbsScaler() if sp.issparse(X) else StandardScaler()
    regression = LogisticRegression(C=strength, solver="liblinear", max_iter=1000, tol=1e-3, random_state=seed, **L1)
    return make_pipeline(scaler, BinaryRelevance(regression))


def _fit_and_predict(model: Pipeline, X: Any, Y: np.ndarray, train: IntArray, test: IntArray) -> np.ndarray:
    return model.fit(X[train], Y[train]).predict_proba(X[test])
