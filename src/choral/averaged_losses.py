"""F and Jaccard losses of all rows together: of all labels at once (micro), or of each label and then averaged (macro).

Their means over rows are `choral.FLoss` and `choral.JaccardLoss`. The losses here are ratios of sums over rows, so no
row has a loss, nor a best prediction, of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from choral._array_api import to_host
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral.overlap import ByOverlap, FLoss, JaccardLoss, OverlapLoss
from choral.rows import Rows, add_up, open_rows
from choral.rows.blocks import as_dense

Average = Literal["micro", "macro"]


@dataclass(frozen=True)
class AveragedLoss(ABC):
    """A loss by overlap of hard predictions, of the numbers of right, extra and missed labels over rows.

    It is 0 where nothing is predicted and nothing is relevant.
    """

    average: Average

    def __post_init__(self) -> None:
        if self.average not in get_args(Average):
            hint = "; FLoss() and JaccardLoss() are the means over rows" if self.average == "samples" else ""
            raise ValueError(f"average must be 'micro' or 'macro'{hint}; got {self.average!r}.")

    @property
    @abstractmethod
    def of_row(self) -> OverlapLoss:
        """The same loss of one row."""

    @property
    def form(self) -> ByOverlap:
        """What extra and missed labels count."""
        return self.of_row.form(1)  # the same for any number of labels

    def of_counts(self, right: Any, extra: Any, relevant: Any) -> FloatArray:
        """Losses from numbers of labels: right ones, extra ones and relevant ones."""
        losses: FloatArray = self.form.losses(np.asarray(right), extra, relevant - right)
        return losses

    def __call__(self, y_true: LabelMatrix, y_pred: LabelMatrix, *, sample_weight: RowWeights | None = None) -> float:
        """The loss of hard predictions.

        Parameters
        ----------
        y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
            True labels, 0 or 1; nan where a label is missing, which then counts nowhere.
        y_pred : likewise
            Predicted labels, 0 or 1.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        """
        counts = add_up([open_rows(y_true, y_pred, sample_weight=sample_weight)], _count_by_label)
        return float(self.of_counts(*(counts.sum(axis=1) if self.average == "micro" else counts)).mean())


@dataclass(frozen=True)
class AveragedFLoss(AveragedLoss):
    """One minus the F measure of hard predictions, over all rows.

    Parameters
    ----------
    average : {"micro", "macro"}
        One figure of all labels of all rows, or the mean over labels. As in scikit-learn's ``fbeta_score``, with
        ``zero_division=1``.
    beta : float
        How much recall counts beside precision, between 0.001 and 1000.

    See Also
    --------
    AveragedJaccardLoss : The Jaccard index over all rows, micro or macro.
    FLoss : The F measure as a loss to decide for.
    choral.calibration.ThresholdTuner : Cut scores where a loss is least.

    Examples
    --------
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 1]]
    >>> [round(AveragedFLoss(average)(y_true, y_pred), 3) for average in ("micro", "macro")]
    [0.429, 0.667]
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "beta", self.of_row.beta)  # which checks it

    @property
    def of_row(self) -> FLoss:
        return FLoss(self.beta)


@dataclass(frozen=True)
class AveragedJaccardLoss(AveragedLoss):
    """One minus the Jaccard index of hard predictions, over all rows.

    Parameters
    ----------
    average : {"micro", "macro"}
        As in `AveragedFLoss`, and in scikit-learn's ``jaccard_score`` with ``zero_division=1``.

    See Also
    --------
    AveragedFLoss : The F measure over all rows, micro or macro.
    JaccardLoss : The Jaccard index as a loss to decide for.
    choral.calibration.ThresholdTuner : Cut scores where a loss is least.

    Examples
    --------
    >>> AveragedJaccardLoss("micro")([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]])
    0.5
    """

    @property
    def of_row(self) -> JaccardLoss:
        return JaccardLoss()


def _count_by_label(rows: Sequence[Rows]) -> FloatArray:
    """Weighted numbers of right, of extra and of relevant rows of each label."""
    return sum(weights @ flags for flags, weights in _flag_blocks(rows[0]))


def _flag_blocks(rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Right, extra and relevant labels as flags of shape (3, n_rows, n_labels), and the weights of the rows."""
    for block in rows.pair_blocks():
        if not block.is_hard:
            raise ValueError("y_pred must be hard labels, 0 or 1, for this loss; got scores. See choral.harden.")
        true, pred = (np.asarray(to_host(as_dense(labels)), dtype=bool) for labels in (block.true, block.pred))
        weights = rows.weights_of(block.rows)
        weights = np.ones(len(true)) if weights is None else to_host(weights)
        yield np.stack([true & pred, pred & ~true, true]), weights
