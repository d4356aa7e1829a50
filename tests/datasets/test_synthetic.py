"""Synthetic data are what their formula says: marginals whatever the dependence, and a known joint distribution."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral import HammingMeasure, IndependentLabels, SubsetMeasure, bayes_optimal
from choral.datasets import Dataset, make_dependent, synthetic

DEPENDENCES = (0, 0.25, 0.5, 0.75, 1)


def probabilities_by_definition(marginals, dependence):
    """Each label set by itself: the product of its labels, and the length of the interval of u that leads to it."""
    joint = {}
    for labelset in product((0, 1), repeat=len(marginals)):
        alone = np.prod([p if y else 1 - p for p, y in zip(marginals, labelset, strict=True)])
        below = min([1, *(p for p, y in zip(marginals, labelset, strict=True) if y)])
        above = max([0, *(p for p, y in zip(marginals, labelset, strict=True) if not y)])
        joint[labelset] = (1 - dependence) * alone + dependence * max(below - above, 0)
    return joint


def dense(distribution):
    weights = distribution.probabilities
    return weights.toarray() if hasattr(weights, "toarray") else weights


def least_risk(dataset, measure):
    return bayes_optimal(dataset.distribution, measure).risk


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_the_distribution_is_that_of_the_definition(dependence):
    dataset = make_dependent(20, 4, dependence)
    distribution = dataset.distribution
    labelsets = [tuple(labelset) for labelset in distribution.labelsets.tolist()]
    for marginals, weights in zip(dataset.marginals, dense(distribution), strict=True):
        expected = probabilities_by_definition(marginals, dependence)
        found = dict.fromkeys(expected, 0.0) | dict(zip(labelsets, weights.tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-14)


@given(
    n_labels=st.integers(1, 8),
    dependence=st.floats(0, 1),
    signal=st.floats(0, 20),
    seed=st.integers(0, 1000),
)
def test_marginals_do_not_depend_on_the_dependence(n_labels, dependence, signal, seed):
    options = {"n_features": 3, "signal": signal, "random_state": seed}
    dataset, independent = (make_dependent(10, n_labels, d, **options) for d in (dependence, 0))
    assert np.array_equal(dataset.X, independent.X)
    assert np.array_equal(dataset.marginals, independent.marginals)
    assert dataset.distribution.marginals() == pytest.approx(dataset.marginals, abs=1e-12)
    assert (dataset.total_correlation() <= n_labels - 1 + 1e-12).all()


def test_without_dependence_labels_are_independent():
    dataset = make_dependent(50, 5, 0)
    expected = IndependentLabels(dataset.marginals).to_label_distribution()
    assert dataset.distribution.labelsets.tolist() == expected.labelsets.tolist()
    assert dataset.distribution.probabilities == pytest.approx(expected.probabilities, abs=1e-15)
    assert dataset.total_correlation() == pytest.approx(np.zeros(50), abs=1e-12)


def test_with_full_dependence_each_instance_has_one_label_set_more_than_labels():
    dataset = make_dependent(30, 40, 1)  # too many labels to list all their sets
    weights = dataset.distribution.probabilities
    assert np.diff(weights.indptr).max() <= 41
    assert dataset.distribution.marginals() == pytest.approx(dataset.marginals, abs=1e-12)
    assert np.diff(np.sort(dataset.marginals, axis=1), prepend=0, append=1).max(axis=1) == pytest.approx(
        weights.max(axis=1).toarray().ravel()
    )
    (below,) = make_dependent(1, 3, 1, random_state=3).distribution.labelsets.sum(axis=1, keepdims=True).T
    assert below.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("dependence", DEPENDENCES)
def test_labels_are_drawn_from_the_distribution(dependence):
    # without a signal all instances have the same distribution
    dataset = make_dependent(40_000, 3, dependence, n_features=1, signal=0)
    expected = probabilities_by_definition(dataset.marginals[0], dependence)
    rows = [tuple(row) for row in dataset.Y.tolist()]
    found = {labelset: rows.count(labelset) / len(rows) for labelset in expected}
    assert found == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(len(rows)))  # four standard errors
    assert all(expected[labelset] > 0 for labelset in set(rows))


def test_labels_follow_the_features():
    dataset = make_dependent(20_000, 4, 0.5, n_features=5, signal=2)
    log_odds = np.log(dataset.marginals / (1 - dataset.marginals))
    assert (log_odds - log_odds.mean(axis=0)).std(axis=0) == pytest.approx(np.full(4, 2), rel=0.03)
    residuals = dataset.Y - dataset.marginals
    assert np.abs(residuals.mean(axis=0)).max() < 0.015
    assert np.abs(np.corrcoef(residuals.T, dataset.X.T)[:4, 4:]).max() < 0.03


@pytest.mark.parametrize("n_labels", [2, 3, 6, 12])
def test_less_risk_where_labels_go_together_but_not_for_hamming_loss(n_labels):
    datasets = [make_dependent(60, n_labels, dependence) for dependence in DEPENDENCES]
    hamming = np.array([least_risk(dataset, HammingMeasure()) for dataset in datasets])
    assert hamming == pytest.approx(np.tile(hamming[0], (5, 1)))
    subset = np.array([least_risk(dataset, SubsetMeasure()) for dataset in datasets])
    assert (np.diff(subset.mean(axis=1)) < 0).all()
    assert (np.diff(subset, n=2, axis=0) <= 1e-12).all()  # concave, for each instance
    modes = [dataset.distribution.mode() for dataset in datasets]
    assert np.array_equal(modes[0], datasets[0].distribution.marginal_mode())
    assert (modes[0] != modes[-1]).any()


def test_total_correlation_grows_with_the_dependence():
    bits = np.array([make_dependent(100, 5, dependence).total_correlation() for dependence in DEPENDENCES])
    assert (np.diff(bits, axis=0) >= 0).all()


def test_total_correlation_of_two_equal_labels_is_their_entropy(monkeypatch):
    monkeypatch.setattr(synthetic, "expit", lambda log_odds: np.full(log_odds.shape, 0.25))
    entropy = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert make_dependent(2, 2, 1).total_correlation() == pytest.approx([entropy] * 2)


def test_the_same_seed_gives_the_same_data():
    first, same, other = (make_dependent(30, 4, 0.5, random_state=seed) for seed in (7, 7, 8))
    assert np.array_equal(first.X, same.X)
    assert np.array_equal(first.Y, same.Y)
    assert first.distribution == same.distribution
    assert not np.array_equal(first.X, other.X)


def test_it_is_a_data_set():
    dataset = make_dependent(30, 4, 0.5, n_features=7)
    assert isinstance(dataset, Dataset)
    assert (dataset.X.shape, dataset.Y.shape, dataset.Y.dtype) == ((30, 7), (30, 4), np.uint8)
    assert dataset.label_names == ("label 0", "label 1", "label 2", "label 3")
    assert dataset.name == "dependent-0.5"
    assert dataset.distribution is dataset.distribution  # computed once


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        ((0, 3, 0.5), {}, "n_samples must be at least 1; got 0."),
        ((5, 2.5, 0.5), {}, "n_labels must be a whole number, at least 1; got 2.5."),
        ((5, 3, 0.5), {"n_features": 0}, "n_features must be at least 1; got 0."),
        ((5, 3, 1.5), {}, r"dependence must lie in \[0, 1\]; got 1.5."),
        ((5, 3, np.nan), {}, r"dependence must lie in \[0, 1\]; got nan."),
        ((5, 3, 0.5), {"signal": -1}, "signal must be finite and non-negative; got -1."),
        ((5, 3, 0.5), {"signal": np.inf}, "signal must be finite and non-negative; got inf."),
    ],
)
def test_refuses_what_makes_no_sense(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        make_dependent(*arguments, **options)


def test_too_many_label_sets_to_list():
    dataset = make_dependent(8, 25, 0.5)
    assert dataset.Y.shape == (8, 25)
    message = r"n_samples \* 2 \*\* n_labels probabilities, listed up to 134217728; got 8 samples and 25 labels."
    with pytest.raises(ValueError, match=message):
        _ = dataset.distribution
