"""Sparse measures: Moebius masses on chosen sets of labels, for any number of labels."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np

from choral._kernels.subsets import zeta_transform
from choral._validation import check_count, check_total
from choral.measures.base import ROUNDING, Measure, Value, reversed_sums
from choral.measures.capacity import MOST_LABELS, check_monotone

LabelSet = tuple[int, ...]


class MoebiusMeasure(Value, Measure):
    r"""A set of labels is worth the sum of the masses of its subsets, :math:`\mu(A) = \sum_{T \subseteq A} m(T)`.

    With sets of at most k labels it is *k-additive*: interactions of up to k labels and none beyond. The loss for
    a hard prediction adds up the masses of the sets that contain a mistake.

    Parameters
    ----------
    masses : mapping from labels to mass
        Keys are sets of labels, as tuples or frozensets of indices (or one index); masses sum to 1. Non-negative
        masses make a measure on any number of labels. Negative ones may break monotonicity: with sets of at most
        two labels that is checked by an inequality for each label, otherwise on all subsets of the labels
        that carry negative masses, at most 20.

    Examples
    --------
    >>> measure = MoebiusMeasure({(0,): 0.25, (1,): 0.25, (0, 1): 0.5})
    >>> measure.worth(np.array([[1, 0, 1], [1, 1, 0]]))  # label 2 counts for nothing
    array([0.25, 1.  ])
    """

    _terms: tuple[tuple[LabelSet, float], ...]

    def __init__(self, masses: Mapping[int | Iterable[int], float]):
        if not isinstance(masses, Mapping):
            raise TypeError(f"masses must be a mapping from sets of labels to masses; got {type(masses).__name__}.")
        terms = _collect(masses.items())
        total = check_total("masses", terms.values())
        terms = {labels: mass / total for labels, mass in terms.items() if mass != 0}
        _check_monotone_masses(terms)
        self._freeze(_terms=tuple(sorted(terms.items(), key=_size_first)))

    def _identity(self) -> tuple:
        return self._terms

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self._terms)})"

    @property
    def terms(self) -> tuple[tuple[LabelSet, float], ...]:
        """Pairs of a label set and its mass, small sets first."""
        return self._terms

    def additivity_order(self) -> int:
        """The size of the largest set with a mass: the k of k-additive."""
        return len(self._terms[-1][0])

    def check_n_labels(self, n_labels: int) -> None:
        largest = max(labels[-1] for labels, _ in self._terms)
        if largest >= n_labels:
            raise ValueError(f"this {type(self).__name__} has a mass on label {largest}; got {n_labels} labels.")

    def worth(self, sets: np.ndarray) -> np.ndarray:
        self.check_n_labels(sets.shape[1])
        worth = np.zeros(len(sets))
        for labels, mass in self._terms:
            worth += mass * sets[:, labels].astype(bool).all(axis=1)
        return worth

    def chain(self, order: np.ndarray) -> np.ndarray:
        self.check_n_labels(order.shape[1])
        positions = np.argsort(order, axis=1)
        rows = np.arange(len(order))
        steps = np.zeros(order.shape)
        for labels, mass in self._terms:
            # A nested set contains these labels as long as it contains the first of them in the order.
            steps[rows, positions[:, labels].min(axis=1)] += mass
        return reversed_sums(steps)


def _collect(pairs: Iterable[tuple[int | Iterable[int], float]]) -> dict[LabelSet, float]:
    terms: dict[LabelSet, float] = defaultdict(float)
    for key, mass in pairs:
        labels = label_set(key)
        if not math.isfinite(mass):
            raise ValueError(f"masses must be finite; that of {labels} is {mass}.")
        terms[labels] += float(mass)
    return terms


def label_set(labels: int | Iterable[int]) -> LabelSet:
    """A set of labels in increasing order; the empty set is refused."""
    indices = [labels] if isinstance(labels, int | np.integer) else labels
    unique = tuple(sorted({check_count("a label", label, least=0) for label in indices}))
    if not unique:
        raise ValueError("a set of labels must not be empty: being right on no label is worth nothing.")
    return unique


def _size_first(term: tuple[LabelSet, float]) -> tuple[int, LabelSet]:
    return len(term[0]), term[0]


def _check_monotone_masses(terms: dict[LabelSet, float]) -> None:
    negative = {labels for labels, mass in terms.items() if mass < 0}
    if not negative:
        return
    if max(map(len, terms)) <= 2:
        _check_order_two(terms)
        return
    carriers = sorted(set().union(*negative))
    if len(carriers) > MOST_LABELS:
        raise ValueError(
            f"negative masses on sets of three or more labels are checked on all subsets of the labels "
            f"that carry them, at most {MOST_LABELS}; got {len(carriers)}."
        )
    # Positive masses that reach outside the carriers can only help, so the carriers' subsets decide.
    bit = {label: 1 << position for position, label in enumerate(carriers)}
    masses = np.zeros(1 << len(carriers))
    for labels, mass in terms.items():
        if bit.keys() >= set(labels):
            masses[sum(bit[label] for label in labels)] += mass
    check_monotone(zeta_transform(masses), carriers)


def _check_order_two(terms: dict[LabelSet, float]) -> None:
    """Adding label i to a set that holds all its rivals must not hurt: m_i + sum of its negative pairs >= 0."""
    gains: dict[int, float] = defaultdict(float)
    rivals: dict[int, list[int]] = defaultdict(list)
    for labels, mass in terms.items():
        if len(labels) == 1:
            gains[labels[0]] += mass
        elif mass < 0:
            for label, other in (labels, labels[::-1]):
                gains[label] += mass
                rivals[label].append(other)
    for label, gain in gains.items():
        if gain < -ROUNDING:
            others = ", ".join(map(str, sorted(rivals[label])))
            raise ValueError(
                f"a measure must be monotone: adding label {label} to the labels {{{others}}} changes the worth "
                f"by {gain:.6g}."
            )
