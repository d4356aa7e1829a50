"""Slow implementations that follow the definitions: what the fast code is tested against."""

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

import numpy as np


def all_sets(n_labels):
    """Every set of labels, in the order of its index: label i is bit i."""
    return [frozenset(i for i in range(n_labels) if index >> i & 1) for index in range(1 << n_labels)]


def as_row(labels, n_labels):
    return np.array([[i in labels for i in range(n_labels)]], dtype=np.uint8)


def choquet_by_levels(u, mu):
    """Add up the level sets one by one; ``mu`` is a function of a frozenset of labels."""
    levels = sorted({0.0, *map(float, u)})
    return sum((b - a) * mu(frozenset(i for i, value in enumerate(u) if value >= b)) for a, b in pairwise(levels))


def moebius_by_definition(mu, n_labels):
    """m(A) = sum over B in A of (-1)^|A - B| mu(B), as a dict."""
    sets = all_sets(n_labels)
    return {a: sum((-1) ** len(a - b) * mu(b) for b in sets if b <= a) for a in sets}


def worth_of(measure, n_labels):
    """A measure as a function of a frozenset of labels."""
    return lambda labels: float(measure.worth(as_row(labels, n_labels))[0])


def share_of_sets_with_a_mistake(wrong, sets):
    return np.mean([bool(set(labels) & wrong) for labels in sets])


def binomial_loss_by_counting(wrong, n_labels, k):
    """The share of k-sets that contain a mistake."""
    return share_of_sets_with_a_mistake(wrong, combinations(range(n_labels), k))


def capacity_values(rng, n_labels):
    """A random capacity: the largest of the random numbers of all subsets, scaled."""
    values = rng.random(1 << n_labels)
    values[0] = 0
    for label in range(n_labels):
        pairs = values.reshape(-1, 2, 1 << label)
        pairs[:, 1] = np.maximum(pairs[:, 1], pairs[:, 0])
    return values / values[-1]


def losses_by_definition(measure, predictions, truths):
    """One minus the worth of the set of right labels, for every pair; relevance weighting is told the truth."""
    pairs = [(prediction, truth) for prediction in predictions for truth in truths]
    right = np.array([np.equal(*pair) for pair in pairs], dtype=np.uint8)
    relevant = np.array([truth for _, truth in pairs], dtype=np.uint8)
    return (1 - measure.worth(right, relevant)).reshape(len(predictions), len(truths))


def tie_key(labels):
    """Fewest labels first, then the one that has the first label in which two differ."""
    return sum(labels), [-label for label in labels]


def risks_by_enumeration(measure, labelsets, probabilities):
    """The expected loss of every prediction, as a dict."""
    predictions = list(product((0, 1), repeat=len(labelsets[0])))
    losses = losses_by_definition(measure, predictions, labelsets)
    return {c: sum(row * probabilities) for c, row in zip(predictions, losses, strict=True)}


def best_by_enumeration(measure, labelsets, probabilities, tolerance=1e-12):
    """The optimal prediction, ties broken, and the least risk."""
    risks = risks_by_enumeration(measure, labelsets, probabilities)
    least = min(risks.values())
    return min((c for c, risk in risks.items() if risk <= least + tolerance), key=tie_key), least


def binomial_risk_in_fractions(prediction, labelsets, counts, k):
    """The expected binomial loss in exact arithmetic, for label sets that have come so many times."""
    n_labels = len(prediction)
    risk = Fraction(0)
    for truth, count in zip(labelsets, counts, strict=True):
        right = sum(int(p == t) for p, t in zip(prediction, truth, strict=True))
        risk += Fraction(count, sum(counts)) * (1 - Fraction(comb(right, k), comb(n_labels, k)))
    return risk
