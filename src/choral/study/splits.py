"""Which rows are tested in which fold: shuffled, repeated, stratified by labels, or given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from choral._validation import check_array, check_count
from choral.stats import MultilabelStratifiedKFold

MAX_SEED = 2**32 - 1  # the largest that random generators of NumPy and scikit-learn take


@dataclass(frozen=True)
class Split:
    """Cross-validation, the same for all learners.

    Parameters
    ----------
    folds : int
        Each row is tested once in as many folds; at least 2.
    repeats : int
        How often all of it is done, each time shuffled anew.
    stratify : bool
        Whether each fold gets its share of every label, rare ones first (`choral.stats.MultilabelStratifiedKFold`),
        rather than plain chance.
    seed : int
        Of the shuffling.

    See Also
    --------
    Plan : All that a study does.
    choral.stats.MultilabelStratifiedKFold : Folds that get their share of every label.

    Examples
    --------
    >>> Split(folds=3, seed=1)
    Split(folds=3, repeats=1, stratify=False, seed=1)
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_count("repeats", self.repeats)
        check_seed("seed", self.seed, n_seeds=self.repeats)
        if not isinstance(self.stratify, bool):
            raise ValueError(f"stratify must be True or False; got {self.stratify!r}.")

    def fold_numbers(self, Y: np.ndarray) -> np.ndarray:
        """The fold in which each row is tested, of shape (repeats, n_rows).

        Parameters
        ----------
        Y : array of shape (n_rows, n_labels)
            Labels, 0 and 1.
        """
        if self.folds > len(Y):
            raise ValueError(f"folds must be at most the number of rows, {len(Y)}; got {self.folds}.")
        if self.stratify:
            return MultilabelStratifiedKFold(self.folds, repeats=self.repeats, random_state=self.seed).fold_numbers(Y)
        return np.array([shuffled_folds(Y, self.folds, self.seed + repeat) for repeat in range(self.repeats)])


def shuffled_folds(Y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row by chance, folds of equal size but for one row."""
    numbers = np.empty(len(Y), dtype=np.int64)
    for fold, (_, test) in enumerate(KFold(n_folds, shuffle=True, random_state=seed).split(Y)):
        numbers[test] = fold
    return numbers


def check_seed(name: str, seed: Any, *, n_seeds: int = 1) -> int:
    """A seed that all learners take, with as many after it."""
    checked, most = check_count(name, seed, least=0), MAX_SEED + 1 - n_seeds
    if checked > most:
        raise ValueError(f"{name} must be at most {most}; got {checked}.")
    return checked


def check_folds(folds: Any) -> np.ndarray:
    """Given fold numbers as a matrix of shape (repeats, n_rows): whole numbers 0, 1, ..., each of them used."""
    array = np.atleast_2d(check_array("folds", folds))
    if array.ndim != 2 or not array.size or array.dtype.kind not in "iuf" or (array != np.floor(array)).any():
        raise ValueError(
            "folds must be one whole number for each row, the fold in which it is tested; "
            f"got shape {np.shape(folds)}, dtype {array.dtype}."
        )
    array = array.astype(np.int64)
    used = np.unique(array[0])
    if len(used) < 2 or not np.array_equal(used, np.arange(len(used))):
        raise ValueError(f"folds must be numbered 0, 1, ..., at least two of them; got {_listed(used)}.")
    if any(not np.array_equal(np.unique(row), used) for row in array):
        raise ValueError("folds must have the same numbers in every repeat.")
    return array


def _listed(numbers: np.ndarray) -> str:
    shown = ", ".join(map(str, numbers[:12]))
    return f"{shown}, ..." if len(numbers) > 12 else shown
