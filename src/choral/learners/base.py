"""What all learners share: checked labels and features, and models of one label or of label sets inside them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted, validate_data

from choral._saved import SavedState
from choral._typing import Features, LabelArray, LabelMatrix, RandomState
from choral.learners.missing import find_missing
from choral.learners.pruned_tree import PrunedTreeClassifier, fit_trees
from choral.rows.blocks import check_binary

MAX_SEED = np.iinfo(np.int32).max
ROUNDING = 1e-5  # how far probabilities in float32 may lie outside [0, 1]


def _has_proba(learner: Any) -> bool:
    return hasattr(learner, "predict_proba")


class MultiLabelClassifier(SavedState, ClassifierMixin, BaseEstimator):
    """Parent of all learners: targets are matrices of 0 and 1, of shape (n_samples, n_labels).

    A learner of one's own needs ``fit`` and either ``predict_proba`` or ``predict``. It calls ``_check_training`` in
    ``fit`` and ``_check_features`` where it predicts. Saved by pickle or joblib, it says which choral wrote it; one
    whose fitted attributes change their meaning counts up ``_state_version``, so that older files are refused.

    Attributes
    ----------
    n_labels_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where features come as a frame.
    classes_ : list of ndarray
        ``[0, 1]`` for each label, as scikit-learn's classifiers of several outputs have it, in the dtype of the labels
        given to ``fit``; int64 for objects, and where labels are missing. Predicted labels have it too.

    See Also
    --------
    BinaryRelevance : One classifier for each label.
    AutoJoint : The learner to begin with.

    Examples
    --------
    >>> class NoLabels(MultiLabelClassifier):
    ...     def fit(self, X, Y):
    ...         self._check_training(X, Y)
    ...         return self
    ...
    ...     def predict(self, X):
    ...         return np.zeros((len(X), self.n_labels_), dtype=int)
    >>> NoLabels().fit([[0.0], [1.0]], [[1, 0], [0, 1]]).predict([[2.0]])
    array([[0, 0]])
    """

    n_labels_: int
    n_features_in_: int
    classes_: list[np.ndarray]

    _takes_missing_features = False

    @property
    def _finite(self) -> Any:
        """What scikit-learn is to check of the features."""
        return "allow-nan" if self._takes_missing_features else True

    def _check_training(self, X: Features, Y: LabelMatrix) -> tuple[Any, LabelArray]:
        """Checked features, dense or CSR, and labels as uint8; what all fitted learners know is set."""
        Y = self._check_labels(Y)
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=self._finite)
        check_consistent_length(X, Y)
        return X, Y

    def _check_labels(self, Y: Any) -> LabelArray:
        """Labels as uint8; their number and dtype are kept."""
        if find_missing(Y) is not None:
            raise ValueError(
                f"Y must be complete for {type(self).__name__}; some labels are missing, NaN. "
                "AutoJoint, BoostedJoint, JointForest, LogisticJoint and StackedJoint learn from those that are known."
            )
        labels: np.ndarray = validate_data(self, y=Y.toarray() if sp.issparse(Y) else Y, multi_output=True)
        if labels.ndim == 1:
            raise ValueError(
                "Only binary classification is supported, of each label: Y must have the shape (n_samples, n_labels); "
                f"got a {type_of_target(labels)} target of shape {labels.shape}. A single label is Y.reshape(-1, 1)."
            )
        check_binary("Y", labels, 0)
        self.n_labels_ = labels.shape[1]
        dtype = np.int64 if labels.dtype == object else labels.dtype
        self.classes_ = [np.array([0, 1], dtype=dtype)] * self.n_labels_
        return labels.astype(np.uint8)

    def _check_features(self, X: Features) -> Any:
        """Features of rows to predict: dense or CSR, as many as in training."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", ensure_all_finite=self._finite, reset=False)

    def _to_target(self, labels: np.ndarray) -> np.ndarray:
        """Labels in the dtype of those given to ``fit``."""
        return labels.astype(self.classes_[0].dtype, copy=False)

    @available_if(_has_proba)
    def predict(self, X: Features) -> np.ndarray:
        """Hard labels, of shape (n_samples, n_labels): those that are more probable than not."""
        return self._to_target(self.predict_proba(X) > 0.5)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing_features
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags


class MetaClassifier(MetaEstimatorMixin, MultiLabelClassifier):
    """Parent of learners around other estimators, which get the features untouched.

    Frames keep their columns, and missing values are for the estimators to judge. Sparse matrices of any kind become
    CSR, with indices of 32 bits where these suffice: rows are drawn from them, and many estimators refuse wider ones.
    """

    estimator: Any

    def _check_training(self, X: Features, Y: LabelMatrix) -> tuple[Any, LabelArray]:
        Y = self._check_labels(Y)
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_, where X has them
        check_consistent_length(X, Y)
        return narrow_rows(X), Y

    def _check_features(self, X: Features) -> Any:
        check_is_fitted(self)
        return narrow_rows(X)

    def _inner_estimators(self) -> list[Any]:
        """The estimators that get the features."""
        return [PrunedTreeClassifier() if self.estimator is None else self.estimator]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(one).input_tags for one in self._inner_estimators() if hasattr(one, "__sklearn_tags__")]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.allow_nan = bool(inner) and all(one.allow_nan for one in inner)
        return tags


def narrow_rows(X: Features) -> Any:
    """Sparse features as CSR, with indices of 32 bits where these suffice; other features as they are."""
    if not sp.issparse(X):
        return X
    X = X.tocsr()
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    places = (part.astype(np.int32, copy=False) for part in (X.indices, X.indptr))
    return type(X)((X.data, *places), shape=X.shape)


def seeded_clones(estimator: Any, n_clones: int, random_state: RandomState) -> list[Any]:
    """Copies of the base classifier, a pruned tree unless given, each with a seed of its own; with None, as it is.

    An object without ``get_params`` is copied by `copy.deepcopy`, and keeps its seed.
    """
    if isinstance(estimator, type) or not (estimator is None or hasattr(estimator, "fit")):
        raise TypeError(f"an estimator must be an object with fit, such as LogisticRegression(); got {estimator!r}.")
    copies = [PrunedTreeClassifier() if estimator is None else clone(estimator, safe=False) for _ in range(n_clones)]
    if random_state is not None and hasattr(copies[0], "get_params"):
        rng = check_random_state(random_state)
        for copy in copies:
            seeds = {name: rng.randint(MAX_SEED) for name in sorted(copy.get_params()) if is_seed(name)}
            copy.set_params(**seeds)
    return copies


def is_seed(name: str) -> bool:
    """Whether a parameter of an estimator, or of one inside it, is its seed."""
    return name == "random_state" or name.endswith("__random_state")


def fit_model(estimator: Any, X: Any, y: np.ndarray) -> Any:
    """The fitted classifier; where there is a single class, one that needs no features."""
    if np.all(y == y[0]):
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), y)
    estimator.fit(X, y.astype(np.intp))  # not uint8, in which 2 * 0 - 1 is 255
    return estimator  # fit of an object that is not scikit-learn's need not return it


def fit_models(
    estimators: list[Any],
    X: Any,
    targets: list[np.ndarray],
    *,
    n_features: list[int] | None = None,
    n_jobs: int | None = None,
) -> list[Any]:
    """Fitted classifiers of the same features, one for each target; pruned trees share the sorted features.

    Parameters
    ----------
    n_features : list of int, optional
        How many of the features each gets, the first ones; only where all estimators are pruned trees.
    """
    varied = [place for place, y in enumerate(targets) if np.any(y != y[0])]
    if len(varied) == 0 or not all(type(estimators[place]) is PrunedTreeClassifier for place in varied):
        return Parallel(n_jobs=n_jobs)(
            delayed(fit_model)(estimator, X, y) for estimator, y in zip(estimators, targets, strict=True)
        )
    models = [None if place in set(varied) else fit_model(None, X, y) for place, y in enumerate(targets)]
    trees = fit_trees(
        [estimators[place] for place in varied],
        X,
        [targets[place].astype(np.intp) for place in varied],
        n_features=None if n_features is None else [n_features[place] for place in varied],
        n_jobs=n_jobs,
    )
    for place, tree in zip(varied, trees, strict=True):
        models[place] = tree
    return models


def predict_class(model: Any, X: Any) -> np.ndarray:
    """The class of each row."""
    if not hasattr(model, "predict"):
        return (positive_share(model, X) > 0.5).astype(np.intp)
    labels = np.asarray(model.predict(_features_for(model, X)))
    if labels.size != _num_samples(X):
        kind, expected = type(model).__name__, (_num_samples(X),)
        raise ValueError(f"predict of {kind} must return the shape {expected} for a label; got {labels.shape}.")
    return labels.reshape(-1)  # some return a column


def class_shares(model: Any, X: Any) -> np.ndarray:
    """The probability of each class, of shape (n_samples, n_classes); 0 and 1 for a model that has none."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(_features_for(model, X))
    return (predict_class(model, X)[:, np.newaxis] == _classes_of(model)).astype(float)


def positive_share(model: Any, X: Any) -> np.ndarray:
    """The probability that a label is 1, by a model of the classes 0 and 1, or of the only class there was.

    A model without ``classes_`` must have a column for 0 and one for 1.
    """
    classes, kind = _classes_of(model), type(model).__name__
    if not np.isin(classes, (0, 1)).all():
        raise ValueError(f"classes_ of {kind} must be 0 and 1 for a label; got {classes.tolist()}.")
    of_class = np.flatnonzero(classes == 1)
    if not of_class.size:
        return np.zeros(_num_samples(X))
    shares, expected = np.asarray(class_shares(model, X)), (_num_samples(X), classes.size)
    if shares.shape != expected:
        raise ValueError(f"predict_proba of {kind} must return the shape {expected} for a label; got {shares.shape}.")
    share = clip_rounded(shares[:, of_class[0]].astype(float))
    if not (share.min(initial=0) >= 0 and share.max(initial=1) <= 1):  # nan fails too
        worst = share[np.argmax(~((share >= 0) & (share <= 1)))]
        raise ValueError(f"predict_proba of {kind} must lie in [0, 1]; got {worst:g}.")
    return share


def clip_rounded(scores: np.ndarray) -> np.ndarray:
    """Probabilities without what rounding put outside [0, 1], as the exponential of a logarithm or float32 may do."""
    outside = np.abs(scores - 0.5).max(initial=0) - 0.5
    return scores.clip(0, 1) if 0 < outside <= ROUNDING else scores


def _classes_of(model: Any) -> np.ndarray:
    """The classes of a model of one label; one that does not tell them has 0 and 1."""
    classes = getattr(model, "classes_", None)
    return np.asarray((0, 1) if classes is None else classes)


def _features_for(model: Any, X: Any) -> Any:
    is_constant = isinstance(model, DummyClassifier) and model.n_features_in_ == 1
    return np.zeros((_num_samples(X), 1)) if is_constant else X
