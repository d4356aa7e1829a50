"""Scorers for scikit-learn's model selection."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from choral._validation import check_matrix
from choral.losses import choquet_loss
from choral.measures import Measure, check_measure
from choral.scores import stack_proba


@dataclass(frozen=True)
class LossScorer:
    """Minus the loss of an estimator's predictions: greater is better, as scikit-learn wants it."""

    measure: Measure
    response: str = "predict"

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        y_pred = getattr(estimator, self.response)(X)
        single = check_matrix("y_true", y_true).shape[1] == 1
        if self.response == "predict_proba":
            # scikit-learn's own scorers take the last column: wrong for a label with one class in training.
            classes = getattr(estimator, "classes_", None)
            if single and not isinstance(y_pred, list):  # scikit-learn takes one label for a plain binary problem
                y_pred, classes = [y_pred], None if classes is None else [classes]
            y_pred = stack_proba(y_pred, classes)
        elif single and np.ndim(y_pred) == 1:
            y_pred = np.reshape(y_pred, (-1, 1))
        return -choquet_loss(y_true, y_pred, self.measure, sample_weight=sample_weight)


def make_scorer(measure: Measure, response: Literal["predict", "predict_proba"] = "predict") -> LossScorer:
    """A scorer for ``cross_val_score``, ``GridSearchCV`` and their like.

    Parameters
    ----------
    measure : Measure
        Defines the loss.
    response : {"predict", "predict_proba"}
        Judge hard labels, or scores. The two are different yardsticks: do not compare one with the other.

    Returns
    -------
    scorer : callable (estimator, X, y) -> float
        Minus the loss.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> make_scorer(BinomialMeasure(2))
    LossScorer(measure=BinomialMeasure(k=2), response='predict')
    """
    if response not in ("predict", "predict_proba"):
        raise ValueError(f"response must be 'predict' or 'predict_proba'; got {response!r}.")
    check_measure(measure)
    return LossScorer(measure, response)
