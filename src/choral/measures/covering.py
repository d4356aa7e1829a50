"""The covering error: subset 0/1 losses on a family of label sets."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from choral._validation import check_vector, refuse_where
from choral.measures.moebius import MoebiusMeasure, label_set


class CoveringMeasure(MoebiusMeasure):
    r"""Mean of the subset 0/1 measures on a family of label sets (Amit, Dekel and Singer).

    Its loss for a hard prediction is the (weighted) share of the sets that contain a mistake. Sets listed twice
    count twice; a label in no set counts for nothing.

    Parameters
    ----------
    label_sets : iterable of sets of labels
        Tuples or frozensets of label indices (or one index); none of them empty.
    weights : array-like of shape (n_sets,), optional
        How much each set counts, relative to the others; all alike unless given.

    Examples
    --------
    >>> CoveringMeasure([(0, 1), (1, 2)])
    CoveringMeasure([(0, 1), (1, 2)], weights=[0.5, 0.5])
    """

    def __init__(self, label_sets: Iterable[int | Iterable[int]], weights: Any = None):
        sets = [label_set(labels) for labels in label_sets]
        shares = set_weights(sets, weights)
        total = math.fsum(shares)
        masses: dict[Any, float] = {}
        for labels, share in zip(sets, shares, strict=True):
            masses[labels] = masses.get(labels, 0.0) + share / total
        super().__init__(masses)

    def __repr__(self) -> str:
        sets, masses = zip(*self._terms, strict=True)
        return f"CoveringMeasure({list(sets)}, weights={list(masses)})"


def set_weights(sets: Sequence, weights: Any) -> list[float]:
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
