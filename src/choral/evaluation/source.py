"""What an evaluation was made of, kept for the questions that come after it."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import LabelMatrix, RandomState, RowWeights
from choral.profiles import DecidedLabels, MixedPredictionsWarning, Predictions
from choral.rows import column_names


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationSource:
    """The arguments of `evaluate`, as they were given: references, not copies.

    Attributes
    ----------
    y_true : LabelMatrix
    predictions : mapping from name to predictions
        Of fitted estimators, what they predicted.
    parameters : array-like or None
        None where nobody asked for some.
    threshold, observed, sample_weight, n_bootstrap, confidence, random_state
        See `evaluate`.

    Examples
    --------
    >>> from choral import evaluate
    >>> evaluation = evaluate([[1, 0]], {"tree": [[1, 1]]}, n_bootstrap=20)
    >>> evaluation.source.predictions, evaluation.source.n_bootstrap
    ({'tree': [[1, 1]]}, 20)
    """

    y_true: LabelMatrix
    predictions: Mapping[str, Predictions]
    parameters: ArrayLike | None
    threshold: float | None
    observed: LabelMatrix | None
    sample_weight: RowWeights | None
    n_bootstrap: int
    confidence: float
    random_state: RandomState

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """The names of the columns of a frame of true labels; None where labels have no names."""
        return column_names(self.y_true)

    @property
    def is_lazy(self) -> bool:
        """Whether the labels are in dask arrays, which are not walked through without being asked."""
        return hasattr(self.y_true, "__dask_graph__")

    def labels_at(self, name: str, family: str, parameter: float) -> Any:
        """The predictions of a model as they are; of labels decided anew for each loss, those for a parameter."""
        predictions: Any = self.predictions[name]
        decided = predictions[family] if isinstance(predictions, Mapping) else predictions
        if not isinstance(decided, DecidedLabels):
            return predictions
        return decided.decisions[np.asarray(decided.parameters).tolist().index(parameter)].labels

    def serves(self, family: str) -> bool:
        """Whether all predictions can be judged along a family: not those that were decided for another one."""
        return all(_serves(y_pred, family) for y_pred in self.predictions.values())


@contextmanager
def without_known_warnings() -> Iterator[None]:
    """Do not say again what was said about the same labels and predictions when they were evaluated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedPredictionsWarning)
        warnings.filterwarnings("ignore", "threshold should lie in", UserWarning)
        yield


def _serves(y_pred: Predictions, family: str) -> bool:
    if isinstance(y_pred, Mapping):
        return family in y_pred
    return not isinstance(y_pred, DecidedLabels) or y_pred.family == family
