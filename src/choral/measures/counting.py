"""The counting measures that have a formula: the two ends, the paper's two families between them, and at-least-k."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from numbers import Real

import numpy as np

from choral._kernels import counting as kernel
from choral._validation import check_count
from choral.measures.masses_by_size import all_mass_at, occupancy
from choral.measures.tabulated import CountingMeasure

NOTHING = Decimal("1e-400")  # below all doubles; as a fraction it could have a denominator of 10^12 digits


@dataclass(frozen=True, init=False)
class HammingMeasure(CountingMeasure):
    """v(x) = x: each label counts alone. Its loss is the Hamming loss."""

    def __init__(self) -> None: ...  # a formula, not a table

    def check_n_labels(self, n_labels: int) -> None:
        check_count("n_labels", n_labels)

    def _value_table(self, n_labels: int) -> np.ndarray:
        return np.arange(n_labels + 1) / n_labels

    def _deficit_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return np.arange(most_wrong + 1) / n_labels

    def _weight_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return np.full(most_wrong, 1 / n_labels)

    def _mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(1, n_labels)


@dataclass(frozen=True, init=False)
class SubsetMeasure(CountingMeasure):
    """v(x) = [x = 1]: nothing short of all labels is worth anything. Its loss is the subset 0/1 loss."""

    def __init__(self) -> None: ...  # a formula, not a table

    def check_n_labels(self, n_labels: int) -> None:
        check_count("n_labels", n_labels)

    def _value_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(n_labels, n_labels)

    def _deficit_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return (np.arange(most_wrong + 1) > 0).astype(float)

    def _weight_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return (np.arange(most_wrong) == 0).astype(float)

    def _mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(n_labels, n_labels)


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

    def _value_table(self, n_labels: int) -> np.ndarray:
        return kernel.binomial_worths(np.array([self.k]), n_labels, n_labels)[0, ::-1]

    def _deficit_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return kernel.binomial_deficits(np.array([self.k]), n_labels, most_wrong)[0]

    def _weight_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return kernel.binomial_weights(np.array([self.k]), n_labels, most_wrong)[0]

    def _mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(self.k, n_labels)


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

    def _value_table(self, n_labels: int) -> np.ndarray:
        return kernel.polynomial_worths(np.array([self.alpha]), n_labels, n_labels)[0, ::-1]

    def _deficit_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return kernel.polynomial_deficits(np.array([self.alpha]), n_labels, most_wrong)[0]

    def _weight_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return kernel.polynomial_weights(np.array([self.alpha]), n_labels, most_wrong)[0]

    def _mass_table(self, n_labels: int) -> np.ndarray:
        if self.alpha == math.inf:
            return all_mass_at(n_labels, n_labels)
        if self.alpha.is_integer():
            return occupancy(self.alpha, n_labels)
        return super()._mass_table(n_labels)

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

    def _value_table(self, n_labels: int) -> np.ndarray:
        return (np.arange(n_labels + 1) >= self.k).astype(float)

    def _deficit_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return (np.arange(most_wrong + 1) > n_labels - self.k).astype(float)

    def _weight_table(self, n_labels: int, most_wrong: int) -> np.ndarray:
        return (np.arange(most_wrong) == n_labels - self.k).astype(float)


def _check_k(k: int, n_labels: int) -> None:
    check_count("n_labels", n_labels)
    if k > n_labels:
        raise ValueError(f"k must lie in 1..{n_labels}, the number of labels; got {k}.")
