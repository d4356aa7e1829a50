"""What all learners share: checked inputs, hard labels from probabilities, and models of one label or of label sets."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from choral.learners.pruned_tree import PrunedTreeClassifier
from choral.rows.blocks import check_binary

LARGEST_SEED = np.iinfo(np.int32).max


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Parent of all learners: targets are matrices of 0 and 1, of shape (n_samples, n_labels).

    Attributes
    ----------
    n_labels_ : int
    n_features_in_ : int
    classes_ : list of ndarray
        ``[0, 1]`` for each label, as scikit-learn's classifiers of several outputs have it.
    """

    n_labels_: int
    n_features_in_: int
    classes_: list[np.ndarray]

    def _check_training(self, X: Any, Y: Any) -> tuple[Any, np.ndarray]:
        """Checked features, dense or CSR, and labels as uint8; what all fitted learners know is set."""
        if sp.issparse(Y):
            Y = Y.toarray()
        X, Y = validate_data(self, X, Y, accept_sparse="csr", multi_output=True)
        if Y.ndim == 1:
            raise ValueError(
                "Only binary classification is supported, of each label: Y must have the shape (n_samples, n_labels); "
                f"got a {type_of_target(Y)} target of shape {Y.shape}. A single label is Y.reshape(-1, 1)."
            )
        check_binary("Y", Y, 0)
        self.n_labels_ = Y.shape[1]
        self.classes_ = [np.array([0, 1])] * self.n_labels_
        return X, Y.astype(np.uint8)

    def _check_features(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", reset=False)

    def predict(self, X: Any) -> np.ndarray:
        """Hard labels, of shape (n_samples, n_labels): those that are more probable than not."""
        return (self.predict_proba(X) > 0.5).astype(np.uint8)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels)."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags


def seeded_clones(estimator: Any, n_clones: int, random_state: Any) -> list[Any]:
    """Copies of the base classifier, a pruned tree unless given, each with a seed of its own; with None, as it is."""
    copies = [PrunedTreeClassifier() if estimator is None else clone(estimator) for _ in range(n_clones)]
    if random_state is not None:
        rng = check_random_state(random_state)
        for copy in copies:
            seeds = {name: rng.randint(LARGEST_SEED) for name in sorted(copy.get_params()) if is_seed(name)}
            copy.set_params(**seeds)
    return copies


def is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def fit_model(estimator: Any, X: Any, y: np.ndarray) -> Any:
    """The fitted classifier; one that has seen a single class needs no features."""
    if np.all(y == y[0]):
        return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(y), 1)), y)
    return estimator.fit(X, y.astype(np.intp))  # not uint8, in which 2 * 0 - 1 is 255


def predict_class(model: Any, X: Any) -> np.ndarray:
    """The class of each row."""
    return model.predict(_features_for(model, X))


def class_shares(model: Any, X: Any) -> np.ndarray:
    """The probability of each class, of shape (n_samples, n_classes); 0 and 1 for a model that has none."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(_features_for(model, X))
    return (model.predict(X)[:, np.newaxis] == model.classes_).astype(float)


def positive_share(model: Any, X: Any) -> np.ndarray:
    """The probability of a label that is one of the classes 0 and 1, or the only one there was."""
    of_class = np.flatnonzero(model.classes_ == 1)
    share = class_shares(model, X)[:, of_class[0]] if of_class.size else np.zeros(X.shape[0])
    return share.astype(float).clip(0, 1)  # the exponential of a logarithm may round to more than 1


def _features_for(model: Any, X: Any) -> Any:
    return np.zeros((X.shape[0], 1)) if isinstance(model, DummyClassifier) and model.n_features_in_ == 1 else X


def append_labels(X: Any, labels: np.ndarray) -> Any:
    """Labels as further features; a sparse matrix stays sparse."""
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(labels.astype(float))], format="csr")
    return np.hstack([X, labels])
