r"""Counting measures: what a set is worth depends on its size alone, :math:`\mu(A) = v(|A| / K)`.

Their Choquet losses are ordered weighted averages (OWA) of the label-wise errors. From Hamming to subset 0/1,
the two families of the paper slide between the ends: `BinomialMeasure` by ``k``, `PolynomialMeasure` by
``alpha``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from choral._kernels import counting as kernel
from choral._validation import check_count, check_distribution, check_total, check_vector, refuse_where
from choral.measures.base import ROUNDING, Measure, Value, check_fits, listed

EXACT_LABELS = 64  # alternating sums of binomials beyond this take too long to be useful
MOST_DRAWS = 10**5  # steps of the occupancy recursion: a second or, for many labels, some
NOTHING = Decimal("1e-400")  # below all doubles; as a fraction it could have a denominator of 10^12 digits


class CountingMeasure(Value, Measure):
    r"""Counting measure from its table v(0), v(1/K), ..., v(1); the parent of all counting measures.

    Parameters
    ----------
    values : array-like of shape (n_labels + 1,)
        What 0, 1, ..., K correct labels are worth: starts at 0, ends at 1, never decreases.

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

    def __init__(self, values: Any):
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

        Examples
        --------
        >>> CountingMeasure.from_function(lambda x: x**2, n_labels=2)
        CountingMeasure([0, 0.25, 1])
        """
        n_labels = check_count("n_labels", n_labels)
        return CountingMeasure([v(right / n_labels) for right in range(n_labels + 1)])

    @classmethod
    def from_weights(cls, weights: Any) -> "CountingMeasure":
        """Counting measure from its OWA weights, that of the largest error first.

        Examples
        --------
        >>> CountingMeasure.from_weights([0.5, 0.3, 0.2]).deficits(3).round(3)
        array([0. , 0.5, 0.8, 1. ])
        """
        weights = check_distribution("weights", weights)
        return cls._from_tables(_sums_from_zero(weights[::-1]), _sums_from_zero(weights), weights)

    @classmethod
    def from_masses(cls, masses: Any) -> "CountingMeasure":
        """Counting measure from the total Moebius mass of the sets of size 0, 1, ..., K.

        Non-negative masses make it a mixture of binomial measures. Negative ones are summed up in exact
        arithmetic, for up to 64 labels.

        Examples
        --------
        >>> CountingMeasure.from_masses([0, 0.5, 0, 0.5])  # half Hamming, half subset 0/1
        CountingMeasure([0, 0.166667, 0.333333, 1])
        """
        masses = check_vector("masses", masses)
        refuse_where("masses must be finite", "masses", masses, ~np.isfinite(masses))
        if masses.size < 2 or abs(masses[0]) > ROUNDING:
            raise ValueError("masses must have K + 1 entries, that of the empty set, 0, first.")
        masses = masses / check_total("masses", masses)
        if masses.min() < -ROUNDING:
            return CountingMeasure(_values_from_signed_masses(masses))
        return _mixture(masses[1:].clip(0))

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

    def check_n_labels(self, n_labels: int) -> None:
        check_fits(f"{type(self).__name__} with {self._values.size} values", self._values.size - 1, n_labels)

    def _size(self, n_labels: int) -> int:
        """The number of labels of a table, checked."""
        n_labels = check_count("n_labels", n_labels)
        self.check_n_labels(n_labels)
        return n_labels

    def values(self, n_labels: int) -> np.ndarray:
        """v by the number of correct labels, 0, 1, ..., n_labels."""
        self._size(n_labels)
        return self._values

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        """1 - v by the number of wrong labels, 0, 1, ..., most_wrong (all labels unless given)."""
        n_labels = self._size(n_labels)
        return self._deficits[: _last(n_labels, most_wrong) + 1]

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        """OWA weights, that of the largest error first, for the first most_wrong errors (all unless given)."""
        n_labels = self._size(n_labels)
        return self._weights[: _last(n_labels, most_wrong)]

    def masses(self, n_labels: int) -> np.ndarray:
        """Total Moebius mass of the sets of size 0, 1, ..., n_labels.

        Closed forms for Hamming, subset 0/1, binomial and polynomial measures with integer alpha; exact
        arithmetic otherwise, up to 64 labels.
        """
        n_labels = self._size(n_labels)
        if n_labels > EXACT_LABELS:
            raise ValueError(
                f"the Moebius masses of {self!r} have no closed form, and the alternating sums are computed up to "
                f"{EXACT_LABELS} labels; got {n_labels}."
            )
        return _masses_of(self._exact_values(n_labels))

    def _exact_values(self, n_labels: int) -> Sequence[Fraction]:
        return [Fraction(value) for value in self.values(n_labels).tolist()]

    def is_convex(self, n_labels: int) -> bool:
        """Whether v is convex: the larger of two errors never weighs less."""
        return bool((np.diff(self.weights(n_labels)) <= ROUNDING).all())

    def worth(self, sets: np.ndarray) -> np.ndarray:
        return self.values(sets.shape[1])[np.count_nonzero(sets, axis=1)]

    def chain(self, order: np.ndarray) -> np.ndarray:
        return self.values(order.shape[1])[np.newaxis, :0:-1]


@dataclass(frozen=True, init=False)
class HammingMeasure(CountingMeasure):
    """v(x) = x: each label counts alone. Its loss is the Hamming loss."""

    def __init__(self) -> None: ...  # a formula, not a table

    def check_n_labels(self, n_labels: int) -> None:
        check_count("n_labels", n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return self.deficits(n_labels)

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return np.arange(_last(n_labels, most_wrong) + 1) / n_labels

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return np.full(_last(n_labels, most_wrong), 1 / n_labels)

    def masses(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return _all_mass_at(1, n_labels)


@dataclass(frozen=True, init=False)
class SubsetMeasure(CountingMeasure):
    """v(x) = [x = 1]: nothing short of all labels is worth anything. Its loss is the subset 0/1 loss."""

    def __init__(self) -> None: ...  # a formula, not a table

    def check_n_labels(self, n_labels: int) -> None:
        check_count("n_labels", n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return _all_mass_at(n_labels, n_labels)

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return (np.arange(_last(n_labels, most_wrong) + 1) > 0).astype(float)

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return (np.arange(_last(n_labels, most_wrong)) == 0).astype(float)

    def masses(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return _all_mass_at(n_labels, n_labels)


@dataclass(frozen=True)
class BinomialMeasure(CountingMeasure):
    r"""Counting measure :math:`v(j/K) = \binom{j}{k} / \binom{K}{k}`.

    For hard predictions the loss is the probability that a random set of ``k`` different labels contains a
    mistake: ``k=1`` is the Hamming loss, ``k=K`` the subset 0/1 loss.

    Examples
    --------
    >>> BinomialMeasure(2).values(4).round(3)
    array([0.   , 0.   , 0.167, 0.5  , 1.   ])
    >>> BinomialMeasure(2).masses(4)
    array([0., 0., 1., 0., 0.])
    """

    k: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k))

    def check_n_labels(self, n_labels: int) -> None:
        _check_k(self.k, n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.binomial_worths(np.array([self.k]), n_labels, n_labels)[0, ::-1]

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.binomial_deficits(np.array([self.k]), n_labels, _last(n_labels, most_wrong))[0]

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.binomial_weights(np.array([self.k]), n_labels, _last(n_labels, most_wrong))[0]

    def masses(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return _all_mass_at(self.k, n_labels)


@dataclass(frozen=True)
class PolynomialMeasure(CountingMeasure):
    r"""Counting measure :math:`v(x) = x^\alpha`.

    For hard predictions and an integer ``alpha``, the loss is the probability that ``alpha`` labels drawn with
    replacement contain a mistake. ``alpha=1`` is the Hamming loss, ``alpha=inf`` the subset 0/1 loss.

    Examples
    --------
    >>> PolynomialMeasure(2).values(4)
    array([0.    , 0.0625, 0.25  , 0.5625, 1.    ])
    >>> PolynomialMeasure(2).masses(4)  # two draws: the same label twice, or two labels
    array([0.  , 0.25, 0.75, 0.  , 0.  ])
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real):
            raise TypeError(f"alpha must be a number; got {self.alpha!r}.")
        object.__setattr__(self, "alpha", float(self.alpha))
        if not self.alpha >= 1:  # written so that nan is refused
            raise ValueError(f"alpha must be at least 1; got {self.alpha}.")

    def check_n_labels(self, n_labels: int) -> None:
        check_count("n_labels", n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.polynomial_worths(np.array([self.alpha]), n_labels, n_labels)[0, ::-1]

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.polynomial_deficits(np.array([self.alpha]), n_labels, _last(n_labels, most_wrong))[0]

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return kernel.polynomial_weights(np.array([self.alpha]), n_labels, _last(n_labels, most_wrong))[0]

    def masses(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        if self.alpha == math.inf:
            return _all_mass_at(n_labels, n_labels)
        if self.alpha.is_integer() and (self.alpha <= MOST_DRAWS or n_labels > EXACT_LABELS):
            return _occupancy(self.alpha, n_labels)
        return super().masses(n_labels)

    def _exact_values(self, n_labels: int) -> Sequence[Fraction]:
        # Alternating sums for 64 labels cancel some 40 digits; 150 leave more than enough.
        with localcontext(Context(prec=150, Emin=MIN_EMIN)):
            alpha = Decimal(self.alpha)
            powers = [(Decimal(right) / n_labels) ** alpha for right in range(n_labels + 1)]
            return [Fraction(power) if power > NOTHING else Fraction(0) for power in powers]


@dataclass(frozen=True)
class AtLeastMeasure(CountingMeasure):
    """v = 1 once ``k`` labels are right, 0 before: not convex, the case that breaks careless code.

    Examples
    --------
    >>> AtLeastMeasure(2).values(4)
    array([0., 0., 1., 1., 1.])
    >>> AtLeastMeasure(2).weights(4)  # the third largest error decides
    array([0., 0., 1., 0.])
    """

    k: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count("k", self.k))

    def check_n_labels(self, n_labels: int) -> None:
        _check_k(self.k, n_labels)

    def values(self, n_labels: int) -> np.ndarray:
        n_labels = self._size(n_labels)
        return (np.arange(n_labels + 1) >= self.k).astype(float)

    def deficits(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return (np.arange(_last(n_labels, most_wrong) + 1) > n_labels - self.k).astype(float)

    def weights(self, n_labels: int, most_wrong: int | None = None) -> np.ndarray:
        n_labels = self._size(n_labels)
        return (np.arange(_last(n_labels, most_wrong)) == n_labels - self.k).astype(float)


def _last(n_labels: int, most_wrong: int | None) -> int:
    return n_labels if most_wrong is None else min(most_wrong, n_labels)


def _check_k(k: int, n_labels: int) -> None:
    check_count("n_labels", n_labels)
    if k > n_labels:
        raise ValueError(f"k must lie in 1..{n_labels}, the number of labels; got {k}.")


def _check_increasing(values: np.ndarray) -> None:
    falls = np.flatnonzero(np.diff(values) < -ROUNDING)
    if falls.size:
        size, n_labels = int(falls[0]), values.size - 1
        raise ValueError(
            f"values must not decrease: sets of {size} labels are worth v({size}/{n_labels}) = {values[size]}, "
            f"sets of {size + 1} only v({size + 1}/{n_labels}) = {values[size + 1]}."
        )


def _sums_from_zero(terms: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], kernel.running_sum(terms)])


def _all_mass_at(size: int, n_labels: int) -> np.ndarray:
    return (np.arange(n_labels + 1) == size).astype(float)


def _mixture(shares: np.ndarray) -> CountingMeasure:
    """The mixture of the binomial measures k = 1, 2, ..., K with these shares."""
    n_labels = shares.size
    ks = np.flatnonzero(shares) + 1
    tables = [np.zeros(n_labels + 1), np.zeros(n_labels + 1), np.zeros(n_labels)]
    for k in ks:
        measure = BinomialMeasure(int(k))
        tables[0] += shares[k - 1] * measure.values(n_labels)
        tables[1] += shares[k - 1] * measure.deficits(n_labels)
        tables[2] += shares[k - 1] * measure.weights(n_labels)
    return CountingMeasure._from_tables(*tables)


def _masses_of(values: Sequence[Fraction]) -> np.ndarray:
    """The binomial transform, exactly: mass of size j is C(K, j) * sum_i (-1)^(j - i) C(j, i) v_i."""
    n_labels = len(values) - 1
    masses = np.empty(n_labels + 1)
    differences = list(values)
    for size in range(n_labels + 1):  # differences[0] is the j-th forward difference at 0
        masses[size] = float(math.comb(n_labels, size) * differences[0])
        differences = [after - before for before, after in pairwise(differences)]
    return masses


def _values_from_signed_masses(masses: np.ndarray) -> list[float]:
    n_labels = masses.size - 1
    if n_labels > EXACT_LABELS:
        raise ValueError(f"negative masses are summed up for at most {EXACT_LABELS} labels; got {n_labels}.")
    each = [Fraction(mass) / math.comb(n_labels, size) for size, mass in enumerate(masses.tolist())]
    total = sum(map(Fraction, masses.tolist()))
    return [
        float(sum(math.comb(right, size) * each[size] for size in range(right + 1)) / total)
        for right in range(n_labels + 1)
    ]


def _occupancy(alpha: float, n_labels: int) -> np.ndarray:
    r"""Distribution of the number of different labels in ``alpha`` draws with replacement.

    It is :math:`K (K-1) \dots (K-j+1) \, S(\alpha, j) / K^\alpha` with S a Stirling number of the second kind; its
    recursion over the draws has positive terms only, so that nothing cancels or overflows.
    """
    if alpha > MOST_DRAWS:
        raise ValueError(
            f"the Moebius masses of PolynomialMeasure({alpha:g}) are computed up to alpha = {MOST_DRAWS} "
            f"for more than {EXACT_LABELS} labels; got {n_labels}."
        )
    old = np.arange(n_labels + 1) / n_labels  # the next draw repeats one of j labels
    new = (n_labels - np.arange(n_labels + 1)) / n_labels
    masses = _all_mass_at(1, n_labels)
    with np.errstate(under="ignore"):
        for draws in range(2, int(alpha) + 1):
            most = min(draws, n_labels)
            masses[1 : most + 1] = masses[1 : most + 1] * old[1 : most + 1] + masses[:most] * new[:most]
    return masses
