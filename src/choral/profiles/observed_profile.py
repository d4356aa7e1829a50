"""The small summary of predictions where some true labels are missing: rows by labels observed and labels wrong."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import LabelMatrix, RowWeights
from choral._validation import check_count
from choral.measures import ByCount, Measure, check_measure
from choral.measures.families import get_family
from choral.profiles.error_profile import ErrorProfile, Profile
from choral.profiles.totals import TotalsByObserved, totals_of
from choral.rows import open_rows

MeasureOf = Callable[[int], Measure]


class ObservedProfile(Profile):
    r"""What counting measures need to know of predictions where labels are missing.

    It holds an `ErrorProfile` for each number of observed labels.

    The measure lives on the observed labels of each row: with m of them, e of which are wrong, the loss of the row is
    :math:`1 - v((m - e) / m)`. Binomial measures with k > m count as subset 0/1 there. A row with nothing
    observed is left out, and counted. The mean is over rows, not over labels: a loss of this kind belongs to an
    instance, and one of which little is known is still one instance.

    Missing is not negative: where unknown labels are filled with 0, each positive prediction among them is an error.

    Parameters
    ----------
    n_labels : int
        The number of labels, K. A new profile is empty; `update` adds rows.

    Attributes
    ----------
    n_labels : int
    n_unobserved : int
        Rows seen and left out, since none of their labels was observed.

    See Also
    --------
    ErrorProfile : All that counting measures need to know of predictions.
    loss_curve : The loss along a family of measures.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> nan = float("nan")
    >>> y_true, y_pred = [[1, 0, nan], [0, nan, nan], [nan, nan, nan]], [[1, 1, 1], [0, 1, 0], [1, 1, 1]]
    >>> profile = ObservedProfile.from_predictions(y_true, y_pred)
    >>> profile.n_rows, profile.n_unobserved
    (2, 1)
    >>> profile.rows_by_observed_and_errors[1:]  # one row with 1 label observed, none wrong; one with 2, 1 wrong
    array([[1, 0, 0, 0],
           [0, 1, 0, 0],
           [0, 0, 0, 0]])
    >>> [profile.loss(BinomialMeasure(k)) for k in (1, 2)]  # the means of 1/2 and 0, and of 1 and 0
    [0.25, 0.5]
    """

    def __init__(self, n_labels: int):
        super().__init__(n_labels)
        self.n_unobserved = 0
        self._parts: dict[int, ErrorProfile] = {}  # all hard or all soft, by rising number of observed labels

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelMatrix,
        y_pred: LabelMatrix,
        *,
        observed: LabelMatrix | None = None,
        sample_weight: RowWeights | None = None,
    ) -> "ObservedProfile":
        """The profile of predictions.

        Works in blocks of rows as `ErrorProfile.from_predictions` does; two sparse matrices are copied once. On a
        device, blocks of rows with missing labels are counted on the host.

        Parameters
        ----------
        y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
            True labels, 0 or 1; nan (or None, or pandas' NA) where a label is missing. In a sparse matrix, what is not
            stored is 0, not missing.
        y_pred : likewise
            Predicted labels, or scores in [0, 1]. Nobody looks at those of missing labels.
        observed : likewise, of booleans, optional
            True where a label is known, unless it is nan.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        """
        rows = open_rows(y_true, y_pred, observed=observed, sample_weight=sample_weight)
        return cls.from_totals(totals_of(rows), rows.n_labels)

    @classmethod
    def from_totals(cls, totals: TotalsByObserved, n_labels: int) -> "ObservedProfile":
        """The profile of rows added up.

        Parameters
        ----------
        totals : totals
            Errors added up over rows.
        n_labels : int
            The number of labels, K.
        """
        hard = all(group.is_hard for group in totals.values())
        profile = cls(n_labels)
        profile.n_unobserved = totals[0].n_rows if 0 in totals else 0
        profile._parts = {
            number: ErrorProfile.from_totals(group, hard=hard) for number, group in totals.items() if number
        }
        return profile

    def update(
        self,
        y_true: LabelMatrix,
        y_pred: LabelMatrix,
        *,
        observed: LabelMatrix | None = None,
        sample_weight: RowWeights | None = None,
    ) -> "ObservedProfile":
        """Add a batch of rows in place; the profile itself, for chaining. A refused batch changes nothing.

        Parameters
        ----------
        y_true : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            True labels.
        y_pred : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1].
        observed : array-like of bool of shape (n_samples, n_labels), optional
            Which labels are observed; those that are not nan unless given.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; all 1 unless given.
        """
        batch = ObservedProfile.from_predictions(y_true, y_pred, observed=observed, sample_weight=sample_weight)
        return self._take(batch)

    def _merged(self, other: "ObservedProfile") -> "ObservedProfile":
        total = ObservedProfile(self.n_labels)
        total.n_unobserved = self.n_unobserved + other.n_unobserved
        hard = self.is_hard and other.is_hard
        for number in sorted(self._parts.keys() | other._parts.keys()):
            parts = [profile._parts[number] for profile in (self, other) if number in profile._parts]
            total._parts[number] = sum(parts, _empty(number, hard=hard))
        return total

    def __repr__(self) -> str:
        kind = "hard" if self.is_hard else "soft"
        rows = f"n_rows={self.n_rows}, n_unobserved={self.n_unobserved}"
        return f"ObservedProfile(n_labels={self.n_labels}, {rows}, {kind})"

    @property
    def n_rows(self) -> int:
        """Rows with something observed."""
        return sum(part.n_rows for part in self._parts.values())

    @property
    def total_weight(self) -> int | float:
        """The weights of these rows added up; their number where none were given."""
        return sum(part.total_weight for part in self._parts.values())

    @property
    def is_hard(self) -> bool:
        """Whether all predictions seen were 0 or 1."""
        return all(part.is_hard for part in self._parts.values())

    @property
    def rows_by_observed_and_errors(self) -> np.ndarray:
        """Rows (or their weights) with m labels observed and e of them wrong, at [m, e]; for hard predictions only.

        Of shape (n_labels + 1, n_labels + 1). Its first row is 0: `n_unobserved` is apart.
        """
        if not self.is_hard:
            raise ValueError("rows_by_observed_and_errors needs hard predictions; this profile has seen scores.")
        counts = {number: part.rows_by_errors for number, part in self._parts.items()}
        table = np.zeros((self.n_labels + 1,) * 2, dtype=np.result_type(np.int64, *counts.values()))
        for number, rows in counts.items():
            table[number, : number + 1] = rows
        return table

    @np.errstate(under="ignore")
    def loss(self, measure: Measure | MeasureOf) -> float:
        """Mean loss under a counting measure on the observed labels of each row.

        Parameters
        ----------
        measure : counting Measure, or callable (n_observed) -> Measure
            Measures with a formula live on any number of labels, BinomialMeasure(k) as BinomialMeasure(min(k, m)) on m
            of them. Others (a table of values, AtLeastMeasure(k) on fewer than k labels) do not: give a function that
            makes a measure for each number of observed labels.

        Examples
        --------
        >>> from choral import AtLeastMeasure
        >>> profile = ObservedProfile.from_predictions([[1, 0], [1, float("nan")]], [[1, 1], [0, 0]])
        >>> profile.loss(lambda n_observed: AtLeastMeasure(min(2, n_observed)))
        1.0
        """
        if isinstance(measure, Measure) and measure.min_labels > self.n_labels:
            measure.form(self.n_labels)  # says why not, whatever is observed
        losses = [part.loss(self._on(measure, part.n_labels)) for part in self._parts_with_weight()]
        return min(float(self._shares() @ losses), 1.0)  # shares of all rows add up but for rounding

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
        of_family = get_family(family)
        grid = of_family.parameters(parameters, self.n_labels)
        losses = []
        for part in self._parts_with_weight():
            clipped, places = np.unique(of_family.clip_parameters(grid, part.n_labels), return_inverse=True)
            losses.append(part.losses(family, clipped)[places])
        return np.minimum(self._shares() @ losses, 1)

    def known_shares(self) -> dict[int, float]:
        numbers = [part.n_labels for part in self._parts_with_weight()]
        return dict(zip(numbers, self._shares().tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON: one entry for each number of observed labels that occurs."""
        by_observed = [part.to_dict() for part in self._parts.values()]
        return {"n_labels": self.n_labels, "n_unobserved": self.n_unobserved, "by_observed": by_observed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ObservedProfile":
        """The profile that `to_dict` wrote down; what no profile could have written is refused.

        Parameters
        ----------
        data : mapping
            What ``to_dict`` gave.
        """
        if not {"n_labels", "n_unobserved", "by_observed"} <= data.keys():
            raise ValueError(
                "a profile of observed labels needs n_labels, n_unobserved and by_observed; "
                f"got {', '.join(map(str, data)) or 'nothing'}."
            )
        profile = cls(data["n_labels"])
        profile.n_unobserved = check_count("n_unobserved", data["n_unobserved"], least=0)
        parts = [_part(part) for part in data["by_observed"]]
        numbers = [part.n_labels for part in parts]
        if not all(a < b for a, b in pairwise([*numbers, profile.n_labels + 1])):
            raise ValueError(
                f"by_observed must have increasing numbers of labels, at most {profile.n_labels}; got {numbers}."
            )
        if len({part.is_hard for part in parts}) > 1:
            raise ValueError("by_observed must have rows_by_errors everywhere, or error_sums everywhere; got both.")
        profile._parts = dict(zip(numbers, parts, strict=True))
        return profile

    def _parts_with_weight(self) -> list[ErrorProfile]:
        """The parts that count in a mean: rows of weight 0 may be all there are with some number of observed labels."""
        parts = [part for part in self._parts.values() if part.total_weight]
        if not parts:
            raise ValueError(
                "a mean loss needs rows with observed labels and a positive weight; this ObservedProfile has seen "
                f"{self.n_rows} with observed labels, {self.n_unobserved} without."
            )
        return parts

    def _on(self, measure: Measure | MeasureOf, n_observed: int) -> Measure:
        """A measure on the observed labels of some rows."""
        on_these = measure if isinstance(measure, Measure) or not callable(measure) else measure(n_observed)
        check_measure(on_these)
        somewhere = on_these.n_labels or max(n_observed, on_these.min_labels)
        if not isinstance(on_these.form(somewhere), ByCount):
            raise TypeError(
                "an ObservedProfile serves counting measures only: it keeps how many observed labels were wrong, not "
                f"which; got {on_these!r}."
            )
        on_these = on_these.on_observed(n_observed)
        try:
            on_these.form(n_observed)
        except ValueError as error:
            raise ValueError(
                f"{on_these!r} cannot judge rows with {n_observed} of {self.n_labels} labels observed ({error}) Give a "
                "function from the number of observed labels to a measure instead."
            ) from error
        return on_these

    def _shares(self) -> np.ndarray:
        weights = np.array([part.total_weight for part in self._parts_with_weight()])
        return weights / weights.sum()  # exactly 1 where there is one part: its loss stays as it is


def _part(data: Mapping[str, Any]) -> ErrorProfile:
    """The profile of rows with some number of observed labels; unlike a whole profile, all may have weight 0."""
    weightless = not data.get("total_weight", 1)
    part = ErrorProfile.from_dict({**data, "n_rows": 0} if weightless else data)
    part.n_rows = check_count("n_rows", data["n_rows"])
    return part


def _empty(n_labels: int, *, hard: bool) -> ErrorProfile:
    """No rows, in the form of hard predictions or of scores: what is added to it takes that form."""
    kind = "rows_by_errors" if hard else "error_sums"
    return ErrorProfile.from_dict({"n_labels": n_labels, "n_rows": 0, "total_weight": 0, kind: []})
