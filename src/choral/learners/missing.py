"""Missing labels in training: which labels are known, and a guess at the others for models of whole label sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logit

from choral._array_api import to_host
from choral._typing import LabelMatrix
from choral.decisions.base import Distribution
from choral.learners.evidence import FLOOR
from choral.rows.blocks import as_dense, check_binary
from choral.rows.door import read_matrix


def find_missing(Y: LabelMatrix) -> tuple[np.ndarray, np.ndarray] | None:
    """Labels as an array with nan, and a mask of those that are missing; None if none is, or Y is no matrix."""
    try:
        matrix = as_dense(to_host(read_matrix("Y", Y)))
    except (TypeError, ValueError):
        return None  # the check that all learners share says what is wrong
    if matrix.dtype.kind != "f":
        return None
    missing = np.isnan(matrix)
    return (matrix, missing) if missing.any() else None


def split_missing(Y: LabelMatrix) -> tuple[Any, np.ndarray | None]:
    """Labels with 0 in place of missing ones, and a mask of those that are known; the mask is None if all are.

    Examples
    --------
    >>> labels, known = split_missing([[1, np.nan], [0, 1]])
    >>> labels.tolist(), known.tolist()
    ([[1, 0], [0, 1]], [[True, False], [True, True]])
    """
    found = find_missing(Y)
    if found is None:
        return Y, None
    matrix, missing = found
    labels = np.where(missing, 0, matrix)
    check_binary("Y", labels, 0)
    never_known = np.flatnonzero(missing.all(axis=0))
    if never_known.size:
        raise ValueError(f"each label must be known in at least one row; Y[:, {never_known[0]}] is nan throughout.")
    return labels.astype(np.int64), ~missing  # nan made floats of them


def complete_labels(Y: np.ndarray, known: np.ndarray, views: Sequence[Distribution]) -> np.ndarray:
    """Labels in which each missing one has the value that is more probable, by the mean log odds of some models.

    Parameters
    ----------
    Y : ndarray of shape (n_rows, n_labels)
    known : bool ndarray of shape (n_rows, n_labels)
    views : sequence of Distribution
        What models say of the rows, none of which was fitted on the row in question.
    """
    marginals = np.stack([view.marginals() for view in views]).clip(FLOOR, 1 - FLOOR)
    log_odds = logit(marginals).mean(axis=0)
    return np.where(known, Y, log_odds > 0).astype(Y.dtype)
