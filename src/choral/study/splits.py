"""Which rows are tested in which fold: shuffled, repeated, stratified by labels, or given."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from choral._validation import check_array, check_count


@dataclass(frozen=True)
class Split:
    """Cross-validation, the same for all learners.

    Attributes
    ----------
    folds : int
        Each row is tested once in as many folds; at least 2.
    repeats : int
        How often all of it is done, each time shuffled anew.
    stratify : bool
        Whether each fold gets its share of every label (`stratified_folds`), rare ones first, rather than plain chance.
    seed : int
        Of the shuffling.
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_count("repeats", self.repeats)
        check_count("seed", self.seed, least=0)
        if not isinstance(self.stratify, bool):
            raise ValueError(f"stratify must be True or False; got {self.stratify!r}.")

    def fold_numbers(self, Y: np.ndarray) -> np.ndarray:
        """The fold in which each row is tested, of shape (repeats, n_rows)."""
        if self.folds > len(Y):
            raise ValueError(f"folds must be at most the number of rows, {len(Y)}; got {self.folds}.")
        make = stratified_folds if self.stratify else shuffled_folds
        return np.array([make(Y, self.folds, self.seed + repeat) for repeat in range(self.repeats)])


def shuffled_folds(Y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row by chance, folds of equal size but for one row."""
    numbers = np.empty(len(Y), dtype=np.int64)
    for fold, (_, test) in enumerate(KFold(n_folds, shuffle=True, random_state=seed).split(Y)):
        numbers[test] = fold
    return numbers


def stratified_folds(Y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label is dealt out first.

    Rows with the label that fewest of the rows left have go, one by one, to the fold that lacks most of that label; of
    equal ones to the fold that lacks most rows. Rows without labels fill up the folds. Own code: scikit-learn has none
    for several labels, and a page of code is not worth a dependency.

    Parameters
    ----------
    Y : ndarray of shape (n_rows, n_labels)
    n_folds : int
    seed : int
        Decides between equals.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> numbers = stratified_folds(Y, 2, seed=0)
    >>> [Y[numbers == fold].sum(axis=0).tolist() for fold in (0, 1)]
    [[2, 1], [2, 1]]
    """
    rng = np.random.default_rng(seed)
    labels = np.asarray(Y, dtype=bool)
    wanted_rows = np.full(n_folds, len(labels) / n_folds)
    wanted_labels = np.tile(labels.sum(axis=0) / n_folds, (n_folds, 1))
    numbers = np.full(len(labels), -1)
    order = rng.permutation(len(labels))
    left = labels.sum(axis=0)
    while left.any():
        label = int(np.where(left > 0, left, len(labels) + 1).argmin())
        for row in order[(numbers[order] < 0) & labels[order, label]]:
            fold = _neediest(wanted_labels[:, label], wanted_rows, rng)
            numbers[row] = fold
            wanted_rows[fold] -= 1
            wanted_labels[fold, labels[row]] -= 1
            left -= labels[row]
    for row in order[numbers[order] < 0]:
        fold = _neediest(wanted_rows, wanted_rows, rng)
        numbers[row] = fold
        wanted_rows[fold] -= 1
    return numbers


def _neediest(wanted: np.ndarray, wanted_rows: np.ndarray, rng: np.random.Generator) -> int:
    """The fold that lacks most; of equal ones, the one that lacks most rows; of equal ones, any."""
    most = np.flatnonzero(wanted == wanted.max())
    most = most[wanted_rows[most] == wanted_rows[most].max()]
    return int(most[0] if most.size == 1 else rng.choice(most))


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
