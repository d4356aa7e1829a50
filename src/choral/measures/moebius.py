"""Measures given by Moebius masses on chosen sets of labels: additive, of pairs and more, and the covering error."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

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
    to_double,
)
from choral.measures.base import Measure, check_fits
from choral.measures.capacity import MAX_LABELS, check_monotone
from choral.measures.forms import LabelSet, Term, Terms
from choral.measures.subsets import zeta_transform


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

    See Also
    --------
    Capacity : A value for each of the 2^K sets.
    CoveringMeasure : Given sets of labels must be right.
    choquet_integral_moebius : The Choquet integral from Moebius masses.

    Examples
    --------
    >>> measure = MoebiusMeasure({(0,): 0.25, (1,): 0.25, (0, 1): 0.5})
    >>> measure.worth(np.array([[1, 0, 1], [1, 1, 0]]))  # label 2 counts for nothing
    array([0.25, 1.  ])
    """

    _terms: tuple[Term, ...]

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
    def terms(self) -> tuple[Term, ...]:
        """Pairs of a label set and its mass, small sets first."""
        return self._terms

    def additivity_order(self) -> int:
        """The size of the largest set with a mass: the k of k-additive."""
        return len(self._terms[-1][0])

    def form(self, n_labels: int) -> Terms:
        largest = max(labels[-1] for labels, _ in self._terms)
        if largest >= n_labels:
            raise ValueError(f"this {type(self).__name__} has a mass on label {largest}; got {n_labels} labels.")
        singles = np.zeros(n_labels)
        for labels, mass in self._terms:
            if len(labels) == 1:
                singles[labels[0]] = mass
        return Terms(singles, tuple(term for term in self._terms if len(term[0]) > 1))

    @property
    def min_labels(self) -> int:
        return 1 + max(labels[-1] for labels, _ in self._terms)


class AdditiveMeasure(Value, Measure):
    r"""A set is worth the sum of its labels' weights; the loss is the weighted mean of the errors.

    .. math:: \mu(A) = \sum_{i \in A} w_i

    Parameters
    ----------
    weights : array-like of shape (n_labels,)
        What each label is worth: non-negative, summing to 1.

    See Also
    --------
    HammingMeasure : Each label counts alone.
    MoebiusMeasure : Masses of some label sets.

    Examples
    --------
    >>> AdditiveMeasure([0.5, 0.25, 0.25]).worth(np.array([[1, 0, 1]]))
    array([0.75])
    """

    weights: np.ndarray

    def __init__(self, weights: ArrayLike):
        self._freeze(weights=check_distribution("weights", weights))

    def _identity(self) -> bytes:
        return self.weights.tobytes()

    def __repr__(self) -> str:
        return f"AdditiveMeasure({listed(self.weights)})"

    @property
    def n_labels(self) -> int:
        return self.weights.size

    def form(self, n_labels: int) -> Terms:
        check_fits("this AdditiveMeasure", self.n_labels, n_labels)
        return Terms(self.weights)


class CoveringMeasure(MoebiusMeasure):
    r"""Mean of the subset 0/1 measures on a family of label sets (Amit, Dekel and Singer).

    Its loss for a hard prediction is the (weighted) share of the sets that contain a mistake. Sets listed twice
    count twice; a label in no set counts for nothing.

    .. math:: \mu(A) = \frac{\sum_j w_j \, [A_j \subseteq A]}{\sum_j w_j}

    Parameters
    ----------
    label_sets : iterable of sets of labels
        Tuples or frozensets of label indices (or one index); none of them empty.
    weights : array-like of shape (n_sets,), optional
        How much each set counts, relative to the others; all alike unless given.

    See Also
    --------
    MoebiusMeasure : Masses of some label sets.
    covering_loss : Given sets of labels must be right.

    Examples
    --------
    >>> CoveringMeasure([(0, 1), (1, 2)])
    CoveringMeasure([(0, 1), (1, 2)], weights=[0.5, 0.5])
    """

    def __init__(self, label_sets: Iterable[int | Iterable[int]], weights: ArrayLike | None = None):
        sets = [label_set(labels) for labels in label_sets]
        shares = set_weights(sets, weights)
        total = math.fsum(shares)
        masses: dict[int | Iterable[int], float] = {}
        for labels, share in zip(sets, shares, strict=True):
            masses[labels] = masses.get(labels, 0.0) + share / total
        super().__init__(masses)

    def __repr__(self) -> str:
        sets, masses = zip(*self._terms, strict=True)
        return f"CoveringMeasure({list(sets)}, weights={list(masses)})"


def _collect(pairs: Iterable[tuple[int | Iterable[int], float]]) -> dict[LabelSet, float]:
    terms: dict[LabelSet, float] = defaultdict(float)
    for key, mass in pairs:
        labels = label_set(key)
        mass = to_double(f"the mass of {labels}", mass)
        if not math.isfinite(mass):
            raise ValueError(f"masses must be finite; that of {labels} is {mass}.")
        terms[labels] += mass
    return terms


def label_set(labels: int | Iterable[int]) -> LabelSet:
    """A set of labels in increasing order; the empty set is refused."""
    indices = [labels] if isinstance(labels, int | np.integer) else labels
    unique = tuple(sorted({check_count("a label", label, least=0) for label in indices}))
    if not unique:
        raise ValueError("a set of labels must not be empty: being right on no label is worth nothing.")
    return unique


def _size_first(term: Term) -> tuple[int, LabelSet]:
    return len(term[0]), term[0]


def _check_monotone_masses(terms: dict[LabelSet, float]) -> None:
    negative = {labels for labels, mass in terms.items() if mass < 0}
    if not negative:
        return
    if max(map(len, terms)) <= 2:
        _check_order_two(terms)
        return
    carriers = sorted(set().union(*negative))
    if len(carriers) > MAX_LABELS:
        raise ValueError(
            f"negative masses on sets of three or more labels are checked on all subsets of the labels "
            f"that carry them, at most {MAX_LABELS}; got {len(carriers)}."
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


def set_weights(sets: Sequence, weights: ArrayLike | None) -> list[float]:
    """One weight for each set: 1 unless given."""
    if not sets:
        raise ValueError("label_sets must name at least one set of labels; got none.")
    if weights is None:
        return [1.0] * len(sets)
    weights = check_vector("weights", weights)
    if weights.size != len(sets):
        raise ValueError(f"weights must have one entry for each of {len(sets)} label sets; got {weights.size}.")
    refuse_where("weights must be non-negative", "weights", weights, ~(weights >= 0))
    if not 0 < math.fsum(weights) < math.inf:
        raise ValueError("weights must be finite and not all zero.")
    return weights.tolist()
