r"""F and Jaccard losses, averaged over rows, over labels, or taken over all labels of all rows at once.

With TP, FP and FN the numbers of true positives, false positives and false negatives, both are one minus

.. math:: \frac{TP}{TP + a\,FP + b\,FN}

with :math:`a = 1 / (1 + \beta^2)`, :math:`b = \beta^2 / (1 + \beta^2)` for F and :math:`a = b = 1` for Jaccard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from choral._array_api import to_host
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral.rows import Rows, add_up, open_rows
from choral.rows.blocks import as_dense

Average = Literal["samples", "micro", "macro"]


@dataclass(frozen=True)
class AveragedOverlapLoss:
    """What the F and the Jaccard loss share: a loss of hard predictions from numbers of right and wrong labels.

    The loss of nothing predicted where nothing is relevant is 0.
    """

    average: Average = "samples"

    def __post_init__(self) -> None:
        if self.average not in get_args(Average):
            raise ValueError(f"average must be 'samples', 'micro' or 'macro'; got {self.average!r}.")

    @property
    def prices(self) -> tuple[float, float]:
        """What a false positive and a false negative cost, where a true positive counts 1."""
        raise NotImplementedError

    def of_counts(self, hits: Any, false_positives: Any, relevant: Any) -> FloatArray:
        """Losses from numbers of true positives, of false positives and of relevant labels."""
        false_price, missed_price = self.prices
        errors = false_price * np.asarray(false_positives) + missed_price * (np.asarray(relevant) - hits)
        whole = errors + hits
        return np.divide(errors, whole, out=np.zeros(np.shape(whole)), where=whole > 0)

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
        rows = open_rows(y_true, y_pred, sample_weight=sample_weight)
        if self.average == "samples":
            total, weight = add_up([rows], partial(_add_row_losses, loss=self))
            if not weight:
                raise ValueError("a mean loss needs a row with a known label and a positive weight; there is none.")
            return float(total / weight)
        counts = add_up([rows], _count_by_label)
        return float(self.of_counts(*(counts.sum(axis=1) if self.average == "micro" else counts)).mean())


@dataclass(frozen=True)
class AveragedFLoss(AveragedOverlapLoss):
    """One minus the F measure of hard predictions.

    Parameters
    ----------
    average : {"samples", "micro", "macro"}
        The mean over rows, one figure of all labels of all rows, or the mean over labels. As in scikit-learn's
        ``fbeta_score``, with ``zero_division=1``.
    beta : float
        How many times as much recall counts as precision; positive.

    Examples
    --------
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]]
    >>> [round(AveragedFLoss(average)(y_true, y_pred), 3) for average in ("samples", "micro", "macro")]
    [0.333, 0.333, 0.333]
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.beta < np.inf:
            raise ValueError(f"beta must be positive and finite; got {self.beta}.")

    @property
    def prices(self) -> tuple[float, float]:
        squared = float(self.beta) ** 2
        return 1 / (1 + squared), squared / (1 + squared)


@dataclass(frozen=True)
class AveragedJaccardLoss(AveragedOverlapLoss):
    """One minus the Jaccard index of hard predictions.

    Parameters
    ----------
    average : {"samples", "micro", "macro"}
        As in `AveragedFLoss`, and in scikit-learn's ``jaccard_score`` with ``zero_division=1``.

    Examples
    --------
    >>> AveragedJaccardLoss("micro")([[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 0]])
    0.5
    """

    @property
    def prices(self) -> tuple[float, float]:
        return 1.0, 1.0


def _add_row_losses(rows: Sequence[Rows], loss: AveragedOverlapLoss) -> FloatArray:
    """The weighted sum of the losses of rows, and the sum of their weights."""
    total = np.zeros(2)
    for flags, weights in _blocks(rows[0]):
        total += weights @ loss.of_counts(*np.count_nonzero(flags, axis=2)), weights.sum()
    return total


def _count_by_label(rows: Sequence[Rows]) -> FloatArray:
    """Weighted numbers of true positives, of false positives and of relevant rows of each label."""
    return sum(weights @ flags for flags, weights in _blocks(rows[0]))


def _blocks(rows: Rows) -> Any:
    """True positives, false positives and relevant labels as flags of shape (3, n_rows, n_labels), and weights."""
    for block in rows.pair_blocks():
        if not block.is_hard:
            raise ValueError("y_pred must be hard labels, 0 or 1, for this loss; got scores. See choral.harden.")
        true, pred = (np.asarray(to_host(as_dense(labels)), dtype=bool) for labels in (block.true, block.pred))
        weights = rows.weights_of(block.rows)
        weights = np.ones(len(true)) if weights is None else to_host(weights)
        if block.n_observed is not None:
            weights = weights * (to_host(block.n_observed) > 0)  # of the others nothing is known
        yield np.stack([true & pred, pred & ~true, true]), weights
