"""The learner to take without thinking: forests, boosted trees and sparse regressions, pooled."""

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier

from choral._typing import CrossValidation, RandomState
from choral.learners.binary_relevance import BinaryRelevance
from choral.learners.joint_forest import JointForest
from choral.learners.logistic_joint import LogisticJoint
from choral.learners.pooled import Splits
from choral.learners.stacked_joint import BaseStack
from choral.overlap import AnyLoss

BOOSTING_ROUNDS = 100


class AutoJoint(BaseStack):
    """A joint distribution for all losses, from forests, boosted trees and sparse regressions.

    Pooled as in `StackedJoint` are

    * two `JointForest`, grown for labels and for label sets: they know which labels come together;
    * sparse logistic regressions, those of `LogisticJoint`: good where features are many and sparse;
    * gradient boosted trees of each label, where features are dense and not all of two values: they see what forests
      miss. On words and other features of 0 and 1 the regressions are as good in a fraction of the time.

    How much each counts is learned from rows that it was not fitted on. Fitted once, it predicts what is best for any
    loss: ``predict(X, measure=...)``, ``predict_curve(X, family)``.

    Parameters
    ----------
    n_estimators : int
        Trees of each forest.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimators_ : list of (name, fitted learner)
    pool_, smoothings_ : exponents and smoothing, in their order

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> from choral.learners import AutoJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = AutoJoint(n_estimators=50, random_state=0).fit(X, Y)
    >>> model.predict([[0.2], [2.9]], measure=BinomialMeasure(2))
    array([[0, 1],
           [1, 0]])
    """

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        cv: CrossValidation = 4,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_estimators = n_estimators
        self.cv = cv
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _members(self, X: Any, splits: Splits) -> Sequence[tuple[str, Any]]:
        members = [
            ("forest of labels", JointForest(self.n_estimators, n_jobs=self.n_jobs)),
            ("forest of label sets", JointForest(self.n_estimators, target="labelsets", n_jobs=self.n_jobs)),
            ("sparse regressions", LogisticJoint(cv=splits, n_jobs=self.n_jobs)),
        ]
        return [*members, ("boosted trees", BinaryRelevance(_boosting()))] if _has_many_values(X) else members


def _boosting() -> HistGradientBoostingClassifier:
    """Small trees of a few features and coarse thresholds: quick, and no worse with a few thousand rows."""
    return HistGradientBoostingClassifier(
        max_iter=BOOSTING_ROUNDS,
        max_leaf_nodes=8,
        max_bins=64,
        max_features=0.3,
        l2_regularization=1.0,
        early_stopping=False,
    )


def _has_many_values(X: Any) -> bool:
    """Whether features are dense and not all of two values."""
    return not sp.issparse(X) and bool(((X.min(axis=0) < X) & (X.max(axis=0) > X)).any())
