"""Relevance weighting against its definition by Moebius masses."""

import pickle
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import choral
from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
)
from definitions import all_sets, as_row, choquet_by_levels, moebius_by_definition, worth_of

BASES = [
    HammingMeasure(),
    BinomialMeasure(2),
    PolynomialMeasure(2.5),
    AdditiveMeasure([0.1, 0.2, 0.3, 0.4]),
    MoebiusMeasure({0: 0.25, (1, 2): 0.25, (0, 1, 3): 0.5}),
    CoveringMeasure([(0, 1), (1, 2), (2, 3)]),
    Capacity(0.5 * (np.arange(16) == 15) + 0.5 * np.bitwise_count(np.arange(16)) / 4),
]
ONE_FOR_ANOTHER = MoebiusMeasure({0: 0.5, 1: 0.5, (0, 1): -0.25, 2: 0.25})  # a negative mass


def weighted_by_definition(base, beta, relevant, n_labels):
    """Multiply the mass of A by 1 + beta * (share of relevant labels in A), renormalise, sum up."""
    masses = moebius_by_definition(worth_of(base, n_labels), n_labels)
    masses = {a: m * (1 + beta * len(a & relevant) / len(a)) for a, m in masses.items() if a}
    total = sum(masses.values())
    return lambda labels: sum(m for a, m in masses.items() if a <= labels) / total


@pytest.mark.parametrize(
    "base, beta",
    [*product(BASES, [-1, -0.5, 0, 1, 7.5]), *product([ONE_FOR_ANOTHER], [-0.5, 0, 1])],
    ids=lambda value: str(value) if isinstance(value, int | float) else type(value).__name__,
)
def test_closed_form_follows_the_definition(base, beta):
    n_labels = 4
    measure = RelevanceMeasure(base, beta)
    u = np.array([[0.9, 0.2, 0.5, 0.2]])
    for relevant in all_sets(n_labels)[: 2**n_labels - 1]:  # all relevant: 0 / 0 for beta = -1, tested below
        mu = weighted_by_definition(base, beta, relevant, n_labels)
        truth = as_row(relevant, n_labels)
        for labels in all_sets(n_labels):
            assert measure.worth(as_row(labels, n_labels), truth)[0] == pytest.approx(mu(labels), abs=1e-12)
        scores = np.where(truth == 1, u, 1 - u)  # correct to the degree u
        loss = choral.choquet_loss(truth, scores, measure)
        assert loss == pytest.approx(1 - choquet_by_levels(u[0], mu), abs=1e-12)


@pytest.mark.parametrize("beta", [-1, 3])
def test_where_all_labels_are_relevant_the_base_remains(beta):
    y_pred = [[1, 0, 1, 1]]
    measure = RelevanceMeasure(BinomialMeasure(2), beta)
    assert choral.choquet_loss(np.ones((1, 4)), y_pred, measure) == pytest.approx(
        choral.binomial_loss(np.ones((1, 4)), y_pred, k=2)
    )


@pytest.mark.parametrize("beta", [-1, 3])
@pytest.mark.parametrize("base", [MoebiusMeasure({(0, 1): 1.0}), AdditiveMeasure([0.5, 0.5, 0, 0])], ids=repr)
def test_where_all_labels_that_count_are_relevant_the_base_remains(base, beta):
    y_true, y_pred = [[1, 1, 0, 0]], [[1, 0.25, 1, 0]]
    measure = RelevanceMeasure(base, beta)
    assert choral.choquet_loss(y_true, y_pred, measure) == pytest.approx(choral.choquet_loss(y_true, y_pred, base))


def test_tiny_masses_do_not_cancel():
    measure = RelevanceMeasure(AdditiveMeasure([1.0, 1e-17]), -1.0)  # only the irrelevant label is left
    assert choral.choquet_loss([[1, 0]], [[1, 1]], measure) == 1
    assert choral.choquet_loss([[1, 0]], [[0, 0]], measure) == 0
    tiny = RelevanceMeasure(AdditiveMeasure([1 - 2e-10, 1e-10, 1e-10]), -1.0)
    assert choral.choquet_loss([[1, 0, 0]], [[1, 1, 0]], tiny) == pytest.approx(0.5, abs=1e-15)


@dataclass
class OnThreeLabels(choral.measures.Measure):
    """Cannot be hashed, and does not say on how many labels it lives."""

    def form(self, n_labels):
        return CountingMeasure([0, 0.1, 0.4, 1]).form(n_labels)


def test_a_base_may_be_any_object_with_a_form():
    measure = RelevanceMeasure(OnThreeLabels(), 1)
    expected = RelevanceMeasure(CountingMeasure([0, 0.1, 0.4, 1]), 1)
    y_true, y_pred = [[1, 0, 0]], [[1, 0.5, 0]]
    assert choral.choquet_loss(y_true, y_pred, measure) == choral.choquet_loss(y_true, y_pred, expected)
    assert pickle.loads(pickle.dumps(measure)) == measure
    with pytest.raises(ValueError, match="made for 3 labels; got 2"):
        choral.choquet_loss([[1, 0]], [[1, 0]], measure)


def test_relevant_labels_count_more():
    y_true, on_relevant, on_irrelevant = [[1, 0, 0]], [[0, 0, 0]], [[1, 1, 0]]
    measure = RelevanceMeasure(HammingMeasure(), beta=1.0)
    assert choral.choquet_loss(y_true, on_relevant, measure) == pytest.approx(0.5)
    assert choral.choquet_loss(y_true, on_irrelevant, measure) == pytest.approx(0.25)


@pytest.mark.parametrize("beta", [-1, -0.2, 0.5])
def test_a_base_that_would_not_be_monotone_is_refused(beta):
    with pytest.raises(ValueError, match=r"AtLeastMeasure\(k=2\) is not monotone under relevance weighting"):
        RelevanceMeasure(AtLeastMeasure(2), beta)
    with pytest.raises(ValueError, match="not monotone under relevance weighting"):
        RelevanceMeasure(CountingMeasure([0, 0.9, 0.9, 1]), beta)
    assert RelevanceMeasure(AtLeastMeasure(2), 0).beta == 0


def test_negative_masses_that_would_not_be_monotone_are_refused():
    base = ONE_FOR_ANOTHER
    assert RelevanceMeasure(base, 2).beta == 2  # just monotone: 0.5 - 0.25 * (1 + 2 / 2) = 0
    with pytest.raises(ValueError, match=r"beta = 3.0: adding label \d to the labels \{\d\} can lower the worth"):
        RelevanceMeasure(base, 3)
    with pytest.raises(ValueError, match=r"beta = 3.0: adding label \d to the labels \{\d\} can lower the worth"):
        RelevanceMeasure(Capacity.from_measure(base, 3), 3)
    many = {**dict.fromkeys(range(22), 1 / 11), **{(2 * i, 2 * i + 1): -1 / 11 for i in range(11)}}
    with pytest.raises(ValueError, match="at most 20; got 22"):
        RelevanceMeasure(MoebiusMeasure(many), 1)


def test_other_bad_arguments():
    with pytest.raises(ValueError, match=r"beta must be finite and at least -1 \(at most 1e\+300\); got -1.5"):
        RelevanceMeasure(HammingMeasure(), -1.5)
    with pytest.raises(ValueError, match="got nan"):
        RelevanceMeasure(HammingMeasure(), float("nan"))
    with pytest.raises(TypeError, match="base must be one of choral.measures; got 3"):
        RelevanceMeasure(3, 1)
    with pytest.raises(TypeError, match="base must be a measure that needs no true labels; got RelevanceMeasure"):
        RelevanceMeasure(RelevanceMeasure(HammingMeasure(), 1), 1)
    with pytest.raises(TypeError, match="depends on the true labels: pass relevant"):
        RelevanceMeasure(HammingMeasure(), 1).worth(np.array([[1, 0]]))


def test_a_profile_refuses_it_with_a_reason():
    profile = choral.ErrorProfile.from_predictions([[1, 0]], [[0, 0]])
    with pytest.raises(TypeError, match="depends on the true labels of each row"):
        profile.loss(RelevanceMeasure(HammingMeasure(), 1))
    with pytest.raises(TypeError, match="needs no true labels"):
        choral.choquet_integral([0.5, 0.5], RelevanceMeasure(HammingMeasure(), 1))
