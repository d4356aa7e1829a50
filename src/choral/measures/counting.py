r"""Counting measures: what a set is worth depends on its size alone, :math:`\mu(A) = v(|A| / K)`.

Their Choquet losses are ordered weighted averages (OWA) of the label-wise errors. Here is the one given by a table, the
parent of those given by a formula in `choral.measures.formulas`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from choral._validation import (
    ROUNDING,
    Value,
    check_count,
    check_distribution,
    check_total,
    check_vector,
    listed,
    refuse_where,
)
from choral.measures import count_tables
from choral.measures.base import Measure, check_fits
from choral.measures.forms import ByCount
from choral.measures.masses_by_size import EXACT_LABELS, masses_of_values, tables_of_mixture, values_of_masses

LARGEST_MASSES = 1e6  # at most ten digits of their sum are lost


class CountingMeasure(Value, Measure):
    r"""Counting measure from its table v(0), v(1/K), ..., v(1), and the parent of all counting measures.

    Parameters
    ----------
    values : array-like of shape (n_labels + 1,)
        What 0, 1, ..., K correct labels are worth: starts at 0, ends at 1, never decreases.

    See Also
    --------
    BinomialMeasure : Sets of k labels must be right.
    Capacity : A value for each of the 2^K sets.
    owa_loss : Weights by the rank of an error.

    Examples
    --------
    >>> measure = CountingMeasure([0, 0.1, 0.3, 1])
    >>> measure.weights(3).round(3)  # the largest error weighs 0.7
    array([0.7, 0.2, 0.1])
    >>> measure.masses(3).round(3)
    array([0. , 0.3, 0.3, 0.4])
    """

    _values: np.ndarray
    _deficits: np.ndarray
    _weights: np.ndarray

    def __init__(self, values: ArrayLike):
        values = check_vector("values", values)
        if values.size < 2:
            raise ValueError("values must have K + 1 entries, v(0), v(1/K), ..., v(1); got 1.")
        refuse_where("values must be finite", "values", values, ~np.isfinite(values))
        if abs(values[0]) > ROUNDING or abs(values[-1] - 1) > ROUNDING:
            raise ValueError(f"values must start at v(0) = 0 and end at v(1) = 1; got {values[0]} and {values[-1]}.")
        _check_increasing(values)
        values = np.maximum.accumulate(values.clip(0, 1))
        values[0], values[-1] = 0, 1
        self._set_tables(values, 1 - values[::-1], np.diff(values)[::-1].copy())

    def _set_tables(self, values: np.ndarray, deficits: np.ndarray, weights: np.ndarray) -> None:
        # All three are kept: each computed from another would cancel.
        self._freeze(_values=values, _deficits=deficits, _weights=weights)

    @classmethod
    def from_function(cls, v: Callable[[float], float], n_labels: int) -> "CountingMeasure":
        """Counting measure from an increasing function v on [0, 1] with v(0) = 0 and v(1) = 1.

        Parameters
        ----------
        v : callable
            v(j / K), a function from [0, 1] to [0, 1].
        n_labels : int
            The number of labels, K.

        Examples
        --------
        >>> CountingMeasure.from_function(lambda x: x**2, n_labels=2)
        CountingMeasure([0, 0.25, 1])
        """
        n_labels = check_count("n_labels", n_labels)
        return CountingMeasure([v(right / n_labels) for right in range(n_labels + 1)])

    @classmethod
    def from_weights(cls, weights: ArrayLike) -> "CountingMeasure":
        """Counting measure from its OWA weights, that of the largest error first.

        Parameters
        ----------
        weights : array-like of shape (n_labels,)
            Weights of the errors in decreasing order; they sum to 1.

        Examples
        --------
        >>> CountingMeasure.from_weights([0.5, 0.3, 0.2]).deficits(3).round(3)
        array([0. , 0.5, 0.8, 1. ])
        """
        weights = check_distribution("weights", weights)
        return cls._from_tables(_sums_from_zero(weights[::-1]), _sums_from_zero(weights), weights)

    @classmethod
    def from_costs(cls, costs: ArrayLike) -> "CountingMeasure":
        """Counting measure from what a row with 0, 1, ..., K wrong labels costs, in any unit.

        The mean loss of hard predictions is their mean cost, divided by the cost of a row with all labels wrong.

        Parameters
        ----------
        costs : array-like of shape (n_labels + 1,)
            Starts at 0, never decreases, ends above 0.

        Returns
        -------
        measure : CountingMeasure

        See Also
        --------
        choral.which_k : The k and the alpha that are nearest to given costs.

        Examples
        --------
        >>> CountingMeasure.from_costs([0, 30, 50, 50]).deficits(3)
        array([0. , 0.6, 1. , 1. ])
        """
        costs = check_vector("costs", costs)
        if costs.size < 2:
            raise ValueError("costs must have K + 1 entries, of 0, 1, ..., K wrong labels; got 1.")
        refuse_where("costs must be finite and non-negative", "costs", costs, ~((costs >= 0) & (costs < np.inf)))
        if costs[0] != 0:
            raise ValueError(
                f"costs must start at 0, a row without a mistake; got {costs[0]}. If every row costs that much, "
                "subtract it from all costs."
            )
        if costs[-1] == 0:
            raise ValueError("costs must end above 0: a row with all labels wrong must cost something.")
        shares = costs / costs[-1]
        falls = np.append(False, np.diff(shares) < -ROUNDING)
        refuse_where("costs must not decrease with the number of wrong labels", "costs", costs, falls)
        shares = np.maximum.accumulate(shares.clip(0, 1))
        return cls._from_tables(1 - shares[::-1], shares, np.diff(shares))

    @classmethod
    def from_masses(cls, masses: ArrayLike) -> "CountingMeasure":
        """Counting measure from the total Moebius mass of the sets of size 0, 1, ..., K.

        Non-negative masses make it a mixture of binomial measures. Negative ones are summed up in exact
        arithmetic, for up to 64 labels.

        Parameters
        ----------
        masses : array-like of shape (n_labels + 1,)
            The total mass of the sets of each size, from 0 on.

        Examples
        --------
        >>> CountingMeasure.from_masses([0, 0.5, 0, 0.5])  # half Hamming, half subset 0/1
        CountingMeasure([0, 0.166667, 0.333333, 1])
        """
        masses = check_vector("masses", masses)
        refuse_where("masses must be finite", "masses", masses, ~np.isfinite(masses))
        if masses.size < 2 or abs(masses[0]) > ROUNDING:
            raise ValueError("masses must have K + 1 entries, that of the empty set, 0, first.")
        if np.abs(masses).sum() > LARGEST_MASSES:
            raise ValueError(
                f"masses must add up to at most {LARGEST_MASSES:g} in absolute value: of larger ones of both signs, "
                f"doubles keep too few digits; got {np.abs(masses).sum():.3g}. Give the values instead."
            )
        masses = masses / check_total("masses", masses)
        if masses.min() < -ROUNDING:
            return CountingMeasure(values_of_masses(masses))
        return cls._from_tables(*tables_of_mixture(masses[1:].clip(0)))

    @classmethod
    def _from_tables(cls, values: np.ndarray, deficits: np.ndarray, weights: np.ndarray) -> "CountingMeasure":
        values[-1] = deficits[-1] = 1  # sums of many weights stop short of it, or go beyond, by a rounding error
        measure = object.__new__(CountingMeasure)
        measure._set_tables(values, deficits, weights)
        return measure

    def _identity(self) -> tuple[bytes, bytes]:
        return self._values.tobytes(), self._weights.tobytes()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({listed(self._values)})"

    @property
    def n_labels(self) -> int | None:
        return self._values.size - 1

    def form(self, n_labels: int) -> ByCount:
        n_labels = check_count("n_labels", n_labels)
        self._check_n_labels(n_labels)
        return ByCount(n_labels, self)

    def _check_n_labels(self, n_labels: int) -> None:
        check_fits(f"{type(self).__name__} with {self._values.size} values", self._values.size - 1, n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        """v by the number of right labels, 0, 1, ..., n_labels.

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        """
        return self.form(n_labels).values

    def deficits(self, n_labels: int, max_wrong: int | None = None) -> np.ndarray:
        """1 - v by the number of wrong labels, 0, 1, ..., max_wrong (all labels unless given).

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        max_wrong : int, optional
            The most errors that are asked for.
        """
        return self.form(n_labels).deficits(max_wrong)

    def weights(self, n_labels: int, max_wrong: int | None = None) -> np.ndarray:
        """OWA weights, that of the largest error first, for the first max_wrong errors (all unless given).

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        max_wrong : int, optional
            The most errors that are asked for.
        """
        return self.form(n_labels).weights(max_wrong)

    def masses(self, n_labels: int) -> np.ndarray:
        """Total Moebius mass of the sets of size 0, 1, ..., n_labels.

        Closed forms for Hamming, subset 0/1, binomial and polynomial measures with integer alpha; exact
        arithmetic otherwise, up to 64 labels. Masses of both signs can be large: see `exact_masses`.

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        """
        return self.form(n_labels).masses()

    def exact_masses(self, n_labels: int) -> Sequence[Fraction]:
        """The masses in exact arithmetic, for up to 64 labels: as doubles, large ones of both signs lose digits.

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        """
        return self.form(n_labels).exact_masses()

    def is_convex(self, n_labels: int) -> bool:
        """Whether v is convex: the larger of two errors never weighs less.

        Parameters
        ----------
        n_labels : int
            The number of labels, K.
        """
        return self.form(n_labels).is_convex

    # The tables of `ByCount`. A measure with a formula has others; the number of labels has been checked.

    def value_table(self, n_labels: int) -> np.ndarray:
        return self._values

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return self._deficits[: max_wrong + 1]

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return self._weights[:max_wrong]

    def mass_table(self, n_labels: int) -> np.ndarray:
        return np.array([float(mass) for mass in self.exact_mass_table(n_labels)])

    def exact_mass_table(self, n_labels: int) -> Sequence[Fraction]:
        if n_labels > EXACT_LABELS:
            raise ValueError(
                f"the Moebius masses of {self!r} have no closed form, and the alternating sums are computed up to "
                f"{EXACT_LABELS} labels; got {n_labels}."
            )
        return masses_of_values(self._exact_values(n_labels))

    def _exact_values(self, n_labels: int) -> Sequence[Fraction]:
        return [Fraction(value) for value in self.value_table(n_labels).tolist()]


def _check_increasing(values: np.ndarray) -> None:
    falls = np.flatnonzero(np.diff(values) < -ROUNDING)
    if falls.size:
        size, n_labels = int(falls[0]), values.size - 1
        raise ValueError(
            f"values must not decrease: sets of {size} labels are worth v({size}/{n_labels}) = {values[size]}, "
            f"sets of {size + 1} only v({size + 1}/{n_labels}) = {values[size + 1]}."
        )


def _sums_from_zero(terms: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], count_tables.running_sum(terms)])
