"""Capacities, sparse Moebius measures and the covering measure against their definitions."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral import (
    AdditiveMeasure,
    BinomialMeasure,
    Capacity,
    CoveringMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
)
from choral.measures.subsets import moebius_transform, set_sizes, zeta_transform
from definitions import all_sets, capacity_values, moebius_by_definition, worth_of

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_labels=st.integers(1, 7))
def test_moebius_transform_follows_its_definition(seed, n_labels):
    capacity = Capacity(capacity_values(np.random.default_rng(seed), n_labels))
    masses = moebius_by_definition(worth_of(capacity, n_labels), n_labels)
    np.testing.assert_allclose(capacity.moebius(), [masses[s] for s in all_sets(n_labels)], atol=1e-12)


@given(seed=seeds, n_labels=st.integers(1, 12))
def test_moebius_and_back_is_the_identity(seed, n_labels):
    table = np.random.default_rng(seed).normal(size=1 << n_labels)
    np.testing.assert_allclose(zeta_transform(moebius_transform(table)), table, atol=1e-9)
    np.testing.assert_allclose(moebius_transform(zeta_transform(table)), table, atol=1e-9)
    capacity = Capacity(capacity_values(np.random.default_rng(seed), n_labels))
    np.testing.assert_allclose(Capacity.from_moebius(capacity.moebius()).values, capacity.values, atol=1e-9)


def test_set_sizes_count_bits():
    assert set_sizes(6).tolist() == [index.bit_count() for index in range(64)]


def test_label_i_is_bit_i():
    capacity = Capacity.from_function(lambda labels: 1.0 if 2 in labels else 0.0, n_labels=3)
    assert capacity.values.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert capacity.worth(np.array([[0, 0, 1], [1, 1, 0]])).tolist() == [1, 0]


def test_shapley_and_interaction_follow_their_definitions():
    from math import factorial

    n_labels = 4
    capacity = Capacity(capacity_values(np.random.default_rng(1), n_labels))
    mu = worth_of(capacity, n_labels)
    for i in range(n_labels):
        rest = [s for s in all_sets(n_labels) if i not in s]
        shares = [factorial(len(s)) * factorial(n_labels - len(s) - 1) / factorial(n_labels) for s in rest]
        gains = [mu(s | {i}) - mu(s) for s in rest]
        assert capacity.shapley()[i] == pytest.approx(np.dot(shares, gains))
        for j in range(i):
            pairs = [s for s in rest if j not in s]
            shares = [factorial(len(s)) * factorial(n_labels - len(s) - 2) / factorial(n_labels - 1) for s in pairs]
            gains = [mu(s | {i, j}) - mu(s | {i}) - mu(s | {j}) + mu(s) for s in pairs]
            assert capacity.interaction()[i, j] == pytest.approx(np.dot(shares, gains))
            assert capacity.interaction()[j, i] == capacity.interaction()[i, j]
    assert capacity.shapley().sum() == pytest.approx(1)
    assert np.diag(capacity.interaction()).tolist() == [0] * n_labels


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_binomial_is_k_additive(k):
    capacity = Capacity.from_measure(BinomialMeasure(k), 12)
    assert capacity.additivity_order() == k
    assert capacity.is_additive() == (k == 1)


def test_order_and_shapley_of_an_additive_measure():
    capacity = Capacity.from_measure(AdditiveMeasure([0.5, 0.25, 0.25]), 3)
    assert capacity.is_additive()
    assert capacity.shapley() == pytest.approx([0.5, 0.25, 0.25])
    assert capacity.interaction() == pytest.approx(np.zeros((3, 3)), abs=1e-15)


def test_twenty_labels():
    capacity = Capacity.from_measure(PolynomialMeasure(2), 20)
    assert capacity.n_labels == 20
    assert capacity.additivity_order() == 2
    assert capacity.shapley() == pytest.approx(np.full(20, 0.05))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Capacity([0, 0.5, 0.2, 0.4]), "values must be 0 for the empty set and 1 for all labels"),
        (lambda: Capacity([0, 0.5, 0.2, 0.9, 0.1, 0.4, 0.3, 1]), "{0} is worth 0.5, but {0, 2} only 0.4"),
        (lambda: Capacity([0.1, 0.5, 0.2, 1]), "got values[0] = 0.1 and values[3] = 1.0"),
        (lambda: Capacity([0, 0.5, 1]), "2 ** n_labels entries with 1 <= n_labels <= 20; got 3"),
        (lambda: Capacity([1]), "got 1"),
        (lambda: Capacity(np.ones(1 << 21)), "got 2097152"),
        (lambda: Capacity([0, np.nan, 0.5, 1]), "values must be finite; values[1] is nan"),
        (lambda: Capacity.from_function(len, 21), "at most 20 labels; got 21"),
        (lambda: Capacity([0, 0.5, 0.5, 1]).form(3), "this Capacity is made for 2 labels; got 3"),
        (lambda: AdditiveMeasure([0.5, 0.4]), "weights must sum to 1; their sum is 0.9"),
        (lambda: AdditiveMeasure([0.5, 0.5]).form(3), "made for 2 labels; got 3"),
    ],
)
def test_what_is_no_capacity_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def random_masses(rng, n_labels, n_sets):
    sets = [tuple(np.flatnonzero(rng.random(n_labels) < 0.4)) for _ in range(n_sets)]
    sets = sorted({s for s in sets if s} | {(0,)})
    masses = rng.dirichlet(np.ones(len(sets)))
    return dict(zip(sets, masses, strict=True))


@given(seed=seeds)
def test_a_moebius_measure_is_the_capacity_of_its_masses(seed):
    masses = random_masses(np.random.default_rng(seed), 6, 8)
    measure = MoebiusMeasure(masses)
    table = np.zeros(64)
    for labels, mass in masses.items():
        table[sum(1 << int(i) for i in labels)] += mass
    np.testing.assert_allclose(Capacity.from_measure(measure, 6).values, zeta_transform(table), atol=1e-12)


@given(seed=seeds)
def test_order_two_with_negative_masses_is_refused_exactly_where_it_is_not_monotone(seed):
    rng = np.random.default_rng(seed)
    n_labels = 4
    masses = {(i,): rng.uniform(0, 1) for i in range(n_labels)}
    masses |= {(i, j): rng.uniform(-0.4, 0.4) for i in range(n_labels) for j in range(i)}
    total = sum(masses.values())
    if total < 0.05:
        return
    masses = {labels: mass / total for labels, mass in masses.items()}
    assert is_accepted(masses) == is_monotone(masses, n_labels)


@given(seed=seeds)
def test_order_three_with_negative_masses_is_refused_exactly_where_it_is_not_monotone(seed):
    rng = np.random.default_rng(seed)
    masses = {(0,): 1.0, (1,): 1.0, (2,): 1.0, (5, 900): 1.0, (0, 1, 5): 0.3}
    masses |= {(0, 1, 2): rng.uniform(-2, 0), (0, 1): rng.uniform(-1, 1), (1, 5): rng.uniform(-0.2, 1)}
    total = sum(masses.values())
    if total < 0.05:
        return
    masses = {labels: mass / total for labels, mass in masses.items()}
    compact = {tuple({900: 3, 5: 4}.get(i, i) for i in labels): mass for labels, mass in masses.items()}
    assert is_accepted(masses) == is_monotone(compact, 5)


def is_accepted(masses):
    try:
        MoebiusMeasure(masses)
    except ValueError as error:
        if "a measure must be monotone" not in str(error):
            raise
        return False
    return True


def is_monotone(masses, n_labels):
    mu = {s: sum(m for labels, m in masses.items() if s >= set(labels)) for s in all_sets(n_labels)}
    return all(mu[s | {i}] >= mu[s] - 1e-12 for s in mu for i in range(n_labels))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: MoebiusMeasure({(0,): 0.5, (1,): 0.4}), "masses must sum to 1; their sum is 0.9"),
        (lambda: MoebiusMeasure({(): 0.5, (1,): 0.5}), "a set of labels must not be empty"),
        (lambda: MoebiusMeasure({(0,): np.nan}), "masses must be finite; that of (0,) is nan"),
        (lambda: MoebiusMeasure({(-1,): 1.0}), "a label must be at least 0; got -1"),
        (
            lambda: MoebiusMeasure({(0,): 0.1, (1,): 1.1, (0, 1): -0.2}),
            "adding label 0 to the labels {1} changes the worth by -0.1",
        ),
        (
            lambda: MoebiusMeasure({(0,): 0.1, (1,): 0.6, (2,): 0.6, (0, 1, 2): -0.3}),
            "{1, 2} is worth 1.2, but {0, 1, 2} only 1.0",
        ),
        (lambda: MoebiusMeasure({(0,): 1 + 1e-6}), "masses must sum to 1; their sum is 1.000001"),
        (lambda: MoebiusMeasure({(30,): 2.0, tuple(range(21)): -1.0}), "at most 20; got 21"),
        (lambda: MoebiusMeasure({(7,): 1.0}).form(7), "has a mass on label 7; got 7 labels"),
        (lambda: CoveringMeasure([(0, 1), ()]), "a set of labels must not be empty"),
        (lambda: CoveringMeasure([]), "at least one set of labels; got none"),
        (lambda: CoveringMeasure([(0,)], weights=[1, 2]), "one entry for each of 1 label sets; got 2"),
        (lambda: CoveringMeasure([(0,)], weights=[-1]), "weights must be non-negative; weights[0] is -1.0"),
        (lambda: CoveringMeasure([(0,)], weights=[0]), "not all zero"),
    ],
)
def test_what_is_no_moebius_measure_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_masses_are_a_mapping():
    with pytest.raises(TypeError, match="masses must be a mapping from sets of labels to masses; got list"):
        MoebiusMeasure([(0,)])


def test_masses_that_sum_to_one_but_for_rounding_are_scaled():
    measure = MoebiusMeasure({(0,): 0.5, (1,): 0.5 + 1e-10})
    assert measure.worth(np.ones((1, 2)))[0] == pytest.approx(1, abs=1e-15)


def test_a_relevance_measure_is_no_capacity():
    with pytest.raises(TypeError, match="needs no true labels"):
        Capacity.from_measure(RelevanceMeasure(BinomialMeasure(1), 1.0), 3)


def test_covering_duplicates_add_up():
    assert CoveringMeasure([(0, 1), (1, 0), (2,)]) == CoveringMeasure([(2,), (0, 1)], weights=[1, 2])
    assert CoveringMeasure([(0, 1), (1, 0), (2,)]).terms == (((2,), 1 / 3), ((0, 1), 2 / 3))
    assert CoveringMeasure([(0, 1), (2,)]).additivity_order() == 2
