"""The loss of each row under every parameter of a family: what a bootstrap draws from."""

from typing import Any

import numpy as np

from choral._array_api import to_host
from choral.measures.families import Family
from choral.profiles.totals import rows_by_number
from choral.rows import Rows
from choral.rows.ranks import rank_averages


def row_losses(rows: Rows, family: Family, parameters: np.ndarray) -> np.ndarray:
    """The losses of a few rows, of shape (n_rows, n_parameters); the parameters are checked already.

    Rows are judged by their known labels; the loss of a row without any is 0.

    Examples
    --------
    >>> from choral.measures.families import BINOMIAL
    >>> from choral.rows import open_rows
    >>> row_losses(open_rows([[1, 0, 1]], [[1, 0, 0]]), BINOMIAL, np.array([1, 2, 3])).round(3)
    array([[0.333, 0.667, 1.   ]])
    """
    losses = np.zeros((rows.n_rows, len(parameters)))
    for block in rows.error_blocks():
        errors = block.wrong if block.wrong is not None else block.errors
        errors = to_host(errors)
        if block.n_observed is None:
            losses[block.rows] = _losses_of(errors, rows.n_labels, family, parameters)
            continue
        n_observed = to_host(block.n_observed)
        for some in rows_by_number(n_observed):
            number = int(n_observed[some[0]])
            if number:
                clipped = family.clip_parameters(parameters, number)
                losses[block.rows.start + some] = _losses_of(errors[some], number, family, clipped)
    return losses


def _losses_of(errors: Any, n_labels: int, family: Family, parameters: np.ndarray) -> np.ndarray:
    """The losses of rows from their numbers of wrong labels, or from all their errors."""
    if errors.ndim == 1:
        return family.deficits(parameters, n_labels, int(errors.max())).T[errors]

    def weights(n_ranks: int) -> np.ndarray:
        first = family.weights(parameters, n_labels, min(n_ranks, n_labels))
        return np.pad(first, ((0, 0), (0, n_ranks - first.shape[1])))  # the others are no errors

    return rank_averages(errors, weights)
