"""Scorers for scikit-learn's model selection."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from choral._last_learner import last_learner, reach_learner, takes_measure
from choral._typing import Features, LabelMatrix, RowWeights
from choral.losses import mean_loss
from choral.overlap import AnyLoss, check_loss
from choral.rows.door import read_matrix
from choral.scores import stack_proba


@dataclass(frozen=True)
class LossScorer:
    """Minus the loss of an estimator's predictions: greater is better, as scikit-learn wants it."""

    measure: AnyLoss
    response: str = "predict"

    def __call__(
        self, estimator: Any, X: Features, y_true: LabelMatrix, sample_weight: RowWeights | None = None
    ) -> float:
        shape = y_true.shape if hasattr(y_true, "shape") else read_matrix("y_true", y_true).shape
        is_single = tuple(shape)[1:] == (1,)
        y_pred = (
            self._scores(estimator, X, is_single) if self.response == "predict_proba" else self._labels(estimator, X)
        )
        if is_single and np.ndim(y_pred) == 1:
            y_pred = np.reshape(y_pred, (-1, 1))
        return -mean_loss(y_true, y_pred, self.measure, sample_weight=sample_weight)

    def _labels(self, estimator: Any, X: Features) -> Any:
        """Hard labels; a learner that decides for any loss is asked for the best ones under this one."""
        if not takes_measure(last_learner(estimator)):
            return estimator.predict(X)
        learner, X = reach_learner(estimator, X)
        return learner.predict(X, measure=self.measure)

    def _scores(self, estimator: Any, X: Features, is_single: bool) -> Any:
        # scikit-learn's own scorers take the last column: wrong for a label with one class in training.
        proba, classes = estimator.predict_proba(X), getattr(estimator, "classes_", None)
        of_several = isinstance(proba, list) or isinstance(classes, list)
        if not is_single and len(getattr(proba, "shape", ())) == 2:  # a matrix of whatever kind, for the door to read
            return proba
        if is_single and not of_several:  # scikit-learn takes one label for a plain binary problem
            proba, classes = [proba], None if classes is None else [classes]
        return stack_proba(proba, classes)


def make_scorer(measure: AnyLoss, response: Literal["predict", "predict_proba"] = "predict") -> LossScorer:
    """A scorer for ``cross_val_score``, ``GridSearchCV`` and their like.

    A learner that decides for any loss, such as `choral.learners.JointForest`, is asked for the labels that are best
    for this one: ``predict(X, measure=measure)``, also at the end of a Pipeline or inside a search.

    Parameters
    ----------
    measure : Measure, FLoss or JaccardLoss
        Defines the loss.
    response : {"predict", "predict_proba"}
        Judge hard labels, or scores. The two are different yardsticks: do not compare one with the other.

    Returns
    -------
    scorer : callable (estimator, X, y) -> float
        Minus the loss.

    See Also
    --------
    loss_by_name : Losses by short names.
    choquet_loss : The loss of any measure.
    sklearn.metrics.make_scorer : For other metrics.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> make_scorer(BinomialMeasure(2))
    LossScorer(measure=BinomialMeasure(k=2), response='predict')
    """
    if response not in ("predict", "predict_proba"):
        raise ValueError(f"response must be 'predict' or 'predict_proba'; got {response!r}.")
    check_loss(measure)
    return LossScorer(measure, response)
