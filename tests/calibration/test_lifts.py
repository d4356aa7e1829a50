"""Lifts of sizes against enumeration, prices of labels, and what they say of candidates."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral.calibration.lifts import MAX_LOG_LIFT, PRIOR_ROWS, LabelPrice, LiftEvidence, SizeLift, fit_sizes
from choral.learners.evidence import Candidates


def make_labels(seed, n_rows=40, n_labels=5, missing=0.0):
    """Each row has one label or two, so sizes are far from those of independent labels."""
    rng = np.random.default_rng(seed)
    first = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=n_rows)]
    second = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=n_rows)]
    known = rng.random(first.shape) >= missing
    return (first | second) & known, known


def log_lifts_by_definition(labels, known):
    """Sizes of complete rows beside those of independent labels, by enumeration of all label sets."""
    n_labels = labels.shape[1]
    marginals = [(labels[:, i].sum() + 0.5) / (known[:, i].sum() + 1) for i in range(n_labels)]
    independent = [0.0] * (n_labels + 1)
    for labelset in product((0, 1), repeat=n_labels):
        independent[sum(labelset)] += prod(p if y else 1 - p for y, p in zip(labelset, marginals, strict=True))
    sizes = [row.sum() for row, is_known in zip(labels, known, strict=True) if is_known.all()]
    shares = [
        (sizes.count(size) + PRIOR_ROWS * independent[size]) / (len(sizes) + PRIOR_ROWS) for size in range(n_labels + 1)
    ]
    return np.log(shares) - np.log(independent)


@given(seed=st.integers(0, 999), n_labels=st.integers(1, 8), missing=st.sampled_from([0.0, 0.1, 0.6]))
def test_lifts_of_sizes_follow_their_definition(seed, n_labels, missing):
    labels, known = make_labels(seed, n_labels=n_labels, missing=missing)
    expected = log_lifts_by_definition(labels, known).clip(-MAX_LOG_LIFT, MAX_LOG_LIFT)
    np.testing.assert_allclose(fit_sizes(labels, known).logs, expected, atol=1e-9)


def test_lifts_of_sizes_by_hand():
    lift = SizeLift(np.array([-2.0, 1.0, 0.5]))
    assert lift.log_lifts(np.array([[0, 0], [0, 1], [1, 1]])).tolist() == [-2.0, 1.0, 0.5]
    assert lift.log_lifts(np.array([[[True, False]], [[True, True]]])).tolist() == [[1.0], [0.5]]


def test_sizes_that_never_occur_are_unlikely_and_the_others_likely():
    logs = fit_sizes(*make_labels(0, n_rows=500)).logs
    assert (logs[[0, 3, 4, 5]] < -3).all()  # seen in no row
    assert logs[2] > 0.5  # in 4 rows of 5


def test_independent_labels_lift_no_size():
    labels = np.random.default_rng(0).random((20000, 4)) < [0.2, 0.4, 0.5, 0.7]
    np.testing.assert_allclose(fit_sizes(labels, np.full(labels.shape, True)).logs, 0, atol=0.1)


def test_without_a_complete_row_nothing_is_lifted():
    labels, known = make_labels(0)
    known[:, 0] = labels[:, 0] = False
    np.testing.assert_allclose(fit_sizes(labels, known).logs, 0, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_a_thousand_labels(share):
    labels = np.random.default_rng(0).random((30, 1000)) < share
    logs = fit_sizes(labels, np.full(labels.shape, True)).logs
    assert logs.shape == (1001,)
    assert np.abs(logs).max() <= MAX_LOG_LIFT


def test_more_than_255_labels_are_counted():
    lift = SizeLift(np.arange(301.0))
    assert lift.log_lifts(np.ones((1, 300), dtype=np.uint8)).tolist() == [300.0]
    assert LabelPrice(-1.0).log_lifts(np.ones((1, 300), dtype=np.uint8)).tolist() == [-300.0]


def test_a_price_counts_labels():
    labelsets = np.array([[0, 0, 0], [1, 0, 1]], dtype=np.uint8)
    assert LabelPrice(1.0).log_lifts(labelsets).tolist() == [0.0, 2.0]
    assert LabelPrice(-1.0).log_lifts(labelsets).tolist() == [0.0, -2.0]


def test_each_row_is_judged_by_the_lift_that_has_not_seen_it():
    lifts, which = [LabelPrice(1.0), LabelPrice(10.0)], np.array([1, 0, 1])
    seen = np.array([[0, 0, 0], [1, 1, 0]], dtype=np.uint8)
    candidates = Candidates(seen, np.random.default_rng(0).normal(size=(3, 3)))
    evidence = LiftEvidence(lifts, which)
    places = np.tile(np.arange(2 + candidates.others.shape[1]), (3, 1))
    expected = candidates.labelsets(places).sum(axis=2) * np.array([[10.0], [1.0], [10.0]])
    np.testing.assert_allclose(evidence.scores(candidates), expected)
    assert evidence.log_odds is None


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([2, 0, 0])], ids=["slice", "places"])
def test_evidence_of_some_rows(rows):
    lifts, which = [LabelPrice(1.0), LabelPrice(10.0)], np.array([1, 0, 1])
    seen, log_odds = np.eye(3, dtype=np.uint8), np.random.default_rng(0).normal(size=(3, 3))
    some = LiftEvidence(lifts, which)[rows].scores(Candidates(seen, log_odds[rows]))
    np.testing.assert_allclose(some, LiftEvidence(lifts, which).scores(Candidates(seen, log_odds))[rows])
