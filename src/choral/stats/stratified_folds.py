"""Folds in which every label has its share of rows: iterative stratification, as a splitter of scikit-learn's kind."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

import numpy as np

from choral._typing import Features, IntArray, LabelMatrix, RandomState
from choral._validation import check_count, check_matrix
from choral.rows.blocks import check_binary

MAX_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class MultilabelStratifiedKFold:
    """Cross-validation in which each fold gets its share of every label, rare ones first.

    A splitter for ``cv`` of `cross_val_score`, `GridSearchCV` and their like. scikit-learn's `StratifiedKFold` takes a
    single column of classes.

    Parameters
    ----------
    n_splits : int
        Folds; at least 2.
    repeats : int
        How often all rows are split, each time shuffled anew.
    shuffle : bool
        Whether chance decides between equals. If not, rows are taken as they come, and the first fold of equal ones.
    random_state : int, RandomState, Generator or None
        Of the shuffling. Repeat r has the folds that the seed ``random_state + r`` gives alone.

    See Also
    --------
    choral.study.Split : The cross-validation of a study.
    sklearn.model_selection.StratifiedKFold : For one target.

    Examples
    --------
    >>> from choral.stats import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> folds = MultilabelStratifiedKFold(2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for train, test in folds.split(Y, Y)]
    [[2, 1], [2, 1]]
    """

    n_splits: int = 5
    _: KW_ONLY
    repeats: int = 1
    shuffle: bool = True
    random_state: RandomState = None

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, least=2)
        check_count("repeats", self.repeats)
        if not self.shuffle and (self.repeats > 1 or self.random_state is not None):
            raise ValueError("repeats and random_state need shuffle=True: without shuffling, all splits are the same.")

    def get_n_splits(self, X: Features = None, y: LabelMatrix | None = None, groups: object = None) -> int:
        """How many pairs of training and test rows ``split`` gives; the arguments are not needed.

        Parameters
        ----------
        X : ignored
            Here for scikit-learn.
        y : ignored
            Here for scikit-learn.
        groups : ignored
            Here for scikit-learn.
        """
        return int(self.n_splits) * int(self.repeats)

    def split(
        self, X: Features, y: LabelMatrix | None = None, groups: object = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Training and test rows of each fold.

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
            Not looked at.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1.
        groups : None
            Not supported.

        Yields
        ------
        train, test : ndarray of int
        """
        if groups is not None:
            raise ValueError(
                "MultilabelStratifiedKFold does not keep groups together; use GroupKFold, which does not stratify."
            )
        for numbers in self.fold_numbers(y):
            for fold in range(int(self.n_splits)):
                yield np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)

    def fold_numbers(self, y: LabelMatrix | None) -> IntArray:
        """The fold in which each row is tested, of shape (repeats, n_samples).

        Parameters
        ----------
        y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels, 0 and 1.
        """
        labels = check_matrix("y", y)
        labels = labels.toarray() if hasattr(labels, "toarray") else labels
        check_binary("y", labels, 0)
        if self.n_splits > len(labels):
            raise ValueError(f"n_splits must be at most the number of rows, {len(labels)}; got {self.n_splits}.")
        seed = _draw_seed(self.random_state) if self.shuffle else None
        seeds = [None if seed is None else seed + repeat for repeat in range(int(self.repeats))]
        return np.array([stratified_folds(labels, int(self.n_splits), seed) for seed in seeds])


def _draw_seed(random_state: RandomState) -> int:
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(MAX_SEED))
    draw = np.random.randint if random_state is None else random_state.randint
    return int(draw(MAX_SEED))


def stratified_folds(Y: np.ndarray, n_folds: int, seed: int | None) -> IntArray:
    """Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): the rarest label is dealt out first.

    Take the label that the fewest of the remaining rows have. Each row with this label goes to the fold that lacks most
    of it; of equal folds, to the one that lacks most rows. Go on with the next label. Rows without labels fill up the
    folds. Own code: scikit-learn has none for several labels, and a page of code is not worth a dependency.

    Parameters
    ----------
    Y : ndarray of shape (n_rows, n_labels)
    n_folds : int
    seed : int or None
        Decides between equals, and in which order rows are dealt out; None takes the first of equals.

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
    rng = None if seed is None else np.random.default_rng(seed)
    labels = np.asarray(Y, dtype=bool)
    lacking_rows = np.full(n_folds, len(labels) / n_folds)
    lacking_labels = np.tile(labels.sum(axis=0) / n_folds, (n_folds, 1))
    numbers = np.full(len(labels), -1)
    order = np.arange(len(labels)) if rng is None else rng.permutation(len(labels))
    left = labels.sum(axis=0)
    while left.any():
        label = int(np.where(left > 0, left, len(labels) + 1).argmin())
        for row in order[(numbers[order] < 0) & labels[order, label]]:
            fold = _neediest_fold(lacking_labels[:, label], lacking_rows, rng)
            numbers[row] = fold
            lacking_rows[fold] -= 1
            lacking_labels[fold, labels[row]] -= 1
            left -= labels[row]
    for row in order[numbers[order] < 0]:
        fold = _neediest_fold(lacking_rows, lacking_rows, rng)
        numbers[row] = fold
        lacking_rows[fold] -= 1
    return numbers


def _neediest_fold(lacking: np.ndarray, lacking_rows: np.ndarray, rng: np.random.Generator | None) -> int:
    """The fold that lacks most; of equal ones, the one that lacks most rows; of equal ones, any or the first."""
    most = np.flatnonzero(lacking == lacking.max())
    most = most[lacking_rows[most] == lacking_rows[most].max()]
    return int(most[0] if most.size == 1 or rng is None else rng.choice(most))
