r"""Forms: the few ways in which a measure can say what sets of labels are worth.

Whoever computes with measures (losses, integrals, risks, tensors, displays) asks a measure for its form on a number of
labels and knows nothing else of it. So a new measure is one class.

* `ByCount`: the worth depends on the number of labels alone, :math:`\mu(A) = v(|A| / K)`;
* `Terms`: a set is worth the masses of the label sets in it, :math:`\mu(A) = \sum_{T \subseteq A} m(T)`;
* `Table`: a value for each of the 2^K sets;
* `ByRelevance`: one of these, with masses that grow with the share of relevant labels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, Protocol, TypeAlias

import numpy as np

from choral._array_api import (
    Array,
    as_real,
    is_foreign,
    look_up,
    reversed_sums,
    rows_times,
    to_library_of,
    widest,
    xp_of,
)
from choral._validation import ROUNDING
from choral.measures.subsets import moebius_transform, set_sizes, zeta_transform

LabelSet = tuple[int, ...]
Term = tuple[LabelSet, float]


class CountTables(Protocol):
    """Who computes the tables of a counting measure; the number of labels fits, and is at least ``max_wrong``."""

    def value_table(self, n_labels: int) -> np.ndarray: ...

    def deficit_table(self, n_labels: int, max_wrong: int) -> np.ndarray: ...

    def weight_table(self, n_labels: int, max_wrong: int) -> np.ndarray: ...

    def mass_table(self, n_labels: int) -> np.ndarray: ...

    def exact_mass_table(self, n_labels: int) -> Sequence[Fraction]: ...


@dataclass(frozen=True, eq=False)
class ByCount:
    """What a set is worth depends on its size: a counting measure on a number of labels.

    Tables are computed when they are asked for, and no further than needed: with millions of labels, few are wrong.
    """

    n_labels: int
    tables: CountTables
    known_deficits: np.ndarray | None = None  # all of them, where they were computed together with those of others

    @property
    def values(self) -> np.ndarray:
        """v by the number of right labels, 0, 1, ..., n_labels."""
        return self.tables.value_table(self.n_labels)

    def deficits(self, max_wrong: int | None = None) -> np.ndarray:
        """1 - v by the number of wrong labels, 0, 1, ..., max_wrong (all labels unless given)."""
        return self.tables.deficit_table(self.n_labels, self._at_most(max_wrong))

    @cached_property
    def all_deficits(self) -> np.ndarray:
        """1 - v for all numbers of wrong labels, which decisions need more than once."""
        return self.deficits() if self.known_deficits is None else self.known_deficits

    def weights(self, max_wrong: int | None = None) -> np.ndarray:
        """OWA weights, that of the largest error first, for the first max_wrong errors (all unless given)."""
        return self.tables.weight_table(self.n_labels, self._at_most(max_wrong))

    def masses(self) -> np.ndarray:
        """Total Moebius mass of the sets of size 0, 1, ..., n_labels."""
        return self.tables.mass_table(self.n_labels)

    def exact_masses(self) -> Sequence[Fraction]:
        """The masses in exact arithmetic: as doubles, large ones of both signs lose digits."""
        return self.tables.exact_mass_table(self.n_labels)

    @property
    def is_convex(self) -> bool:
        """Whether v is convex: the larger of two errors never weighs less."""
        return bool((np.diff(self.weights()) <= ROUNDING).all())

    def worth(self, sets: Array) -> Array:
        """What sets are worth, given as rows of 0 and 1."""
        return look_up(self.values, xp_of(sets).count_nonzero(sets, axis=1))

    def nested_worths(self, order: Array) -> Array:
        """What the labels order[r, i], order[r, i + 1], ... are worth together, at [r, i]; broadcasts over rows."""
        return to_library_of(self.values[np.newaxis, :0:-1], order)

    def _at_most(self, max_wrong: int | None) -> int:
        return self.n_labels if max_wrong is None else min(max_wrong, self.n_labels)


@dataclass(frozen=True, eq=False)
class Terms:
    """A set is worth the masses of the label sets that it contains.

    Attributes
    ----------
    singles : ndarray of shape (n_labels,)
        The masses of single labels.
    larger : tuple of pairs (labels, mass)
        The masses of sets of two labels or more, small sets first. Without any, the measure is additive.
    """

    singles: np.ndarray
    larger: tuple[Term, ...] = ()

    @property
    def n_labels(self) -> int:
        return self.singles.size

    @property
    def is_mixture(self) -> bool:
        """Whether no mass is negative."""
        return bool((self.singles >= 0).all()) and all(mass >= 0 for _, mass in self.larger)

    @cached_property
    def shapley(self) -> np.ndarray:
        """The share of each label in the whole: the mass of a set is split evenly among its labels."""
        shares = self.singles.astype(float)
        for labels, mass in self.larger:
            shares[list(labels)] += mass / len(labels)
        return shares

    @cached_property
    def carriers(self) -> np.ndarray:
        """The labels that carry a mass: those in a set that has one."""
        single = np.flatnonzero(self.singles)
        return np.unique(np.concatenate([single, *(list(labels) for labels, _ in self.larger)])).astype(np.intp)

    def worth(self, sets: Array) -> Array:
        """What sets are worth, given as rows of 0 and 1."""
        xp = xp_of(sets)
        sets = xp.astype(sets, xp.bool)
        worth = rows_times(as_real(sets), self.singles)
        for labels, mass in self.larger:
            worth = worth + mass * _all_of(sets, labels)
        return worth

    def nested_worths(self, order: Array, factors: Callable[[LabelSet], Any] = lambda labels: 1.0) -> Array:
        """As `ByCount.nested_worths`; ``factors`` gives what the mass of a label set is multiplied by in each row."""
        xp = xp_of(order)
        positions = xp.argsort(order, axis=1)
        steps = as_real(xp.zeros_like(order))
        for labels, mass in self.all_terms:
            # A nested set contains these labels as long as it contains the first of them in the order.
            first = reduce(xp.minimum, (positions[:, label] for label in labels))
            steps = _add_at(steps, first, mass * factors(labels))
        return reversed_sums(steps)

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """All label sets with their masses, single labels first."""
        singles = ((int(label),) for label in np.flatnonzero(self.singles))
        return (*((labels, float(self.singles[labels[0]])) for labels in singles), *self.larger)


@dataclass(frozen=True, eq=False)
class Table:
    """A value for each of the 2^K sets; label i is bit i of the index of a set."""

    values: np.ndarray

    @property
    def n_labels(self) -> int:
        return self.values.size.bit_length() - 1

    @cached_property
    def masses(self) -> np.ndarray:
        """The 2^K Moebius masses."""
        return moebius_transform(self.values)

    @cached_property
    def shares(self) -> np.ndarray:
        r"""The share of each label in the worth of each set, of shape (n_labels, 2^K).

        :math:`\phi_i(A) = \sum_{i \in T \subseteq A} m(T) / |T|`: they add up to the worth of A.
        """
        even = self.masses / np.maximum(set_sizes(self.n_labels), 1)
        indices = np.arange(even.size)
        return np.stack([zeta_transform(np.where(indices >> i & 1, even, 0.0)) for i in range(self.n_labels)])

    @property
    def shapley(self) -> np.ndarray:
        """The share of each label in the whole."""
        return self.shares[:, -1]

    @cached_property
    def carriers(self) -> np.ndarray:
        """The labels that carry a mass: those that make a difference to some set."""
        pairs = (self.values.reshape(-1, 2, 1 << label) for label in range(self.n_labels))
        return np.flatnonzero([np.abs(pair[:, 1] - pair[:, 0]).max() > ROUNDING for pair in pairs])

    def worth(self, sets: Array) -> Array:
        """What sets are worth, given as rows of 0 and 1."""
        return look_up(self.values, self.indices(sets))

    def nested_worths(self, order: Array) -> Array:
        """As `ByCount.nested_worths`."""
        return look_up(self.values, reversed_sums(1 << order))

    def indices(self, sets: Array) -> Array:
        """The place of each set in the table."""
        return rows_times(xp_of(sets).astype(sets, widest(sets).integer), 1 << np.arange(self.n_labels))


PlainForm: TypeAlias = ByCount | Terms | Table


@dataclass(frozen=True, eq=False)
class ByRelevance:
    r"""Masses of a base that grow with the share of relevant labels: the worth depends on the true labels of a row.

    The mass of a set T is :math:`m(T) (1 + \beta |T \cap y| / |T|)`, divided by what all of them add up to,
    :math:`1 + \beta \sum_{i \in y} \phi_i` with :math:`\phi` the Shapley value. Where all labels that carry a mass are
    relevant, all masses grow alike, and the base remains: also for beta = -1, where all of them vanish.
    """

    base: PlainForm
    beta: float

    @property
    def n_labels(self) -> int:
        return self.base.n_labels

    @property
    def carriers(self) -> np.ndarray:
        """The labels that carry a mass."""
        return np.arange(self.n_labels) if isinstance(self.base, ByCount) else self.base.carriers

    @property
    def shapley(self) -> np.ndarray:
        """The share of each label in the base."""
        return np.full(self.n_labels, 1 / self.n_labels) if isinstance(self.base, ByCount) else self.base.shapley

    @np.errstate(under="ignore")
    def worth(self, sets: Array, relevant: Array) -> Array:
        """What sets are worth where these labels are relevant: both as rows of 0 and 1."""
        xp = xp_of(sets)
        sets, relevant = xp.astype(sets, xp.bool), xp.astype(relevant, xp.bool)
        relevant_part, other_part = (self._part(sets, labels) for labels in (relevant, ~relevant))
        return self._scaled(self.base.worth(sets), relevant_part, other_part, relevant)

    @np.errstate(under="ignore")
    def nested_worths(self, order: Array, relevant: Array) -> Array:
        """As `ByCount.nested_worths`, where these labels are relevant."""
        relevant = xp_of(order).astype(relevant, xp_of(order).bool)
        relevant_part, other_part = (self._nested_part(order, labels) for labels in (relevant, ~relevant))
        return self._scaled(self.base.nested_worths(order), relevant_part, other_part, relevant)

    def _part(self, sets: Array, labels: Array) -> Array:
        """The part that these labels of each row have in the worth of its set: a mass is split among its labels."""
        base, xp = self.base, xp_of(sets)
        if isinstance(base, ByCount):
            sizes, in_set = xp.count_nonzero(sets, axis=1), xp.count_nonzero(sets & labels, axis=1)
            return base.worth(sets) * as_real(in_set) / look_up(self._sizes, sizes)
        if isinstance(base, Table):
            return self._shares_of(base, base.indices(sets), labels)
        part = rows_times(as_real(sets & labels), base.singles)
        for term, mass in base.larger:
            part = part + mass * _all_of(sets, term) * self._share(labels, term)
        return part

    def _nested_part(self, order: Array, labels: Array) -> Array:
        """Likewise for the nested sets of an order."""
        base, xp = self.base, xp_of(order)
        if isinstance(base, ByCount):
            in_set = reversed_sums(xp.take_along_axis(xp.astype(labels, order.dtype), order, axis=1))
            sizes = to_library_of(self._sizes[np.newaxis, :0:-1], order)
            return base.nested_worths(order) * as_real(in_set) / sizes
        if isinstance(base, Table):
            return self._shares_of(base, reversed_sums(1 << order), labels)
        return base.nested_worths(order, lambda term: self._share(labels, term))

    @property
    def _sizes(self) -> np.ndarray:
        """The sizes of sets as divisors: 1 for the empty set, which is worth nothing."""
        return np.maximum(np.arange(self.n_labels + 1), 1.0)

    def _shares_of(self, base: Table, indices: Array, labels: Array) -> Array:
        part = 0 * look_up(base.values, indices)
        for label in range(self.n_labels):
            is_there = as_real(labels[:, label])
            part = part + (is_there if indices.ndim == 1 else is_there[:, None]) * look_up(base.shares[label], indices)
        return part

    @staticmethod
    def _share(labels: Array, term: LabelSet) -> Array:
        """The share of these labels in a label set."""
        return sum(as_real(labels[:, label]) for label in term) / len(term)

    def _scaled(self, plain: Array, relevant_part: Array, other_part: Array, relevant: Array) -> Array:
        """Worths from the parts of relevant and of other labels in those of the base."""
        xp, flags, growth = xp_of(relevant), as_real(relevant), 1 + self.beta
        # Both sums are of parts: with beta = -1, differences from the whole would cancel.
        total = rows_times(1 - flags, self.shapley) + growth * rows_times(flags, self.shapley)
        in_carriers = np.bincount(self.carriers, minlength=self.n_labels) + 0.0
        all_carriers_relevant = rows_times(flags, in_carriers) == self.carriers.size
        if relevant_part.ndim == 2:
            total, all_carriers_relevant = total[:, None], all_carriers_relevant[:, None]
        total = xp.where(all_carriers_relevant, xp.ones_like(total), total)
        weighted = (other_part + growth * relevant_part) / total
        return xp.where(all_carriers_relevant, plain + 0 * weighted, weighted)


def _add_at(array: Array, columns: Array, values: Any) -> Array:
    """A matrix with a value, one or one for each row, added in one column of each row; NumPy's is changed in place."""
    if not is_foreign(array):
        array[np.arange(len(array)), columns] += values
        return array
    is_there = columns[:, None] == to_library_of(np.arange(array.shape[1]), columns)
    return array + as_real(is_there) * (values if isinstance(values, float) else values[:, None])


def _all_of(sets: Array, labels: LabelSet) -> Array:
    """1 for the sets that contain all these labels."""
    found = sets[:, labels[0]]
    for label in labels[1:]:
        found = found & sets[:, label]
    return as_real(found)


Form: TypeAlias = PlainForm | ByRelevance
