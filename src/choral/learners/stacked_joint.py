"""Several models of labels and label sets, pooled into one joint distribution."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from choral.decisions import IndependentLabels, LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import seeded_clones
from choral.learners.expected_loss import ExpectedLossClassifier
from choral.learners.inner_folds import inner_folds
from choral.learners.pooled import PooledJoint


class StackedJoint(PooledJoint):
    """Several learners, pooled into one joint distribution by what each says of rows that it was not fitted on.

    What they say of a label set is multiplied, each to the power of an exponent that is learned for all losses of the
    binomial family together (see `choral.learners.pooling`). One may know labels one by one, another whole label sets.

    Parameters
    ----------
    estimators : sequence of (name, learner)
        Learners of choral or scikit-learn, as in `ExpectedLossClassifier`. `JointForest` and `LogisticJoint` are asked
        for what they say of rows left out anyway; others are fitted in an inner cross-validation as well.
    cv : int
        Its folds.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None

    Attributes
    ----------
    estimators_ : list of (name, fitted learner)
        `JointForest` and `LogisticJoint` without a pool of their own, others in an `ExpectedLossClassifier`.
    pool_, smoothings_ : exponents and smoothing, in their order

    Examples
    --------
    >>> from choral.learners import BinaryRelevance, JointForest, StackedJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = StackedJoint([("together", JointForest(50)), ("apart", BinaryRelevance())], random_state=0)
    >>> model.fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]], dtype=uint8)
    """

    estimators_: list[tuple[str, Any]]

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        cv: int = 4,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimators = estimators
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _members(self, X: Any) -> Sequence[tuple[str, Any]]:
        """The learners to pool."""
        if not self.estimators:
            raise ValueError("estimators must hold at least one pair of a name and a learner; got none.")
        return self.estimators

    def fit_views(self, X: Any, Y: np.ndarray) -> list[Distribution]:
        """Fit all members; what they say of rows that they were not fitted on."""
        rng = check_random_state(self.random_state)
        folds = inner_folds(len(Y), self.cv, rng)
        self.estimators_ = []
        found: list[Distribution] = []
        for name, learner in self._members(X):
            (member,) = seeded_clones(learner, 1, None if self.random_state is None else rng)
            if isinstance(member, PooledJoint):
                found += member.fit_views(X, Y)
            else:
                member, view = _cross_validated(ExpectedLossClassifier(member), X, Y, folds, self.n_jobs)
                found.append(view)
            self.estimators_.append((name, member))
        return found

    def views(self, X: Any) -> list[Distribution]:
        """What the members say."""
        found: list[Distribution] = []
        for _, member in self.estimators_:
            found += member.views(X) if isinstance(member, PooledJoint) else [member.predict_distribution(X)]
        return found


def _cross_validated(
    learner: ExpectedLossClassifier, X: Any, Y: np.ndarray, folds: np.ndarray, n_jobs: int | None
) -> tuple[ExpectedLossClassifier, Distribution]:
    """The learner fitted on all rows, and what it says of each fold when fitted on the others."""
    fitted, *parts = Parallel(n_jobs=n_jobs)(
        delayed(_fit)(clone(learner), X, Y, folds == fold) for fold in range(-1, int(folds.max()) + 1)
    )
    return fitted, _joined(parts, folds)


def _fit(learner: Any, X: Any, Y: np.ndarray, left_out: np.ndarray) -> Any:
    """What a learner says of the rows left out; itself, where none is."""
    learner.fit(X[~left_out], Y[~left_out])
    return learner.predict_distribution(X[left_out]) if left_out.any() else learner


def _joined(parts: list[Distribution], folds: np.ndarray) -> Distribution:
    """The distributions of all folds as one, rows in their order."""
    order = np.argsort(np.argsort(folds, kind="stable"), kind="stable")
    if all(isinstance(part, IndependentLabels) for part in parts):
        return IndependentLabels(np.concatenate([part.marginals() for part in parts])[order])
    joints = [sp.coo_array(part.weights) for part in parts]  # type: ignore[attr-defined]
    labelsets = np.concatenate([part.labelsets for part in parts])  # type: ignore[attr-defined]
    return LabelDistribution(labelsets, sp.block_diag(joints, format="csr")[order])
