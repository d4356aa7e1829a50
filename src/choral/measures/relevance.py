"""Relevance weighting: being right on relevant labels counts more (or less) than on irrelevant ones."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choral._validation import LARGEST_WEIGHT, ROUNDING, to_double
from choral.measures.base import Measure, check_measure
from choral.measures.capacity import MAX_LABELS, NOISE
from choral.measures.forms import ByCount, ByRelevance, PlainForm, Table, Terms
from choral.measures.subsets import members, zeta_transform


@dataclass(frozen=True)
class RelevanceMeasure(Measure):
    r"""A measure whose Moebius masses grow with the share of relevant labels.

    The mass of a set A is multiplied by 1 + beta * (share of relevant labels in A) and renormalised. For a counting
    measure, with j correct labels, a of them relevant, and R relevant labels in truth, that is

    .. math:: \mu = v(j/K) \, (1 + \beta a / j) \, / \, (1 + \beta R / K).

    It depends on the true labels of each row, so it is a family of measures, and no summary over rows
    serves it. Where every label is relevant it is the base measure itself, for every beta.

    Parameters
    ----------
    base : Measure
        Must stay monotone under the weighting. Counting measures do where v(x) / x never decreases: every convex v,
        but not at-least-k. Measures without negative masses always do.
    beta : float
        At least -1; 0 leaves the base as it is.

    See Also
    --------
    HammingMeasure : Each label counts alone.
    MoebiusMeasure : Masses of some label sets.

    Examples
    --------
    One relevant label of three, and one mistake: on an irrelevant label, then on the relevant one.

    >>> from choral.measures import HammingMeasure
    >>> measure = RelevanceMeasure(HammingMeasure(), beta=1.0)
    >>> measure.worth(np.array([[1, 1, 0], [0, 1, 1]]), relevant=np.array([[1, 0, 0], [1, 0, 0]]))
    array([0.75, 0.5 ])
    """

    base: Measure
    beta: float = 1.0
    _forms: dict[int, ByRelevance] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_measure(self.base, name="base")
        object.__setattr__(self, "beta", to_double("beta", self.beta))
        if not -1 <= self.beta <= LARGEST_WEIGHT:
            raise ValueError(f"beta must be finite and at least -1 (at most {LARGEST_WEIGHT:g}); got {self.beta}.")
        # What is wrong with the base for every number of labels is told now. At least k of k labels is still convex.
        n_labels = self.base.n_labels or self.base.min_labels + 1
        try:
            self.base.form(n_labels)
        except ValueError:
            return  # it lives on another number of labels, and is checked when that is known
        self.form(n_labels)

    @property
    def n_labels(self) -> int | None:
        return self.base.n_labels

    @property
    def min_labels(self) -> int:
        return self.base.min_labels

    def form(self, n_labels: int) -> ByRelevance:
        if n_labels not in self._forms:
            base = self.base.form(n_labels)
            if isinstance(base, ByRelevance):
                raise TypeError(f"base must be a measure that needs no true labels; got {self.base!r}.")
            _check_monotone(base, self)
            self._forms[n_labels] = ByRelevance(base, self.beta)
        return self._forms[n_labels]

    # Forms are kept, since the check may take long. They do not travel with the measure: some take 160 MiB.

    def __getstate__(self) -> dict[str, Any]:
        return {"base": self.base, "beta": self.beta}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "_forms": {}}.items():
            object.__setattr__(self, name, value)


def _check_monotone(base: PlainForm, measure: RelevanceMeasure) -> None:
    """Refuse a base that is not monotone under the weighting."""
    if isinstance(base, ByCount):
        _check_counts(base, measure)
    elif isinstance(base, Table):
        _check_table(base, range(base.n_labels), measure)
    elif not base.is_mixture:
        _check_table(*_table_of_carriers(base), measure)


def _check_counts(base: ByCount, measure: RelevanceMeasure) -> None:
    worths, beta = base.values[1:], measure.beta
    sizes = np.arange(1, base.n_labels + 1)
    for relevant in (0, 1):  # the label that is added to a set of all, or of no relevant labels
        for share in (0, 1):
            before = worths[:-1] * (1 + beta * share)
            after = worths[1:] * (1 + beta * (share * sizes[:-1] + relevant) / sizes[1:])
            falls = np.flatnonzero(after < before - ROUNDING)
            if falls.size:
                raise ValueError(
                    f"{measure.base!r} is not monotone under relevance weighting with beta = {beta} and "
                    f"{base.n_labels} labels: a set of {falls[0] + 2} correct labels can be worth less than one of "
                    f"{falls[0] + 1} of them (v(x) / x must not decrease)."
                )


def _table_of_carriers(base: Terms) -> tuple[Table, list[int]]:
    """The worth of all sets of the labels that carry a mass, which decide whether a measure is monotone."""
    carriers = base.carriers.tolist()
    if len(carriers) > MAX_LABELS:
        raise ValueError(
            "relevance weighting of negative masses is checked on all sets of the labels that carry a mass, "
            f"at most {MAX_LABELS}; got {len(carriers)}."
        )
    bits = {label: 1 << place for place, label in enumerate(carriers)}
    masses = np.zeros(1 << len(carriers))
    masses[list(bits.values())] = base.singles[carriers]
    for labels, mass in base.larger:
        masses[sum(bits[label] for label in labels)] += mass
    return Table(zeta_transform(masses)), carriers


def _check_table(base: Table, names: range | list[int], measure: RelevanceMeasure) -> None:
    """A label that is added must not lower the worth, whichever labels are relevant: the worst are those it harms."""
    for bit, name in enumerate(names):
        gains = _steps(base.values, bit)
        for shares in base.shares:
            gains = gains + np.minimum(measure.beta * _steps(shares, bit), 0)
        if (gains < -NOISE).any():
            high, low = divmod(int(np.argmin(gains)), 1 << bit)
            rest = ", ".join(str(names[place]) for place in members(high << (bit + 1) | low))
            raise ValueError(
                f"{measure.base!r} is not monotone under relevance weighting with beta = {measure.beta}: adding label "
                f"{name} to the labels {{{rest}}} can lower the worth."
            )


def _steps(table: np.ndarray, bit: int) -> np.ndarray:
    """What each set without a label gains by it."""
    pairs = table.reshape(-1, 2, 1 << bit)
    return (pairs[:, 1] - pairs[:, 0]).ravel()
