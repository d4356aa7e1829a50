"""Ensembles of chains: what each chain is fitted on, and votes counted by hand."""

from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from choral.learners import ClassifierChain, EnsembleOfChains
from choral.learners.base import MAX_SEED
from learner_zoo import labelled

X, Y = labelled()
NEW, _ = labelled(seed=1)


def fit_by_hand(n_chains, seed):
    """Chains one by one: a seed for its order, then the rows that it gets."""
    rng, chains = check_random_state(seed), []
    for _ in range(n_chains):
        chain = ClassifierChain(LogisticRegression(), order="random", random_state=rng.randint(MAX_SEED))
        rows = rng.randint(len(Y), size=len(Y))
        chains.append(chain.fit(X[rows], Y[rows]))
    return chains


def test_votes_are_counted():
    votes = np.array([chain.predict(NEW) for chain in fit_by_hand(7, seed=3)])
    model = EnsembleOfChains(LogisticRegression(), n_estimators=7, random_state=3).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(NEW), votes.mean(axis=0))
    np.testing.assert_array_equal(model.predict(NEW), votes.sum(axis=0) > 3.5)


def test_label_sets_of_the_chains_are_samples_of_the_distribution():
    model = EnsembleOfChains(LogisticRegression(), n_estimators=7, random_state=3).fit(X, Y)
    found = model.predict_distribution(NEW)
    np.testing.assert_allclose(found.marginals(), model.predict_proba(NEW), atol=1e-12)
    votes = np.array([chain.predict(NEW) for chain in fit_by_hand(7, seed=3)])
    for row in range(len(NEW)):
        counted = Counter(map(tuple, votes[:, row].tolist()))
        shares = found.probabilities.toarray()[row]
        stored = {tuple(found.labelsets[place].tolist()): shares[place] for place in np.flatnonzero(shares)}
        assert stored == pytest.approx({labels: count / 7 for labels, count in counted.items()})


def test_chains_have_orders_of_their_own():
    model = EnsembleOfChains(n_estimators=10, random_state=0).fit(X, Y)
    assert len({tuple(chain.order_) for chain in model.estimators_}) > 3


def test_half_of_the_votes_do_not_suffice():
    features, labels = np.zeros((20, 1)), np.array([[0], [1]] * 10)
    for seed in range(50):
        model = EnsembleOfChains(n_estimators=2, random_state=seed).fit(features, labels)
        if model.predict_proba([[0.0]]) == 0.5:
            assert model.predict([[0.0]]) == 0
            return
    raise AssertionError("no seed gives a tie")


def test_the_number_of_chains_is_checked():
    with pytest.raises(ValueError, match="n_estimators must be at least 1; got 0."):
        EnsembleOfChains(n_estimators=0).fit(X, Y)
