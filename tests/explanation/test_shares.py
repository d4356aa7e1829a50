"""Shares of labels in the loss: Shapley values by enumeration, and laws that hold for every measure."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import choral
from choral import BinomialMeasure, HammingMeasure, MoebiusMeasure, PolynomialMeasure, SubsetMeasure, loss_shares
from choral.explanation.shares_by_form import _potential
from definitions import all_sets
from measure_zoo import KINDS

N_ROWS = 6


def shapley_by_enumeration(cost, n_labels):
    """What each label adds to the cost, averaged over all orders; ``cost`` is a function of a frozenset of labels."""
    shares = np.zeros(n_labels)
    for label in range(n_labels):
        for others in all_sets(n_labels):
            if label not in others:
                orders = factorial(len(others)) * factorial(n_labels - len(others) - 1) / factorial(n_labels)
                shares[label] += orders * (cost(others | {label}) - cost(others))
    return shares


def shares_by_enumeration(y_true, y_pred, measure):
    """The Shapley values of the game of each row: what it costs to be wrong on a set of labels, and right elsewhere."""
    shares = []
    for true, pred in zip(y_true, y_pred, strict=True):
        sets = all_sets(true.size)
        predictions = np.array([[pred[i] if i in wrong else true[i] for i in range(true.size)] for wrong in sets])
        truths = np.broadcast_to(true, predictions.shape)
        costs = dict(zip(sets, choral.choquet_loss(truths, predictions, measure, reduction="none"), strict=True))
        shares.append(shapley_by_enumeration(costs.__getitem__, true.size))
    return np.array(shares)


def random_rows(rng, n_labels, kind, n_rows=N_ROWS):
    y_true = rng.integers(2, size=(n_rows, n_labels))
    if kind == "hard":
        return y_true, np.where(rng.random(y_true.shape) < 0.5, 1 - y_true, y_true)
    return y_true, rng.integers(0, 5, size=y_true.shape) / 4  # with ties


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("measure_kind", KINDS)
def test_shares_are_shapley_values_and_add_up_to_the_loss(measure_kind, kind):
    rng = np.random.default_rng(3)
    for n_labels in (2, 5, 8):
        measure = KINDS[measure_kind](rng, n_labels)
        y_true, y_pred = random_rows(rng, n_labels, kind, n_rows=2 if n_labels == 8 else N_ROWS)
        shares = loss_shares(y_true, y_pred, measure, reduction="none")
        np.testing.assert_allclose(shares, shares_by_enumeration(y_true, y_pred, measure), rtol=0, atol=1e-12)
        losses = choral.choquet_loss(y_true, y_pred, measure, reduction="none")
        np.testing.assert_allclose(shares.sum(axis=1), losses, rtol=0, atol=1e-12)


def test_shapley_by_enumeration_is_the_mean_over_orders():
    costs = dict(zip(all_sets(3), [0, 3, 1, 5, 2, 7, 4, 9], strict=True))
    orders = list(permutations(range(3)))
    by_orders = np.zeros(3)
    for order in orders:
        for place, label in enumerate(order):
            before = frozenset(order[:place])
            by_orders[label] += (costs[before | {label}] - costs[before]) / len(orders)
    np.testing.assert_allclose(shapley_by_enumeration(costs.__getitem__, 3), by_orders)


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("measure_kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1))
def test_laws_of_shares(measure_kind, kind, seed):
    """Mean shares add up to the loss; permuting labels permutes shares; weights count rows; right labels have none."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 7))
    measure = KINDS[measure_kind](rng, n_labels)
    y_true, y_pred = random_rows(rng, n_labels, kind)
    weights = rng.integers(0, 4, size=N_ROWS)
    weights[0] += 1
    shares = loss_shares(y_true, y_pred, measure, sample_weight=weights)
    loss = choral.choquet_loss(y_true, y_pred, measure, sample_weight=weights)
    assert shares.sum() == pytest.approx(loss, abs=1e-12)
    again = np.repeat(np.arange(N_ROWS), weights)
    np.testing.assert_allclose(loss_shares(y_true[again], y_pred[again], measure), shares, rtol=0, atol=1e-12)
    of_rows = loss_shares(y_true, y_pred, measure, reduction="none")
    assert not of_rows[y_true == y_pred].any()
    if isinstance(measure.form(n_labels), choral.measures.ByCount):
        order = rng.permutation(n_labels)
        permuted = loss_shares(y_true[:, order], y_pred[:, order], measure, sample_weight=weights)
        np.testing.assert_allclose(permuted, shares[order], rtol=0, atol=1e-12)


def test_hamming_shares_are_error_rates_over_the_number_of_labels():
    y_true, y_pred = random_rows(np.random.default_rng(0), 7, "hard", n_rows=50)
    expected = (y_true != y_pred).mean(axis=0) / 7
    np.testing.assert_allclose(loss_shares(y_true, y_pred, HammingMeasure()), expected, rtol=0, atol=1e-15)


def test_a_label_that_is_wrong_alone_weighs_more_towards_subset_loss():
    y_true = np.zeros((4, 3), dtype=int)
    y_pred = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]])  # each label is wrong twice, the first one alone
    np.testing.assert_allclose(loss_shares(y_true, y_pred, SubsetMeasure()), [0.5, 0.25, 0.25])


def test_scores_share_the_largest_error_level_by_level():
    # all three pay for 0.2, two of them for the next 0.3, the last one alone for the rest
    shares = loss_shares([[1, 1, 1]], [[0.8, 0.5, 0.1]], SubsetMeasure())
    np.testing.assert_allclose(shares, [0.2 / 3, 0.2 / 3 + 0.3 / 2, 0.2 / 3 + 0.3 / 2 + 0.4])


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("measure_kind", KINDS)
def test_sparse_shares_are_the_dense_ones(measure_kind, kind):
    rng = np.random.default_rng(1)
    measure = KINDS[measure_kind](rng, 6)
    y_true, y_pred = random_rows(rng, 6, kind, n_rows=30)
    for reduction in ("mean", "none"):
        dense = loss_shares(y_true, y_pred, measure, reduction=reduction)
        sparse = loss_shares(sp.csr_array(y_true), sp.csr_array(y_pred), measure, reduction=reduction)
        assert sp.issparse(sparse) == (reduction == "none")
        np.testing.assert_allclose(sparse.toarray() if sp.issparse(sparse) else sparse, dense, rtol=0, atol=1e-12)


def test_sparse_shares_of_half_a_million_labels_stay_sparse():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(200, size=(2, 1000)), rng.integers(500_000, size=(2, 1000))
    y_true = sp.csr_array((np.ones(1000), (rows[0], columns[0])), shape=(200, 500_000))
    y_pred = sp.csr_array((rng.random(1000), (rows[1], columns[1])), shape=(200, 500_000))
    shares = loss_shares(y_true, y_pred, BinomialMeasure(1000), reduction="none")
    losses = choral.binomial_loss(y_true, y_pred, k=1000, reduction="none")
    np.testing.assert_allclose(shares.sum(axis=1), losses, rtol=0, atol=1e-12)
    assert shares.nnz <= y_true.nnz + y_pred.nnz


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_missing_labels_have_no_share_and_rows_are_shared_by_their_known_labels(kind, make):
    rng = np.random.default_rng(2)
    y_true, y_pred = random_rows(rng, 5, kind, n_rows=8)
    y_true = y_true.astype(float)
    y_true[rng.random(y_true.shape) < 0.3] = np.nan
    y_true[0] = np.nan
    shares = loss_shares(make(y_true), make(y_pred), BinomialMeasure(3), reduction="none")
    shares = shares.toarray() if sp.issparse(shares) else shares
    for row in range(1, 8):
        known = ~np.isnan(y_true[row])
        some = loss_shares(y_true[[row]][:, known], y_pred[[row]][:, known], BinomialMeasure(min(3, known.sum())))
        np.testing.assert_allclose(shares[row, known], some, rtol=0, atol=1e-12)
        assert not shares[row, ~known].any()
    assert np.isnan(shares[0]).all() == (make is np.asarray)
    mean = loss_shares(make(y_true), make(y_pred), BinomialMeasure(3))
    assert mean.sum() == pytest.approx(choral.binomial_loss(make(y_true), make(y_pred), k=3), abs=1e-12)


def test_many_labels_share_what_a_steep_measure_leaves():
    y_true = np.zeros((3, 1000), dtype=np.uint8)
    y_pred = np.zeros((3, 1000), dtype=np.uint8)
    y_pred[1, :3], y_pred[2] = 1, 1
    shares = loss_shares(y_true, y_pred, PolynomialMeasure(1000), reduction="none")
    assert shares[1, 0] == pytest.approx((1 - 0.997**1000) / 3, rel=1e-12)
    assert shares[2, 0] == pytest.approx(1 / 1000, rel=1e-12)


@pytest.mark.parametrize("n_labels", [1, 2, 100, 1024, 1025])
def test_many_scores_are_shared_as_by_definition(n_labels):
    """Also where errors are equal, or almost."""
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(2, size=(4, n_labels)), rng.random((4, n_labels))
    y_pred[1] = np.where(y_true[1], 0.75, 0.25)
    y_pred[2] = np.abs(y_true[2] - 0.5) * (1 + np.spacing(1.0) * rng.integers(0, 3000, size=n_labels))
    shares = loss_shares(y_true, y_pred, SubsetMeasure(), reduction="none")
    errors = np.abs(y_true - y_pred)
    for of_row, found in zip(errors, shares, strict=True):
        expected = np.zeros(n_labels)
        order = np.argsort(of_row)
        for below, label in enumerate(order):  # all labels with errors above a level share it
            step = of_row[label] - (of_row[order[below - 1]] if below else 0)
            expected[order[below:]] += step / (n_labels - below)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), errors.max(axis=1), rtol=0, atol=1e-12)
    mean = loss_shares(y_true, y_pred, SubsetMeasure())
    np.testing.assert_allclose(mean, shares.mean(axis=0), rtol=0, atol=1e-12)


def test_potential_of_a_game_by_hand():
    # labels 0 and 1 cost 2 and 3 alone and 4 together: 0 adds 2 or 1, 1 adds 3 or 2
    potential = _potential(np.array([0.0, 2, 3, 4]))
    np.testing.assert_allclose(potential, [0, 2, 3, 4.5])


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"measure": "binomial"}, TypeError, "measure must be one of choral.measures"),
        (
            {"measure": HammingMeasure(), "reduction": "sum"},
            ValueError,
            "reduction must be 'mean' or 'none'; got 'sum'",
        ),
        ({"measure": BinomialMeasure(3)}, ValueError, r"k must lie in 1..2"),
        ({"measure": HammingMeasure(), "sample_weight": [0, 0]}, ValueError, "sample_weight"),
    ],
)
def test_refusals(options, error, message):
    with pytest.raises(error, match=message):
        loss_shares([[1, 0], [0, 1]], [[1, 1], [0, 1]], **options)


@pytest.mark.parametrize(
    "measure",
    [MoebiusMeasure({0: 0.5, (0, 1): 0.5}), choral.Capacity([0, 0.2, 0.3, 1]), choral.CountingMeasure([0, 0, 1])],
)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_missing_labels_need_a_measure_that_lives_on_fewer(measure, make):
    with pytest.raises(ValueError, match="labels are missing, and only counting|made for 2 labels"):
        loss_shares(make([[1, np.nan], [0, 1]]), make([[1, 1], [0, 1]]), measure)


def test_rows_without_a_known_label_have_no_mean():
    with pytest.raises(ValueError, match="shares of a loss need a row with a known label"):
        loss_shares([[np.nan, np.nan]], [[1, 0]], HammingMeasure())
