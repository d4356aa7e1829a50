"""Numbers about a data set: its size, the imbalance of its labels, and how they depend on each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from choral._memory import MAX_BYTES, check_memory
from choral._typing import FloatArray, IntArray, LabelMatrix
from choral._validation import Labels, check_matrix, refuse_entry_where
from choral.decisions.label_weights import distinct_rows
from choral.rows.blocks import all_binary, check_binary, row_slices
from choral.stats.pair_dependence import cramers_v, mutual_information

BYTES_PER_PAIR = 32  # of labels, while all is computed
FREE_BYTES = 2**30  # for the pairs of any data set

if TYPE_CHECKING:
    from choral.datasets import Dataset

# The columns of a table with a row for each data set. The first six are the five of the paper's Table 1, and the number
# of features, which it does not have.
NUMBERS = (
    "n_instances",
    "n_features",
    "n_labels",
    "ratio",
    "n_labelsets",
    "cardinality",
    "density",
    "unlabelled",
    "mean_imbalance",
    "max_imbalance",
    "imbalance_variation",
    "mean_cramers_v",
    "max_cramers_v",
    "mean_mutual_information",
    "max_mutual_information",
)


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class Description:
    r"""Numbers about a data set and its labels.

    Parameters
    ----------
    name : str
        The name to show.
    label_names : tuple of str
        The names of the labels.
    n_instances : int
        The number of rows.
    n_features : int or None
        The number in the source of the data, where nominal features are one each; None if only labels are known.
    n_labelsets : int
        Unique label combinations.
    n_unlabelled : int
        Instances without a relevant label.
    together : ndarray of shape (n_labels, n_labels)
        In how many instances two labels are both relevant; on the diagonal, in how many each is.

    See Also
    --------
    describe : Describe a data set and its labels.
    choral.displays.DependenceDisplay : How much pairs of labels depend on each other.

    Notes
    -----
    With :math:`n_i` the number of instances for which label i is relevant, the *imbalance ratio* of a label and its
    mean and coefficient of variation over labels are those of Charte, Rivera, del Jesus and Herrera ("Addressing
    imbalance in multilabel classification", Neurocomputing 163, 2015):

    .. math::
        \mathrm{IRLbl}_i = \frac{\max_j n_j}{n_i}, \quad \mathrm{MeanIR} = \frac{1}{K} \sum_i \mathrm{IRLbl}_i, \quad
        \mathrm{CVIR} = \frac{1}{\mathrm{MeanIR}} \sqrt{\frac{1}{K - 1} \sum_i (\mathrm{IRLbl}_i - \mathrm{MeanIR})^2}

    A label that is never relevant has an infinite ratio, and is left out of mean, maximum and variation.

    Cramér's V and mutual information are *unconditional*: labels that are independent given the features still depend
    on each other if they depend on the same features. See `conditional_dependence`.

    Examples
    --------
    >>> description = describe([[1, 0], [1, 1], [0, 0]])
    >>> description.n_labelsets, description.n_unlabelled
    (3, 1)
    """

    name: str
    label_names: tuple[str, ...]
    n_instances: int
    n_features: int | None
    n_labelsets: int
    n_unlabelled: int
    together: IntArray

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return len(self.label_names)

    @property
    def ratio(self) -> float:
        """Labels to instances, K / n."""
        return self.n_labels / self.n_instances

    @property
    def label_counts(self) -> IntArray:
        """For how many instances each label is relevant."""
        return np.diag(self.together)

    @property
    def cardinality(self) -> float:
        """The mean number of relevant labels of an instance."""
        return float(self.label_counts.sum() / self.n_instances)

    @property
    def density(self) -> float:
        """The cardinality as a share of all labels."""
        return self.cardinality / self.n_labels

    @property
    def unlabelled(self) -> float:
        """The share of instances without a relevant label."""
        return self.n_unlabelled / self.n_instances

    @cached_property
    def imbalance_ratios(self) -> FloatArray:
        """How many times rarer each label is than the most frequent one, IRLbl; inf for one that is never relevant."""
        counts = self.label_counts.astype(float)
        return np.divide(counts.max(), counts, out=np.full(counts.shape, np.inf), where=counts > 0)

    @property
    def _finite_ratios(self) -> FloatArray:
        return self.imbalance_ratios[np.isfinite(self.imbalance_ratios)]

    @property
    def mean_imbalance(self) -> float:
        """The mean of the imbalance ratios, MeanIR; nan if no label is ever relevant."""
        return float(self._finite_ratios.mean()) if self._finite_ratios.size else np.nan

    @property
    def max_imbalance(self) -> float:
        """The largest of the imbalance ratios, that of the rarest label; nan if no label is ever relevant."""
        return float(self._finite_ratios.max()) if self._finite_ratios.size else np.nan

    @property
    def imbalance_variation(self) -> float:
        """The coefficient of variation of the imbalance ratios, CVIR; 0 for a single label."""
        ratios = self._finite_ratios
        return float(ratios.std(ddof=1) / ratios.mean()) if ratios.size > 1 else 0.0

    @cached_property
    def cramers_v(self) -> FloatArray:
        """Cramér's V of all pairs of labels, of shape (n_labels, n_labels): 0 for none, 1 for full dependence."""
        return cramers_v(self.together, self.n_instances)

    @cached_property
    def mutual_information(self) -> FloatArray:
        """Mutual information of all pairs of labels in bits, of shape (n_labels, n_labels)."""
        return mutual_information(self.together, self.n_instances)

    @property
    def mean_cramers_v(self) -> float:
        """The mean of Cramér's V over pairs of different labels; 0 for a single label."""
        return float(_different_pairs(self.cramers_v).mean())

    @property
    def max_cramers_v(self) -> float:
        """The largest Cramér's V of all pairs of different labels; 0 for a single label."""
        return float(_different_pairs(self.cramers_v).max())

    @property
    def mean_mutual_information(self) -> float:
        """The mean over pairs of different labels, in bits; 0 for a single label."""
        return float(_different_pairs(self.mutual_information).mean())

    @property
    def max_mutual_information(self) -> float:
        """The largest of all pairs of different labels, in bits; 0 for a single label."""
        return float(_different_pairs(self.mutual_information).max())

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists for JSON; infinity and nan, which JSON does not have, become None."""
        labels = zip(self.label_names, self.label_counts.tolist(), self.imbalance_ratios.tolist(), strict=True)
        return {
            "name": self.name,
            **{number: _finite_or_none(getattr(self, number)) for number in NUMBERS},
            "labels": [
                {"name": name, "count": count, "imbalance_ratio": _finite_or_none(ratio)}
                for name, count, ratio in labels
            ],
            "cramers_v": self.cramers_v.tolist(),
            "mutual_information": self.mutual_information.tolist(),
        }


def describe(
    dataset: "Dataset | LabelMatrix", *, name: str | None = None, label_names: Sequence[str] | None = None
) -> Description:
    """Describe a data set, or a label matrix alone.

    Parameters
    ----------
    dataset : Dataset, or array-like or sparse matrix of shape (n_samples, n_labels)
        Features and labels, or labels alone, 0 or 1.
    name : str, optional
        Of the data set; by default its own, or ``"labels"``.
    label_names : sequence of str, optional
        By default those of the data set, or the columns of a frame, or ``"label 0"``, ``"label 1"``, ...

    Returns
    -------
    description : Description
        Sizes, frequencies and dependence of labels.

    See Also
    --------
    Description : What `describe` returns.
    conditional_dependence : What labels tell about each other beyond the features.
    choral.displays.DependenceDisplay : How much pairs of labels depend on each other.

    Examples
    --------
    >>> from choral.datasets import load_digits_segments
    >>> digits = describe(load_digits_segments())
    >>> digits.n_instances, digits.n_features, digits.n_labels, digits.n_labelsets, round(digits.cardinality, 2)
    (1797, 64, 7, 10, 4.89)
    >>> digits.cramers_v[:2, :2].round(2)
    array([[1.  , 0.25], [0.25, 1.  ]])
    """
    from choral.datasets import Dataset  # here, so that evaluation, which imports choral.stats, need not load it

    Y, n_features = dataset, None
    if isinstance(dataset, Dataset):
        Y, n_features = dataset.Y, dataset.n_nominal + (dataset.n_numeric or 0)
        name = dataset.name if name is None else name
    if label_names is None:
        label_names = dataset.label_names if isinstance(dataset, Dataset) else getattr(Y, "columns", None)
    Y = check_matrix("Y", Y)
    names = [f"label {i}" for i in range(Y.shape[1])] if label_names is None else label_names
    if len(names) != Y.shape[1]:
        raise ValueError(f"label_names must have one entry for each of {Y.shape[1]} labels; got {len(names)}.")
    count = _count_sparse if sp.issparse(Y) else _count_dense
    name = "labels" if name is None else name
    check_pairs(name, Y.shape[1])
    return Description(name, tuple(map(str, names)), Y.shape[0], n_features, *count(Y))


def check_pairs(source: str, n_labels: int, held: int = MAX_BYTES) -> None:
    """Refuse more labels than there is memory for the matrices of their pairs.

    Parameters
    ----------
    source : str
        The data set.
    n_labels : int
    held : int, default=8 GiB
        The size of its file: a small one may have 5,792 labels; none may have more than 16,384.
    """
    what = f"{source}, the matrix of all pairs of {n_labels} labels,"
    check_memory(what, BYTES_PER_PAIR * n_labels**2, held, FREE_BYTES)


def _count_dense(Y: np.ndarray) -> tuple[int, int, IntArray]:
    """Count the distinct label sets, the rows without labels, and the rows in which each pair of labels is relevant."""
    together = np.zeros((Y.shape[1], Y.shape[1]))
    n_unlabelled = 0
    for rows in row_slices(Y.shape, 8):
        check_binary("Y", Y[rows], rows.start)
        block = Y[rows].astype(float)  # products of floats are fast, and exact up to 2^53 rows
        together += block.T @ block
        n_unlabelled += int((~block.any(axis=1)).sum())
    n_labelsets = len(distinct_rows(Y.astype(bool, copy=False))[0])
    return n_labelsets, n_unlabelled, together.astype(np.int64)


def _count_sparse(Y: Labels) -> tuple[int, int, IntArray]:
    """Count the same without making rows dense."""
    if not all_binary(Y.data):
        refuse_entry_where("Y must be binary, 0 or 1", "Y", Y, (Y.data != 0) & (Y.data != 1))
    Y = sp.csr_array(Y, dtype=np.int64, copy=True)
    Y.eliminate_zeros()
    labelsets = {Y.indices[first:last].tobytes() for first, last in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)}
    return len(labelsets), int((np.diff(Y.indptr) == 0).sum()), (Y.T @ Y).toarray()


def _different_pairs(matrix: FloatArray) -> FloatArray:
    """The entries for pairs of different labels, each pair once; a single 0 if there is only one label."""
    return matrix[np.triu_indices(len(matrix), k=1)] if len(matrix) > 1 else np.zeros(1)


def _finite_or_none(number: Any) -> Any:
    return number if number is None or np.isfinite(number) else None
