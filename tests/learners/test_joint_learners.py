"""Learners made for these losses: what their distributions are by definition, and one model for every loss."""

import pickle
import time
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor
from threadpoolctl import threadpool_limits

from choral import (
    BinomialMeasure,
    HammingMeasure,
    IndependentLabels,
    LabelDistribution,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
    bayes_curve,
    bayes_optimal,
    binomial_loss,
)
from choral.datasets import load
from choral.learners import (
    AutoJoint,
    BinaryRelevance,
    ExpectedLossClassifier,
    JointForest,
    LabelPowerset,
    LogisticJoint,
    PredictiveClusteringForest,
    StackedJoint,
    joint_forest,
    logistic_joint,
    pooled,
)
from choral.learners.base import MAX_SEED
from choral.learners.evidence import FLOOR, evidence_of
from choral.learners.joint import JointClassifier
from choral.learners.pooled import SMOOTHINGS, PooledJoint, inner_splits
from choral.learners.pooling import fit_pool
from choral.trees import features


def labelled(n_rows=60, n_labels=3, seed=0):
    """Labels that depend on features, on each other, and on chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    scores = X @ np.random.default_rng(0).normal(size=(4, n_labels)) + 0.5 * rng.normal(size=(n_rows, n_labels))
    scores[:, -1] += scores[:, 0]
    return X, (scores > 0.2).astype(int)


X, Y = labelled()
NEW, _ = labelled(25, seed=1)
MEASURES = [
    HammingMeasure(),
    BinomialMeasure(2),
    PolynomialMeasure(2.5),
    SubsetMeasure(),
    RelevanceMeasure(BinomialMeasure(2), beta=3.0),
]


SMALL = [  # one of each kind, quick to fit
    JointForest(10, random_state=0),
    JointForest(10, target="labelsets", random_state=0),
    LogisticJoint([0.3], cv=2, random_state=0),
    StackedJoint([("together", LabelPowerset()), ("apart", BinaryRelevance())], cv=2, random_state=0),
    ExpectedLossClassifier(JointForest(10), random_state=0),
]


@pytest.fixture(scope="module", params=SMALL, ids=str)
def model(request):
    return clone(request.param).fit(X, Y)


def as_dicts(distribution):
    """For each row the label sets with a probability."""
    weights = distribution.probabilities
    weights = weights.toarray() if sp.issparse(weights) else weights
    sets = [tuple(labels) for labels in distribution.labelsets.tolist()]
    return [{labels: share for labels, share in zip(sets, row, strict=True) if share} for row in weights]


def assert_same(one, other):
    assert one.n_instances == other.n_instances
    for mine, theirs in zip(as_dicts(one), as_dicts(other), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)


@pytest.fixture(autouse=True)
def one_thread():
    """Boosted trees are small: threads that wait for each other take many times as long on a busy machine."""
    with threadpool_limits(1):
        yield


# What all share


def test_one_model_decides_for_every_loss(model):
    distribution = model.predict_distribution(NEW)
    for measure in MEASURES:
        labels = model.predict(NEW, measure=measure)
        assert labels.dtype == Y.dtype
        np.testing.assert_array_equal(labels, bayes_optimal(distribution, measure).labels)
    np.testing.assert_array_equal(model.predict(NEW), distribution.mode())
    np.testing.assert_allclose(model.predict_proba(NEW), distribution.marginals())


@pytest.mark.parametrize("family, parameters", [("binomial", None), ("polynomial", None), ("polynomial", [1, 3])])
def test_curves_of_decisions(model, family, parameters):
    curve = model.predict_curve(NEW, family, parameters)
    expected = bayes_curve(model.predict_distribution(NEW), family, parameters)
    np.testing.assert_array_equal(curve.parameters, expected.parameters)
    np.testing.assert_array_equal(curve.labels, expected.labels)


def test_a_row_does_not_depend_on_those_beside_it(model):
    together = as_dicts(model.predict_distribution(NEW))
    for row in (0, 7, 24):
        (alone,) = as_dicts(model.predict_distribution(NEW[[row]]))
        assert alone == pytest.approx(together[row], rel=1e-9)


@pytest.mark.parametrize("learner", [*SMALL[:3], SMALL[4]], ids=str)
def test_seeds_decide(learner):
    first, again, from_source, other = (
        clone(learner).set_params(random_state=seed).fit(X, Y).predict_distribution(NEW)
        for seed in (1, 1, np.random.RandomState(1), 2)
    )
    assert_same(first, again)
    assert_same(first, from_source)
    assert as_dicts(first) != as_dicts(other)


def test_two_rows_are_enough_for_a_forest():
    model = JointForest(50, target="labels", random_state=2).fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    assert model.predict([[0.0], [1.0]]).tolist() == [[0, 1], [1, 0]]
    one_class = JointForest(10, target="labelsets", random_state=0).fit([[0.0], [1.0]], [[0, 1], [1, 0]])
    assert [tree.tree.n_leaves for tree in one_class.trees_] == [1] * 10  # too few for two classes
    assert one_class.predict([[0.0], [1.0]]).sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize(
    "make", [LogisticJoint, lambda: AutoJoint(cv=4), lambda: StackedJoint([("apart", BinaryRelevance())])]
)
def test_fewer_rows_than_folds_are_refused(make):
    with pytest.raises(ValueError, match="cv must be at most the number of rows, n_samples=2; got 4"):
        make().fit(X[:2], Y[:2])


@pytest.mark.parametrize(
    "learner, message",
    [
        (JointForest(0), "n_estimators must be at least 1; got 0"),
        (JointForest(2.5), "n_estimators must be a whole number, at least 1; got 2.5"),
        (JointForest(target="label"), "target must be 'both', 'labels' or 'labelsets'; got 'label'"),
        (JointForest(max_features="all"), "max_features"),
        (JointForest(min_samples_leaf=0), "min_samples_leaf"),
        (JointForest(splitter="worst"), "splitter"),
        (LogisticJoint([]), "strengths must hold at least one number; got none"),
        (LogisticJoint([1.0, -1.0]), r"strengths must be above 0, and finite; got \[1.0, -1.0\]"),
        (LogisticJoint([np.nan]), "strengths must be above 0, and finite; got"),
        (LogisticJoint(cv=1), "cv must be at least 2; got 1"),
        (LogisticJoint(cv=2.5), "cv must be a whole number, at least 2; got 2.5"),
        (StackedJoint([]), "estimators must hold at least one pair of a name and a learner; got none"),
        (StackedJoint([("apart", BinaryRelevance())], cv=61), "at most the number of rows, n_samples=60; got 61"),
        (AutoJoint(0), "n_estimators must be at least 1; got 0"),
        (AutoJoint(cv=0), "cv must be at least 2; got 0"),
        (
            ExpectedLossClassifier(source="samples"),
            "source must be one of 'auto', 'distribution', 'marginals', 'ensemble'; got 'samples'",
        ),
    ],
    ids=str,
)
def test_options_that_are_refused(learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y)


def test_whole_numbers_may_be_floats():
    forest = JointForest(5.0, random_state=0).fit(X, Y)
    assert len(forest.trees_) == 5
    assert LogisticJoint([0.3], cv=2.0, random_state=0).fit(X, Y).strength_ == 0.3


def test_parents_need_a_distribution():
    for method in ("predict", "predict_proba", "predict_curve"):
        with pytest.raises(AttributeError, match=f"'JointClassifier' has no attribute '{method}'"):
            getattr(JointClassifier(), method)
    for method, arguments in (("fit_views", (X, Y)), ("views", (X,))):
        with pytest.raises(NotImplementedError):
            getattr(PooledJoint(), method)(*arguments)


def test_exponents_are_learned_from_some_rows_of_many(monkeypatch):
    rows_seen = []

    def spying_on(function):
        def spy(evidence, labels, rows, *known):
            rows_seen.append(rows)
            return function(evidence, labels, rows, *known)

        return spy

    monkeypatch.setattr(pooled, "MAX_ROWS", 20)
    monkeypatch.setattr(pooled, "fit_pool", spying_on(pooled.fit_pool))
    monkeypatch.setattr(pooled, "best_score", spying_on(pooled.best_score))
    JointForest(10, random_state=0).fit(X, Y)
    assert len(rows_seen) == len(SMOOTHINGS) + 1
    assert len(np.unique(rows_seen[0])) == 20
    np.testing.assert_array_equal(rows_seen, [rows_seen[0]] * len(rows_seen))


def test_smoothing_is_that_with_the_best_score():
    forest = JointForest(10, random_state=0).fit(X, Y)
    scores = {}
    for share in SMOOTHINGS:
        one = evidence_of(forest.oob_distribution_, share)
        scores[share] = fit_pool([one], Y.astype(np.uint8), np.arange(len(Y))).score
    assert forest.smoothings_ == [max(scores, key=scores.get)]
    assert forest.pool_.score == max(scores.values())


# Forests


class Grown(NamedTuple):
    """A tree as scikit-learn grew it, the training rows as often as they were drawn, and its targets."""

    tree: ExtraTreeRegressor | ExtraTreeClassifier
    rows: np.ndarray
    target: np.ndarray


@pytest.fixture
def grown(monkeypatch):
    """The trees that are grown in this process, in order."""
    found = []

    def recorded(grower):
        def fit(self, features, target, drawn, check_input):
            dense = features.toarray() if sp.issparse(features) else features
            same = (dense[:, np.newaxis] == X.astype(np.float32)).all(axis=2)
            found.append(Grown(self, np.repeat(same.argmax(axis=1), drawn.astype(int)), target))
            return grower.fit(self, features, target, drawn, check_input=check_input)

        return type(grower.__name__, (grower,), {"fit": fit})

    for grower in (ExtraTreeRegressor, ExtraTreeClassifier):
        monkeypatch.setattr(joint_forest, grower.__name__, recorded(grower))
    return found


def share_by_definition(trees, row):
    """The weight of each training row for this one: its share in the leaf of the row, mean over trees."""
    weights = np.zeros(len(X))
    for one in trees:
        of_training, (leaf,) = one.tree.apply(X), one.tree.apply(row[np.newaxis])
        here = np.zeros(len(X))
        for drawn in one.rows:  # as often as it was drawn
            here[drawn] += of_training[drawn] == leaf
        weights += here / here.sum()
    return weights / len(trees)


def of_labelsets(weights):
    """The weights of training rows, added up for each label set."""
    shares = {}
    for labels, weight in zip(map(tuple, Y.tolist()), weights, strict=True):
        shares[labels] = shares.get(labels, 0) + weight
    return {labels: share for labels, share in shares.items() if share}


SMALL_LEAVES = {
    "max_features": 0.2,
    "min_samples_leaf": 1,
    "splitter": "random",
    "random_state": 0,
}  # one setting: nothing is tried first
FORESTS = [
    JointForest(12, **SMALL_LEAVES),
    JointForest(12, target="labels", **SMALL_LEAVES),
    JointForest(12, target="labelsets", **SMALL_LEAVES),
    JointForest(12, min_samples_leaf=6, max_features=1.0, splitter="best", random_state=0),
]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", FORESTS, ids=str)
def test_weights_are_those_of_quantile_regression_forests(learner, form, grown):
    forest = clone(learner).fit(form(X), Y)
    (view,) = forest.views(form(NEW))
    for row, found in zip(NEW[:8], as_dicts(view), strict=False):
        assert found == pytest.approx(of_labelsets(share_by_definition(grown, row)))


@pytest.mark.parametrize("learner", FORESTS, ids=str)
def test_rows_left_out_are_judged_by_the_trees_that_have_not_seen_them(learner, grown):
    forest = clone(learner).fit(X, Y)
    assert [len(one.rows) for one in grown] == [60] * 12
    for row, found in enumerate(as_dicts(forest.oob_distribution_)[:20]):
        unseen = [one for one in grown if row not in one.rows]
        if unseen:
            assert found == pytest.approx(of_labelsets(share_by_definition(unseen, X[row])))


def test_of_many_rows_each_tree_sees_some(grown, monkeypatch):
    monkeypatch.setattr(joint_forest, "MAX_TREE_ROWS", 15)
    forest = JointForest(12, **SMALL_LEAVES).fit(X, Y)
    assert [len(one.rows) for one in grown] == [15] * 12
    assert len({tuple(one.rows) for one in grown}) == 12
    for row, found in enumerate(as_dicts(forest.oob_distribution_)[:10]):
        unseen = [one for one in grown if row not in one.rows]
        assert found == pytest.approx(of_labelsets(share_by_definition(unseen, X[row])))


@pytest.mark.parametrize("n_estimators", [1, 3])
def test_a_row_that_every_tree_has_seen_is_judged_by_the_label_sets_of_all_others(n_estimators, grown):
    forest = JointForest(n_estimators, **SMALL_LEAVES).fit(X, Y)
    always = set.intersection(*(set(one.rows.tolist()) for one in grown))
    assert 0 < len(always) < len(X)
    found = as_dicts(forest.oob_distribution_)
    for row in always:
        assert found[row] == pytest.approx(of_labelsets((np.arange(len(X)) != row) / (len(X) - 1)))


def test_a_forest_of_one_row():
    forest = JointForest(1, random_state=0).fit(X[:1], Y[:1])
    assert as_dicts(forest.oob_distribution_) == [{tuple(Y[0].tolist()): 1}]


@pytest.mark.parametrize("limit", [0, 200])  # beyond it trees grow on sparse columns; the rows of one tree are fewer
def test_trees_that_are_grown_on_a_sparse_matrix(limit, monkeypatch, grown):
    dense = JointForest(12, **SMALL_LEAVES).fit(X, Y)
    assert_same(JointForest(12, **SMALL_LEAVES).fit(sp.csc_matrix(X), Y).views(NEW)[0], dense.views(NEW)[0])
    monkeypatch.setattr(features, "MAX_DENSE_ENTRIES", limit)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    grown.clear()
    forest = JointForest(12, **SMALL_LEAVES).fit(wide, Y)
    for row, found in zip(NEW[:8], as_dicts(forest.views(sp.csr_array(NEW))[0]), strict=False):
        assert found == pytest.approx(of_labelsets(share_by_definition(grown, row)))
    assert_same(forest.predict_distribution(wide), forest.predict_distribution(X))


def test_trees_are_grown_for_labels_and_label_sets_in_turn(grown):
    JointForest(12, **SMALL_LEAVES).fit(X, Y)
    assert [one.target.shape[1] for one in grown] == [3, 1] * 6
    for one in grown:
        labels = Y[np.unique(one.rows)]
        if isinstance(one.tree, ExtraTreeRegressor):
            np.testing.assert_array_equal(one.target, labels)
        else:  # one class for each label set
            np.testing.assert_array_equal(one.target == one.target.T, (labels[:, np.newaxis] == labels).all(axis=2))


def test_many_labels_are_projected_anew_for_each_tree(grown, monkeypatch):
    monkeypatch.setattr(joint_forest, "MAX_OUTPUTS", 2)
    monkeypatch.setattr(joint_forest, "N_PROJECTIONS", 2000)
    JointForest(2, target="labels", **SMALL_LEAVES).fit(X, Y)
    first, second = (one.target for one in grown)
    assert first.shape[1] == second.shape[1] == 2000
    assert not np.array_equal(first[:, 0], second[:, 0])
    np.testing.assert_array_equal(first, np.rint(first))  # exact sums: rows with the same labels have no variance
    labels = Y[np.unique(grown[0].rows)].astype(float)
    distances, expected = (((rows[:, np.newaxis] - rows) ** 2).sum(axis=2) for rows in (first, labels))
    scale = joint_forest.PROJECTION_STEPS**2 * 2000
    np.testing.assert_allclose(distances / scale, expected, atol=0.4)


def test_jobs_change_nothing():
    alone = JointForest(25, **SMALL_LEAVES).fit(X, Y)
    with parallel_config("threading", n_jobs=2):
        together = JointForest(25, **SMALL_LEAVES).fit(X, Y)
    assert len(together.trees_) == 25
    assert_same(together.views(NEW)[0], alone.views(NEW)[0])
    assert_same(together.oob_distribution_, alone.oob_distribution_)


def test_no_tree_is_begun_after_the_deadline():
    forest = JointForest(25, **SMALL_LEAVES)
    forest.fit_views(X, Y.astype(np.uint8), deadline=time.monotonic() - 1)
    assert len(forest.trees_) == joint_forest.BATCH_SIZE
    (few,) = forest.views(NEW)
    assert_same(few, JointForest(joint_forest.BATCH_SIZE, **SMALL_LEAVES).fit(X, Y).views(NEW)[0])
    forest.fit_views(X, Y.astype(np.uint8), deadline=time.monotonic() + 1000)
    assert len(forest.trees_) == 25


def test_saved_trees_are_small_and_the_same():
    forest = JointForest(20, **SMALL_LEAVES).fit(X, Y)
    assert_same(pickle.loads(pickle.dumps(forest)).views(NEW)[0], forest.views(NEW)[0])
    for one in forest.trees_:
        assert {array.dtype for array in (*one.tree[:4], *one[1:])} == {np.dtype(np.uint8)}
        assert one.tree.threshold.dtype == np.float32


def test_the_distribution_of_a_forest_is_its_formula():
    forest = JointForest(12, random_state=0).fit(X, Y)
    (share,), (exponent,) = forest.smoothings_, forest.pool_.exponents
    (view,) = forest.views(NEW)
    everything = [tuple(labels) for labels in np.ndindex(2, 2, 2)]  # with three labels, all are candidates
    for found, weights, marginals in zip(
        as_dicts(forest.predict_distribution(NEW)), as_dicts(view), view.marginals().clip(FLOOR, 1 - FLOOR), strict=True
    ):
        values = {}
        for labels in everything:
            product = np.prod([m if label else 1 - m for label, m in zip(labels, marginals, strict=True)])
            values[labels] = ((1 - share) * weights.get(labels, 0) + share * product) ** exponent
        for labels, value in values.items():
            assert found.get(labels, 0) == pytest.approx(value / sum(values.values()), abs=1e-5)


def classes_by_definition(labels, most):
    """The most frequent label sets, in order; others are the nearest of them, the most frequent one of several."""
    sets = [tuple(row) for row in labels.tolist()]
    by_frequency = sorted(sorted(set(sets)), key=lambda one: -sets.count(one))[: min(most, max(1, len(sets) // 4))]

    def distance(one, other):
        return sum(a != b for a, b in zip(one, other, strict=True))

    return [min(by_frequency, key=lambda frequent, row=row: distance(frequent, row)) for row in sets]


@pytest.mark.parametrize("most", [1, 2, 3, 100])
@pytest.mark.parametrize("n_rows", [60, 9, 1])
def test_rare_label_sets_are_grown_for_as_the_nearest_frequent_one(most, n_rows, monkeypatch):
    monkeypatch.setattr(joint_forest, "MAX_CLASSES", most)
    labels = Y[:n_rows]
    labelsets, which = np.unique(labels, axis=0, return_inverse=True)
    found = labelsets[joint_forest._classes(labelsets, which.ravel())][which.ravel()]
    assert [tuple(row) for row in found.tolist()] == classes_by_definition(labels, most)


def test_label_sets_beyond_the_classes_of_trees_keep_their_weight(monkeypatch, grown):
    monkeypatch.setattr(joint_forest, "MAX_CLASSES", 2)
    forest = JointForest(20, target="labelsets", **SMALL_LEAVES).fit(X, Y)
    assert {len(one.tree.classes_) for one in grown} == {2}
    assert len(forest.labelsets_) == len(np.unique(Y, axis=0)) > 2
    (view,) = forest.views(X)
    np.testing.assert_allclose(np.asarray(view.probabilities.sum(axis=0)) > 0, True)


def test_options_reach_the_trees(grown):
    JointForest(7, max_features=2, min_samples_leaf=5, splitter="random", random_state=0).fit(X, Y)
    assert {(one.tree.max_features, one.tree.min_samples_leaf) for one in grown} == {(2, 5)}
    assert len({one.tree.random_state for one in grown}) == len(grown) == 7
    assert min(one.tree.tree_.n_node_samples.min() for one in grown) >= 5


def test_settings_are_those_with_the_best_out_of_bag_rows(grown, monkeypatch):
    monkeypatch.setattr(joint_forest, "BATCH_SIZE", 4)
    errors, real = [], joint_forest._error_of_many
    monkeypatch.setattr(joint_forest, "_error_of_many", lambda *given: errors.append(real(*given)) or errors[-1])
    forest = JointForest(20, random_state=0).fit(X, Y)
    tried = [(0.2, 1, "random"), (0.2, 3, "random"), (X.shape[1], 5, "random"), ("sqrt", 3, "best")]
    settings = [(one.tree.max_features, one.tree.min_samples_leaf, one.tree.splitter) for one in grown]
    assert settings[:48] == [setting for setting in tried for _ in range(12)]
    chosen = tried[int(np.argmin(errors))]
    assert len(set(errors)) == 4
    assert settings[48:] == [chosen] * 8
    options = dict(zip(("max_features", "min_samples_leaf", "splitter"), chosen, strict=True))
    assert forest.setting_ == options
    kept = JointForest(20, **options, random_state=0).fit(X, Y)
    assert_same(forest.views(NEW)[0], kept.views(NEW)[0])  # trees that were tried are kept


def test_a_setting_that_is_given_is_not_chosen(grown):
    JointForest(10, max_features=1, random_state=0).fit(X, Y)
    assert {one.tree.max_features for one in grown} == {1}
    assert {one.tree.min_samples_leaf for one in grown} == {1, 3, 5}
    grown.clear()
    JointForest(10, max_features=1, min_samples_leaf=2, random_state=0).fit(X, Y)
    assert [one.tree.splitter for one in grown] == ["random"] * 10 + ["best"] * 10


def test_the_error_of_many_trees_is_told_from_a_few():
    """Of batches whose errors fall as a + b / T, it is a: here a row is right with half of the weight in each batch."""
    labelsets, labels = np.array([[0], [1]], dtype=np.uint8), np.array([[1], [1]])
    batches = [sp.csr_array([[1.0, 0.0], [0.0, 0.0]]), sp.csr_array([[0.0, 1.0], [0.0, 0.0]])]  # no tree for row 1
    alone, together = (1.0 + 0.0) / 2, 0.25
    assert joint_forest._error_of_many(batches, labelsets, labels) == pytest.approx(together - (alone - together))
    assert joint_forest._error_of_many(batches[:1], labelsets, labels) == 1.0
    assert joint_forest._error_of_many([sp.csr_array((2, 2))], labelsets, labels) == 0.25  # nothing is known


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_words_of_a_single_row_are_left_out(form):
    rare = np.zeros((60, 2))
    rare[3, 0] = rare[4:6, 1] = 1
    forest = JointForest(5, **SMALL_LEAVES).fit(form(np.hstack([rare, X])), Y)
    new = np.hstack([np.zeros((len(NEW), 2)), NEW])
    same = JointForest(5, **SMALL_LEAVES).fit(np.hstack([rare[:, 1:], X]), Y)
    assert_same(forest.views(form(new))[0], same.views(new[:, 1:])[0])


def test_a_constant_feature_tells_nothing():
    forest = JointForest(30, random_state=0).fit(np.zeros((60, 1)), Y)
    frequencies = of_labelsets(np.full(60, 1 / 60))
    (found,) = as_dicts(forest.views(np.zeros((1, 1)))[0])
    assert found == pytest.approx(frequencies, abs=0.03)


# Sparse regressions


def regressions_by_definition(features, labels, splits, strength, seed, known=None):
    """What regressions say of left-out rows, and the mean of their log odds as a function of features."""
    scaler = (MaxAbsScaler() if sp.issparse(features) else StandardScaler()).fit(features)
    scaled, left_out, fitted = scaler.transform(features), np.empty(labels.shape), []
    for train, test in splits:
        of_fold = []
        for label in range(labels.shape[1]):
            rows = train if known is None else train[known[train, label]]
            model = LogisticRegression(
                C=strength, solver="liblinear", max_iter=1000, tol=1e-3, random_state=seed, **logistic_joint.L1
            )
            of_fold.append(model.fit(scaled[rows], labels[rows, label]))
            left_out[test, label] = model.predict_proba(scaled[test])[:, 1]
        fitted.append(of_fold)

    def log_odds(new):
        each = [[model.decision_function(scaler.transform(new)) for model in of_fold] for of_fold in fitted]
        return np.mean(each, axis=0).T

    return left_out, log_odds


def splits_and_seed(n_folds, labels):
    rng = np.random.RandomState(0)
    return inner_splits(n_folds, X, labels, rng), rng.randint(MAX_SEED)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("limits", [(3000, 50), (3000, 2), (30, 50)])  # all, some labels, some rows
def test_coefficients_are_the_mean_of_those_of_folds(form, limits, monkeypatch):
    monkeypatch.setattr(logistic_joint, "MAX_CHOICE_ROWS", limits[0])
    monkeypatch.setattr(logistic_joint, "MAX_CHOICE_LABELS", limits[1])
    model = LogisticJoint([0.3, 1.0], cv=3, random_state=0)
    (view,) = model.fit_views(form(X), Y.astype(np.uint8))
    splits, seed = splits_and_seed(3, Y)
    left_out, log_odds = regressions_by_definition(form(X), Y, splits, model.strength_, seed)
    np.testing.assert_allclose(view.marginals(), left_out)
    np.testing.assert_allclose(model.views(form(NEW))[0].marginals(), 1 / (1 + np.exp(-log_odds(form(NEW)))))
    np.testing.assert_allclose(NEW @ model.coef_.toarray().T + model.intercept_, log_odds(form(NEW)))


def test_the_strength_with_the_best_brier_score_is_chosen():
    strengths = [10.0, 0.01, 0.1, 1.0]  # tried from small to large
    model = LogisticJoint(strengths, cv=3, random_state=0).fit(X, Y)
    splits, seed = splits_and_seed(3, Y)
    errors = {
        strength: np.mean((regressions_by_definition(X, Y, splits, strength, seed)[0] - Y) ** 2)
        for strength in strengths
    }
    assert model.strength_ == min(errors, key=errors.get)
    assert len(set(errors.values())) == 4


def test_labels_that_are_not_known_are_not_learned_from():
    known = np.random.default_rng(0).random(Y.shape) < 0.7
    known[:, 1] = True
    hidden = np.where(known, Y, 0).astype(np.uint8)
    model = LogisticJoint([0.1, 1.0], cv=3, random_state=0)
    (view,) = model.fit_views(X, hidden, known)
    splits, seed = splits_and_seed(3, hidden)
    found = {s: regressions_by_definition(X, hidden, splits, s, seed, known) for s in (0.1, 1.0)}
    errors = {s: np.mean((left_out - Y)[known] ** 2) for s, (left_out, _) in found.items()}
    assert model.strength_ == min(errors, key=errors.get)
    left_out, log_odds = found[model.strength_]
    np.testing.assert_allclose(view.marginals(), left_out)
    np.testing.assert_allclose(model.views(NEW)[0].marginals(), 1 / (1 + np.exp(-log_odds(NEW))))


@pytest.mark.parametrize("constant", [0, 1])
def test_a_label_of_one_class_has_log_odds_of_its_count(constant):
    labels = Y.copy()
    labels[:, 1] = constant
    labels[0, 2], labels[1:, 2] = 1 - constant, constant  # one class in one fold
    model = LogisticJoint([0.3], cv=3, random_state=0).fit(X, labels)
    other = 0.5 / 41  # of 40 rows outside a fold, as if each class had come half a time more
    np.testing.assert_allclose(model.views(NEW)[0].marginals()[:, 1], 1 - other if constant else other)
    np.testing.assert_array_equal(model.predict(NEW)[:, 1:], constant)


def test_jobs_change_no_regression():
    """In processes; threads share the one generator that liblinear has, and differ in the last digits."""
    alone, together = (LogisticJoint([0.1, 0.3], n_jobs=n_jobs, random_state=0).fit(X, Y) for n_jobs in (None, 2))
    np.testing.assert_array_equal(together.coef_.toarray(), alone.coef_.toarray())
    assert_same(together.predict_distribution(NEW), alone.predict_distribution(NEW))


def test_noise_asks_for_a_strong_penalty_and_a_signal_for_a_weak_one():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(100, 30))
    signal, noise = (features[:, :2] > 0).astype(int), rng.integers(2, size=(100, 2))
    assert LogisticJoint([0.001, 1.0], random_state=0).fit(features, signal).strength_ == 1
    assert LogisticJoint([0.001, 1.0], random_state=0).fit(features, noise).strength_ == 0.001


@pytest.mark.parametrize(
    "form, strengths",
    [(np.asarray, logistic_joint.DENSE_STRENGTHS), (sp.csr_array, logistic_joint.SPARSE_STRENGTHS)],
)
def test_strengths_go_by_the_form_of_features(form, strengths):
    model = LogisticJoint(random_state=0).fit(form(X), Y)
    assert model.strength_ in strengths
    np.testing.assert_allclose(model.predict_proba(sp.csr_array(NEW)), model.predict_proba(NEW))


def test_regressions_are_sparse():
    features = np.hstack([X, np.random.default_rng(0).normal(size=(60, 30))])
    model = LogisticJoint([0.1], random_state=0).fit(features, Y)
    assert model.coef_.shape == (3, 34)
    assert 0 < model.coef_.nnz < 0.5 * 3 * 34


def test_labels_that_no_regression_can_learn_are_tied_to_others():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 2))
    first, second = (features + 0.2 * rng.normal(size=(400, 2)) > 0).T.astype(int)
    labels = np.column_stack([first, second, first ^ second])
    model = LogisticJoint([0.3], random_state=0).fit(features[:300], labels[:300])
    assert model.pool_.exponents[1] > 0.5
    new, truth = features[300:], labels[300:]
    apart = model.views(new)[0].marginals()[:, 2]
    assert np.mean((apart > 0.5) == truth[:, 2]) < 0.65
    together = model.predict(new)
    np.testing.assert_array_equal(together[:, 2], together[:, 0] ^ together[:, 1])
    assert np.mean(together[:, 2] == truth[:, 2]) > 0.85


def test_what_is_learned_from_is_not_what_was_fitted():
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(40, 60)), rng.integers(2, size=(40, 2))  # easily learned by heart
    model = LogisticJoint([10.0], random_state=0)
    (left_out,) = model.fit_views(features, labels)
    (fitted,) = model.views(features)
    assert np.mean((fitted.marginals() > 0.5) == labels) > 0.95
    assert np.mean((left_out.marginals() > 0.5) == labels) < 0.75


# Several models


class Memory(BaseEstimator):
    """Knows the labels of each row that it has seen, and nothing of others."""

    def fit(self, X, Y):
        self.known_ = {tuple(row): labels for row, labels in zip(X.tolist(), Y.astype(float), strict=True)}
        self.n_labels_ = Y.shape[1]
        return self

    def predict_proba(self, X):
        return np.array([self.known_.get(tuple(row), np.full(self.n_labels_, 0.5)) for row in X.tolist()])


class Echo(BaseEstimator):
    """Says what the features say: of each label by itself, or of the label set."""

    def __init__(self, kind="marginals"):
        self.kind = kind

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        return self

    def predict_distribution(self, X):
        shares = 1 / (1 + np.exp(-X[:, : self.n_labels_]))
        if self.kind == "marginals":
            return IndependentLabels(shares)
        labelsets, which = np.unique(shares > 0.5, axis=0, return_inverse=True)  # others in each fold
        weights = np.eye(len(labelsets))[which.ravel()]
        return LabelDistribution(labelsets, sp.csr_array(weights) if self.kind == "sparse" else weights)


def test_members_are_judged_by_rows_they_have_not_seen():
    model = StackedJoint([("memory", Memory()), ("forest", JointForest(20))], random_state=0)
    memory, forest = model.fit_views(X, Y.astype(np.uint8))
    np.testing.assert_array_equal(memory.marginals(), 0.5)
    np.testing.assert_array_equal(model.views(X)[0].marginals(), Y)  # it knows all in the end
    assert isinstance(forest, LabelDistribution)
    assert model.fit(X, Y).pool_.exponents[1] > 0.5


@pytest.mark.parametrize("kind", ["marginals", "dense", "sparse"])
@pytest.mark.parametrize("cv", [2, 7, 60])
def test_folds_are_joined_in_the_order_of_rows(kind, cv):
    (view,) = StackedJoint([("echo", Echo(kind))], cv=cv, random_state=0).fit_views(X, Y.astype(np.uint8))
    expected = Echo(kind).fit(X, Y).predict_distribution(X)
    assert type(view) is type(expected)
    np.testing.assert_allclose(view.marginals(), expected.marginals())
    np.testing.assert_array_equal(view.mode(), expected.mode())


def test_members_of_all_kinds():
    frozen = FrozenEstimator(BinaryRelevance(GaussianNB()).fit(X, Y))
    members = [
        ("trees", PredictiveClusteringForest(3)),
        ("label sets", LabelPowerset()),
        ("apart", BinaryRelevance()),
        ("scikit-learn", RandomForestClassifier(5)),
        ("votes", ExpectedLossClassifier(RandomForestClassifier(5), source="ensemble")),
        ("fitted", frozen),
        ("forest", JointForest(5)),
        ("regressions", LogisticJoint([0.3], cv=2)),
        ("several", StackedJoint([("one", JointForest(5)), ("two", BinaryRelevance(GaussianNB()))], cv=2)),
    ]
    model = StackedJoint(members, cv=2, random_state=0).fit(X, Y)
    assert [name for name, _ in model.estimators_] == [name for name, _ in members]
    kinds = [type(view) for view in model.views(NEW)]
    joint, apart = LabelDistribution, IndependentLabels
    assert kinds == [joint, joint, apart, apart, joint, apart, joint, apart, joint, apart]
    assert len(model.pool_.exponents) == 10 + kinds.count(joint) + 1  # marginals, lifts, frequencies of label sets
    np.testing.assert_array_equal(model.views(NEW)[5].marginals(), frozen.predict_proba(NEW))
    assert np.mean(model.predict(X) == Y) > 0.85


def test_fitted_members_are_there_to_be_asked():
    model = StackedJoint([("apart", BinaryRelevance(GaussianNB())), ("forest", JointForest(5))], random_state=0).fit(
        X, Y
    )
    (_, apart), (_, forest) = model.estimators_
    expected = BinaryRelevance(GaussianNB()).fit(X, Y).predict_proba(NEW)
    np.testing.assert_array_equal(apart.predict_proba(NEW), expected)
    np.testing.assert_array_equal(apart.estimator_.predict_proba(NEW), expected)
    assert len(forest.trees_) == 5


def test_members_given_stay_unfitted_and_get_their_seeds():
    given = [("trees", RandomForestClassifier(2)), ("more", JointForest(2))]
    seeded = StackedJoint(given, cv=2, random_state=0).fit(X, Y)
    seeds = [seeded.estimators_[0][1].estimator_.random_state, seeded.estimators_[1][1].random_state]
    assert None not in seeds
    assert seeds[0] != seeds[1]
    assert [learner.random_state for _, learner in given] == [None, None]
    with pytest.raises(NotFittedError):
        given[0][1].predict(X)
    kept = StackedJoint([("trees", JointForest(2, random_state=7))], cv=2).fit(X, Y)
    assert kept.estimators_[0][1].random_state == 7


class Counted(BinaryRelevance):
    """Counts how often one of its kind is fitted."""

    fits = 0

    def fit(self, X, Y):
        Counted.fits += 1
        return super().fit(X, Y)


@pytest.mark.parametrize(
    "make, n_fits",
    [(ExpectedLossClassifier, 1), (lambda one: StackedJoint([("one", one)], cv=3, random_state=0), 4)],
)
def test_nothing_is_fitted_for_another_loss(make, n_fits, monkeypatch):
    monkeypatch.setattr(Counted, "fits", 0)
    model = make(Counted(GaussianNB())).fit(X, Y)
    assert Counted.fits == n_fits
    for measure in MEASURES:
        model.predict(NEW, measure=measure)
    model.predict_curve(NEW)
    model.predict_curve(NEW, "polynomial")
    model.predict_proba(NEW)
    assert Counted.fits == n_fits


def test_who_knows_more_counts_more():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1000, 3))
    labels = rng.binomial(1, 1 / (1 + np.exp(-2 * features)))  # the echo is half as sure as it should be
    model = StackedJoint([("knows", Echo()), ("noise", Noise())], random_state=0).fit(features, labels)
    np.testing.assert_allclose(model.pool_.exponents[:2], [2, 0], atol=0.15)


class Noise(Echo):
    """An echo of nothing."""

    def predict_distribution(self, X):
        return super().predict_distribution(np.random.default_rng(0).normal(size=X.shape))


def test_many_label_sets_and_labels():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(40, 5))
    labels = (features @ rng.normal(size=(5, 70)) > 1.5).astype(int)
    model = JointForest(10, random_state=0).fit(features, labels)
    curve = model.predict_curve(features[:3], parameters=[1, 35, 70])
    assert curve.labels.shape == (3, 3, 70)
    np.testing.assert_array_equal(model.predict(features[:3]), model.predict_distribution(features[:3]).mode())


# All that there is


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_members_are_the_same_for_all_features(form):
    model = AutoJoint(20, cv=2, random_state=0).fit(form(X), Y)
    assert [name for name, _ in model.estimators_] == ["sparse regressions", "boosted trees", "forest"]
    assert len(model.estimators_[2][1].trees_) == 20
    assert len(model.pool_.exponents) == 3 + 1 + 1  # marginals, the lift of the forest, frequencies of label sets
    spread_out, packed = (model.predict_distribution(new) for new in (NEW, sp.csr_array(NEW)))
    assert_same(packed, spread_out)


def test_all_that_there_is_repeats():
    model, again, other = (AutoJoint(5, cv=2, random_state=seed).fit(X, Y) for seed in (0, 0, 1))
    assert_same(model.predict_distribution(NEW), again.predict_distribution(NEW))
    assert as_dicts(model.predict_distribution(NEW)) != as_dicts(other.predict_distribution(NEW))
    assert_same(pickle.loads(pickle.dumps(model)).predict_distribution(NEW), model.predict_distribution(NEW))
    assert clone(model).get_params() == {
        "n_estimators": 5,
        "cv": 2,
        "time_budget": None,
        "measure": None,
        "n_jobs": None,
        "verbose": False,
        "random_state": 0,
    }
    assert np.mean(model.predict(X) == Y) > 0.9


def test_it_is_better_than_clustering_trees_for_every_k(datasets_folder, monkeypatch):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    emotions = load("emotions")
    features, labels = emotions.X, emotions.Y
    train, test = next(KFold(2, shuffle=True, random_state=0).split(features))
    curve = AutoJoint(30, cv=2, random_state=0).fit(features[train], labels[train]).predict_curve(features[test])
    trees = PredictiveClusteringForest(random_state=0).fit(features[train], labels[train]).predict(features[test])
    for k, decided in zip(curve.parameters.astype(int), curve.labels, strict=True):
        assert binomial_loss(labels[test], decided, k=k) <= binomial_loss(labels[test], trees, k=k)


# Any learner


def votes_by_definition(forest, features):
    return LabelDistribution.from_samples(np.stack([tree.predict(features) for tree in forest.estimators_], axis=1))


def test_what_a_learner_is_asked():
    powerset = ExpectedLossClassifier(LabelPowerset(GaussianNB()), source="distribution").fit(X, Y)
    assert_same(powerset.predict_distribution(NEW), LabelPowerset(GaussianNB()).fit(X, Y).predict_distribution(NEW))
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    apart = ExpectedLossClassifier(RandomForestClassifier(5, random_state=0), source="marginals").fit(X, Y)
    expected = IndependentLabels(np.column_stack([proba[:, 1] for proba in forest.predict_proba(NEW)]))
    assert apart.predict_distribution(NEW) == expected
    votes = ExpectedLossClassifier(RandomForestClassifier(5, random_state=0), source="ensemble").fit(X, Y)
    assert_same(votes.predict_distribution(NEW), votes_by_definition(forest, NEW))


class Says(BaseEstimator):
    """A learner with some of the methods there are; ``shape`` is that of what it says."""

    def __init__(self, kinds=(), shape=None):
        self.kinds = kinds
        self.shape = shape

    def fit(self, X, Y):
        self.labels_ = np.zeros(self.shape or Y.shape)
        return self

    def __getattr__(self, name):
        answers = {
            "predict_distribution": lambda X: LabelDistribution.from_samples(self.labels_[:, np.newaxis]),
            "predict_proba": lambda X: self.labels_ + 0.3,  # two of them are not the classes of one label
            "estimators_": [self],
        }
        if name in answers and name in self.kinds:
            return answers[name]
        raise AttributeError(name)

    def predict(self, X):
        return self.labels_ + 1


ALL_KINDS = ("predict_distribution", "predict_proba", "estimators_")


@pytest.mark.parametrize("kinds, share", [(ALL_KINDS, 0), (ALL_KINDS[1:], 0.3), (ALL_KINDS[2:], 1)])
def test_auto_takes_the_first_that_there_is(kinds, share):
    np.testing.assert_array_equal(ExpectedLossClassifier(Says(kinds)).fit(X, Y).predict_proba(X), share)


@pytest.mark.parametrize(
    "source, message",
    [
        ("auto", "estimator must have predict_distribution, predict_proba or estimators_; RidgeClassifier has not"),
        ("distribution", "estimator must have predict_distribution; RidgeClassifier has not"),
        ("marginals", "estimator must have predict_proba; RidgeClassifier has not"),
        ("ensemble", "estimator must have estimators_; RidgeClassifier has not"),
    ],
)
def test_a_learner_with_nothing_to_say_is_refused(source, message):
    with pytest.raises(TypeError, match=message):
        ExpectedLossClassifier(RidgeClassifier(), source=source).fit(X, Y)


@pytest.mark.parametrize(
    "learner, message",
    [
        (Says(ALL_KINDS[:1], (60, 2)), r"predict_distribution must return the shape \(60, 3\); got \(60, 2\)"),
        (Says(ALL_KINDS[:1], (59, 3)), r"predict_distribution must return the shape \(60, 3\); got \(59, 3\)"),
        (Says(ALL_KINDS[1:2], (60, 2)), r"predict_proba must return the shape \(60, 3\); got \(60, 2\)"),
        (
            Says(ALL_KINDS[2:], (60,)),
            r"predict of each of estimators_ must return the shape \(60, 3\); got \(60,\)",
        ),
        (FrozenEstimator(LabelPowerset().fit(X, Y[:, :2])), r"predict_distribution must .* \(60, 3\); got \(60, 2\)"),
        (MultiOutputClassifier(RidgeClassifier()), r"predict of each of estimators_ must .* \(60, 3\); got \(60,\)"),
    ],
)
def test_answers_of_another_shape_are_refused(learner, message):
    model = ExpectedLossClassifier(learner).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(X)


@pytest.mark.parametrize(
    "learner", [KNeighborsClassifier(), MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(9)], ids=str
)
def test_learners_of_scikit_learn(learner):
    model = ExpectedLossClassifier(learner, BinomialMeasure(2), random_state=0).fit(X, Y)
    assert isinstance(model.predict_distribution(NEW), IndependentLabels)
    assert np.mean(model.predict(X) == Y) > 0.8


@pytest.mark.parametrize("source", ["marginals", "ensemble"])
@pytest.mark.parametrize("constant", [0, 1])
def test_a_label_that_scikit_learn_has_seen_one_class_of(source, constant):
    labels = Y.copy()
    labels[:, 1] = constant
    model = ExpectedLossClassifier(RandomForestClassifier(5), source=source, random_state=0).fit(X, labels)
    np.testing.assert_array_equal(model.predict_proba(NEW)[:, 1], constant)
    if source == "ensemble":
        others = votes_by_definition(model.estimator_, NEW).marginals()
        np.testing.assert_allclose(model.predict_proba(NEW)[:, [0, 2]], others[:, [0, 2]])


def test_many_independent_labels_are_decided_one_by_one():
    labels = np.tile(Y, (1, 10))
    model = ExpectedLossClassifier(BinaryRelevance(GaussianNB())).fit(X, labels)
    expected = model.estimator_.predict_proba(NEW) > 0.5
    for measure in (HammingMeasure(), BinomialMeasure(4), SubsetMeasure()):
        np.testing.assert_array_equal(model.predict(NEW, measure=measure), expected)
    np.testing.assert_array_equal(model.predict_curve(NEW, parameters=[1, 30]).labels, [expected] * 2)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_measure_given_is_the_default(measure):
    model = ExpectedLossClassifier(LabelPowerset(GaussianNB()), measure).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW), model.predict(NEW, measure=measure))
    other = ExpectedLossClassifier(LabelPowerset(GaussianNB())).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW, measure=SubsetMeasure()), other.predict(NEW))


def test_what_is_no_measure_is_refused():
    model = ExpectedLossClassifier(LabelPowerset()).fit(X, Y)
    with pytest.raises(TypeError, match="measure must be one of choral.measures, FLoss or JaccardLoss; got 'hamming'"):
        model.predict(NEW, measure="hamming")
    with pytest.raises(ValueError, match="k must lie in 1..3, the number of labels; got 4"):
        model.predict(NEW, measure=BinomialMeasure(4))


def test_a_fitted_model_is_taken_as_it_is():
    fitted = LabelPowerset(GaussianNB()).fit(X[:30], Y[:30])
    model = ExpectedLossClassifier(FrozenEstimator(fitted), random_state=0).fit(X, Y)
    assert model.predict_distribution(NEW) == fitted.predict_distribution(NEW)


def test_a_forest_unless_another_learner_is_given():
    model = ExpectedLossClassifier(random_state=0).fit(X[:30], Y[:30])
    assert isinstance(model.estimator_, JointForest)
    assert model.estimator_.random_state is not None
    assert model.estimator is None


def test_parameters_of_the_learner_can_be_set():
    model = ExpectedLossClassifier(JointForest()).set_params(estimator__n_estimators=4).fit(X, Y)
    assert len(model.estimator_.trees_) == 4
