r"""Conditional dependence of labels: what labels tell about each other once the features are known.

There are two cross-validated models of each label. One has the features alone, the other also the true values of the
labels before it. By how many bits does the second predict better?

.. math::
    g_i = \frac{1}{n} \sum_{t=1}^{n} \log_2 \frac{\hat p(y_{ti} \mid x_t, y_{t1}, \dots, y_{t,i-1})}
        {\hat p(y_{ti} \mid x_t)} \approx I(Y_i; Y_1, \dots, Y_{i-1} \mid X)

The sum over labels is an estimate of the total correlation given the features,
:math:`\sum_i H(Y_i \mid X) - H(Y \mid X)`: what a probabilistic classifier chain gains over binary relevance, in bits
of log loss for an instance. In truth it does not depend on the order of the labels, and is 0 if and only if they are
independent given the features.

The estimate is only as good as the models. A model that cannot express how labels depend on each other finds too
little. So does any model if labels are rare or instances few: the second model has more features to learn from as many
rows, and the gain may even be negative. A model that cannot express how labels depend on the *features* finds too much,
since other labels tell it about the features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from choral._typing import Features, FloatArray, IntArray, LabelArray
from choral._validation import check_count

if TYPE_CHECKING:
    from choral.datasets import Dataset


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class ConditionalDependence:
    """How much labels tell about each other beyond what the features tell, in bits.

    Parameters
    ----------
    label_names : tuple of str
        The names of the labels.
    losses_alone : ndarray of shape (n_labels,)
        Cross-validated log loss of each label, given the features.
    losses_chained : ndarray of shape (n_labels,)
        The same, given the features and the labels before it.
    standard_error : float
        Of `total`, over instances. It is rough, since folds share training data.

    See Also
    --------
    conditional_dependence : What labels tell about each other beyond the features.
    describe : Describe a data set and its labels.

    Examples
    --------
    >>> found = ConditionalDependence(("a", "b"), np.array([0.5, 0.75]), np.array([0.5, 0.5]), standard_error=0.1)
    >>> float(found.total)  # the second label, given the first
    0.25
    """

    label_names: tuple[str, ...]
    losses_alone: FloatArray
    losses_chained: FloatArray
    standard_error: float

    @property
    def gains(self) -> FloatArray:
        """What the labels before each label tell about it, of shape (n_labels,); 0 for the first."""
        return self.losses_alone - self.losses_chained

    @property
    def total(self) -> float:
        """The sum of the gains: bits per instance."""
        return float(self.gains.sum())

    @property
    def mean(self) -> float:
        """The mean of the gains: bits per label."""
        return float(self.gains.mean())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists for JSON."""
        return {
            "total": self.total,
            "mean": self.mean,
            "standard_error": self.standard_error,
            "labels": list(self.label_names),
            "losses_alone": self.losses_alone.tolist(),
            "losses_chained": self.losses_chained.tolist(),
            "gains": self.gains.tolist(),
        }


def conditional_dependence(
    dataset: "Dataset",
    estimator: Any = None,
    *,
    cv: Any = 5,
    random_state: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> ConditionalDependence:
    """Estimate how much labels depend on each other given the features: the gain of a chain over independent models.

    The formula and its limits stand at the top of `choral.stats.conditional`.

    Parameters
    ----------
    dataset : Dataset
        With features.
    estimator : scikit-learn classifier with ``predict_proba``, optional
        The model of one label; by default logistic regression on scaled features. It is cloned.
    cv : int or splitter, default=5
        Number of shuffled folds, or a splitter of scikit-learn.
    random_state : int, default=0
        The seed of the shuffling.
    progress : callable (done, total, what), optional
        Called after each label of each fold.

    Returns
    -------
    dependence : ConditionalDependence
        Losses of labels alone and in a chain, and their difference.

    See Also
    --------
    ConditionalDependence : What `conditional_dependence` returns.
    describe : Describe a data set and its labels.

    Examples
    --------
    >>> from choral.datasets import make_dependent
    >>> for dependence in (0, 0.5, 1):
    ...     print(round(conditional_dependence(make_dependent(1000, 4, dependence)).total, 2))
    -0.01
    0.17
    0.64
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from choral.datasets import Dataset  # here, so that evaluation, which imports choral.stats, need not load it

    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset must be a Dataset, which has features; got {type(dataset).__name__}.")
    estimator = _default_estimator(dataset.X) if estimator is None else estimator
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"estimator must have predict_proba; got {estimator!r}.")
    X, Y = dataset.X, np.asarray(dataset.Y)
    folds, n_labels = list(_splitter(cv, len(Y), random_state).split(X)), Y.shape[1]
    losses = []
    for fold, (train, test) in enumerate(folds):
        of_fold = np.empty((2, len(test), n_labels))
        for label in range(n_labels):
            with threadpool_limits(1):  # the matrices are small: more threads would cost more than they save
                of_fold[:, :, label] = _losses_alone_and_chained(estimator, X, Y[:, : label + 1], train, test)
            progress(fold * n_labels + label + 1, len(folds) * n_labels, f"fitting chains to {dataset.name}")
        losses.append(of_fold)
    alone, chained = np.concatenate(losses, axis=1)
    error = (alone - chained).sum(axis=1).std(ddof=1) / np.sqrt(len(alone))
    return ConditionalDependence(dataset.label_names, alone.mean(axis=0), chained.mean(axis=0), float(error))


def _losses_alone_and_chained(
    estimator: Any, X: Features, Y: LabelArray, train: IntArray, test: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log losses of the last label in the rows of a fold: given the features, and given also the labels before it."""
    before, y = Y[:, :-1], Y[:, -1]
    alone = _log_losses(estimator, X, y, train, test)
    return alone, _log_losses(estimator, _append_labels(X, before), y, train, test) if before.size else alone


def _log_losses(estimator: Any, X: Features, y: LabelArray, train: IntArray, test: IntArray) -> FloatArray:
    """Log losses in bits of one label in the rows of a fold."""
    from sklearn.base import clone

    if y[train].min() == y[train].max():  # few estimators take a single class
        relevant = np.full(len(test), float(y[train][0]))
    else:
        model = clone(estimator).fit(X[train], y[train])
        relevant = model.predict_proba(X[test])[:, 1]
    # The rule of succession: after n rows of one class, the other has probability 1 / (n + 2). No model may go below.
    least = 1 / (len(train) + 2)
    return -np.log2(np.where(y[test], relevant, 1 - relevant).clip(least, 1 - least))


def _append_labels(X: Features, labels: LabelArray) -> Features:
    return sp.hstack([X, labels], format="csr") if sp.issparse(X) else np.hstack([X, labels])


def _splitter(cv: Any, n_samples: int, random_state: int) -> Any:
    from sklearn.model_selection import KFold

    if hasattr(cv, "split"):
        return cv
    n_folds = check_count("cv", cv, least=2)
    if n_folds > n_samples:
        raise ValueError(f"cv must be at most the number of instances, {n_samples}; got {n_folds} folds.")
    return KFold(n_folds, shuffle=True, random_state=random_state)


def _default_estimator(X: Features) -> Any:
    """Logistic regression on scaled features; sparse features stay sparse, and rare ones are not scaled up.

    A tenth of the usual C suits standardised features: with more, a hundred of them fit the noise of some hundred rows.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    scaler, strength = (MaxAbsScaler(), 1.0) if sp.issparse(X) else (StandardScaler(), 0.1)
    model = LogisticRegression(C=strength, tol=1e-3, max_iter=1000)
    return make_pipeline(SimpleImputer(keep_empty_features=True), scaler, model)
