"""Folds inside the training data, for what is learned from rows that a model was not fitted on."""

import numpy as np

from choral._validation import check_count


def inner_folds(n_rows: int, n_folds: int, rng: np.random.RandomState) -> np.ndarray:
    """The fold of each row, shuffled and of nearly equal size.

    Examples
    --------
    >>> inner_folds(7, 3, np.random.RandomState(0)).tolist()
    [0, 2, 1, 0, 0, 2, 1]
    """
    n_folds = check_count("cv", n_folds, least=2)
    if n_folds > n_rows:
        raise ValueError(f"cv must be at most the number of rows, n_samples={n_rows}; got {n_folds}.")
    return rng.permutation(np.arange(n_rows) % n_folds)
