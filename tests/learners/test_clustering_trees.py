"""Predictive clustering trees and forests: known ends, and what is in their leaves by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from choral import LabelDistribution
from choral.learners import PredictiveClusteringForest, PredictiveClusteringTree
from choral.learners.clustering_tree import count_features


def labelled(seed=0, n_rows=100):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(1)
    return X, (X @ rng.normal(size=(4, 3)) + rng.normal(size=(n_rows, 3)) > [0.0, 0.5, 2]).astype(int)


X, Y = labelled()
NEW, _ = labelled(1)


def smooth(n_rows=1000):
    """Features without ties: with large leaves, no two splits are equally good."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(n_rows, 4))
    return features, (features @ rng.normal(size=(4, 3)) + rng.normal(size=(n_rows, 3)) > [0.0, 0.5, 2]).astype(int)


@pytest.mark.parametrize("least", [40, 90])
def test_one_label_without_pruning_is_an_entropy_tree(least):
    X, Y = smooth()
    ours = PredictiveClusteringTree(confidence=None, min_samples_leaf=least).fit(X, Y[:, :1])
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least, random_state=0).fit(X, Y[:, 0])
    np.testing.assert_array_equal(ours.predict_proba(NEW)[:, 0], theirs.predict_proba(NEW)[:, 1])


def test_several_labels_without_pruning_are_a_tree_of_several_outputs():
    X, Y = smooth()
    ours = PredictiveClusteringTree(confidence=None, min_samples_leaf=40).fit(X, Y)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=40, random_state=0).fit(X, Y)
    expected = np.stack([shares[:, 1] for shares in theirs.predict_proba(NEW)], axis=1)
    np.testing.assert_array_equal(ours.predict_proba(NEW), expected)
    np.testing.assert_array_equal(ours.predict(NEW), expected >= 0.5)


def test_variance_is_that_of_labels_divided_by_their_spread():
    X, Y = smooth()
    ours = PredictiveClusteringTree(criterion="variance", confidence=None, min_samples_leaf=40).fit(X, Y)
    theirs = DecisionTreeRegressor(min_samples_leaf=40, random_state=0).fit(X, Y / Y.std(axis=0))
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict(NEW) * Y.std(axis=0), atol=1e-12)
    entropy = PredictiveClusteringTree(confidence=None, min_samples_leaf=40).fit(X, Y)
    assert not np.array_equal(entropy.predict_proba(NEW), ours.predict_proba(NEW))


def test_variance_gives_a_rare_label_its_weight():
    # One split: x0 tells a frequent label almost, x1 a rare one exactly.
    features = np.zeros((40, 2))
    features[:20, 0] = 1
    features[:4, 1] = 1
    labels = features.astype(int)
    labels[:2, 0], labels[20:22, 0] = 0, 1
    by_variance = PredictiveClusteringTree(criterion="variance", confidence=None).fit(features, labels)
    assert by_variance.tree_.feature[0] == 1
    assert DecisionTreeRegressor(max_depth=1).fit(features, labels).tree_.feature[0] == 0  # as they are


def test_a_constant_label_has_no_variance_to_divide_by():
    labels = np.column_stack([Y, np.ones(100, dtype=int)])
    model = PredictiveClusteringTree(criterion="variance").fit(X, labels)
    assert (model.predict_proba(NEW)[:, 3] == 1).all()


def leaf_of(tree, x):
    """Walk down from the root, one split at a time."""
    node = 0
    while tree.left[node] >= 0:
        goes_left = float(np.float32(x[tree.feature[node]])) <= tree.threshold[node]
        node = tree.left[node] if goes_left else tree.right[node]
    return node


def leaf_distribution(model, features, labels, x):
    """The label sets of the training rows in the leaf of x."""
    leaf = leaf_of(model.tree_, x)
    return LabelDistribution.from_samples(
        [row for row, f in zip(labels, features, strict=True) if leaf_of(model.tree_, f) == leaf]
    )


def as_dict(distribution, row):
    weights = (
        distribution.probabilities[[row]].toarray()[0]
        if distribution.probabilities.ndim == 2
        else distribution.probabilities
    )
    sets = map(tuple, distribution.labelsets.tolist())
    return {labels: weight for labels, weight in zip(sets, weights, strict=True) if weight}


@pytest.mark.parametrize("confidence", [0.25, 0.5, None])
def test_the_distribution_is_that_of_the_leaf(confidence):
    model = PredictiveClusteringTree(confidence=confidence).fit(X, Y)
    distribution = model.predict_distribution(NEW)
    for row, x in enumerate(NEW[:20]):
        expected = leaf_distribution(model, X, Y, x)
        assert as_dict(distribution, row) == pytest.approx(as_dict(expected, 0))
        np.testing.assert_allclose(model.predict_proba(NEW)[row], expected.marginals()[0])


def test_pruning_removes_leaves():
    sizes = [
        PredictiveClusteringTree(confidence=confidence).fit(X, Y).tree_.left.size for confidence in (0.1, 0.5, None)
    ]
    assert sizes[0] <= sizes[1] <= sizes[2]
    assert sizes[0] < sizes[2]


@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_the_forest_is_the_mean_of_its_trees(vote):
    forest = PredictiveClusteringForest(4, vote=vote, random_state=0).fit(X, Y)
    assert len(forest.estimators_) == 4
    votes = [tree.predict(NEW) if vote == "hard" else tree.predict_proba(NEW) for tree in forest.estimators_]
    np.testing.assert_allclose(forest.predict_proba(NEW), np.mean(votes, axis=0))
    np.testing.assert_array_equal(forest.predict(NEW), np.mean(votes, axis=0) >= 0.5)


def test_the_distribution_of_a_forest_is_the_mean_of_its_leaves():
    forest = PredictiveClusteringForest(3, random_state=7).fit(X, Y)
    rng = np.random.RandomState(7)
    drawn = []
    for tree in forest.estimators_:  # the seed of each tree comes before its rows
        assert tree.random_state == rng.randint(np.iinfo(np.int32).max)
        drawn.append(rng.randint(100, size=100))
    distribution = forest.predict_distribution(NEW)
    for row, x in enumerate(NEW[:10]):
        expected = {}
        for tree, rows in zip(forest.estimators_, drawn, strict=True):
            for labels, weight in as_dict(leaf_distribution(tree, X[rows], Y[rows], x), 0).items():
                expected[labels] = expected.get(labels, 0) + weight / 3
        assert as_dict(distribution, row) == pytest.approx(expected)
    assert {tuple(labels) for labels in forest.labelsets_.tolist()} == set(map(tuple, distribution.labelsets.tolist()))


def test_trees_of_a_forest_are_not_pruned_unless_asked_for():
    plain, pruned = (PredictiveClusteringForest(confidence=c, random_state=0).fit(X, Y) for c in (None, 0.25))
    leaves = [sum(tree.tree_.is_leaf.sum() for tree in forest.estimators_) for forest in (plain, pruned)]
    assert leaves[1] < leaves[0]
    assert all(tree.confidence is None for tree in plain.estimators_)


def test_leaves_and_trees_steer_how_much_is_kept_together():
    together = PredictiveClusteringForest(1, min_samples_leaf=1, random_state=0).fit(X, Y)
    apart = PredictiveClusteringForest(20, min_samples_leaf=20, random_state=0).fit(X, Y)
    n_sets = [np.diff(model.predict_distribution(NEW).probabilities.indptr).mean() for model in (together, apart)]
    assert n_sets[0] < 1.5
    assert n_sets[1] > 4


@pytest.mark.parametrize("criterion", ["entropy", "variance"])
def test_sparse_features_and_options_reach_the_trees(criterion):
    features = np.where(np.abs(X) < 0.5, 0, X)
    options = {"criterion": criterion, "min_samples_leaf": 3, "random_state": 0}
    dense = PredictiveClusteringForest(3, **options).fit(features, Y)
    sparse = PredictiveClusteringForest(3, **options).fit(sp.csc_array(features), Y)
    np.testing.assert_array_equal(dense.predict_proba(NEW), sparse.predict_proba(sp.csr_array(NEW)))
    assert {(tree.criterion, tree.min_samples_leaf) for tree in dense.estimators_} == {(criterion, 3)}


def noise(n_rows=80, n_labels=3, share=0.3):
    """Labels that no feature tells anything about."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, 2)).round(), (rng.random((n_rows, n_labels)) < share).astype(int)


@pytest.mark.parametrize(
    "share, words",
    [(0.2, "it predicts no label at all for every row"), (0.9, "it predicts the same 3 labels for every row")],
)
def test_a_tree_that_is_pruned_to_a_single_node_warns(share, words):
    X, Y = noise(share=share)
    with pytest.warns(UserWarning, match=words):
        tree = PredictiveClusteringTree(confidence=1e-6).fit(X, Y)
    assert len(tree.values_) == 1
    assert len(np.unique(tree.predict(X), axis=0)) == 1


def test_no_warning_where_there_is_nothing_to_split():
    X, Y = noise()
    PredictiveClusteringTree().fit(X, np.zeros_like(Y))  # a warning would be an error


def test_a_forest_warns_once_where_all_its_trees_are_single_nodes():
    X, Y = noise()
    with pytest.warns(UserWarning, match="each tree of the forest is a single node: it predicts no label") as caught:
        PredictiveClusteringForest(3, confidence=1e-6, random_state=0).fit(X, Y)
    assert len(caught) == 1
    PredictiveClusteringForest(3, random_state=0).fit(X, Y)  # not pruned: a warning would be an error


def test_advice_to_prune_less_is_for_trees_that_were_pruned():
    _, Y = noise()
    with pytest.warns(UserWarning, match="whatever its features.$"):
        PredictiveClusteringTree(confidence=None).fit(np.ones((80, 2)), Y)


@pytest.mark.parametrize(
    "max_features, n_drawn", [(None, 30), (7, 7), (99, 30), (0.5, 15), (0.001, 1), (1.0, 30), ("sqrt", 5), ("log2", 4)]
)
def test_features_drawn_at_each_node_are_counted_as_in_scikit_learn(max_features, n_drawn):
    assert count_features(max_features, 30) == n_drawn
    if max_features != 99:  # more than there are, which scikit-learn takes too, but counts as such
        wide = np.random.default_rng(0).normal(size=(100, 30))
        theirs = DecisionTreeRegressor(max_features=max_features).fit(wide, Y)
        assert theirs.max_features_ == n_drawn


@pytest.mark.parametrize(
    "max_features, message",
    [
        ("most", "max_features must be a number of features, a share of them, 'sqrt', 'log2' or None; got 'most'"),
        (1.5, r"max_features, as a share of the features, must lie in \(0, 1\]; got 1.5"),
        (0, "max_features must be at least 1; got 0"),
    ],
)
def test_numbers_of_features_that_are_refused(max_features, message):
    with pytest.raises(ValueError, match=message):
        PredictiveClusteringTree(max_features=max_features).fit(X, Y)


def test_a_forest_hands_the_number_of_features_to_its_trees():
    forest = PredictiveClusteringForest(5, max_features=1, random_state=0).fit(X, Y)
    assert [tree.max_features for tree in forest.estimators_] == [1] * 5
    all_features = PredictiveClusteringForest(5, random_state=0).fit(X, Y)
    assert not np.array_equal(forest.predict_proba(NEW), all_features.predict_proba(NEW))
