r"""Optimal predictions that need no search.

* An additive measure: each label by itself, so the labels more probable than not.
* Subset 0/1: the most probable label set.
* Independent labels: see `choral.decisions.independent_optimum`.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from choral.decisions.base import AnyMeasure, Distribution
from choral.decisions.decision import Decision, proven
from choral.decisions.independent import IndependentLabels
from choral.decisions.independent_optimum import best_of_independent
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE, first_of_size
from choral.measures import AdditiveMeasure, Capacity, CountingMeasure, MoebiusMeasure
from choral.measures.subsets import zeta_transform

LINEAR = 1e-15  # OWA weights that differ by less make a Hamming loss


def has_closed_form(distribution: Distribution, measure: AnyMeasure) -> bool:
    """Whether `closed_form` knows the optimum."""
    if isinstance(distribution, IndependentLabels):
        return True
    return label_weights(measure, distribution.n_labels) is not None or is_subset(measure, distribution.n_labels)


@singledispatch
def closed_form(distribution: Distribution, measure: AnyMeasure) -> Decision:
    """The optimum for additive measures, for subset 0/1, and for independent labels."""
    n_labels = distribution.n_labels
    weights = label_weights(measure, n_labels)
    if weights is not None:
        labels = _best_by_label(distribution.marginals(), weights)
    elif isinstance(distribution, IndependentLabels):
        blocks = row_blocks(distribution.n_instances, 4 * n_labels)
        labels = np.concatenate([best_of_independent(measure, distribution.marginals()[rows]) for rows in blocks])
    elif is_subset(measure, n_labels):
        labels = distribution.mode()
    else:
        raise no_closed_form(measure)
    return proven(labels, distribution.risk(labels, measure))


def no_closed_form(measure: AnyMeasure) -> ValueError:
    """What to raise where the optimum is not known."""
    return ValueError(
        f"method 'closed_form' needs an additive measure, subset 0/1 or IndependentLabels; got {measure!r}."
    )


@singledispatch
def label_weights(measure: Any, n_labels: int) -> np.ndarray | None:
    """What each label counts if the measure is additive, else None."""
    return np.ones(1) if n_labels == 1 else None


@label_weights.register
def _(measure: CountingMeasure, n_labels: int) -> np.ndarray | None:
    weights = measure.weights(n_labels)
    return weights if np.ptp(weights) <= LINEAR else None


@label_weights.register
def _(measure: AdditiveMeasure, n_labels: int) -> np.ndarray | None:
    return measure.weights


@label_weights.register
def _(measure: MoebiusMeasure, n_labels: int) -> np.ndarray | None:
    if measure.additivity_order() > 1:
        return None
    weights = np.zeros(n_labels)
    for (label,), mass in measure.terms:
        weights[label] = mass
    return weights


@label_weights.register
def _(measure: Capacity, n_labels: int) -> np.ndarray | None:
    singles = 1 << np.arange(n_labels)
    masses = np.zeros(measure.values.size)
    masses[singles] = measure.values[singles]
    return masses[singles] if np.abs(measure.values - zeta_transform(masses)).max() <= LINEAR else None


def is_subset(measure: AnyMeasure, n_labels: int) -> bool:
    """Whether nothing short of all labels is worth anything."""
    if isinstance(measure, CountingMeasure):
        return bool(measure.values(n_labels)[-2] == 0)
    if isinstance(measure, MoebiusMeasure):
        return [labels for labels, _ in measure.terms] == [tuple(range(n_labels))]
    return isinstance(measure, Capacity) and not measure.values[:-1].any()


def _best_by_label(marginals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The labels more probable than not; of those that hardly matter, as few as cost less than the tolerance."""
    gains = weights * (2 * marginals - 1)
    labels = gains > 0
    droppable = labels & (gains <= TOLERANCE)
    for row in np.flatnonzero(droppable.any(axis=1)):
        if gains[row, droppable[row]].sum() <= TOLERANCE:
            labels[row, droppable[row]] = False
        else:
            labels[row] = fewest_labels(gains[row])
    return labels.astype(np.uint8)


def fewest_labels(gains: np.ndarray) -> np.ndarray:
    """As few labels as gain all but the tolerance, the first in order of several such sets."""
    strongest = np.cumsum(np.sort(gains[gains > 0])[::-1])
    enough = strongest[-1] - TOLERANCE
    size = int(np.searchsorted(strongest, enough)) + 1
    return first_of_size(gains, size, lambda chosen: bool(gains[chosen].sum() >= enough))
