"""Capacities: a number for each of the 2^K sets of labels. Label i is bit i of a set's index."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choral._validation import Value, check_count, check_vector, listed, refuse_where
from choral.measures.base import Measure, check_fits, check_measure
from choral.measures.forms import ByRelevance, Table
from choral.measures.subsets import members, members_table, moebius_transform, set_sizes, zeta_transform

MAX_LABELS = 20  # 2^20 numbers, 8 MiB
NOISE = 1e-9  # masses of a k-additive capacity that should vanish come out of sums of up to 2^20 numbers


class Capacity(Value, Measure):
    r"""Any measure on up to 20 labels, from its 2^K values.

    Parameters
    ----------
    values : array-like of shape (2 ** n_labels,)
        The worth of every set; label i is bit i of the index, so entry 5 belongs to the labels {0, 2}. Starts at 0,
        ends at 1, and never decreases when a label is added.

    See Also
    --------
    MoebiusMeasure : Masses of some label sets.
    CountingMeasure : Any function of the number of right labels.

    Examples
    --------
    Two labels that are worth more together than apart:

    >>> capacity = Capacity([0, 0.25, 0.25, 1])
    >>> capacity.moebius()
    array([0.  , 0.25, 0.25, 0.5 ])
    >>> capacity.additivity_order(), capacity.interaction()[0, 1]
    (2, np.float64(0.5))
    """

    values: np.ndarray

    def __init__(self, values: ArrayLike):
        values = check_vector("values", values)
        n_labels = _n_labels("values", values)
        if abs(values[0]) > NOISE or abs(values[-1] - 1) > NOISE:
            raise ValueError(
                "values must be 0 for the empty set and 1 for all labels; "
                f"got values[0] = {values[0]} and values[{values.size - 1}] = {values[-1]}."
            )
        check_monotone(values, range(n_labels))
        values = values.clip(0, 1)
        values[0], values[-1] = 0, 1
        self._freeze(values=values)

    @classmethod
    def from_moebius(cls, masses: ArrayLike) -> "Capacity":
        """Capacity from its 2^K Moebius masses: a set is worth the masses of its subsets.

        Parameters
        ----------
        masses : array-like of shape (2**n_labels,)
            The mass of each set; label i is bit i of its place.

        Examples
        --------
        >>> Capacity.from_moebius([0, 0.5, 0.25, 0.25])
        Capacity([0, 0.5, 0.25, 1])
        """
        masses = check_vector("masses", masses)
        _n_labels("masses", masses)
        return cls(zeta_transform(masses))

    @classmethod
    def from_function(cls, f: Callable[[frozenset[int]], float], n_labels: int) -> "Capacity":
        """Capacity from a function of the set of correct labels.

        Parameters
        ----------
        f : callable
            The worth of a set of labels, given as a frozenset of their numbers.
        n_labels : int
            The number of labels, K.

        Examples
        --------
        >>> Capacity.from_function(lambda labels: len(labels) / 2, n_labels=2)
        Capacity([0, 0.5, 0.5, 1])
        """
        n_labels = _check_max_labels(n_labels)
        return cls([f(frozenset(members(index))) for index in range(1 << n_labels)])

    @classmethod
    def from_measure(cls, measure: Measure, n_labels: int) -> "Capacity":
        """The 2^K values of any other measure.

        Parameters
        ----------
        measure : Measure
            The measure whose values are taken.
        n_labels : int
            The number of labels, K.

        Examples
        --------
        >>> from choral.measures import SubsetMeasure
        >>> Capacity.from_measure(SubsetMeasure(), n_labels=2)
        Capacity([0, 0, 0, 1])
        """
        check_measure(measure)
        n_labels = _check_max_labels(n_labels)
        form = measure.form(n_labels)
        if isinstance(form, ByRelevance):
            raise TypeError(f"measure must be one of choral.measures that needs no true labels; got {measure!r}.")
        return cls(form.worth(members_table(np.arange(1 << n_labels), n_labels)))

    def _identity(self) -> bytes:
        return self.values.tobytes()

    def __repr__(self) -> str:
        return f"Capacity({listed(self.values)})"

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return self.values.size.bit_length() - 1

    def form(self, n_labels: int) -> Table:
        check_fits("this Capacity", self.n_labels, n_labels)
        return Table(self.values)

    def moebius(self) -> np.ndarray:
        """The 2^K Moebius masses."""
        return moebius_transform(self.values)

    def additivity_order(self, tol: float = NOISE) -> int:
        """The least k such that no set of more than k labels has a mass beyond ``tol``.

        Parameters
        ----------
        tol : float
            Masses up to this size are taken for 0.
        """
        sizes = set_sizes(self.n_labels)[np.abs(self.moebius()) > tol]
        return int(sizes.max(initial=1))

    def is_additive(self, tol: float = NOISE) -> bool:
        """Whether every set is worth the sum of its labels.

        Parameters
        ----------
        tol : float
            Masses up to this size are taken for 0.
        """
        return self.additivity_order(tol) == 1

    def shapley(self) -> np.ndarray:
        r"""Shapley value of each label, :math:`\sum_{T \ni i} m(T) / |T|`: its fair share of the whole."""
        shares = self.moebius() / np.maximum(set_sizes(self.n_labels), 1)
        return _superset_sums(shares)[1 << np.arange(self.n_labels)]

    def interaction(self) -> np.ndarray:
        r"""Pairwise interaction index, :math:`I_{ij} = \sum_{T \supseteq \{i, j\}} m(T) / (|T| - 1)`.

        Returns
        -------
        interaction : ndarray of shape (n_labels, n_labels)
            Positive where two labels are worth more together than apart; the diagonal is 0.
        """
        shares = self.moebius() / np.maximum(set_sizes(self.n_labels) - 1, 1)
        bits = 1 << np.arange(self.n_labels)
        pairs = _superset_sums(shares)[bits[:, np.newaxis] | bits]
        np.fill_diagonal(pairs, 0)
        return pairs


def check_monotone(values: np.ndarray, labels: Any) -> None:
    """Refuse a set function on 2^K sets that falls when a label is added; ``labels`` names its bits."""
    for bit, label in enumerate(labels):
        pairs = values.reshape(-1, 2, 1 << bit)
        falls = pairs[:, 1] < pairs[:, 0] - NOISE
        if falls.any():
            high, low = np.argwhere(falls)[0]
            index = int(high) << (bit + 1) | int(low)
            without = sorted(labels[position] for position in members(index))
            raise ValueError(
                "a measure must be monotone: "
                f"{_set(without)} is worth {values[index]}, but {_set(sorted([*without, label]))} "
                f"only {values[index | 1 << bit]}."
            )


def _set(labels: list[int]) -> str:
    return f"{{{', '.join(map(str, labels))}}}"


def _n_labels(name: str, table: np.ndarray) -> int:
    n_labels = table.size.bit_length() - 1
    if table.size != 1 << n_labels or not 1 <= n_labels <= MAX_LABELS:
        raise ValueError(
            f"{name} must have 2 ** n_labels entries with 1 <= n_labels <= {MAX_LABELS}; got {table.size}."
        )
    refuse_where(f"{name} must be finite", name, table, ~np.isfinite(table))
    return n_labels


def _check_max_labels(n_labels: int) -> int:
    n_labels = check_count("n_labels", n_labels)
    if n_labels > MAX_LABELS:
        raise ValueError(f"a Capacity has at most {MAX_LABELS} labels; got {n_labels}.")
    return n_labels


def _superset_sums(table: np.ndarray) -> np.ndarray:
    return zeta_transform(table[::-1])[::-1]  # reversing the table complements the sets
