"""Dataset: features and labels with their names."""

from dataclasses import dataclass

from choral._text import some_of
from choral._typing import Features, LabelArray


@dataclass(frozen=True, eq=False, repr=False)  # arrays have no single truth value to compare by
class Dataset:
    """A multi-label data set.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_samples, n_features)
        The features.
    Y : ndarray of shape (n_samples, n_labels), uint8
        1 where a label is relevant.
    label_names : tuple of str
        One name per column of ``Y``.
    name : str
        The name of the data set in tables and figures.
    feature_names : tuple of str, optional
        One name per column of ``X``; by default ``x0``, ``x1``, ...
    n_nominal : int, default=0
        How many features were nominal in the source; one with more than two values has a column of ``X`` for each.
    n_numeric : int, optional
        How many features were numeric in the source; by default all columns of ``X``.

    See Also
    --------
    read_arff : Read an ARFF file.
    load : Load a data set of the paper.
    choral.stats.describe : Describe a data set and its labels.

    Examples
    --------
    >>> import numpy as np
    >>> tiny = Dataset(np.eye(2), np.array([[1], [0]], dtype=np.uint8), ("sea",), "tiny")
    >>> tiny
    Dataset('tiny', 2 rows, 2 features, 1 label: 'sea')
    >>> tiny.feature_names, tiny.n_numeric
    (('x0', 'x1'), 2)
    """

    X: Features
    Y: LabelArray
    label_names: tuple[str, ...]
    name: str
    feature_names: tuple[str, ...] | None = None
    n_nominal: int = 0
    n_numeric: int | None = None

    def __post_init__(self) -> None:
        n_features = self.X.shape[1]
        if self.feature_names is None:
            object.__setattr__(self, "feature_names", tuple(f"x{i}" for i in range(n_features)))
        if self.n_numeric is None:
            object.__setattr__(self, "n_numeric", n_features)

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        labels = f"{self.Y.shape[1]} label{'' if self.Y.shape[1] == 1 else 's'}: {some_of(self.label_names)}"
        return f"Dataset({self.name!r}, {n_rows} rows, {n_features} features, {labels})"
