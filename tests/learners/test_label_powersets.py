"""Label powersets and RAkEL: what their votes are, and the methods at their ends."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from choral.learners import BinaryRelevance, LabelPowerset, RandomKLabelsets

BASES = [None, GaussianNB(), LinearSVC(), RandomForestClassifier(5)]
SEEDS = [None, 0, 1]


def labelled(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    return X, (X @ rng.normal(size=(4, 5)) + rng.normal(size=(60, 5)) > 0.2).astype(int)


X, Y = labelled()
NEW, _ = labelled(1)


def test_label_powerset_by_hand():
    sets = [tuple(row) for row in Y.tolist()]
    seen = sorted(set(sets))
    alone = LogisticRegression().fit(X, [seen.index(row) for row in sets])
    model = LabelPowerset(LogisticRegression()).fit(X, Y)
    assert model.labelsets_.tolist() == [list(row) for row in seen]
    np.testing.assert_array_equal(model.predict(NEW), np.array(seen)[alone.predict(NEW)])
    np.testing.assert_allclose(model.predict_proba(NEW), alone.predict_proba(NEW) @ np.array(seen))
    np.testing.assert_allclose(model.predict_distribution(NEW).probabilities, alone.predict_proba(NEW))


def test_label_powerset_predicts_only_what_it_has_seen():
    seen = {tuple(row) for row in Y.tolist()}
    for base in BASES:
        assert {tuple(row) for row in LabelPowerset(base).fit(X, Y).predict(NEW).tolist()} <= seen


def test_without_probabilities_the_predicted_label_set_is_certain():
    model = LabelPowerset(LinearSVC()).fit(X, Y)
    np.testing.assert_array_equal(model.predict_distribution(NEW).mode(), model.predict(NEW))
    np.testing.assert_array_equal(model.predict_proba(NEW), model.predict(NEW))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_sets_of_one_label_are_binary_relevance(base, seed):
    if seed is None and isinstance(base, RandomForestClassifier):
        base = RandomForestClassifier(5, random_state=3)
    expected = BinaryRelevance(base, random_state=seed).fit(X, Y).predict(NEW)
    for vote in ("majority", "any"):
        model = RandomKLabelsets(base, k=1, disjoint=True, vote=vote, random_state=seed).fit(X, Y)
        np.testing.assert_array_equal(model.predict(NEW), expected)
    all_once = RandomKLabelsets(base, k=1, m=5, random_state=seed).fit(X, Y)  # no set comes twice
    np.testing.assert_array_equal(all_once.predict(NEW), expected)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_one_set_of_all_labels_is_a_label_powerset(base, seed):
    if seed is None and isinstance(base, RandomForestClassifier):
        base = RandomForestClassifier(5, random_state=3)
    expected = LabelPowerset(base, random_state=seed).fit(X, Y).predict(NEW)
    for options in ({"m": 1}, {"disjoint": True}, {"m": 1, "vote": "any"}):
        model = RandomKLabelsets(base, k=5, random_state=seed, **options).fit(X, Y)
        np.testing.assert_array_equal(model.predict(NEW), expected)
    larger = RandomKLabelsets(base, k=9, m=1, random_state=seed).fit(X, Y)
    np.testing.assert_array_equal(larger.predict(NEW), expected)


def test_seeds_from_one_source_are_those_of_binary_relevance():
    forest = RandomForestClassifier(5)
    expected = BinaryRelevance(forest, random_state=np.random.RandomState(5)).fit(X, Y)
    model = RandomKLabelsets(forest, k=1, disjoint=True, random_state=np.random.RandomState(5)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW), expected.predict(NEW))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_votes_by_hand(seed):
    majority, single = (
        RandomKLabelsets(GaussianNB(), k=2, m=4, vote=vote, random_state=seed).fit(X, Y) for vote in ("majority", "any")
    )
    votes = {label: [] for label in range(5)}
    for labels in majority.label_subsets_:
        predicted = LabelPowerset(GaussianNB()).fit(X, Y[:, labels]).predict(NEW)
        for place, label in enumerate(labels):
            votes[label].append(predicted[:, place])
    for label, cast in votes.items():
        share = np.mean(cast, axis=0) if cast else np.zeros(60)
        np.testing.assert_array_equal(majority.predict_proba(NEW)[:, label], share)
        np.testing.assert_array_equal(majority.predict(NEW)[:, label], share > 0.5)
        np.testing.assert_array_equal(single.predict(NEW)[:, label], share > 0)


def test_a_label_in_no_set_is_never_predicted():
    labels = np.ones_like(Y)
    labels[::2] = 0
    features = np.arange(60)[:, np.newaxis] % 2
    model = RandomKLabelsets(k=2, m=1, vote="any", random_state=0).fit(features, labels)
    (subset,) = model.label_subsets_
    assert model.predict([[1]])[0].tolist() == [int(label in subset) for label in range(5)]
    assert model.predict_proba([[1]])[0].tolist() == [float(label in subset) for label in range(5)]


@pytest.mark.parametrize(
    "options, n_sets, size",
    [
        ({"k": 2}, 10, 2),  # twice the labels: 10, and all there are
        ({"k": 1}, 5, 1),
        ({"k": 3, "m": 4}, 4, 3),
        ({"k": 9}, 1, 5),
        ({"k": 4}, 5, 4),
    ],
)
def test_sets_are_different_and_of_size_k(options, n_sets, size):
    subsets = RandomKLabelsets(**options, random_state=0).fit(X, Y).label_subsets_
    assert len(subsets) == n_sets == len({tuple(labels) for labels in subsets})
    assert all(len(set(labels.tolist())) == size for labels in subsets)


def test_more_sets_than_there_are_may_come_again():
    subsets = RandomKLabelsets(k=4, m=12, random_state=0).fit(X, Y).label_subsets_
    assert len(subsets) == 12


@pytest.mark.parametrize("k, sizes", [(2, [1, 2, 2]), (3, [2, 3]), (5, [5])])
def test_disjoint_sets_part_the_labels(k, sizes):
    subsets = RandomKLabelsets(k=k, disjoint=True, random_state=0).fit(X, Y).label_subsets_
    assert sorted(len(labels) for labels in subsets) == sizes
    assert sorted(np.concatenate(subsets).tolist()) == [0, 1, 2, 3, 4]
    first = RandomKLabelsets(k=k, disjoint=True, m=1, random_state=0).fit(X, Y).label_subsets_
    assert len(first) == 1
    np.testing.assert_array_equal(first[0], subsets[0])


@pytest.mark.parametrize("m, n_sets", [(0.1, 1), (0.5, 3), (1.0, 6), (2.0, 12), (9.0, 15), (40, 40)])
def test_the_number_of_sets_may_be_a_multiple_of_the_number_of_labels(m, n_sets):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.integers(2, size=(40, 6))
    model = RandomKLabelsets(k=2, m=m, random_state=0).fit(X, Y)
    assert len(model.label_subsets_) == n_sets  # of pairs there are 15
    if m == 2.0:
        unless_given = RandomKLabelsets(k=2, random_state=0).fit(X, Y)
        assert [*map(tuple, unless_given.label_subsets_)] == [*map(tuple, model.label_subsets_)]


@pytest.mark.parametrize("m", [0.0, -1.0, np.inf, np.nan])
def test_a_multiple_must_be_positive(m):
    with pytest.raises(ValueError, match="m must be positive and finite; got"):
        RandomKLabelsets(k=2, m=m).fit(np.ones((4, 1)), np.eye(4, dtype=int))
