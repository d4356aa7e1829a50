"""From what models return to what losses take: hard labels, or scores in [0, 1]. Nothing rescales silently."""

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import expit

from choral._array_api import to_host
from choral._typing import Features, LabelMatrix
from choral._validation import Labels, check_count, check_matrix, refuse_entry_where, refuse_where, to_double
from choral.rows.door import check_sparse_threshold, read_matrix, warn_of_threshold
from choral.rows.sparse import harden_sparse


def harden(scores: LabelMatrix, threshold: float = 0.5) -> Labels:
    """Hard labels: 1 where the score is at least the threshold.

    Parameters
    ----------
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        Real-valued scores of any range; sparse ones need a positive threshold and stay sparse.
    threshold : float
        For logits, 0.

    Returns
    -------
    labels : uint8 matrix of the same shape
        An array, or a sparse matrix where scores are sparse.

    See Also
    --------
    harden_top : Take the labels with the highest scores.
    scores_from_logits : Logits to scores.
    choral.calibration.ThresholdTuner : Cut scores where a loss is least.

    Examples
    --------
    >>> harden([[0.2, 0.5, 0.9]])
    array([[0, 1, 1]], dtype=uint8)
    """
    matrix, threshold = check_scores("scores", scores), check_threshold(threshold)
    values = matrix.data if sp.issparse(matrix) else matrix
    if not 0 <= threshold <= 1 and values.size and values.min() >= 0 and values.max() <= 1:
        warn_of_threshold("scores", threshold)
    if sp.issparse(matrix):
        return harden_sparse("scores", matrix, check_sparse_threshold(threshold))
    return (matrix >= threshold).astype(np.uint8)


def harden_top(scores: LabelMatrix, n_relevant: int) -> np.ndarray:
    """Hard labels: the labels with the highest scores in each row; of equal ones, the first.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_labels)
        Real-valued scores of any range.
    n_relevant : int
        How many labels each row gets; at most the number of labels.

    Returns
    -------
    labels : ndarray of uint8, of shape (n_samples, n_labels)
        1 for the labels that are predicted.

    See Also
    --------
    harden : Cut scores at a threshold.
    choral.calibration.ThresholdTuner : Cut scores where a loss is least.

    Examples
    --------
    >>> harden_top([[0.2, 0.5, 0.9], [3.0, 1.0, 2.0]], n_relevant=1)
    array([[0, 0, 1],
           [1, 0, 0]], dtype=uint8)
    """
    matrix = check_scores("scores", scores)
    matrix = matrix.toarray() if sp.issparse(matrix) else matrix
    n_relevant = check_count("n_relevant", n_relevant, least=0)
    if n_relevant > matrix.shape[1]:
        raise ValueError(f"n_relevant must be at most {matrix.shape[1]}, the number of labels; got {n_relevant}.")
    top = np.argsort(-matrix.astype(float, copy=False), axis=1, kind="stable")[:, :n_relevant]
    labels = np.zeros(matrix.shape, dtype=np.uint8)
    np.put_along_axis(labels, top, 1, axis=1)
    return labels


def scores_from_logits(logits: LabelMatrix) -> np.ndarray:
    r"""The logistic function: real-valued logits to scores in [0, 1].

    .. math:: \sigma(z) = \frac{1}{1 + e^{-z}}

    Parameters
    ----------
    logits : array-like of shape (n_samples, n_labels)
        Real numbers; 0 becomes the score 0.5.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        Scores in [0, 1].

    See Also
    --------
    harden : Cut scores at a threshold.
    stack_proba : One matrix from `predict_proba` of several outputs.

    Examples
    --------
    >>> scores_from_logits([[0.0, 2.0]]).round(3)
    array([[0.5  , 0.881]])
    """
    matrix = check_matrix("logits", logits)
    if sp.issparse(matrix):
        raise ValueError("logits must be dense: an absent entry would be the logit 0, the score 0.5.")
    refuse_where("logits must not be nan", "logits", matrix, np.isnan(matrix))
    return expit(matrix.astype(float, copy=False))


def stack_proba(proba: np.ndarray | Sequence[ArrayLike], classes: Sequence[Iterable[int]] | None = None) -> np.ndarray:
    """One matrix of scores from scikit-learn's ``predict_proba`` for several outputs.

    Parameters
    ----------
    proba : list of n_labels arrays of shape (n_samples, n_classes), or matrix of shape (n_samples, n_labels)
        As ``predict_proba`` returns it.
    classes : list of n_labels arrays, optional
        ``estimator.classes_``. Tells which column is the label 1, also where a label had one class only in
        training; without it, each array must have two columns.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        The probability of each label.

    See Also
    --------
    harden : Cut scores at a threshold.
    scores_from_logits : Logits to scores.

    Examples
    --------
    >>> stack_proba([[[0.9, 0.1]], [[0.3, 0.7]]])
    array([[0.1, 0.7]])
    >>> stack_proba([[[0.9, 0.1]], [[1.0]]], classes=[[0, 1], [0]])  # the second label never occurred
    array([[0.1, 0. ]])
    """
    if sp.issparse(proba):
        return proba.toarray()  # type: ignore[union-attr]  # not one that scikit-learn returns
    n_dimensions = len(getattr(proba, "shape", ()))
    if n_dimensions == 2:  # an array or a frame
        return np.asarray(proba)
    if n_dimensions != 3 and not isinstance(proba, (list, tuple)):
        wanted = "predict_proba must return a matrix, or a list with an array for each label"
        raise TypeError(f"{wanted}; got {type(proba).__name__}.")
    tables = [np.asarray(output, dtype=float) for output in proba]
    if not tables or (classes is not None and len(classes) != len(tables)):
        raise ValueError(f"predict_proba must have one array for each label; got {len(tables)} arrays.")
    known = [[0, 1]] * len(tables) if classes is None else [list(some) for some in classes]
    return np.column_stack([_column_of_ones(label, table, known[label]) for label, table in enumerate(tables)])


def probabilities_of(model: Any, X: Features, n_labels: int) -> np.ndarray:
    """One matrix of scores by the ``predict_proba`` of a fitted classifier of any kind, also of a single label."""
    proba, classes = model.predict_proba(X), getattr(model, "classes_", None)
    if n_labels == 1 and len(np.shape(proba)) == 2:  # scikit-learn takes a single label for a column of classes
        known = [0, 1] if classes is None else classes
        if np.shape(known) == np.shape(proba)[1:]:
            proba, classes = [proba], [known]
    return stack_proba(proba, classes)


def predictions_of(estimator: Any, X: Features, n_labels: int, name: str = "estimator") -> Any:
    """What a fitted estimator predicts for some rows, as a matrix with a column for each label.

    Whatever its ``predict`` returns, which is hard labels as a rule; the scores of ``predict_proba`` only where there
    is no ``predict``.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like of shape (n_samples, n_features)
    n_labels : int
    name : str
        What messages call the estimator.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [1], [2]], [[1, 0], [1, 0], [1, 1]])
    >>> predictions_of(model, [[3], [4]], n_labels=2)
    array([[1, 0],
           [1, 0]])
    """
    from sklearn.exceptions import NotFittedError  # here: scikit-learn takes a second to import

    kind = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"{name} must be a fitted estimator; got the class {estimator.__name__} itself.")
    try:
        if not hasattr(estimator, "predict"):
            return probabilities_of(estimator, X, n_labels)
        labels = estimator.predict(X)
    except NotFittedError as error:
        raise NotFittedError(f"{name}, a {kind}, is not fitted; call its fit(X_train, Y_train) first.") from error
    return np.reshape(labels, (-1, 1)) if n_labels == 1 and len(np.shape(labels)) == 1 else labels


def _column_of_ones(label: int, table: np.ndarray, classes: list) -> np.ndarray:
    """The probabilities of the class 1; zeros where it was not seen."""
    if not set(classes) <= {0, 1}:
        raise ValueError(f"the classes of label {label} must be 0 and 1; got {classes}.")
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise ValueError(
            f"predict_proba of label {label} must have shape (n_samples, {len(classes)}), one column for each of "
            f"the classes {classes}; got shape {table.shape}. Pass classes=estimator.classes_."
        )
    return table[:, classes.index(1)] if 1 in classes else np.zeros(len(table))


def check_scores(name: str, scores: LabelMatrix) -> Labels:
    """A matrix of real numbers of any range, without nan."""
    matrix = to_host(read_matrix(name, scores))
    if matrix.dtype.kind == "f":
        rule = f"{name} must not be nan"
        if sp.issparse(matrix):
            refuse_entry_where(rule, name, matrix, np.isnan(matrix.data))
        else:
            refuse_where(rule, name, matrix, np.isnan(matrix))
    return matrix


def check_threshold(threshold: Any) -> float:
    """A number."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise ValueError(f"threshold must be a number; got {threshold!r}.")
    number = to_double("threshold", threshold)
    if math.isnan(number):
        raise ValueError(f"threshold must be a number; got {threshold!r}.")
    return number
