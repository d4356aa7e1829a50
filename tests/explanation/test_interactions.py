"""Interactions of labels in the loss: the Shapley interaction index by enumeration."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral.explanation.error_blocks import error_blocks
from choral.explanation.interactions import sum_interactions
from choral.rows import open_rows
from definitions import all_sets
from measure_zoo import KINDS


def interaction_by_enumeration(cost, pair, n_labels):
    """What the second label changes in the cost of the first, averaged over sets of others as Shapley values are."""
    total = 0.0
    for others in all_sets(n_labels):
        if not others & set(pair):
            i, j = pair
            change = cost[others | {i, j}] - cost[others | {i}] - cost[others | {j}] + cost[others]
            orders = factorial(len(others)) * factorial(n_labels - len(others) - 2) / factorial(n_labels - 1)
            total += orders * change
    return total


def interactions_by_enumeration(y_true, y_pred, measure, pairs, weights):
    total = np.zeros(len(pairs))
    for true, pred, weight in zip(y_true, y_pred, weights, strict=True):
        sets = all_sets(true.size)
        predictions = np.array([[pred[i] if i in wrong else true[i] for i in range(true.size)] for wrong in sets])
        losses = choral.choquet_loss(np.broadcast_to(true, predictions.shape), predictions, measure, reduction="none")
        cost = dict(zip(sets, losses, strict=True))
        total += [weight * interaction_by_enumeration(cost, pair, true.size) for pair in pairs]
    return total


def interactions_of(y_true, y_pred, measure, pairs, **options):
    rows = open_rows(y_true, y_pred, **options)
    form = measure.form(rows.n_labels)
    return sum(sum_interactions(block, measure, form, pairs) for block in error_blocks(rows))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("measure_kind", KINDS)
def test_interactions_are_those_of_enumeration(measure_kind, kind, make):
    rng = np.random.default_rng(4)
    for n_labels in (2, 5):
        measure, pairs = KINDS[measure_kind](rng, n_labels), list(combinations(range(n_labels), 2))
        y_true = rng.integers(2, size=(5, n_labels))
        y_pred = rng.integers(2, size=y_true.shape) if kind == "hard" else rng.integers(5, size=y_true.shape) / 4
        weights = rng.random(5)
        found = interactions_of(make(y_true), make(y_pred), measure, pairs, sample_weight=weights)
        expected = interactions_by_enumeration(y_true, y_pred, measure, pairs, weights)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_ends_of_the_slide_by_hand():
    y_true, y_pred = [[1, 1, 1, 1]], [[0, 0, 0, 1]]
    pairs = [(0, 1), (0, 3)]
    np.testing.assert_allclose(interactions_of(y_true, y_pred, choral.HammingMeasure(), pairs), [0, 0], atol=1e-15)
    np.testing.assert_allclose(interactions_of(y_true, y_pred, choral.SubsetMeasure(), pairs), [-0.5, 0])


@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_rows_with_missing_labels_interact_by_their_known_labels(kind):
    rng = np.random.default_rng(0)
    y_true = rng.integers(2, size=(6, 4)).astype(float)
    y_pred = rng.integers(2, size=y_true.shape) if kind == "hard" else rng.random(y_true.shape)
    y_true[:3, 1] = np.nan
    found = interactions_of(y_true, y_pred, choral.BinomialMeasure(3), [(0, 2)])
    some = interactions_of(y_true[:3, [0, 2, 3]], y_pred[:3, [0, 2, 3]], choral.BinomialMeasure(3), [(0, 1)])
    rest = interactions_of(y_true[3:], y_pred[3:], choral.BinomialMeasure(3), [(0, 2)])
    np.testing.assert_allclose(found, some + rest, rtol=0, atol=1e-14)


def test_measures_that_depend_on_the_truth_have_interactions_up_to_10_labels():
    measure = choral.RelevanceMeasure(choral.SubsetMeasure(), 1.0)
    for n_labels in (10, 11):
        wrong = interactions_of(np.ones((1, n_labels)), np.zeros((1, n_labels)), measure, [(0, 1)])
        # all labels are relevant, so it is the base measure: two of K wrong labels interact by -1 / (K - 1)
        np.testing.assert_allclose(wrong, [-1 / 9 if n_labels == 10 else np.nan])
