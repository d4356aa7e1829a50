"""The small summaries of predictions that add up over batches of rows, and the one for complete labels."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import LabelMatrix, RowWeights
from choral._validation import check_count, check_vector, refuse_where
from choral.curves import LossCurve, bounding_curves, togetherness_by_areas
from choral.measures import ByCount, ByRelevance, Measure, check_measure
from choral.measures.families import get_family
from choral.profiles.totals import Totals, TotalsByObserved, add_padded, sums_by_rank, totals_of
from choral.rows import Rows, open_rows

if TYPE_CHECKING:
    from choral.profiles.each_loss import EachLossProfile, Predictions
    from choral.profiles.observed_profile import ObservedProfile


class Profile(ABC):
    """A small summary of predictions that adds up over batches of rows."""

    @property
    @abstractmethod
    def is_hard(self) -> bool:
        """Whether all predictions seen were 0 or 1."""

    def __init__(self, n_labels: int):
        self.n_labels = check_count("n_labels", n_labels)

    @abstractmethod
    def _merged(self, other: Self) -> Self:
        """The profile of both sets of rows, for the same labels."""

    @abstractmethod
    def losses(self, family: str, parameters: ArrayLike | None = None) -> np.ndarray:
        """Mean loss for every parameter of a family; the default grid for None."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""

    def __add__(self, other: Self) -> Self:
        """The profile of both sets of rows; soft as soon as one of the two is."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if other.n_labels != self.n_labels:
            raise ValueError(f"profiles must have the same number of labels; got {self.n_labels} and {other.n_labels}.")
        return self._merged(other)

    def __radd__(self, other: Any) -> Self:
        # sum(profiles) starts at 0; a new profile, since update() changes one in place
        return type(self)(self.n_labels) + self if isinstance(other, int) and other == 0 else NotImplemented

    def _take(self, batch: Self) -> Self:
        """Add a batch in place; the profile itself."""
        self.__dict__.update((self + batch).__dict__)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it grows

    def curve(
        self, family: str = "binomial", parameters: ArrayLike | None = None, name: str | None = None
    ) -> LossCurve:
        """The loss along a family; k = 1..K or the published alphas unless given. See `loss_curve`."""
        grid = get_family(family).parameters(parameters, self.n_labels)
        return LossCurve(family, grid, self.losses(family, grid), n_labels=self.n_labels, name=name)

    @abstractmethod
    def known_shares(self) -> dict[int, float]:
        """The share of rows (by weight) with each number of known labels."""

    def bounds(self, family: str = "binomial", parameters: ArrayLike | None = None) -> tuple[LossCurve, LossCurve]:
        """The least and the largest losses along a family that predictions with the same Hamming loss can have.

        See `LossCurve.bounds`. Where labels are missing, the same labels of each row are known: the loss is least if
        mistakes fill rows, and the largest is found for each parameter by placing mistakes where they cost most.
        """
        of_family = get_family(family)
        grid = of_family.parameters(parameters, self.n_labels)
        (hamming,) = self.losses(family, [1])
        return bounding_curves(family, grid, self.known_shares(), float(hamming), self.n_labels)

    def togetherness(self, family: str = "binomial") -> float:
        """Where the curve lies between its `bounds`: 0 for mistakes spread evenly, 1 for mistakes in few rows.

        See `LossCurve.togetherness`, which also says what independent errors have: a reference to compare with, not 0.
        """
        areas = [curve.area for curve in (self.curve(family), *self.bounds(family))]
        return float(togetherness_by_areas(*areas))


class ModelRows(NamedTuple):
    """The rows of a model: once, or once for each parameter, if labels were decided anew for each loss."""

    rows: tuple[Rows, ...]
    is_each_loss: bool = False

    def profile(self, family: str, parameters: np.ndarray) -> "ErrorProfile | ObservedProfile | EachLossProfile":
        """The profile of the model; the parameters are those that it was opened for."""
        from choral.profiles.each_loss import EachLossProfile  # which is made of ErrorProfiles

        profiles = [make_profile(totals_of(rows), rows.n_labels) for rows in self.rows]
        return EachLossProfile(family, parameters, profiles) if self.is_each_loss else profiles[0]


def open_models(
    predictions: "Mapping[str, Predictions]",
    family: str,
    parameters: ArrayLike | None,
    open_model: Callable[..., Rows],
) -> tuple[np.ndarray, list[ModelRows]]:
    """The parameters on which models are compared, and their rows.

    Parameters
    ----------
    predictions : mapping from name to predictions
        As messages call them; at least one.
    family : {"binomial", "polynomial"}
    parameters : array-like or None
        If None, those that all labels decided for each loss were decided for; the default grid where there are none.
    open_model : callable (y_pred, pred_name=...) -> Rows
    """
    from choral.profiles.each_loss import DecidedLabels, pick_labels  # as above

    opened, decided = {}, {}
    for name, y_pred in predictions.items():
        if isinstance(y_pred, DecidedLabels | Mapping):
            decided[name] = y_pred
        else:
            opened[name] = ModelRows((open_model(y_pred, pred_name=name),))
    if decided:
        parameters, labels = pick_labels(decided, family, parameters)
        for name, of_each in labels.items():
            rows = tuple(open_model(one, pred_name=name) for one in of_each)
            opened[name] = ModelRows(rows, is_each_loss=True)
    models = [opened[name] for name in predictions]
    return get_family(family).parameters(parameters, models[0].rows[0].n_labels), models


class MixedPredictionsWarning(UserWarning):
    """Hard labels and scores were put side by side.

    See Also
    --------
    evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    harden : Cut scores at a threshold.

    Examples
    --------
    >>> import warnings
    >>> from choral import MixedPredictionsWarning, evaluate
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = evaluate([[1, 0]], {"hard": [[1, 0]], "soft": [[0.5, 0.5]]}, n_bootstrap=0)
    >>> caught[0].category.__name__
    'MixedPredictionsWarning'
    """


def make_profile(totals: TotalsByObserved, n_labels: int) -> "ErrorProfile | ObservedProfile":
    """The profile of rows: an `ObservedProfile` only where labels are missing."""
    if list(totals) == [n_labels]:
        return ErrorProfile.from_totals(totals[n_labels])
    from choral.profiles.observed_profile import ObservedProfile  # which is made of ErrorProfiles

    return ObservedProfile.from_totals(totals, n_labels)


def warn_if_mixed(profiles: Mapping[str, "Profile | EachLossProfile"], stacklevel: int = 3) -> None:
    """Warn where hard labels and scores come together, at whoever called what called this."""
    soft = [name for name, profile in profiles.items() if not profile.is_hard]
    if soft and len(soft) < len(profiles):
        warnings.warn(
            f"scores ({', '.join(soft)}) and hard labels do not compare: hedging lowers the loss of scores (0.5 "
            "everywhere has loss 0.5 under every measure). Make all predictions hard (by a threshold), or none.",
            MixedPredictionsWarning,
            stacklevel=stacklevel,
        )


def name_in_messages(name: str) -> str:
    """How errors call the predictions of a model."""
    return f"predictions[{name!r}]"


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

    See Also
    --------
    ObservedProfile : The same where labels are missing.
    loss_curve : The loss along a family of measures.

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
    def from_predictions(
        cls, y_true: LabelMatrix, y_pred: LabelMatrix, sample_weight: RowWeights | None = None
    ) -> "ErrorProfile":
        """The profile of predictions.

        Works in blocks of rows: the extra memory stays below 64 MiB whatever the number of rows. Torch tensors, CuPy
        and JAX arrays are reduced where they are, in larger blocks on a GPU; only the profile travels to the host. Dask
        arrays need not fit into memory: each block of rows is summarised where it lies, by the active Dask client or,
        where there is none, by threads.

        Parameters
        ----------
        y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
            True labels, 0 or 1. (See `ObservedProfile` for missing labels.)
        y_pred : likewise
            Predicted labels, or scores in [0, 1].
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        """
        rows = open_rows(y_true, y_pred, sample_weight=sample_weight, allow_missing=False)
        return cls.from_totals(totals_of(rows)[rows.n_labels])

    @classmethod
    def from_totals(cls, totals: Totals, *, hard: bool | None = None) -> "ErrorProfile":
        """The profile of rows added up; as one of scores where ``hard`` is False.

        Parameters
        ----------
        totals : totals
            Errors added up over rows.
        hard : bool, optional
            Whether the predictions are hard labels; found by the totals unless given.
        """
        profile = cls(totals.n_observed)
        profile.n_rows, profile.total_weight = totals.n_rows, totals.total_weight
        if totals.is_hard if hard is None else hard:
            profile._histogram = totals.histogram
        else:
            profile._histogram, profile._sums = None, totals.sums_by_rank()
        return profile

    @classmethod
    def from_histogram(cls, rows_by_errors: Any) -> "ErrorProfile":
        """The profile of hard predictions from the number of rows with 0, 1, ..., K wrong labels.

        Parameters
        ----------
        rows_by_errors : array-like of shape (n_labels + 1,)
            Numbers of rows.

        Examples
        --------
        >>> from choral import HammingMeasure
        >>> ErrorProfile.from_histogram([3, 1, 0]).loss(HammingMeasure())
        0.125
        """
        counts = [check_count("a number of rows", count, least=0) for count in rows_by_errors]
        data = {"n_labels": len(counts) - 1, "n_rows": sum(counts), "total_weight": sum(counts)}
        return cls.from_dict({**data, "rows_by_errors": counts})

    def update(
        self, y_true: LabelMatrix, y_pred: LabelMatrix, sample_weight: RowWeights | None = None
    ) -> "ErrorProfile":
        """Add a batch of rows in place; the profile itself, for chaining. A refused batch changes nothing.

        Parameters
        ----------
        y_true : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            True labels.
        y_pred : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1].
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; all 1 unless given.
        """
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
    def loss(self, measure: Measure) -> float:
        """Mean loss under a counting measure, whichever it is.

        Parameters
        ----------
        measure : Measure
            A counting measure.
        """
        self._check_seen()
        form = _count_form(measure, self.n_labels)
        if self._histogram is not None:
            total = self._histogram @ form.deficits(self._histogram.size - 1)
        else:
            total = self._sums @ form.weights(self._sums.size)
        return min(float(total / self.total_weight), 1.0)  # the weights of all rows add up but for rounding

    @np.errstate(under="ignore")
    def losses(self, family: str, parameters: ArrayLike | None = None) -> np.ndarray:
        """Mean loss for every parameter of a family; the default grid for None.

        Parameters
        ----------
        family : {"binomial", "polynomial"}
            The family of losses.
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        """
        self._check_seen()
        of_family = get_family(family)
        parameters = of_family.parameters(parameters, self.n_labels)
        if self._histogram is not None:
            summary, kind, max_wrong = self._histogram, "deficits", self._histogram.size - 1
        else:
            summary, kind, max_wrong = self._sums, "weights", self._sums.size
        tables = of_family.table(kind, parameters, self.n_labels, max_wrong)
        totals = np.concatenate([table @ summary for table in tables])
        return np.minimum(totals / self.total_weight, 1)

    def known_shares(self) -> dict[int, float]:
        return {self.n_labels: 1.0}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON; trailing zeros are left out."""
        data = {"n_labels": self.n_labels, "n_rows": self.n_rows, "total_weight": self.total_weight}
        if self._histogram is not None:
            return {**data, "rows_by_errors": np.trim_zeros(self._histogram, "b").tolist()}
        return {**data, "error_sums": np.trim_zeros(self._sums, "b").tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ErrorProfile":
        """The profile that `to_dict` wrote down; what no profile could have written is refused.

        Parameters
        ----------
        data : mapping
            What ``to_dict`` gave.
        """
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
            profile._histogram = _check_histogram(data["rows_by_errors"], profile.n_labels, profile.n_rows, total)
        else:
            profile._histogram, profile._sums = None, _check_sums(data["error_sums"], profile.n_labels, total)
        return profile

    def _check_seen(self) -> None:
        if not self.n_rows:
            raise ValueError("this ErrorProfile has seen no rows yet; update(y_true, y_pred) adds some.")


def _padded(vector: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([vector, np.zeros(size - vector.size, dtype=vector.dtype)])


def _count_form(measure: Measure, n_labels: int) -> ByCount:
    """The form of a counting measure; others are refused."""
    check_measure(measure)
    form = measure.form(n_labels)
    if isinstance(form, ByRelevance):
        raise TypeError(
            "an ErrorProfile cannot serve a RelevanceMeasure: its worth depends on the true labels of each row, and a "
            "profile keeps only how many labels were wrong. Use choquet_loss."
        )
    if not isinstance(form, ByCount):
        raise TypeError(
            "an ErrorProfile serves counting measures only: it keeps how many labels were wrong, not which. "
            f"Use choquet_loss for {measure!r}."
        )
    return form


def _check_histogram(counts: Any, n_labels: int, n_rows: int, total: float) -> np.ndarray:
    """Rows by number of errors, whole numbers where all are."""
    histogram = _check_summary("rows_by_errors", counts, n_labels + 1)
    if not abs(histogram.sum() - total) <= 1e-9 * max(1, total):
        raise ValueError(f"rows_by_errors must add up to total_weight, {total:g}; got {histogram.sum():g}.")
    if not all(isinstance(count, int) for count in counts):
        return histogram
    if histogram.sum() != n_rows:
        raise ValueError(f"rows_by_errors must add up to n_rows, {n_rows}; got {histogram.sum():g}.")
    return np.array(counts or [0], dtype=np.int64)


def _check_sums(sums: Any, n_labels: int, total: float) -> np.ndarray:
    """Sums of the largest, second largest, ... errors."""
    sums = _check_summary("error_sums", sums, n_labels)
    bound = np.append(total, sums[:-1]) if sums.size else sums
    above = sums > bound + 1e-9 * max(1, total)
    refuse_where("error_sums must not exceed total_weight, nor increase", "error_sums", sums, above)
    return sums


def _check_summary(name: str, numbers: Any, max_size: int) -> np.ndarray:
    checked = check_vector(name, numbers) if numbers != [] else np.zeros(0)
    if checked.size > max_size:
        raise ValueError(f"{name} must have at most {max_size} entries; got {checked.size}.")
    refuse_where(f"{name} must be finite and non-negative", name, checked, ~((checked >= 0) & (checked < np.inf)))
    return checked
