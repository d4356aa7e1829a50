"""Any classifier in, the best labels for a loss out, by a calibrator that learns from its out-of-fold scores."""

import os
from collections.abc import Callable
from typing import Any, ClassVar

import joblib
import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_consistent_length, check_memory, validate_data

from choral._array_api import to_host
from choral._typing import CrossValidation, Features, FloatArray, IntArray, LabelMatrix, RandomState
from choral.calibration.joint import JointCalibrator
from choral.calibration.thresholds import ThresholdTuner
from choral.decisions import BayesCurve
from choral.decisions.base import Distribution
from choral.learners.base import MetaClassifier, narrow_rows, seeded_clones
from choral.learners.pooled import Splits, inner_splits
from choral.overlap import AnyLoss
from choral.rows.blocks import as_dense
from choral.rows.door import read_matrix
from choral.scores import probabilities_of

Calibrator = JointCalibrator | ThresholdTuner
COMPRESSION = ("zlib", 1)  # of fitted estimators in a folder: trees of many labels are mostly zeros


def _calibrator_has(method: str) -> Callable[[Any], bool]:
    return lambda classifier: hasattr(classifier._own_calibrator(), method)


def _has_probabilities(classifier: Any) -> bool:
    return _calibrator_has("predict_proba")(classifier) or hasattr(classifier.estimator, "predict_proba")


class JointCalibratedClassifier(MetaClassifier):
    """A classifier of any kind, and a calibrator that makes the best labels for a loss of its scores.

    In the shape of scikit-learn's `CalibratedClassifierCV`: the classifier scores each training row after it was fitted
    on other rows, the calibrator learns from these scores, and in the end the classifier is fitted on all rows.

    Parameters
    ----------
    estimator : classifier
        Of choral, of scikit-learn or of its kind, with ``predict_proba`` (a matrix, or a list with a table for each
        label), else with ``decision_function``, whose numbers are taken for logits. It gets the features as they come:
        frames, sparse matrices, text. A fitted one goes in as ``sklearn.frozen.FrozenEstimator(model)``: then all rows
        given to `fit` serve the calibrator, and should be rows that the model was not fitted on.
    calibrator : JointCalibrator or ThresholdTuner, optional
        `JointCalibrator` unless given. With a `ThresholdTuner` there is no ``predict_distribution`` and no
        ``predict_curve``.
    cv : int, splitter or iterable of (train, test)
        The inner cross-validation, in which each row is tested once. A number of folds is stratified by labels. Not
        used with a fitted estimator.
    measure : Measure, FLoss, JaccardLoss or str, optional
        The loss to minimise unless another is given to `predict`; unless given, that of the calibrator.
    memory : str, path-like or joblib.Memory, optional
        A folder in which the fitted estimator and the scores of the training rows are kept, as in scikit-learn's
        `Pipeline`: several calibrators around one model then fit it once. Nothing is found there again unless
        ``random_state`` is a number.
    n_jobs : int, optional
        Fits at a time, as in joblib.
    random_state : int, RandomState or None
        For the estimator, and the folds. The calibrator has a seed of its own.

    Attributes
    ----------
    estimator_ : the classifier, fitted on all rows
    calibrator_ : the fitted calibrator
    scores_ : ndarray of shape (n_samples, n_labels)
        The scores that the calibrator was fitted on.
    n_labels_, classes_, n_features_in_, feature_names_in_ :
        As in `choral.learners.MultiLabelClassifier`.

    See Also
    --------
    JointCalibrator : Learn from scores how labels depend on each other.
    choral.learners.ExpectedLossClassifier : Decide for a loss by what another learner says.

    Notes
    -----
    Labels may be missing (nan in ``Y``) where the estimator is fitted already.

    The files in the folder of ``memory`` are pickles, which run code when they are read: it must be one's own. Remove
    it when the version of scikit-learn, or of the estimator's package, changes.

    Examples
    --------
    One of three labels is relevant, and a regression for each knows nothing of the others:

    >>> import numpy as np
    >>> from choral import JointCalibratedClassifier, subset_loss
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(3, size=600)]
    >>> X = rng.normal(Y, 0.8)
    >>> model = MultiOutputClassifier(LogisticRegression())
    >>> calibrated = JointCalibratedClassifier(model, random_state=0).fit(X[:300], Y[:300])
    >>> alone = model.fit(X[:300], Y[:300])
    >>> [round(subset_loss(Y[300:], one.predict(X[300:])), 1) for one in (alone, calibrated)]
    [0.5, 0.3]
    """

    estimator_: Any
    calibrator_: Calibrator
    scores_: FloatArray
    _labels: np.ndarray
    __metadata_request__predict: ClassVar = {"measure": True}  # a Pipeline hands it on with metadata routing, too

    def __init__(
        self,
        estimator: Any,
        calibrator: Calibrator | None = None,
        *,
        cv: CrossValidation = 5,
        measure: AnyLoss | str | None = None,
        memory: str | os.PathLike[str] | joblib.Memory | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.calibrator = calibrator
        self.cv = cv
        self.measure = measure
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "JointCalibratedClassifier":
        """Fit the estimator, unless it is frozen, and the calibrator.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        calibrator = self._new_calibrator()
        if isinstance(self.estimator, FrozenEstimator):
            X, self._labels = self._check_calibration(X, Y)
            self.estimator_ = self.estimator
            self.scores_ = _scores(self.estimator, X, self.n_labels_)
        else:
            _refuse_missing(Y)
            X, labels = self._check_training(X, Y)
            self._labels = labels
            self.estimator_, self.scores_ = self._cross_fit(
                X, labels.astype(np.intp)
            )  # not uint8, in which 0 - 1 is 255
        if calibrator.get_params().get("scores") == "auto":
            kind = "probabilities" if hasattr(self.estimator_, "predict_proba") else "logits"
            calibrator.set_params(scores=kind)
        self.calibrator_ = calibrator.fit(self.scores_, self._labels)
        return self

    def _own_calibrator(self) -> Calibrator:
        return JointCalibrator() if self.calibrator is None else self.calibrator

    def _new_calibrator(self) -> Calibrator:
        """A calibrator that minimises the measure of this classifier, unless that is None."""
        own = self._own_calibrator()
        if not isinstance(own, JointCalibrator | ThresholdTuner):
            raise TypeError(f"calibrator must be a JointCalibrator or a ThresholdTuner; got {own!r}.")
        return clone(own) if self.measure is None else _made_for(own, self.measure)

    def _check_calibration(self, X: Features, Y: LabelMatrix) -> tuple[Any, np.ndarray]:
        """Features and labels that no estimator is fitted on: labels may be missing."""
        matrix = as_dense(to_host(read_matrix("Y", Y)))
        missing = np.isnan(matrix) if matrix.dtype.kind == "f" else np.zeros(matrix.shape, dtype=bool)
        labels = self._check_labels(np.where(missing, 0, matrix))
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_ and feature_names_in_, where X has them
        check_consistent_length(X, labels)
        return narrow_rows(X), np.where(missing, np.nan, labels) if missing.any() else labels

    def _cross_fit(self, X: Any, Y: np.ndarray) -> tuple[Any, FloatArray]:
        rng = check_random_state(self.random_state)
        splits = inner_splits(self.cv, X, Y, rng)
        (estimator,) = seeded_clones(self.estimator, 1, None if self.random_state is None else rng)
        found: tuple[Any, FloatArray] = _open_memory(self.memory).cache(_fit_and_score, ignore=["n_jobs"])(
            estimator, X, Y, splits, n_jobs=self.n_jobs
        )
        return found

    def predict(self, X: Features, measure: AnyLoss | str | None = None) -> np.ndarray:
        """Hard labels by the calibrator, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
            The features.
        measure : Measure, FLoss, JaccardLoss or str, optional
            The loss; the ``measure`` of the classifier unless given. Thresholds are tuned anew for another one, on
            the scores that they were tuned on in `fit`.
        """
        scores = self._predict_scores(X)
        if measure is None:
            labels = self.calibrator_.predict(scores)
        elif isinstance(self.calibrator_, JointCalibrator):
            labels = self.calibrator_.predict(scores, measure=measure)
        else:
            labels = _made_for(self.calibrator_, measure).fit(self.scores_, self._labels).predict(scores)
        return self._to_target(labels)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels): calibrated, or with thresholds the model's."""
        scores = self._predict_scores(X)
        return self.calibrator_.predict_proba(scores) if hasattr(self.calibrator_, "predict_proba") else scores

    @available_if(_calibrator_has("predict_distribution"))
    def predict_distribution(self, X: Features) -> Distribution:
        """The joint distribution of the labels of each row."""
        scores = self._predict_scores(X)
        return self.calibrator_.predict_distribution(scores)

    @available_if(_calibrator_has("predict_curve"))
    def predict_curve(self, X: Features, family: str = "binomial", parameters: ArrayLike | None = None) -> BayesCurve:
        """The best predictions for all losses of a family; ``labels`` of shape (n_parameters, n_samples, n_labels).

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        """
        scores = self._predict_scores(X)
        return self.calibrator_.predict_curve(scores, family, parameters)

    def _predict_scores(self, X: Features) -> FloatArray:
        X = self._check_features(X)
        return _scores(self.estimator_, X, self.n_labels_)

    def _inner_estimators(self) -> list[Any]:
        return [self.estimator]


def _made_for(calibrator: Calibrator, measure: Any) -> Any:
    """A new calibrator for another loss."""
    return clone(calibrator).set_params(**{"measure" if isinstance(calibrator, JointCalibrator) else "loss": measure})


def _refuse_missing(Y: Any) -> None:
    values = Y.data if sp.issparse(Y) else np.asarray(Y)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(
            "Y must be complete for an estimator that is fitted on it; some labels are missing, NaN. "
            "FrozenEstimator(model), of a model fitted before, can be calibrated on such rows."
        )


def _open_memory(memory: Any) -> Any:
    if isinstance(memory, str | os.PathLike):
        return joblib.Memory(memory, verbose=0, compress=COMPRESSION)
    return check_memory(memory)


def _fit_and_score(
    estimator: Any, X: Any, Y: np.ndarray, splits: Splits, *, n_jobs: int | None
) -> tuple[Any, FloatArray]:
    """The estimator fitted on all rows; scores of the test rows of each split by one fitted on its training rows."""
    fitted, *parts = Parallel(n_jobs=n_jobs)(
        [delayed(clone(estimator).fit)(X, Y)]
        + [delayed(_score_split)(clone(estimator), X, Y, train, test) for train, test in splits]
    )
    order = np.argsort(np.concatenate([test for _, test in splits]))
    return fitted, np.concatenate(parts)[order]


def _score_split(estimator: Any, X: Any, Y: np.ndarray, train: IntArray, test: IntArray) -> FloatArray:
    return _scores(estimator.fit(_safe_indexing(X, train), Y[train]), _safe_indexing(X, test), Y.shape[1])


def _scores(model: Any, X: Any, n_labels: int) -> FloatArray:
    """Probabilities of a fitted model, or logits of one that has none."""
    if hasattr(model, "predict_proba"):
        method, scores = "predict_proba", probabilities_of(model, X, n_labels)
    elif hasattr(model, "decision_function"):
        method, scores = "decision_function", np.asarray(model.decision_function(X), dtype=float)
        scores = scores.reshape(-1, 1) if n_labels == 1 else scores  # scikit-learn's are 1-D then
    else:
        raise TypeError(f"estimator must have predict_proba or decision_function; got {model!r}, which has neither.")
    if scores.shape != (expected := (_num_samples(X), n_labels)):
        raise ValueError(f"{method} of the estimator must return the shape {expected}; got {scores.shape}.")
    return scores.astype(float, copy=False)
