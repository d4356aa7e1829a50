"""The small summary that serves every counting measure: how wrong labels are spread over rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from choral._validation import Labels, check_count, check_vector
from choral.measures import CountingMeasure, RelevanceMeasure
from choral.measures.families import get_family
from choral.profiles.base import Profile
from choral.profiles.stored import check_histogram, check_sums
from choral.profiles.summarising import add_padded, sums_by_rank, total_errors, total_weight
from choral.rows.array_checks import check_pair, check_row_weights


class ErrorProfile(Profile):
    r"""All that any counting measure needs to know of predictions: K + 1 numbers, whatever the number of rows.

    For hard predictions it is the histogram of wrong labels per row, in exact integers. For scores it is the sum over
    rows of the largest error, of the second largest, and so on. Every loss, every curve, every parameter is a dot
    product with it; profiles of two batches add up, so a stream, several processes or a cluster share it.

    Parameters
    ----------
    n_labels : int
        The number of labels, K. A new profile is empty; `update` adds rows.

    Attributes
    ----------
    n_labels : int
    n_rows : int
        Rows seen.
    total_weight : int or float
        Their weights added up; the number of rows where none were given.
    is_hard : bool
        Whether all predictions seen were 0 or 1.

    Examples
    --------
    >>> profile = ErrorProfile.from_predictions([[1, 0, 1], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    >>> profile.rows_by_errors
    array([1, 1, 0, 0])
    >>> from choral import BinomialMeasure, SubsetMeasure
    >>> round(profile.loss(BinomialMeasure(2)), 3), profile.loss(SubsetMeasure())
    (0.333, 0.5)
    >>> (profile + profile).n_rows
    4
    """

    def __init__(self, n_labels: int):
        super().__init__(n_labels)
        self.n_rows = 0
        self.total_weight: int | float = 0
        self._histogram: np.ndarray | None = np.zeros(1, dtype=np.int64)
        self._sums = np.zeros(0)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, sample_weight: Any = None) -> "ErrorProfile":
        """The profile of predictions.

        Works in blocks of rows: the extra memory stays below 64 MiB whatever the number of rows. Torch tensors, CuPy
        and JAX arrays are reduced where they are, in larger blocks on a GPU; only the profile travels to the host.

        Parameters
        ----------
        y_true : array-like, array on any device or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_pred : array-like, array on any device or sparse matrix of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1].
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        """
        matrices = check_pair(y_true, y_pred)
        return cls.from_checked(*matrices, check_row_weights(sample_weight, matrices))

    @classmethod
    def from_dask(cls, y_true: Any, y_pred: Any, sample_weight: Any = None) -> "ErrorProfile":
        """The profile of dask arrays, which need not fit into memory: only profiles of their blocks travel.

        Each pair of blocks of rows is summarised where it lies, by the active Dask client or, where there is none, by
        threads; then their profiles are added up. A block of rows with all its labels must fit into memory.

        Parameters
        ----------
        y_true : dask array of shape (n_samples, n_labels)
            True labels, 0 or 1. Blocks are arrays, or sparse matrices or arrays of SciPy or pydata.
        y_pred : dask array of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1]. Its blocks may be others than those of ``y_true``; if their numbers
            of rows are not known, they must be the same.
        sample_weight : dask array or array-like of shape (n_samples,), optional
            How much each row counts.
        """
        from choral.profiles.dask_blocks import total_profile

        return total_profile(y_true, y_pred, sample_weight)

    @classmethod
    def from_checked(cls, y_true: Labels, y_pred: Labels, weights: Any, pred_name: str = "y_pred") -> "ErrorProfile":
        """The profile of matrices and weights that have passed `check_pair` and `check_row_weights`."""
        profile = cls(y_true.shape[1])
        profile.n_rows = y_true.shape[0]
        profile.total_weight = profile.n_rows if weights is None else total_weight(weights)
        profile._histogram, profile._sums = total_errors(y_true, y_pred, weights, pred_name)
        return profile

    @classmethod
    def from_histogram(cls, rows_by_errors: Any) -> "ErrorProfile":
        """The profile of hard predictions from the number of rows with 0, 1, ..., K wrong labels.

        Examples
        --------
        >>> from choral import HammingMeasure
        >>> ErrorProfile.from_histogram([3, 1, 0]).loss(HammingMeasure())
        0.125
        """
        counts = [check_count("a number of rows", count, least=0) for count in rows_by_errors]
        data = {"n_labels": len(counts) - 1, "n_rows": sum(counts), "total_weight": sum(counts)}
        return cls.from_dict({**data, "rows_by_errors": counts})

    def update(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> "ErrorProfile":
        """Add a batch of rows in place; the profile itself, for chaining. A refused batch changes nothing."""
        return self._take(ErrorProfile.from_predictions(y_true, y_pred, sample_weight))

    def _merged(self, other: "ErrorProfile") -> "ErrorProfile":
        total = ErrorProfile(self.n_labels)
        total.n_rows = self.n_rows + other.n_rows
        total.total_weight = self.total_weight + other.total_weight
        if self._histogram is not None and other._histogram is not None:
            total._histogram = add_padded(self._histogram, other._histogram)
        else:
            total._histogram = None
            total._sums = add_padded(self._order_sums(), other._order_sums())
        return total

    def __repr__(self) -> str:
        kind = "hard" if self.is_hard else "soft"
        return f"ErrorProfile(n_labels={self.n_labels}, n_rows={self.n_rows}, {kind})"

    @property
    def is_hard(self) -> bool:
        return self._histogram is not None

    @property
    def rows_by_errors(self) -> np.ndarray:
        """Rows (or their weights) with 0, 1, ..., n_labels wrong labels; for hard predictions only."""
        if self._histogram is None:
            raise ValueError("rows_by_errors needs hard predictions; this profile has seen scores: see error_sums.")
        return _padded(self._histogram, self.n_labels + 1)

    @property
    def error_sums(self) -> np.ndarray:
        """Sum over rows of the largest, second largest, ... error; rows with at least i errors if hard."""
        return _padded(self._order_sums(), self.n_labels)

    def _order_sums(self) -> np.ndarray:
        if self._histogram is None:
            return self._sums
        return sums_by_rank(self._histogram)

    @np.errstate(under="ignore")  # weights below 1e-308 times errors
    def loss(self, measure: CountingMeasure) -> float:
        """Mean loss under a counting measure, whichever it is."""
        if not isinstance(measure, CountingMeasure):
            raise TypeError(_why_not(measure))
        self._check_seen()
        if self._histogram is not None:
            total = self._histogram @ measure.deficits(self.n_labels, self._histogram.size - 1)
        else:
            total = self._sums @ measure.weights(self.n_labels, self._sums.size)
        return min(float(total / self.total_weight), 1.0)  # the weights of all rows add up but for rounding

    @np.errstate(under="ignore")
    def losses(self, family: str, parameters: Any = None) -> np.ndarray:
        """Mean loss for every parameter of a family; the default grid for None."""
        self._check_seen()
        of_family = get_family(family)
        parameters = of_family.parameters(parameters, self.n_labels)
        if self._histogram is not None:
            summary, kind, most_wrong = self._histogram, "deficits", self._histogram.size - 1
        else:
            summary, kind, most_wrong = self._sums, "weights", self._sums.size
        tables = of_family.table(kind, parameters, self.n_labels, most_wrong)
        totals = np.concatenate([table @ summary for table in tables])
        return np.minimum(totals / self.total_weight, 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON; trailing zeros are left out."""
        data = {"n_labels": self.n_labels, "n_rows": self.n_rows, "total_weight": self.total_weight}
        if self._histogram is not None:
            return {**data, "rows_by_errors": np.trim_zeros(self._histogram, "b").tolist()}
        return {**data, "error_sums": np.trim_zeros(self._sums, "b").tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ErrorProfile":
        """The profile that `to_dict` wrote down; what no profile could have written is refused."""
        kinds = {"rows_by_errors", "error_sums"} & data.keys()
        if not {"n_labels", "n_rows", "total_weight"} <= data.keys() or len(kinds) != 1:
            raise ValueError(
                "a profile needs n_labels, n_rows, total_weight and one of rows_by_errors and error_sums; "
                f"got {', '.join(map(str, data)) or 'nothing'}."
            )
        profile = cls(data["n_labels"])
        profile.n_rows = check_count("n_rows", data["n_rows"], least=0)
        (total,) = check_vector("total_weight", [data["total_weight"]])
        if not 0 <= total < np.inf or (total > 0) != (profile.n_rows > 0):
            raise ValueError(f"total_weight must be positive and finite for {profile.n_rows} rows; got {total:g}.")
        profile.total_weight = data["total_weight"]
        if kinds == {"rows_by_errors"}:
            profile._histogram = check_histogram(data["rows_by_errors"], profile.n_labels, profile.n_rows, total)
        else:
            profile._histogram, profile._sums = None, check_sums(data["error_sums"], profile.n_labels, total)
        return profile

    def _check_seen(self) -> None:
        if not self.n_rows:
            raise ValueError("this ErrorProfile has seen no rows yet; update(y_true, y_pred) adds some.")


def _padded(vector: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([vector, np.zeros(size - vector.size, dtype=vector.dtype)])


def _why_not(measure: Any) -> str:
    if isinstance(measure, RelevanceMeasure):
        return (
            "an ErrorProfile cannot serve a RelevanceMeasure: its worth depends on the true labels of each row, and a "
            "profile keeps only how many labels were wrong. Use choquet_loss."
        )
    return (
        f"an ErrorProfile serves counting measures only: it keeps how many labels were wrong, not which. "
        f"Use choquet_loss for {measure!r}."
    )
