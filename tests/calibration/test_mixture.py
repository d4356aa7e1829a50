"""Mixtures of Bernoulli vectors against enumeration of all label sets, the EM algorithm, planted kinds of rows."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral.calibration import mixture
from choral.calibration.mixture import LEAST, PRIOR_ROWS, LabelMixture, fit_mixture

ALL_KNOWN = True


def all_labelsets(n_labels):
    return np.array(list(product((0, 1), repeat=n_labels)), dtype=np.uint8)


def random_mixture(seed, n_components=3, n_labels=5):
    rng = np.random.default_rng(seed)
    return LabelMixture(rng.dirichlet(np.ones(n_components)), rng.uniform(0.02, 0.98, (n_components, n_labels)))


def probability(labels, frequencies):
    """Of a label set whose labels are independent."""
    return np.prod([f if label else 1 - f for label, f in zip(labels, frequencies, strict=True)])


def draw_rows(planted, n_rows, rng):
    kinds = rng.choice(len(planted.weights), size=n_rows, p=planted.weights)
    return rng.random((n_rows, planted.frequencies.shape[1])) < planted.frequencies[kinds]


@given(seed=st.integers(0, 999), n_components=st.integers(1, 4), n_labels=st.integers(1, 6))
def test_lifts_follow_their_definition(seed, n_components, n_labels):
    kinds = random_mixture(seed, n_components, n_labels)
    labelsets = all_labelsets(n_labels)
    marginals = kinds.weights @ kinds.frequencies
    apart = np.array([probability(labels, marginals) for labels in labelsets])
    together = [
        sum(w * probability(labels, theta) for w, theta in zip(kinds.weights, kinds.frequencies, strict=True))
        for labels in labelsets
    ]
    lifts = kinds.log_lifts(labelsets)
    np.testing.assert_allclose(lifts, np.log(together) - np.log(apart), atol=1e-9)
    assert np.exp(lifts) @ apart == pytest.approx(1)  # lifts turn one distribution into another
    np.testing.assert_allclose((np.exp(lifts) * apart) @ labelsets, marginals)  # with the same marginals


def test_one_kind_of_rows_lifts_nothing():
    np.testing.assert_allclose(random_mixture(0, n_components=1).log_lifts(all_labelsets(5)), 0, atol=1e-12)


def test_lifts_of_label_sets_in_any_arrangement():
    kinds, labelsets = random_mixture(0), all_labelsets(5)
    flat = kinds.log_lifts(labelsets)
    np.testing.assert_allclose(kinds.log_lifts(labelsets.reshape(4, 8, 5)), flat.reshape(4, 8))
    np.testing.assert_allclose(kinds.log_lifts(labelsets.astype(bool)), flat)


def test_lifts_of_thousands_of_labels_do_not_underflow():
    kinds = LabelMixture(np.array([0.5, 0.5]), np.repeat([[0.1], [0.9]], 3000, axis=1))
    lifts = kinds.log_lifts(np.array([[0] * 3000, [1] * 3000, [0, 1] * 1500]))
    assert np.isfinite(lifts).all()
    assert lifts[0] == pytest.approx(3000 * np.log(0.9 / 0.5) + np.log(0.5))


def log_posterior(kinds, labels, known):
    """What EM climbs: the log likelihood of known labels, and what the prior says of kinds of rows."""
    total = np.log(kinds.weights).sum()
    overall = ((labels & known).sum(axis=0) + 0.5) / (known.sum(axis=0) + 1)
    for theta in kinds.frequencies:
        total += PRIOR_ROWS * (overall * np.log(theta) + (1 - overall) * np.log1p(-theta)).sum()
    for row, is_known in zip(labels, known, strict=True):
        parts = [
            w * probability(row[is_known], theta[is_known])
            for w, theta in zip(kinds.weights, kinds.frequencies, strict=True)
        ]
        total += np.log(sum(parts))
    return total


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_no_step_of_the_algorithm_makes_it_worse(seed, missing, monkeypatch):
    rng = np.random.default_rng(seed)
    known = rng.random((60, 5)) >= missing
    labels = draw_rows(random_mixture(seed), 60, rng) & known
    posteriors = []
    for n_steps in (1, 2, 3, 5, 8, 13, 21, 40):
        monkeypatch.setattr(mixture, "MAX_STEPS", n_steps)
        posteriors.append(log_posterior(fit_mixture(labels, known, 3, np.random.default_rng(seed)), labels, known))
    assert (np.diff(posteriors) > -1e-9).all()
    assert posteriors[-1] > posteriors[0] + 0.1


def nearest_order(found, planted):
    """The order of kinds in which found frequencies are nearest to planted ones, and how far they are."""
    orders = [list(order) for order in permutations(range(len(found.weights)))]
    distances = [np.abs(found.frequencies[order] - planted.frequencies).max() for order in orders]
    return orders[int(np.argmin(distances))], min(distances)


PLANTED = LabelMixture(np.array([0.5, 0.3, 0.2]), np.where(np.arange(9) // 3 == np.arange(3)[:, np.newaxis], 0.85, 0.1))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_kinds_of_rows_are_found(missing):
    rng = np.random.default_rng(1)
    labels = draw_rows(PLANTED, 4000, rng)
    known = rng.random(labels.shape) >= missing
    found = fit_mixture(labels & known, known, 3, np.random.default_rng(0))
    order, distance = nearest_order(found, PLANTED)
    assert distance < 0.06
    np.testing.assert_allclose(found.weights[order], PLANTED.weights, atol=0.05)


def test_more_kinds_than_there_are_give_much_the_same_lifts():
    labels = draw_rows(PLANTED, 4000, np.random.default_rng(0))
    found = fit_mixture(labels, np.full(labels.shape, ALL_KNOWN), 8, np.random.default_rng(0))
    labelsets = np.unique(labels[:300], axis=0)
    correlation = np.corrcoef(found.log_lifts(labelsets), PLANTED.log_lifts(labelsets))[0, 1]
    assert correlation > 0.95


def test_missing_labels_count_nothing():
    rng = np.random.default_rng(0)
    labels = draw_rows(PLANTED, 200, rng)
    known = rng.random(labels.shape) >= 0.4
    one, other = (fit_mixture(guess, known, 3, np.random.default_rng(0)) for guess in (labels & known, labels | ~known))
    np.testing.assert_array_equal(one.frequencies, other.frequencies)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_rows_with_one_known_label_tell_frequencies_alone():
    rng = np.random.default_rng(0)
    labels = draw_rows(PLANTED, 4000, rng)
    known = np.eye(9, dtype=bool)[rng.integers(9, size=4000)]
    found = fit_mixture(labels & known, known, 4, np.random.default_rng(0))
    marginals = np.array([labels[known[:, i], i].mean() for i in range(9)])
    np.testing.assert_allclose(found.weights @ found.frequencies, marginals, atol=0.02)
    assert found.weights.sum() == pytest.approx(1)


def test_a_label_of_which_nothing_is_known_is_as_likely_as_not():
    labels = draw_rows(PLANTED, 200, np.random.default_rng(0))
    known = np.full(labels.shape, ALL_KNOWN)
    known[:, 2] = labels[:, 2] = False
    found = fit_mixture(labels, known, 3, np.random.default_rng(0))
    np.testing.assert_allclose(found.frequencies[:, 2], 0.5)
    labelsets = all_labelsets(9)
    swapped = labelsets.copy()
    swapped[:, 2] ^= 1
    np.testing.assert_allclose(found.log_lifts(labelsets), found.log_lifts(swapped))


@pytest.mark.parametrize("labels", [np.zeros((9, 3), bool), np.ones((9, 3), bool), np.ones((1, 1), bool)], ids=str)
def test_labels_with_one_value(labels):
    found = fit_mixture(labels, np.full(labels.shape, ALL_KNOWN), 3, np.random.default_rng(0))
    assert np.isfinite(found.log_lifts(all_labelsets(labels.shape[1]))).all()
    assert ((found.frequencies >= LEAST) & (found.frequencies <= 1 - LEAST)).all()
    assert (found.frequencies.mean() > 0.5) == labels.any()


def test_the_same_seed_gives_the_same_mixture():
    labels = draw_rows(PLANTED, 100, np.random.default_rng(0))
    known = np.full(labels.shape, ALL_KNOWN)
    one, other = (fit_mixture(labels, known, 3, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.frequencies, other.frequencies)
