"""The loss of each row under every parameter of a family: what a bootstrap draws from."""

import numpy as np

from choral._kernels.pairs import error_blocks
from choral._kernels.ranks import rank_averages
from choral._validation import Labels
from choral.measures.families import Family


def row_losses(true: Labels, pred: Labels, family: Family, parameters: np.ndarray) -> np.ndarray:
    """The losses of a few rows, of shape (n_rows, n_parameters); matrices and parameters are checked already.

    Examples
    --------
    >>> from choral.measures.families import BINOMIAL
    >>> row_losses(np.array([[1, 0, 1]]), np.array([[1, 0, 0]]), BINOMIAL, np.array([1, 2, 3])).round(3)
    array([[0.333, 0.667, 1.   ]])
    """
    n_labels = true.shape[1]
    losses = []
    for _, wrong, errors in error_blocks(true, pred):
        if wrong is not None:
            losses.append(family.deficits(parameters, n_labels, int(wrong.max())).T[wrong])
        else:
            losses.append(rank_averages(errors, lambda n_ranks: family.weights(parameters, n_labels, n_ranks)))
    return np.vstack(losses)
