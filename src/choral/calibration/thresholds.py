"""Thresholds for the scores of any model, tuned for a loss on rows that the model was not fitted on."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from choral._saved import SavedState
from choral._typing import FloatArray, LabelArray, LabelMatrix, RowWeights
from choral._validation import Labels, check_vector, refuse_where
from choral.calibration.cuts import best_by_label, best_common
from choral.calibration.inputs import ScoredRows, check_finite, read_scored_rows
from choral.calibration.objectives import make_objective
from choral.loss_names import LOSS_CHOICES, loss_by_name
from choral.measures import Measure
from choral.measures.base import measure_remedy
from choral.overlap import AnyLoss, OverlapLoss
from choral.rows.door import check_sparse_threshold
from choral.scores import check_scores

Loss = AnyLoss | Callable[..., float]


class ThresholdTuner(SavedState, BaseEstimator):
    r"""Cut scores where a loss is least: at one threshold for all labels, or at one for each label.

    Predict 1 where a score is at least the threshold. Tune it on rows that the model was not fitted on (a validation
    set, or out-of-fold scores by ``cross_val_predict``): scores of rows that it was fitted on are too good.

    Parameters
    ----------
    loss : Measure, FLoss, JaccardLoss, AveragedFLoss, AveragedJaccardLoss, str or callable
        What to minimise; a text is a short name that `choral.loss_by_name` reads, such as ``"k=3"``, ``"subset"``,
        ``"f1"`` or ``"macro_f1"``. A function of true and predicted labels with a parameter ``reduction``, as choral's
        losses have it, is asked for ``reduction="none"``, a loss for each row. Any other is called for each cut, and at
        most 100 cuts are looked at.
    per_label : bool
        Whether each label has a threshold of its own.
    shrinkage : float
        With a threshold for each label, how strongly it is shrunk towards the common one: the best threshold of a rare
        label is mostly chance. A label of which n rows are known to be relevant (or irrelevant, if these are fewer)
        goes ``n / (n + shrinkage)`` of the way from the common threshold to its own. 0 leaves every label its own.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_labels,)
        All equal if not ``per_label``.
    loss_ : float
        The loss at these thresholds in the rows given to `fit`. It is lower than that of new rows will be.
    feature_names_in_ : ndarray of str
        The names of the labels, where scores came as a frame.

    See Also
    --------
    JointCalibrator : Learn from scores how labels depend on each other.
    compare_threshold : Compare tuned thresholds with a cut in the middle.
    choral.harden : Cut scores at a threshold.
    sklearn.model_selection.TunedThresholdClassifierCV : For one target.

    Notes
    -----
    All cuts between different scores are compared, and a threshold lies midway between two scores; those of
    probabilities lie in [0, 1], unless some are 1 and nothing should be predicted. Of equally good cuts the one nearest
    to 0.5 is taken (to 0, if scores leave [0, 1]).

    With ``shrinkage=0``, thresholds for each label are the best of all for Hamming loss, additive measures, macro and
    micro averages. For all other losses labels take turns, from the best common threshold on, each with the best cut
    while the others stay, until none can lower the loss: a local optimum.

    Labels may be missing (nan in ``Y``). A row is judged by its known labels, so measures that do not count labels are
    refused then. A label of which nothing is known takes the common threshold. So does a label without a relevant row;
    without shrinkage, its threshold lies above all its scores, or wherever the loss gains from predicting it.

    Sparse scores are made dense in `fit`. Labels without a score are never predicted: thresholds are positive then, and
    predictions stay sparse.

    Examples
    --------
    >>> from choral import BinomialMeasure, ThresholdTuner
    >>> scores = [[0.1, 0.6, 0.3], [0.4, 0.2, 0.1], [0.2, 0.3, 0.9], [0.1, 0.2, 0.2]]
    >>> Y = [[0, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0]]
    >>> tuner = ThresholdTuner(BinomialMeasure(2)).fit(scores, Y)
    >>> tuner.thresholds_, tuner.loss_
    (array([0.25, 0.25, 0.25]), 0.0)
    >>> tuner.predict([[0.3, 0.1, 0.8]])
    array([[1, 0, 1]], dtype=uint8)
    """

    def __init__(self, loss: Loss | str, *, per_label: bool = False, shrinkage: float = 100.0) -> None:
        self.loss = loss
        self.per_label = per_label
        self.shrinkage = shrinkage

    def fit(self, scores: LabelMatrix, Y: LabelMatrix, sample_weight: RowWeights | None = None) -> Self:
        """Find the thresholds.

        Parameters
        ----------
        scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
            Scores of a model: probabilities, logits, or any finite numbers of which higher ones speak for the label.
        Y : likewise
            True labels, 0 or 1; nan where a label is missing.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        """
        loss = check_loss(self.loss)
        self._check_options()
        rows = read_scored_rows(scores, Y, sample_weight)
        _check_feature_names(self, scores, reset=True)
        objective = make_objective(loss, rows)
        common = best_common(objective)
        self.thresholds_ = np.full(rows.n_labels, common)
        if self.per_label:
            own = best_by_label(objective, common)
            self.thresholds_ = _shrink(rows, common, own, self.shrinkage)
        self.loss_ = objective.loss(rows.scores >= self.thresholds_)
        return self

    def _check_options(self) -> None:
        if not isinstance(self.per_label, bool | np.bool_):
            raise ValueError(f"per_label must be True or False; got {self.per_label!r}.")
        if isinstance(self.shrinkage, bool) or not isinstance(self.shrinkage, Real) or not 0 <= self.shrinkage < np.inf:
            raise ValueError(f"shrinkage must be a finite number, at least 0; got {self.shrinkage!r}.")

    def predict(self, scores: LabelMatrix) -> Labels:
        """Hard labels: 1 where a score is at least the threshold of its label.

        Parameters
        ----------
        scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
            Scores of new rows, of the kind that it was fitted with.

        Returns
        -------
        labels : uint8 array of the same shape; CSR for sparse scores
        """
        check_is_fitted(self)
        matrix = check_finite(check_scores("scores", scores))
        if matrix.shape[1] != self.thresholds_.size:
            expected = f"scores must have one column for each of {self.thresholds_.size} labels"
            raise ValueError(f"{expected}; got shape {tuple(matrix.shape)}.")
        _check_feature_names(self, scores, reset=False)
        if sp.issparse(matrix):
            check_sparse_threshold(self.thresholds_.min())
            labels = sp.csr_array(matrix, copy=True)
            labels.data = (matrix.data >= self.thresholds_[matrix.indices]).astype(np.uint8)
            labels.eliminate_zeros()
            return labels
        predicted: LabelArray = (matrix >= self.thresholds_).astype(np.uint8)
        return predicted

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON."""
        check_is_fitted(self)
        data = {
            "loss": self.loss if isinstance(self.loss, str) else repr(self.loss),
            "per_label": bool(self.per_label),
            "thresholds": self.thresholds_.tolist(),
            "loss_value": self.loss_,
        }
        names = getattr(self, "feature_names_in_", None)
        return data if names is None else {**data, "labels": names.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The tuner that `to_dict` wrote down, ready to predict.

        Of a loss that is no short name only its text is left: it can be read, but not fitted again.

        Parameters
        ----------
        data : mapping
            What ``to_dict`` gave.
        """
        needed = {"loss", "per_label", "thresholds", "loss_value"}
        if not needed <= data.keys():
            got = ", ".join(map(str, data)) or "nothing"
            raise ValueError(f"a tuner needs loss, per_label, thresholds and loss_value; got {got}.")
        tuner = cls(data["loss"], per_label=data["per_label"])
        tuner._check_options()
        tuner.thresholds_ = _check_numbers("thresholds", data["thresholds"])
        tuner.loss_ = float(_check_numbers("loss_value", [data["loss_value"]])[0])
        if "labels" in data:
            names = np.array(data["labels"], dtype=object)
            if names.shape != tuner.thresholds_.shape:
                raise ValueError(f"labels must name each of {tuner.thresholds_.size} labels; got {data['labels']!r}.")
            tuner.feature_names_in_ = names
        return tuner


def check_loss(loss: Any) -> Loss:
    """A loss to minimise: by its short name, a value, or a function."""
    if isinstance(loss, str):
        return loss_by_name(loss)
    if isinstance(loss, type) or not (isinstance(loss, Measure | OverlapLoss) or callable(loss)):
        must = f"loss must be a measure, FLoss, JaccardLoss, a function, {LOSS_CHOICES}; got {loss!r}."
        raise TypeError(f"{must} {measure_remedy(loss)}".rstrip())
    if getattr(loss, "__name__", "").endswith("_score"):  # scikit-learn's name for what is to be maximised
        raise ValueError(f"loss is minimised, and {loss.__name__} looks like a score: pass a function 1 - score.")
    return loss


def _check_numbers(name: str, numbers: Any) -> FloatArray:
    vector = check_vector(name, numbers)
    refuse_where(f"{name} must be finite", name, vector, ~np.isfinite(vector))
    return vector


def _shrink(rows: ScoredRows, common: float, own: FloatArray, shrinkage: float) -> FloatArray:
    """Thresholds between the common one and each label's own."""
    if not shrinkage:
        return own
    relevant = np.count_nonzero(rows.labels, axis=0)
    rarer = np.minimum(relevant, np.count_nonzero(rows.known, axis=0) - relevant)
    return common + (own - common) * (rarer / (rarer + shrinkage))
