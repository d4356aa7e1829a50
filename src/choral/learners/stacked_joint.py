"""Several models of labels and label sets, pooled into one joint distribution."""

import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from choral._typing import CrossValidation, IntArray, RandomState
from choral.decisions import IndependentLabels, LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import MetaClassifier, seeded_clones
from choral.learners.evidence import Evidence, JointLift, MarginalEvidence, PriorEvidence
from choral.learners.expected_loss import ExpectedLossClassifier
from choral.learners.missing import complete_labels
from choral.learners.pooled import OutOfTime, PooledJoint, Splits, inner_splits
from choral.learners.pooling import Pool
from choral.learners.stack_summary import Member, StackSummary
from choral.learners.stacking import fit_stack
from choral.overlap import AnyLoss

SMOOTHING = 0.3  # of the lifts of label sets


class BaseStack(PooledJoint):
    """Parent of learners that pool other learners.

    Attributes
    ----------
    estimators_ : list of (name, fitted learner)
    members_ : list of Member
        How long each took to fit, and how good it is by itself.
    left_out_ : dict
        Names of learners that were not fitted, and why.
    """

    cv: CrossValidation | Literal["auto"]
    n_jobs: int | None
    estimators_: list[tuple[str, Any]]
    members_: list[Member]
    left_out_: dict[str, str]
    _is_joint: list[bool]

    @abstractmethod
    def _learners(self, X: Any, splits: Splits) -> Sequence[tuple[str, Any]]:
        """The learners to pool, by name."""

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> list[Distribution]:
        """Fit all members; what they say of rows that they were not fitted on."""
        return self.fit_and_complete(X, Y, known, deadline)[0]

    def fit_and_complete(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None, deadline: float | None
    ) -> tuple[list[Distribution], np.ndarray]:
        """Fit all members; what they say, and the labels with those filled in that are not known.

        Members that learn from known labels alone are fitted first. The others take what these say for the missing
        labels; if there are no such members, boosted trees say it.
        """
        rng = check_random_state(self.random_state)
        splits = inner_splits(self._folds(len(Y)), X, Y, rng)
        seeds = None if self.random_state is None else rng
        learners = {name: seeded_clones(learner, 1, seeds)[0] for name, learner in self._learners(X, splits)}
        self.left_out_ = {}
        early = [name for name, one in learners.items() if known is None or getattr(one, "learns_from_known", False)]
        late = [name for name in learners if name not in early]
        some = {name: learners[name] for name in early}
        fitted = self._fit_members(some, X, Y, known, splits, deadline, n_later=len(late))
        if known is not None:
            views = [view for name in fitted for view in fitted[name][1]]
            Y = complete_labels(Y, known, views or self._boosted_views(X, Y, known, splits, deadline))
            others = {name: learners[name] for name in late}
            fitted |= self._fit_members(others, X, Y, known, splits, deadline)
        in_order = [name for name in learners if name in fitted]
        self.estimators_ = [(name, fitted[name][0]) for name in in_order]
        self.members_ = [fitted[name][2] for name in in_order]
        return [view for name in in_order for view in fitted[name][1]], Y

    def _fit_members(
        self,
        learners: dict[str, Any],
        X: Any,
        Y: np.ndarray,
        known: np.ndarray | None,
        splits: Splits,
        deadline: float | None,
        n_later: int = 0,
    ) -> dict[str, tuple[Any, list[Distribution], Member]]:
        """Each fitted member, what it says of rows that it was not fitted on, and how good it is."""
        fitted = {}
        for n_done, (name, learner) in enumerate(learners.items()):
            start = time.monotonic()
            # A member may take its share of what is left; what it does not need is for those after it.
            until = None if deadline is None else start + (deadline - start) / (len(learners) + n_later - n_done)
            try:
                member, views = self._fit_member(learner, X, Y, known, splits, until)
            except OutOfTime as reason:
                self.left_out_[name] = str(reason)
                self._tell(f"{name}: left out, {reason}")
                continue
            fitted[name] = member, views, Member.of_views(name, views, Y, known, time.monotonic() - start)
            self._tell(str(fitted[name][2]))
        return fitted

    def _fit_member(
        self, learner: Any, X: Any, Y: np.ndarray, known: np.ndarray | None, splits: Splits, deadline: float | None
    ) -> tuple[Any, list[Distribution]]:
        """The fitted member, and what it says of rows that it was not fitted on."""
        if isinstance(learner, PooledJoint):
            X, Y = learner._check_training(X, Y)
            return learner, list(learner.fit_views(X, Y, known, deadline))
        member, view = _cross_validate(ExpectedLossClassifier(learner), X, Y, splits, self.n_jobs)
        return member, [view]

    def _folds(self, n_rows: int) -> CrossValidation:
        """The inner cross-validation."""
        return cast(CrossValidation, self.cv)  # AutoJoint alone has another

    def _tell(self, what: str) -> None:
        """Show progress; a learner with ``verbose`` prints it."""

    def views(self, X: Any) -> list[Distribution]:
        """What the members say."""
        found: list[Distribution] = []
        for _, member in self.estimators_:
            is_pooled = isinstance(member, PooledJoint)
            found += member.views(member._check_features(X)) if is_pooled else [member.predict_distribution(X)]
        return found

    def _choose_smoothing(
        self, views: Sequence[Distribution], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None
    ) -> None:
        """One for all: exponents make up for what it lacks."""
        self._is_joint = [isinstance(view, LabelDistribution) for view in views]

    def _find_exponents(
        self, evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None
    ) -> Pool:
        return fit_stack(evidence, Y, rows, known)

    def _evidence(self, views: Sequence[Distribution], own: np.ndarray) -> list[Evidence]:
        """Marginals of all models, then lifts of those that know label sets, then the frequencies of label sets."""
        joint = [view for view in views if isinstance(view, LabelDistribution)]
        return [
            *(MarginalEvidence(view.marginals()) for view in views),
            *(JointLift(view.labelsets, view.weights, SMOOTHING) for view in joint),
            PriorEvidence(self.labelsets_, self.counts_, own),
        ]

    def summary(self) -> StackSummary:
        """Members, their exponents and scores, and what was left out: a table as text or in a notebook.

        The Brier score is that of labels in left-out rows, 0 at best. The exponent of labels tells how much the
        probabilities of a member count, that of label sets how much its dependence of labels does.
        """
        check_is_fitted(self)
        exponents, n_views = self.pool_.exponents.tolist(), len(self._is_joint)
        lifts = iter(exponents[n_views:])
        of_views = [member for member in self.members_ for _ in range(member.n_views)]
        rows: list[Any] = [
            (member.name, member.seconds, member.brier, exponent, next(lifts) if is_joint else None)
            for member, exponent, is_joint in zip(of_views, exponents[:n_views], self._is_joint, strict=True)
        ]
        rows.append(("frequencies of label sets", None, None, None, exponents[-1]))
        return StackSummary(type(self).__name__, rows, self.pool_.score, self.left_out_)


class StackedJoint(BaseStack, MetaClassifier, _BaseComposition):
    """Several learners, pooled into one joint distribution by what each says of rows that it was not fitted on.

    What they say of a label set is multiplied, each to the power of an exponent that is learned for all losses of the
    binomial family together (see `choral.learners.pooling`). One may know labels one by one, another whole label sets.

    Parameters
    ----------
    estimators : list of (name, learner)
        Learners of choral, scikit-learn or others, as in `ExpectedLossClassifier`: any object with ``fit`` and
        ``predict_proba``, of all labels or of one binary target, in which case it is fitted once for each label. Each
        gets the features as they come, frames included. `JointForest` and `LogisticJoint` know what they say of rows
        that they were not fitted on. Others are fitted in an inner cross-validation, too. Parameters are set as
        ``name__parameter``; a learner set to ``"drop"`` is left out.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Attributes
    ----------
    estimators_ : list of (name, fitted learner)
        `JointForest` and `LogisticJoint` without a pool of their own, others in an `ExpectedLossClassifier`.
    pool_, smoothings_ : exponents and smoothing, in their order

    See Also
    --------
    AutoJoint : The learner to begin with.
    ExpectedLossClassifier : Decide for a loss by what another learner says.

    Examples
    --------
    >>> from choral.learners import BinaryRelevance, JointForest, StackedJoint
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]] * 5, [[0, 1], [0, 1], [1, 0], [1, 0]] * 5
    >>> model = StackedJoint([("together", JointForest(50)), ("apart", BinaryRelevance())], random_state=0)
    >>> model.fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        cv: CrossValidation = 4,
        measure: AnyLoss | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimators = estimators
        self.cv = cv
        self.measure = measure
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with ``deep``, also the learners by name and theirs as ``name__parameter``.

        Parameters
        ----------
        deep : bool
            Whether to give the parameters of the learners too.
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params: Any) -> "StackedJoint":
        """Set parameters, learners by name, and theirs as ``name__parameter``.

        Parameters
        ----------
        **params : any
            Parameters by name.
        """
        return self._set_params("estimators", **params)

    def _learners(self, X: Any, splits: Splits) -> Sequence[tuple[str, Any]]:
        kept = [(name, learner) for name, learner in self.estimators if not _is_dropped(learner)]
        if not kept:
            raise ValueError("estimators must hold at least one pair of a name and a learner; got none.")
        self._validate_names([name for name, _ in self.estimators])
        return kept

    def _inner_estimators(self) -> list[Any]:
        return [learner for _, learner in self.estimators if not _is_dropped(learner)]


def _is_dropped(learner: Any) -> bool:
    return isinstance(learner, str) and learner == "drop"


def _cross_validate(
    learner: ExpectedLossClassifier, X: Any, Y: np.ndarray, splits: Splits, n_jobs: int | None
) -> tuple[ExpectedLossClassifier, Distribution]:
    """The learner fitted on all rows, and what it says of the test rows of each split when fitted on the others."""
    fitted, *parts = Parallel(n_jobs=n_jobs)(
        [delayed(clone(learner).fit)(X, Y)]
        + [delayed(_fit_and_predict)(clone(learner), X, Y, train, test) for train, test in splits]
    )
    return fitted, _concatenate(parts, np.argsort(np.concatenate([test for _, test in splits])))


def _fit_and_predict(learner: Any, X: Any, Y: np.ndarray, train: IntArray, test: IntArray) -> Distribution:
    return learner.fit(_safe_indexing(X, train), Y[train]).predict_distribution(_safe_indexing(X, test))


def _concatenate(parts: list[Distribution], order: IntArray) -> Distribution:
    """The distributions of all parts as one, with rows in this order."""
    if all(isinstance(part, IndependentLabels) for part in parts):
        return IndependentLabels(np.concatenate([part.marginals() for part in parts])[order])
    joints = [sp.coo_array(part.weights) for part in parts]  # type: ignore[attr-defined]
    labelsets = np.concatenate([part.labelsets for part in parts])  # type: ignore[attr-defined]
    return LabelDistribution(labelsets, sp.block_diag(joints, format="csr")[order])
