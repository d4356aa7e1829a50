"""The loss of each row under every parameter of a family: what a bootstrap draws from."""

from typing import Any

import numpy as np

from choral._validation import Labels
from choral.measures.families import Family
from choral.profiles.grouping import rows_by_number
from choral.rows.pairs import error_blocks
from choral.rows.ranks import rank_averages


def row_losses(
    true: Labels, pred: Labels, family: Family, parameters: np.ndarray, n_observed: np.ndarray | None = None
) -> np.ndarray:
    """The losses of a few rows, of shape (n_rows, n_parameters); matrices and parameters are checked already.

    Where only so many labels of each row are known, the others are 0 on both sides, and the loss of none is 0.

    Examples
    --------
    >>> from choral.measures.families import BINOMIAL
    >>> row_losses(np.array([[1, 0, 1]]), np.array([[1, 0, 0]]), BINOMIAL, np.array([1, 2, 3])).round(3)
    array([[0.333, 0.667, 1.   ]])
    """
    n_observed = np.full(*true.shape) if n_observed is None else n_observed
    losses = np.zeros((true.shape[0], len(parameters)))
    for rows, wrong, errors in error_blocks(true, pred):
        for some in rows_by_number(n_observed[rows]):
            number = int(n_observed[rows][some[0]])
            if number:
                all_rows = wrong if wrong is not None else errors
                part = all_rows if some.size == all_rows.shape[0] else all_rows[some]  # a copy, dear where not needed
                losses[rows.start + some] = _losses_of(part, number, family, family.clip_parameters(parameters, number))
    return losses


def _losses_of(errors: Any, n_labels: int, family: Family, parameters: np.ndarray) -> np.ndarray:
    """The losses of rows from their numbers of wrong labels, or from all their errors."""
    if errors.ndim == 1:
        return family.deficits(parameters, n_labels, int(errors.max())).T[errors]

    def weights(n_ranks: int) -> np.ndarray:
        first = family.weights(parameters, n_labels, min(n_ranks, n_labels))
        return np.pad(first, ((0, 0), (0, n_ranks - first.shape[1])))  # the others are no errors

    return rank_averages(errors, weights)
