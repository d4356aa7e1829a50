"""The learner to take without thinking: a forest, boosted trees and sparse regressions, pooled."""

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from choral._typing import CrossValidation, RandomState
from choral.learners.boosted_joint import BoostedJoint
from choral.learners.evidence import Evidence
from choral.learners.joint_forest import JointForest
from choral.learners.logistic_joint import LogisticJoint
from choral.learners.pooled import Splits
from choral.learners.pooling import Pool
from choral.learners.stacked_joint import BaseStack
from choral.overlap import AnyLoss

FEW_ROWS, FOLDS_OF_FEW_ROWS, FOLDS = 1000, 6, 4  # where rows are few, models lack those that a fold leaves out
SHARE_FOR_MEMBERS = 0.8  # of the time budget; the rest is for exponents
FIRST_ROWS = 100  # to learn exponents from, before the time for more is known


class AutoJoint(BaseStack):
    """A joint distribution for all losses, from a forest, boosted trees and sparse regressions.

    Pooled as in `StackedJoint` are

    * sparse logistic regressions, those of `LogisticJoint`: good where features are many and sparse, and where few rows
      are enough for no more than straight lines;
    * boosted trees of all labels at once, those of `BoostedJoint`: the best probabilities of labels on most data;
    * a `JointForest`: it knows which labels come together.

    How much each counts is learned from rows that it was not fitted on. Fitted once, it predicts what is best for any
    loss: ``predict(X, measure=...)``, ``predict_curve(X, family)``.

    Parameters
    ----------
    n_estimators : int
        Trees of the forest.
    cv : "auto", int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once: six folds of up to 1,000 rows and four of more,
        unless given. A number of folds is stratified by labels.
    time_budget : float, optional
        Seconds that fitting may take, by the clock: smaller members, or fewer of them, where time is short. More than
        it needs is not used.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Fits at a time, as in joblib: with a Dask client as its backend, on the cluster.
    verbose : bool
        Whether to print a line for each member when it is fitted, with its score.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of (name, fitted learner)
    members_ : list of Member
        How long each took to fit, and how good it is by itself.
    left_out_ : dict
        Names of learners that were not fitted for lack of time.
    pool_ : exponents, those of `summary`

    See Also
    --------
    StackedJoint : Several learners in one joint distribution.
    JointForest : A forest whose leaves keep label sets.
    choral.calibration.JointCalibratedClassifier : A classifier with a calibrator of its own.

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
        cv: CrossValidation | Literal["auto"] = "auto",
        time_budget: float | None = None,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: RandomState = None,
    ):
        self.n_estimators = n_estimators
        self.cv = cv
        self.time_budget = time_budget
        self.measure = measure
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _folds(self, n_rows: int) -> CrossValidation:
        if not isinstance(self.cv, str):
            return self.cv
        if self.cv != "auto":
            raise ValueError(f"cv must be 'auto', a number of folds, a splitter or pairs of rows; got {self.cv!r}.")
        return min(FOLDS_OF_FEW_ROWS if n_rows <= FEW_ROWS else FOLDS, max(2, n_rows))

    def _deadline(self) -> float | None:
        if self.time_budget is None:
            return None
        if not self.time_budget > 0:  # written so that nan is refused
            raise ValueError(f"time_budget must be above 0 seconds, or None for no limit; got {self.time_budget}.")
        return time.monotonic() + SHARE_FOR_MEMBERS * self.time_budget

    def _find_exponents(
        self, evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None
    ) -> Pool:
        """From as many rows as there is time for: a few of them tell how long it takes."""
        if self.time_budget is None:
            return super()._find_exponents(evidence, Y, rows, known)
        start = time.monotonic()
        few = super()._find_exponents(evidence, Y, spread(rows, FIRST_ROWS), known)
        taken = time.monotonic() - start
        n_rows = int(FIRST_ROWS * ((1 - SHARE_FOR_MEMBERS) * self.time_budget / taken - 1))
        return few if n_rows <= FIRST_ROWS else super()._find_exponents(evidence, Y, spread(rows, n_rows), known)

    def _learners(self, X: Any, splits: Splits) -> Sequence[tuple[str, Any]]:
        return [
            ("sparse regressions", LogisticJoint(cv=splits, n_jobs=self.n_jobs)),
            ("boosted trees", BoostedJoint(cv=splits, n_jobs=self.n_jobs)),
            ("forest", JointForest(self.n_estimators, n_jobs=self.n_jobs)),
        ]

    def _tell(self, what: str) -> None:
        if self.verbose:
            print(what, flush=True)


def spread(rows: np.ndarray, n_rows: int) -> np.ndarray:
    """So many of some rows, evenly spread; all if there are no more.

    Examples
    --------
    >>> spread(np.array([2, 3, 5, 7, 11]), 3).tolist()
    [2, 5, 11]
    """
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(n_rows, len(rows))).astype(int))]
