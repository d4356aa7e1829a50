"""Scores of a model beside the true labels of the same rows: what calibration learns from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral._validation import Labels, refuse_entry_where, refuse_where
from choral.rows.blocks import as_dense, check_binary
from choral.rows.door import check_alignment, check_row_weights, check_same_shape, read_matrix
from choral.scores import check_scores


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Scores and true labels of one shape, checked, in the memory of the host.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite numbers of any range.
    labels : bool ndarray of shape (n_samples, n_labels)
        True where a label is known to be relevant.
    known : bool ndarray of shape (n_samples, n_labels)
        False where a label is missing.
    weights : ndarray of shape (n_samples,)
        How much each row counts.
    is_sparse : bool
        Whether the scores came as a sparse matrix: then labels without a score must not be predicted.
    """

    scores: FloatArray
    labels: np.ndarray
    known: np.ndarray
    weights: FloatArray
    is_sparse: bool = False

    @property
    def n_labels(self) -> int:
        return self.scores.shape[1]

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether all scores lie in [0, 1]."""
        return bool(self.scores.min() >= 0 and self.scores.max() <= 1)

    @cached_property
    def n_known(self) -> np.ndarray:
        """How many labels of each row are known."""
        return np.count_nonzero(self.known, axis=1)


def read_scored_rows(scores: LabelMatrix, Y: LabelMatrix, sample_weight: RowWeights | None = None) -> ScoredRows:
    """Scores and labels of any kind that `choral.rows` takes, checked.

    Parameters
    ----------
    scores : array-like, sparse matrix, frame or array on a device of shape (n_samples, n_labels)
        Finite numbers of any range. What a sparse matrix does not store is the score 0.
    Y : likewise
        True labels, 0 or 1; nan where a label is missing.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    """
    for name, other in (("scores", scores), ("sample_weight", sample_weight)):
        check_alignment(Y, other, name, "Y")
    is_sparse = sp.issparse(scores)
    matrix = as_dense(check_finite(check_scores("scores", scores))).astype(float, copy=False)
    truth = as_dense(to_host(read_matrix("Y", Y)))
    check_same_shape(truth, matrix, "scores", "Y")
    weights = check_row_weights(sample_weight, (truth, matrix))
    known = ~np.isnan(truth) if truth.dtype.kind == "f" else np.ones(truth.shape, dtype=bool)
    check_binary("Y", np.where(known, truth, 0), 0)
    in_use = known.any(axis=1) if weights is None else known.any(axis=1) & (weights > 0)
    if not in_use.any():
        raise ValueError("Y must have a row with a known label and a positive weight; there is none.")
    row_weights = np.ones(len(matrix)) if weights is None else weights
    return ScoredRows(matrix, known & (truth == 1), known, row_weights, is_sparse)


def check_finite(matrix: Labels) -> Labels:
    """Scores that `check_scores` has let pass, without infinite ones."""
    if matrix.dtype.kind == "f":
        if sp.issparse(matrix):
            refuse_entry_where("scores must be finite", "scores", matrix, np.isinf(matrix.data))
        else:
            refuse_where("scores must be finite", "scores", matrix, np.isinf(matrix))
    return matrix
