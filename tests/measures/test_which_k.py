"""which_k against all ks in exact arithmetic, a grid of alphas, and the mean cost of real rows."""

import pickle
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    CountingMeasure,
    PolynomialMeasure,
    binomial_loss,
    choquet_loss,
    polynomial_loss,
    which_k,
)

STEPS = st.lists(st.integers(0, 20), min_size=1, max_size=12)


def costs_of(steps):
    """Whole numbers that start at 0, never decrease, and end above 0."""
    assume(any(steps))
    return [0, *np.cumsum(steps).tolist()]


def exact_deviation(costs, k):
    n_labels = len(costs) - 1
    losses = [1 - Fraction(comb(n_labels - wrong, k), comb(n_labels, k)) for wrong in range(n_labels + 1)]
    return max(abs(Fraction(cost, costs[-1]) - loss) for cost, loss in zip(costs, losses, strict=True))


@given(STEPS)
def test_k_is_the_nearest_of_all(steps):
    costs = costs_of(steps)
    deviations = [exact_deviation(costs, k) for k in range(1, len(costs))]
    answer = which_k(costs)
    assert answer.k_deviation == pytest.approx(float(min(deviations)), abs=1e-12)
    assert float(deviations[answer.k - 1]) == pytest.approx(float(min(deviations)), abs=1e-12)


@given(STEPS)
def test_alpha_is_the_nearest_of_a_fine_grid(steps):
    costs = np.array(costs_of(steps))
    n_labels = costs.size - 1
    answer = which_k(costs)
    for alpha in [*np.geomspace(1, 50 * n_labels, 200), np.inf]:
        losses = PolynomialMeasure(alpha).deficits(n_labels)
        assert answer.alpha_deviation <= np.abs(losses - costs / costs[-1]).max() + 1e-9
    losses = PolynomialMeasure(answer.alpha).deficits(n_labels)
    assert answer.alpha_deviation == np.abs(losses - costs / costs[-1]).max()


@pytest.mark.parametrize("n_labels", [1, 2, 3, 10, 53, 300])
def test_deficits_of_a_binomial_measure_give_its_k_back(n_labels):
    for k in range(1, n_labels + 1):
        answer = which_k(17.5 * BinomialMeasure(k).deficits(n_labels))
        assert answer.k == k
        assert answer.k_deviation < 1e-12


@given(st.integers(2, 40), st.floats(1, 20))
def test_deficits_of_a_polynomial_measure_give_its_alpha_back(n_labels, alpha):
    answer = which_k(PolynomialMeasure(alpha).deficits(n_labels))
    assert answer.alpha == pytest.approx(alpha, rel=1e-6)
    assert answer.alpha_deviation < 1e-9


def test_ends_are_found():
    hamming, subset = which_k([0, 1, 2, 3]), which_k([0, 5, 5, 5])
    assert (hamming.k, hamming.alpha) == (1, 1)
    assert (subset.k, subset.alpha) == (3, np.inf)
    for answer in (hamming, subset):
        assert max(answer.k_deviation, answer.alpha_deviation) < 1e-12


@given(STEPS, st.sampled_from([1e-200, 0.125, 1024.0, 1e200]))
def test_the_unit_of_costs_does_not_matter(steps, unit):
    costs = np.array(costs_of(steps), dtype=float)
    one, other = which_k(costs), which_k(costs * unit)
    assert other.k == one.k
    assert other.k_deviation == pytest.approx(one.k_deviation, abs=1e-12)
    assert other.alpha_deviation == pytest.approx(one.alpha_deviation, abs=1e-9)


@given(STEPS, st.integers(0, 2**31))
def test_mean_losses_are_within_the_deviation_of_the_mean_cost(steps, seed):
    costs = np.array(costs_of(steps))
    y_true, y_pred = np.random.default_rng(seed).integers(2, size=(2, 30, costs.size - 1))
    mean_cost = costs[(y_true != y_pred).sum(axis=1)].mean()
    answer = which_k(costs)
    assert choquet_loss(y_true, y_pred, answer.measure) * costs[-1] == pytest.approx(mean_cost)
    share = mean_cost / costs[-1]
    assert abs(binomial_loss(y_true, y_pred, answer.k) - share) <= answer.k_deviation + 1e-12
    assert abs(polynomial_loss(y_true, y_pred, answer.alpha) - share) <= answer.alpha_deviation + 1e-12


def test_measure_of_costs_is_the_one_of_a_table():
    assert CountingMeasure.from_costs([0, 1, 3, 4]) == CountingMeasure([0, 0.25, 0.75, 1])
    assert CountingMeasure.from_costs([0, 0, 2, 2]).deficits(3).tolist() == AtLeastMeasure(2).deficits(3).tolist()


def test_tiny_costs_keep_their_digits():
    assert CountingMeasure.from_costs([0, 1e-30, 1]).deficits(2)[1] == 1e-30


def test_an_answer_is_a_value_and_says_what_it_found():
    answer = which_k([0, 3, 5, 6, 6])
    assert answer == which_k([0, 30, 50, 60, 60]) == pickle.loads(pickle.dumps(answer))
    assert str(answer).splitlines()[1:] == [
        "Nearest k: 2; no row's loss is further than 0.000 from its cost.",
        "Nearest alpha: 2.6; no row's loss is further than 0.027 from its cost.",
    ]
    assert "Nearest k: 3 (subset 0/1)" in str(which_k([0, 5, 5, 5]))
    assert "Nearest alpha: 1 (Hamming)" in str(which_k([0, 1, 2, 3]))
    assert str(which_k([0, 0, 0, 1])).endswith("take the measure, which has the costs themselves.")


@pytest.mark.parametrize(
    "costs, message",
    [
        ([0], r"costs must have K \+ 1 entries, of 0, 1, ..., K wrong labels; got 1"),
        ([], "costs must be a non-empty 1-D sequence"),
        ([[0, 1], [0, 1]], "costs must be a non-empty 1-D sequence"),
        ([0, np.nan, 1], r"costs must be finite and non-negative; costs\[1\] is nan"),
        ([0, 1, np.inf], r"costs must be finite and non-negative; costs\[2\] is inf"),
        ([0, -1, 1], r"costs must be finite and non-negative; costs\[1\] is -1.0"),
        ([2, 3, 4], r"costs must start at 0, .*; got 2.0. If every row costs that much, subtract it"),
        ([0, 2, 1.5, 3], r"costs must not decrease with the number of wrong labels; costs\[2\] is 1.5"),
        ([0, 0, 0], "costs must end above 0"),
    ],
)
def test_costs_that_are_none_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        which_k(costs)
