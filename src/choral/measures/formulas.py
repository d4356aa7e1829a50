"""The counting measures that have a formula: the two ends, the paper's two families between them, and at-least-k."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from numbers import Real

import numpy as np

from choral._validation import check_count, to_double
from choral.measures import count_tables
from choral.measures.counting import CountingMeasure
from choral.measures.masses_by_size import all_mass_at, occupancy

SMALLEST_POWER = Decimal("1e-400")  # below all doubles: smaller powers are 0, as fractions they would have 10^12 digits


class Formula(CountingMeasure):
    """A counting measure with a formula instead of a table: it lives on any number of labels from `min_labels` on."""

    def __init__(self) -> None: ...

    @property
    def n_labels(self) -> int | None:
        return None

    def _check_n_labels(self, n_labels: int) -> None:
        if n_labels < self.min_labels:
            raise ValueError(f"k must lie in 1..{n_labels}, the number of labels; got {self.min_labels}.")


@dataclass(frozen=True, init=False)
class HammingMeasure(Formula):
    """The measure by which each label counts alone, :math:`v(x) = x`.

    Its loss is the Hamming loss. The weights of all errors are equal, :math:`w_i = 1 / K`.

    See Also
    --------
    SubsetMeasure : All labels must be right.
    BinomialMeasure : Sets of k labels must be right.
    hamming_loss : Each label counts alone.

    Examples
    --------
    >>> HammingMeasure().values(4)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    def value_table(self, n_labels: int) -> np.ndarray:
        return np.arange(n_labels + 1) / n_labels

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return np.arange(max_wrong + 1) / n_labels

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return np.full(max_wrong, 1 / n_labels)

    def mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(1, n_labels)


@dataclass(frozen=True, init=False)
class SubsetMeasure(Formula):
    """The measure by which all labels must be right, :math:`v(x) = [x = 1]`.

    Its loss is the subset 0/1 loss. The largest error has all the weight, :math:`w_1 = 1`.

    See Also
    --------
    HammingMeasure : Each label counts alone.
    BinomialMeasure : Sets of k labels must be right.
    subset_loss : All labels must be right.

    Examples
    --------
    >>> SubsetMeasure().values(4)
    array([0., 0., 0., 0., 1.])
    """

    def value_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(n_labels, n_labels)

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return (np.arange(max_wrong + 1) > 0).astype(float)

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return (np.arange(max_wrong) == 0).astype(float)

    def mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(n_labels, n_labels)


@dataclass(frozen=True)
class BinomialMeasure(Formula):
    r"""Counting measure :math:`v(j/K) = \binom{j}{k} / \binom{K}{k}`.

    For hard predictions the loss is the probability that a random set of ``k`` different labels contains a
    mistake: ``k=1`` is the Hamming loss, ``k=K`` the subset 0/1 loss.

    Parameters
    ----------
    k : int
        The size of the label sets, from 1 to the number of labels. It must be given.

    See Also
    --------
    PolynomialMeasure : The share of right labels to a power.
    binomial_loss : A random set of k labels must be right.
    which_k : The k or alpha that fits what errors cost.

    Examples
    --------
    >>> BinomialMeasure(2).values(4).round(3)
    array([0.   , 0.   , 0.167, 0.5  , 1.   ])
    >>> BinomialMeasure(2).masses(4)
    array([0., 0., 1., 0., 0.])
    """

    k: int = None  # type: ignore[assignment]  # not one: without it, Python would not say what k is

    def __post_init__(self) -> None:
        if self.k is None:
            raise TypeError(
                "BinomialMeasure needs k, how many labels must be right together, as in BinomialMeasure(3); k=1 gives "
                "the Hamming loss, k=n_labels the subset 0/1 loss."
            )
        object.__setattr__(self, "k", check_count("k", self.k))

    @property
    def min_labels(self) -> int:
        return self.k

    def on_observed(self, n_observed: int) -> "BinomialMeasure":
        """With fewer than k labels known, all of them must be right.

        Parameters
        ----------
        n_observed : int
            How many labels of a row are observed.
        """
        return BinomialMeasure(min(self.k, n_observed))

    def value_table(self, n_labels: int) -> np.ndarray:
        return count_tables.binomial_worths(np.array([self.k]), n_labels, n_labels)[0, ::-1]

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return count_tables.binomial_deficits(np.array([self.k]), n_labels, max_wrong)[0]

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return count_tables.binomial_weights(np.array([self.k]), n_labels, max_wrong)[0]

    def mass_table(self, n_labels: int) -> np.ndarray:
        return all_mass_at(self.k, n_labels)


@dataclass(frozen=True)
class PolynomialMeasure(Formula):
    r"""Counting measure :math:`v(x) = x^\alpha`.

    For hard predictions and an integer ``alpha``, the loss is the probability that ``alpha`` labels drawn with
    replacement contain a mistake. ``alpha=1`` is the Hamming loss, ``alpha=inf`` the subset 0/1 loss.

    Parameters
    ----------
    alpha : float
        The exponent, at least 1; ``inf`` is allowed.

    See Also
    --------
    BinomialMeasure : Sets of k labels must be right.
    polynomial_loss : The share of right labels to a power.
    which_k : The k or alpha that fits what errors cost.

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
        object.__setattr__(self, "alpha", to_double("alpha", self.alpha))
        if not self.alpha >= 1:  # written so that nan is refused
            raise ValueError(f"alpha must be at least 1; got {self.alpha}.")

    def value_table(self, n_labels: int) -> np.ndarray:
        return count_tables.polynomial_worths(np.array([self.alpha]), n_labels, n_labels)[0, ::-1]

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return count_tables.polynomial_deficits(np.array([self.alpha]), n_labels, max_wrong)[0]

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return count_tables.polynomial_weights(np.array([self.alpha]), n_labels, max_wrong)[0]

    def mass_table(self, n_labels: int) -> np.ndarray:
        if self.alpha == math.inf:
            return all_mass_at(n_labels, n_labels)
        if self.alpha.is_integer():
            return occupancy(self.alpha, n_labels)
        return super().mass_table(n_labels)

    def _exact_values(self, n_labels: int) -> Sequence[Fraction]:
        # Alternating sums for 64 labels cancel some 40 digits; 150 leave more than enough.
        with localcontext(Context(prec=150, Emin=MIN_EMIN)):
            alpha = Decimal(self.alpha)
            powers = [(Decimal(right) / n_labels) ** alpha for right in range(n_labels + 1)]
            return [Fraction(power) if power > SMALLEST_POWER else Fraction(0) for power in powers]


@dataclass(frozen=True)
class AtLeastMeasure(Formula):
    r"""The measure that is 1 once ``k`` labels are right, and 0 before.

    .. math:: v(j/K) = [j \ge k]

    It is not convex: the error after the K - k largest ones decides, and larger errors have no weight.

    Parameters
    ----------
    k : int
        How many labels must be right, from 1 to the number of labels.

    See Also
    --------
    BinomialMeasure : Sets of k labels must be right.
    CountingMeasure : Any function of the number of right labels.

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

    @property
    def min_labels(self) -> int:
        return self.k

    def value_table(self, n_labels: int) -> np.ndarray:
        return (np.arange(n_labels + 1) >= self.k).astype(float)

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return (np.arange(max_wrong + 1) > n_labels - self.k).astype(float)

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray:
        return (np.arange(max_wrong) == n_labels - self.k).astype(float)
