"""Boosted trees of all labels at once: Newton steps by definition, rounds, left-out rows, features, missing labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

from choral.datasets import make_dependent
from choral.learners import BoostedJoint, boosted_joint
from choral.learners.boosted_joint import PENALTY, _best_rounds, _grow_tree, _Growing, _useful_columns

DATA = make_dependent(200, 5, 0.6, n_features=6)
X, Y = DATA.X, DATA.Y
FOLDS = list(KFold(4).split(X))


def fitted(**options):
    return BoostedJoint(cv=FOLDS, random_state=0, **options).fit(X, Y)


def logistic(values):
    return 1 / (1 + np.exp(-values))


def walked(tree, row):
    """The leaf of a row, node by node."""
    numbers, splits, node = tree.leaf_numbers(), tree.splits.tolist(), 0
    while node in splits:
        place = splits.index(node)
        goes_left = np.float32(row[tree.feature[place]]) <= tree.threshold[place]
        node = int((tree.left if goes_left else tree.right)[place])
    return numbers[node]


def test_a_leaf_takes_a_newton_step_of_each_label():
    growing, log_odds = _Growing(0.3, 4, 0), np.random.default_rng(1).normal(size=Y.shape)
    weights = (np.random.default_rng(2).random(Y.shape) < 0.8).astype(float)
    features = X.astype(np.float32)
    tree, steps = _grow_tree(growing, features, Y, weights, log_odds, np.random.default_rng(0))
    drawn = np.flatnonzero(np.random.default_rng(0).random(len(Y)) < boosted_joint.SHARE_OF_ROWS)
    leaves = tree.apply(features[drawn])
    assert 1 < len(set(leaves.tolist())) <= 4
    for leaf in set(leaves.tolist()):
        rows = drawn[leaves == leaf]
        for label in range(Y.shape[1]):
            there = rows[weights[rows, label] == 1]
            share = logistic(log_odds[there, label])
            step = (Y[there, label] - share).sum() / ((share * (1 - share)).sum() + PENALTY)
            assert steps[leaf, label] == pytest.approx(0.3 * step, rel=1e-5)


def test_log_odds_are_the_sum_of_all_steps_and_the_mean_of_models():
    model = fitted(n_rounds=40)
    assert len(model.models_) == 4
    rows = X[:7]
    expected = np.zeros((7, 5))
    for one in model.models_:
        expected += one.base / 4
        for tree, steps in one.trees:
            expected += steps[[walked(tree, row) for row in rows]] / 4
    np.testing.assert_allclose(model.views(rows)[0].marginals(), logistic(expected), rtol=1e-5)


def test_models_do_not_see_the_rows_that_they_are_judged_by():
    """With other labels in a fold, the model of this fold is the same, and what it says of the fold too."""
    other = Y.copy()
    other[FOLDS[0][1]] = 1 - other[FOLDS[0][1]]
    one, two = (BoostedJoint(15, cv=FOLDS, random_state=0) for _ in range(2))
    said, said_of_other = (model.fit_views(X, labels)[0] for model, labels in ((one, Y), (two, other)))
    one.models_, two.models_ = one.models_[:1], two.models_[:1]
    n_rounds = min(len(one.models_[0].trees), len(two.models_[0].trees))
    first, second = one.models_[0].cut(n_rounds), two.models_[0].cut(n_rounds)
    np.testing.assert_array_equal(first.log_odds(X.astype(np.float32)), second.log_odds(X.astype(np.float32)))
    assert said.marginals().shape == said_of_other.marginals().shape == Y.shape


def test_the_best_number_of_rounds_is_that_of_all_folds_together():
    assert _best_rounds([[3.0, 1.0, 2.0], [3.0, 2.0, 0.0]]) == 2 * boosted_joint.CHECKED_EVERY
    assert _best_rounds([[3.0, 1.0], [3.0, 2.0, 2.5]]) == boosted_joint.CHECKED_EVERY  # one ended: it keeps its last
    assert _best_rounds([[1.0, 2.0], [1.0, 3.0]]) == 0


def test_labels_that_nothing_tells_about_need_no_rounds():
    rng = np.random.default_rng(0)
    noise = rng.integers(2, size=(200, 5))
    model = BoostedJoint(random_state=0).fit(rng.normal(size=(200, 3)), noise)
    assert model.n_rounds_ <= 2 * boosted_joint.CHECKED_EVERY
    assert np.abs(model.predict_proba(X[:, :3]) - noise.mean(axis=0)).max() < 0.35


def test_more_rounds_than_serve_left_out_rows_are_not_kept():
    model = fitted(n_rounds=300)
    assert model.n_rounds_ < 300
    assert all(len(one.trees) <= model.n_rounds_ for one in model.models_)


def test_better_than_frequencies():
    left_out = BoostedJoint(cv=FOLDS, random_state=0).fit_views(X, Y)[0].marginals()
    assert ((left_out - Y) ** 2).mean() < 0.9 * ((Y.mean(axis=0) - Y) ** 2).mean()


@pytest.mark.parametrize("n_jobs", [2])
def test_jobs_change_nothing(n_jobs):
    np.testing.assert_array_equal(fitted(n_jobs=n_jobs).predict_proba(X), fitted().predict_proba(X))


def test_rounding_does_not_matter_to_trees(monkeypatch):
    """Columns that come twice part rows alike: which one is taken must not hang on the last bits of exponentials."""
    twice = np.repeat(X > 0, 2, axis=1)
    twice[:, 1::2] ^= True
    expected = BoostedJoint(100, cv=FOLDS, random_state=0).fit(twice, Y)
    rng = np.random.default_rng(0)

    def rounded(log_odds):
        return logistic(log_odds) * (1 + 2.2e-16 * rng.integers(-1, 2, size=log_odds.shape))

    monkeypatch.setattr(boosted_joint, "_logistic", rounded)
    found = BoostedJoint(100, cv=FOLDS, random_state=0).fit(twice, Y)
    assert found.n_rounds_ == expected.n_rounds_ > 0
    for one, other in zip(found.models_, expected.models_, strict=True):
        for (tree, steps), (same_tree, same_steps) in zip(one.trees, other.trees, strict=True):
            np.testing.assert_array_equal(tree.feature, same_tree.feature)
            np.testing.assert_allclose(steps, same_steps, rtol=1e-6)


def test_sparse_features_are_as_good_as_dense_ones():
    sparse = np.where(np.abs(X) > 0.5, X, 0)
    dense, thin = (BoostedJoint(cv=FOLDS, random_state=0).fit(form(sparse), Y) for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(dense.predict_proba(sparse), thin.predict_proba(sp.csr_array(sparse)))


def test_labels_that_are_not_known_do_not_count():
    known = np.random.default_rng(0).random(Y.shape) < 0.7
    other = np.where(known, Y, 1 - Y)
    views = [BoostedJoint(30, cv=FOLDS, random_state=0).fit_views(X, labels, known)[0] for labels in (Y, other)]
    np.testing.assert_array_equal(*(view.marginals() for view in views))


def test_a_deadline_that_is_over_leaves_one_round():
    model = BoostedJoint(cv=FOLDS, random_state=0)
    model.fit_views(X, Y, deadline=0.0)
    assert {len(one.trees) for one in model.models_} <= {0, 1}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_that_go_with_labels_are_kept(form, monkeypatch):
    monkeypatch.setattr(boosted_joint, "MAX_FEATURES", 4)
    rng = np.random.default_rng(0)
    many = np.hstack([rng.normal(size=(200, 10)), Y[:, :2] + 0.1 * rng.normal(size=(200, 2)), np.ones((200, 1))])
    many = np.where(np.abs(many) > 0.3, many, 0).astype(np.float32)
    found = _useful_columns(form(many), Y, np.ones(Y.shape))
    with np.errstate(invalid="ignore"):
        squares = np.nan_to_num(np.corrcoef(many.T, Y.T)[: many.shape[1], many.shape[1] :] ** 2).sum(axis=1)
    assert found.tolist() == sorted(np.argsort(-squares)[:4].tolist())
    assert {10, 11} < set(found.tolist())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rounds": 0}, "n_rounds must be at least 1; got 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be at least 2; got 1"),
        ({"learning_rate": 0}, "learning_rate must be above 0; got 0"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(**options)
