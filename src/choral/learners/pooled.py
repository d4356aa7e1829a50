"""What learners share whose joint distribution is a pool of models, one or several."""

from collections.abc import Sequence
from numbers import Number
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state

from choral._typing import CrossValidation, Features, IntArray, LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions import LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import MAX_SEED, narrow_rows
from choral.learners.evidence import Evidence, PriorEvidence, evidence_of
from choral.learners.joint import JointClassifier
from choral.learners.missing import complete_labels, split_missing
from choral.learners.pooling import Pool, best_score, fit_pool
from choral.stats import MultilabelStratifiedKFold

SMOOTHINGS = (0.02, 0.05, 0.1, 0.2, 0.4)
MAX_ROWS = 5000  # to learn a handful of numbers from

Splits = list[tuple[IntArray, IntArray]]  # training and test rows


class OutOfTime(Exception):
    """A model was not fitted, since not even the least of it fits into the time that is left."""


class PooledJoint(JointClassifier):
    """Parent of learners that multiply what models say of label sets.

    Attributes
    ----------
    pool_ : Pool
    smoothings_ : list of float
        How much of the product of its marginals is mixed into each model of label sets.
    labelsets_ : ndarray of shape (n_labelsets, n_labels)
        The label sets seen in training.
    counts_ : ndarray of shape (n_labelsets,)
        The number of training rows with each of them.
    """

    ties_labels: ClassVar[bool] = False  # whether the frequencies of label sets are a model of the pool
    learns_from_known: ClassVar[bool] = False  # whether `fit_views` looks at known labels alone
    n_jobs: int | None
    random_state: RandomState
    labelsets_: np.ndarray
    counts_: np.ndarray
    pool_: Pool
    smoothings_: list[float]

    def fit(self, X: Features, Y: LabelMatrix) -> "PooledJoint":
        """Fit the models, then smoothing and exponents on what they say of rows that they were not fitted on.

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
            The features.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels, 0 or 1; nan (or None, or pandas' NA) where a label is missing: see :doc:`/missing_labels`. Rows
            without a known label are left out.
        """
        deadline = self._deadline()
        Y, known = split_missing(Y)
        X, Y = self._check_training(X, Y)
        if known is not None:
            X, Y, known = self._drop_unlabelled(X, Y, known)
        views, Y = self.fit_and_complete(X, Y, known, deadline)
        self._fit_pool(views, Y, known)
        return self

    def _deadline(self) -> float | None:
        """When models are to be fitted, by `time.monotonic`; None for as long as it takes."""
        return None

    def _check_training(self, X: Features, Y: LabelMatrix) -> tuple[Any, np.ndarray]:
        X, Y = super()._check_training(X, Y)
        self._is_sparse = sp.issparse(X)
        return _in_rows(X), Y

    def _check_features(self, X: Features) -> Any:
        X = _in_rows(super()._check_features(X))
        return X.toarray() if sp.issparse(X) and not self._is_sparse else X  # some models then take nothing else

    def _drop_unlabelled(self, X: Any, Y: np.ndarray, known: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """The rows of which at least one label is known; the mask is None if all their labels are."""
        has_label = known.any(axis=1)
        if not has_label.all():
            cv = getattr(self, "cv", None)  # forests have none
            if not (cv is None or isinstance(cv, Number) or hasattr(cv, "split")):
                raise ValueError(
                    "cv as pairs of training and test rows needs a known label in each row; "
                    f"Y[{has_label.argmin()}] is nan throughout. Leave such rows out of X, Y and cv."
                )
            X, Y, known = _safe_indexing(X, np.flatnonzero(has_label)), Y[has_label], known[has_label]
        return X, Y, None if known.all() else known

    def fit_and_complete(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None, deadline: float | None
    ) -> tuple[Sequence[Distribution], np.ndarray]:
        """Fit the models as `fit_views` does; what they say, and the labels with those filled in that are not known."""
        if known is None:
            return self.fit_views(X, Y, deadline=deadline), Y
        if self.learns_from_known:
            views = self.fit_views(X, Y, known, deadline)
            return views, complete_labels(Y, known, views)
        Y = complete_labels(Y, known, self._boosted_views(X, Y, known, min(4, len(Y)), deadline))
        return self.fit_views(X, Y, known, deadline), Y

    def _boosted_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray, cv: CrossValidation, deadline: float | None
    ) -> Sequence[Distribution]:
        """What boosted trees say of rows that they were not fitted on; they learn from known labels alone."""
        from choral.learners.boosted_joint import BoostedJoint  # is a pool itself

        boosted = BoostedJoint(cv=cv, n_jobs=self.n_jobs, random_state=self.random_state)
        X, Y = boosted._check_training(X, Y)  # a stack has let pass what its members may take
        return boosted.fit_views(X, Y, known, deadline)

    def fit_views(
        self, X: Any, Y: np.ndarray, known: np.ndarray | None = None, deadline: float | None = None
    ) -> Sequence[Distribution]:
        """Fit the models to checked data; what each says of the training rows, not fitted on the row in question.

        Parameters
        ----------
        X : features of shape (n_rows, n_features)
        Y : ndarray of shape (n_rows, n_labels)
            Labels that are not known were filled in, for learners that look at them.
        known : bool ndarray of shape (n_rows, n_labels), optional
            The labels that are known, all unless given.
        deadline : float, optional
            By `time.monotonic`: no further work is begun after it.
        """
        raise NotImplementedError

    def views(self, X: Any) -> Sequence[Distribution]:
        """What each model says of checked rows."""
        raise NotImplementedError

    def _fit_pool(self, views: Sequence[Distribution], Y: np.ndarray, known: np.ndarray | None = None) -> None:
        """Learn smoothing and exponents from what models say of training rows that they were not fitted on."""
        rng = check_random_state(self.random_state)
        rows = np.sort(rng.permutation(len(Y))[:MAX_ROWS])
        self.labelsets_, which, self.counts_ = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
        self._choose_smoothing(views, Y, rows, known)
        self.pool_ = self._find_exponents(self._evidence(views, which.ravel()), Y, rows, known)

    def _choose_smoothing(
        self, views: Sequence[Distribution], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None
    ) -> None:
        self.smoothings_ = [_best_smoothing(view, Y, rows, known) for view in views]

    def _find_exponents(
        self, evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None
    ) -> Pool:
        return fit_pool(evidence, Y, rows, known)

    def _evidence(self, views: Sequence[Distribution], own: np.ndarray) -> list[Evidence]:
        """What the models say; ``own`` is which label set a training row has, -1 for a new row."""
        evidence = [evidence_of(view, share) for view, share in zip(views, self.smoothings_, strict=True)]
        return [*evidence, PriorEvidence(self.labelsets_, self.counts_, own)] if self.ties_labels else evidence

    def predict_distribution(self, X: Features) -> LabelDistribution:
        """The joint distribution of the labels of each row, over label sets seen in training and probable others."""
        views = self.views(self._check_features(X))
        n_rows = views[0].n_instances
        return self.pool_.distribution(self._evidence(views, np.full(n_rows, -1)), n_rows)


def _in_rows(X: Any) -> Any:
    """Arrays row by row, which a frame is not: sums of features come out the same to the last bit."""
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else narrow_rows(X)


def inner_splits(cv: CrossValidation, X: Any, Y: np.ndarray, rng: np.random.RandomState) -> Splits:
    """Splits of the training data in which each row is tested once, by a model that was not fitted on it.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        As in scikit-learn; a number of folds is stratified by labels.
    X : features of shape (n_rows, n_features)
    Y : ndarray of shape (n_rows, n_labels)
    rng : RandomState
        Draws the folds if ``cv`` is a number.

    Examples
    --------
    >>> X, Y = np.zeros((6, 1)), np.array([[0], [0], [0], [1], [1], [1]])
    >>> [test.tolist() for train, test in inner_splits(3, X, Y, np.random.RandomState(0))]
    [[2, 4], [1, 3], [0, 5]]
    """
    if isinstance(cv, Number):
        n_folds = check_count("cv", cv, least=2)
        if n_folds > len(Y):
            raise ValueError(f"cv must be at most the number of rows, n_samples={len(Y)}; got {n_folds}.")
        splitter = MultilabelStratifiedKFold(n_folds, random_state=rng.randint(MAX_SEED))
    else:
        splitter = check_cv(cv)
    splits = [(np.arange(len(Y))[train], np.arange(len(Y))[test]) for train, test in splitter.split(X, Y)]
    tested = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(tested), np.arange(len(Y))):
        raise ValueError("cv must test each row exactly once, as KFold does; some rows are tested never or repeatedly.")
    return splits


def _best_smoothing(view: Distribution, Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None) -> float:
    """How much of the product of its marginals makes a model of label sets best by itself."""
    if not isinstance(view, LabelDistribution):
        return 0.0
    return max(SMOOTHINGS, key=lambda share: best_score([evidence_of(view, share)], Y, rows, known))
