"""What branch and bound and search are built on: risks after one change, and bounds on all that is not decided."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from choral import BinomialMeasure, SubsetMeasure
from choral.decisions.risks import make_risk
from choral.decisions.support import DenseInstances, Support, make_instances
from measure_zoo import KINDS

FORMS = {"dense": lambda weights: weights, "sparse": sp.csr_array, "shared": lambda weights: weights[:1]}


def make_case(kind, form, seed, n_instances=4):
    """A risk, instances with weights on random label sets, and a random prediction for each."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 7))
    index = rng.choice(2**n_labels, int(rng.integers(1, 1 + min(12, 2**n_labels))), replace=False)
    labelsets = (index[:, np.newaxis] >> np.arange(n_labels) & 1).astype(np.uint8)
    weights = rng.dirichlet(np.full(len(index), 0.5), size=n_instances) * (rng.random((n_instances, len(index))) < 0.7)
    rows = make_instances(Support(labelsets), FORMS[form](weights))
    predictions = rng.integers(2, size=(n_instances, n_labels)).astype(np.uint8)
    return rng, make_risk(KINDS[kind](rng, n_labels).form(n_labels), weights), rows, predictions


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_flips_are_the_risks_of_changed_predictions(kind, form, seed):
    _, risk, rows, predictions = make_case(kind, form, seed)
    flips = risk.flips(rows, predictions)
    for label in range(predictions.shape[1]):
        changed = predictions.copy()
        changed[:, label] ^= 1
        np.testing.assert_allclose(flips[:, label], risk.risks(rows, changed), atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_bounds_are_below_all_completions(kind, form, seed):
    rng, risk, rows, predictions = make_case(kind, form, seed)
    decided = rng.integers(2, size=predictions.shape).astype(np.uint8)
    bound = risk.bound(rows, predictions * decided, decided)
    assert bound.ones.shape == bound.zeros.shape == predictions.shape
    assert not (decided * bound.ones).any()
    least = np.full(len(predictions), np.inf)
    for labels in product((0, 1), repeat=predictions.shape[1]):
        completed = np.where(decided, predictions, labels).astype(np.uint8)
        least = np.minimum(least, risk.risks(rows, completed))
    assert (bound.risks <= least + 1e-13).all()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_a_bound_with_everything_decided_is_the_risk(kind, seed):
    _, risk, rows, predictions = make_case(kind, "dense", seed)
    bound = risk.bound(rows, predictions, np.ones_like(predictions))
    if kind not in ("relevance", "only irrelevant"):  # there, the better of two bounds
        np.testing.assert_allclose(bound.risks, risk.risks(rows, predictions), atol=1e-13)
    assert (bound.risks <= risk.risks(rows, predictions) + 1e-13).all()


def test_the_chord_bound_by_hand():
    """Two labels, both label sets with 0.5: as good as (0, 0) or (1, 1) is the best that can be hoped for."""
    rows = DenseInstances(Support(np.array([[0, 0], [1, 1]], dtype=np.uint8)), np.array([[0.5, 0.5]]))
    nothing = np.zeros((1, 2), dtype=np.uint8)
    risk = make_risk(SubsetMeasure().form(2), rows.weights)
    assert risk.bound(rows, nothing, nothing).risks.tolist() == [0.5]
    assert risk.packing_bound(rows).tolist() == [0.5]


def test_the_packing_bound_is_sharp_at_the_subset_end_and_valid_elsewhere():
    rng = np.random.default_rng(0)
    labelsets = np.unique(rng.integers(2, size=(40, 8)), axis=0).astype(np.uint8)
    weights = rng.dirichlet(np.full(len(labelsets), 0.3), size=20)
    rows, sparse = (make_instances(Support(labelsets), form) for form in (weights, sp.csr_array(weights)))
    subset = make_risk(SubsetMeasure().form(8), weights)
    np.testing.assert_allclose(subset.packing_bound(rows), 1 - weights.max(axis=1))
    everything = np.array(list(product((0, 1), repeat=8)), dtype=np.uint8)
    for k in range(1, 9):
        risk = make_risk(BinomialMeasure(k).form(8), weights)
        least = risk.pool_risks(rows, Support(everything)).min(axis=1)
        assert (risk.packing_bound(rows) <= least + 1e-14).all()
        assert (risk.root_bound(rows) <= least + 1e-14).all()
        np.testing.assert_allclose(risk.packing_bound(sparse), risk.packing_bound(rows), atol=1e-15)


def test_the_chord_bound_is_far_better_than_the_plain_one():
    """At the root the plain bound says nothing at all; the chord bound is the Hamming risk, or more."""
    rng = np.random.default_rng(1)
    rows = make_instances(Support(rng.integers(2, size=(30, 12)).astype(np.uint8)), rng.dirichlet(np.ones(30), size=5))
    nothing = np.zeros((5, 12), dtype=np.uint8)
    bound = make_risk(BinomialMeasure(4).form(12), rows.weights).bound(rows, nothing, nothing)
    marginals = rows.by_label(1.0)
    np.testing.assert_allclose(bound.risks, np.minimum(marginals, 1 - marginals).mean(axis=1))
