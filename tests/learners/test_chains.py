"""Chains: the product rule by enumeration, orders, what is fed forward, and scikit-learn's chain."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.svm import LinearSVC

from choral.learners import BinaryRelevance, ClassifierChain, ProbabilisticClassifierChain, probabilistic_chain

ORDERS = [None, [2, 0, 1], "random"]


def dependent(n_rows=60, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    Y = np.zeros((n_rows, n_labels), dtype=int)
    for label in range(n_labels):
        score = X[:, label % 3] + 2 * Y[:, label - 1] - 0.5 + rng.normal(size=n_rows)
        Y[:, label] = score > 0
    return X, Y


X, Y = dependent()
NEW, _ = dependent(seed=1)


def joint_by_product_rule(chain, x):
    """The probability of each label set: follow each of the 2^K paths by itself."""
    joint = {}
    for labels in product([0, 1], repeat=chain.n_labels_):
        probability = 1.0
        for place, (model, label) in enumerate(zip(chain.estimators_, chain.order_, strict=True)):
            before = [labels[other] for other in chain.order_[:place]]
            share = model.predict_proba([[*x, *before]])[0, list(model.classes_).index(1)]
            probability *= share if labels[label] else 1 - share
        joint[labels] = probability
    return joint


def as_dicts(distribution):
    sets = [tuple(labels) for labels in distribution.labelsets.tolist()]
    return [dict(zip(sets, row, strict=True)) for row in distribution.probabilities.toarray()]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("base", [LogisticRegression(), None], ids=["logistic", "pruned tree"])
def test_exact_inference_is_the_product_rule(base, order):
    chain = ProbabilisticClassifierChain(base, order=order, random_state=3).fit(X, Y)
    distribution = chain.predict_distribution(NEW[:5])
    modes, marginals = chain.predict(NEW[:5]), chain.predict_proba(NEW[:5])
    for x, found, mode, marginal in zip(NEW, as_dicts(distribution), modes, marginals, strict=False):
        joint = joint_by_product_rule(chain, x)
        for labels, probability in joint.items():
            assert found.get(labels, 0) == pytest.approx(probability, abs=1e-12)
        assert joint[tuple(mode)] == pytest.approx(max(joint.values()))
        expected = sum(np.array(labels) * probability for labels, probability in joint.items())
        np.testing.assert_allclose(marginal, expected, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_a_beam_that_is_wide_enough_is_exact(order):
    options = {"order": order, "random_state": 3}
    exact = ProbabilisticClassifierChain(LogisticRegression(), inference="exact", **options).fit(X, Y)
    beam = ProbabilisticClassifierChain(LogisticRegression(), inference="beam", width=8, **options).fit(X, Y)
    for one, other in zip(*(as_dicts(chain.predict_distribution(NEW)) for chain in (exact, beam)), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_a_beam_of_one_is_greedy_and_one_of_two_keeps_the_two_best_beginnings():
    greedy = ProbabilisticClassifierChain(LogisticRegression(), inference="beam", width=1).fit(X, Y)
    hard = ClassifierChain(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(greedy.predict(NEW), hard.predict(NEW))
    assert (greedy.predict_distribution(NEW).probabilities.data == 1).all()
    beam = greedy.set_params(width=2)
    for x, found in zip(NEW, as_dicts(beam.predict_distribution(NEW[:10])), strict=False):
        joint = joint_by_product_rule(beam, x)
        pairs = {
            begin: sum(p for labels, p in joint.items() if labels[:2] == begin) for begin in product([0, 1], repeat=2)
        }
        begins = sorted(pairs, key=pairs.get)[-2:]
        best = sorted((labels for labels in joint if labels[:2] in begins), key=joint.get)[-2:]
        total = sum(joint[labels] for labels in best)
        kept = {labels: weight for labels, weight in found.items() if weight}
        assert kept == pytest.approx({labels: joint[labels] / total for labels in best})


def test_sampling_converges():
    options = {"order": [1, 2, 0], "random_state": 0}
    exact = ProbabilisticClassifierChain(LogisticRegression(), **options).fit(X, Y)
    drawn = ProbabilisticClassifierChain(LogisticRegression(), inference="sampling", width=40_000, **options).fit(X, Y)
    for one, other in zip(*(as_dicts(chain.predict_distribution(NEW[:8])) for chain in (exact, drawn)), strict=True):
        assert {labels: one.get(labels, 0) - other.get(labels, 0) for labels in one} == pytest.approx(
            dict.fromkeys(one, 0), abs=0.01
        )


def test_sampling_draws_as_many_as_asked_for_and_repeats():
    chain = ProbabilisticClassifierChain(LogisticRegression(), inference="sampling", width=7, random_state=0).fit(X, Y)
    times = chain.predict_distribution(NEW).probabilities.toarray() * 7
    np.testing.assert_allclose(times, times.round(), atol=1e-12)
    np.testing.assert_array_equal(chain.predict_proba(NEW), chain.predict_proba(NEW))


def test_auto_is_exact_for_few_labels_and_draws_for_many():
    features, labels = dependent(n_labels=11)
    options = {"estimator": LogisticRegression(), "width": 5, "random_state": 0}
    for n_labels, kind in ((10, "exact"), (11, "sampling")):
        auto = ProbabilisticClassifierChain(**options).fit(features, labels[:, :n_labels])
        named = ProbabilisticClassifierChain(**options, inference=kind).fit(features, labels[:, :n_labels])
        assert auto.predict_distribution(features[:4]) == named.predict_distribution(features[:4])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_of_rows_do_not_matter(form, monkeypatch):
    chain = ProbabilisticClassifierChain(LogisticRegression()).fit(form(X), Y)
    whole = chain.predict_distribution(form(NEW))
    monkeypatch.setattr(probabilistic_chain, "BLOCK_ENTRIES", 100)
    parts = chain.predict_distribution(form(NEW))
    assert len(chain._blocks(form(NEW), "exact")) > 10
    for one, other in zip(as_dicts(whole), as_dicts(parts), strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_impossible_label_sets_are_left_out():
    constant = np.column_stack([Y[:, 0], np.ones(60, dtype=int)])
    distribution = ProbabilisticClassifierChain(LogisticRegression()).fit(X, constant).predict_distribution(NEW)
    assert (distribution.labelsets[:, 1] == 1).all()


@pytest.mark.parametrize("order", [None, [2, 0, 1]])
@pytest.mark.parametrize("base", [LogisticRegression(), LinearSVC()], ids=str)
def test_hard_chain_is_that_of_scikit_learn(base, order):
    ours = ClassifierChain(base, order=order).fit(X, Y)
    theirs = TheirChain(base, order=order).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
    if hasattr(base, "predict_proba"):
        np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW))
    else:
        np.testing.assert_array_equal(ours.predict_proba(NEW), ours.predict(NEW))


def test_soft_chain_feeds_probabilities():
    chain = ClassifierChain(LogisticRegression(), order=[1, 0, 2], feed="soft").fit(X, Y)
    fed = np.empty((60, 0))
    for place, label in enumerate([1, 0, 2]):
        share = chain.estimators_[place].predict_proba(np.hstack([NEW, fed]))[:, 1:]
        np.testing.assert_allclose(chain.predict_proba(NEW)[:, [label]], share)
        fed = np.hstack([fed, share])
    np.testing.assert_array_equal(chain.predict(NEW), chain.predict_proba(NEW) > 0.5)


def test_labels_are_fed_in_the_given_order():
    chain = ClassifierChain(LogisticRegression(), order=[2, 0, 1]).fit(X, Y)
    by_hand = LogisticRegression().fit(np.hstack([X, Y[:, [2, 0]]]), Y[:, 1])
    np.testing.assert_allclose(chain.estimators_[2].coef_, by_hand.coef_)
    assert chain.order_.tolist() == [2, 0, 1]


def test_random_orders_are_permutations_and_repeat():
    orders = [ClassifierChain(order="random", random_state=seed).fit(X, Y).order_.tolist() for seed in (0, 0, 1, 2, 3)]
    assert all(sorted(order) == [0, 1, 2] for order in orders)
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1


@pytest.mark.parametrize("seed", [0, np.random.RandomState])
@pytest.mark.parametrize("base", [None, LogisticRegression(), LinearSVC(), RandomForestClassifier(5)], ids=str)
def test_a_chain_of_one_label_is_binary_relevance(base, seed):
    def fitted(make):
        return make(base, random_state=seed(0) if callable(seed) else seed).fit(X, Y[:, :1])

    expected = fitted(BinaryRelevance)
    for make in (ClassifierChain, ProbabilisticClassifierChain):
        np.testing.assert_array_equal(fitted(make).predict(NEW), expected.predict(NEW))
        np.testing.assert_allclose(fitted(make).predict_proba(NEW), expected.predict_proba(NEW), atol=1e-15)
