"""Measures of every kind, and random distributions, on a number of labels: for tests that must hold for all of them."""

import numpy as np

from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    LabelDistribution,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
)
from definitions import capacity_values

KINDS = {
    "hamming": lambda rng, n_labels: HammingMeasure(),
    "subset": lambda rng, n_labels: SubsetMeasure(),
    "binomial": lambda rng, n_labels: BinomialMeasure(_up_to(rng, n_labels)),
    "polynomial": lambda rng, n_labels: PolynomialMeasure(1 + 5 * rng.random()),
    "steep polynomial": lambda rng, n_labels: PolynomialMeasure(1000),
    "at least": lambda rng, n_labels: AtLeastMeasure(_up_to(rng, n_labels)),
    "any counting": lambda rng, n_labels: CountingMeasure([0, *np.sort(rng.random(n_labels - 1)), 1]),
    "flat counting": lambda rng, n_labels: CountingMeasure([0, *np.sort(rng.integers(3, size=n_labels - 1) / 2), 1]),
    "additive": lambda rng, n_labels: AdditiveMeasure(rng.dirichlet(np.ones(n_labels))),
    "few labels": lambda rng, n_labels: AdditiveMeasure(np.eye(n_labels)[_up_to(rng, n_labels) - 1]),
    "capacity": lambda rng, n_labels: Capacity(capacity_values(rng, n_labels)),
    "covering": lambda rng, n_labels: CoveringMeasure([_some_labels(rng, n_labels) for _ in range(3)]),
    "interactions": lambda rng, n_labels: MoebiusMeasure(_masses(n_labels)),
    "relevance": lambda rng, n_labels: RelevanceMeasure(BinomialMeasure(_up_to(rng, n_labels)), 4 * rng.random()),
    "relevance of additive": lambda rng, n_labels: RelevanceMeasure(
        AdditiveMeasure(rng.dirichlet(np.ones(n_labels))), 3 * rng.random()
    ),
    "relevance of covering": lambda rng, n_labels: RelevanceMeasure(
        CoveringMeasure([_some_labels(rng, n_labels) for _ in range(3)]), rng.choice([-1, -0.5, 2])
    ),
    "relevance of interactions": lambda rng, n_labels: RelevanceMeasure(MoebiusMeasure(_masses(n_labels)), 0.5),
    "relevance of a capacity": lambda rng, n_labels: RelevanceMeasure(
        _totally_monotone(rng, n_labels), 4 * rng.random()
    ),
    "only irrelevant": lambda rng, n_labels: RelevanceMeasure(PolynomialMeasure(1 + rng.random()), -1.0),
}


NEED_TRUTH = [kind for kind in KINDS if kind.startswith("relevance") or kind == "only irrelevant"]


def _totally_monotone(rng, n_labels):
    """A capacity without negative masses, which stays monotone under every weighting."""
    return Capacity.from_moebius([0, *rng.dirichlet(np.full(2**n_labels - 1, 0.3))])


def _up_to(rng, n_labels):
    return int(rng.integers(1, n_labels + 1))


def _some_labels(rng, n_labels):
    return rng.choice(n_labels, size=_up_to(rng, n_labels), replace=False).tolist()


def _masses(n_labels):
    """Labels 0 and 1 can stand in for each other: a negative mass."""
    return {0: 1} if n_labels == 1 else {0: 0.8, 1: 0.7, (0, 1): -0.5}


def random_distribution(rng, n_labels, n_instances=3):
    n_labelsets = int(rng.integers(1, 1 + min(20, 2**n_labels)))
    index = rng.choice(2**n_labels, n_labelsets, replace=False)
    weights = rng.integers(0, 4, (n_instances, n_labelsets)).astype(float)
    weights[:, rng.integers(n_labelsets)] += 1
    return LabelDistribution(
        index[:, np.newaxis] >> np.arange(n_labels) & 1, weights / weights.sum(axis=1, keepdims=True)
    )
