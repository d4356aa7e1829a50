"""Missing labels in training: what is known alone decides, and it is nearly as good as if all were known."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from choral import HammingMeasure, IndependentLabels, LabelDistribution, loss_curve, make_scorer
from choral.datasets import load_digits_segments
from choral.learners import (
    AutoJoint,
    BinaryRelevance,
    BoostedJoint,
    ExpectedLossClassifier,
    JointForest,
    LogisticJoint,
    StackedJoint,
)
from choral.learners.evidence import MarginalEvidence
from choral.learners.missing import complete_labels, find_missing, split_missing
from choral.learners.pooled import PooledJoint, inner_splits
from choral.learners.pooling import best_score, fit_pool
from learner_zoo import find_learners, labelled

LEARNERS = [
    JointForest(20, random_state=0),
    LogisticJoint([0.3], cv=2, random_state=0),
    BoostedJoint(40, cv=2, random_state=0),
    StackedJoint([("forest", JointForest(20)), ("apart", BinaryRelevance())], cv=2, random_state=0),
    StackedJoint([("forest", JointForest(20)), ("straight", LogisticJoint([0.3]))], cv=2, random_state=0),
    AutoJoint(20, cv=2, random_state=0),
]
all_learners = pytest.mark.parametrize(
    "learner", LEARNERS, ids=["forest", "logistic", "boosted", "stack", "mixed", "auto"]
)


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def hide(Y, share, seed=0):
    return np.where(np.random.default_rng(seed).random(Y.shape) < share, np.nan, Y)


X, Y = labelled()
HIDDEN = hide(Y, 0.3)
HIDDEN[[3, 40]] = np.nan  # nothing is known of two rows
NEW, _ = labelled(25, seed=1)


def assert_same(one, other):
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-9)


# Known labels alone decide


def test_all_that_take_missing_labels_are_here():
    taking = {type(learner) for learner in find_learners() if isinstance(learner, PooledJoint)}
    assert taking == {type(learner) for learner in LEARNERS}


def as_objects(labels):
    return np.where(np.isnan(labels), None, labels.astype(object))


def as_lists(labels):
    return [[None if np.isnan(label) else int(label) for label in row] for row in labels]


def as_nullable_frame(labels):
    return pytest.importorskip("pandas").DataFrame(labels).astype("Int64")


def as_polars(labels):
    return pytest.importorskip("polars").DataFrame(as_lists(labels), orient="row")


@pytest.mark.parametrize("form", [as_objects, as_lists, as_nullable_frame, as_polars, sp.csr_array, np.float32])
def test_missing_labels_of_any_kind_are_the_same(form):
    learner = LEARNERS[1]
    assert_same(clone(learner).fit(X, form(HIDDEN)), clone(learner).fit(X, HIDDEN))


@all_learners
def test_rows_without_a_known_label_are_left_out(learner):
    kept = ~np.isnan(HIDDEN).all(axis=1)
    assert_same(clone(learner).fit(X, HIDDEN), clone(learner).fit(X[kept], HIDDEN[kept]))


@all_learners
def test_where_rows_are_complete_or_empty_nothing_is_filled_in(learner):
    labels = Y.astype(float)
    labels[::3] = np.nan
    kept = np.arange(len(Y)) % 3 > 0
    assert_same(clone(learner).fit(X, labels), clone(learner).fit(X[kept], Y[kept]))


@pytest.mark.parametrize("learner", [LogisticJoint([0.3]), BoostedJoint(40)], ids=str)
def test_some_learners_never_look_at_what_is_not_known(learner):
    labels, known = Y.astype(np.uint8), ~np.isnan(hide(Y, 0.3))
    splits = inner_splits(3, X, Y, np.random.RandomState(0))
    views = [
        clone(learner).set_params(cv=splits, random_state=0).fit_views(X, np.where(known, labels, other), known)[0]
        for other in (0, 1, labels)
    ]
    for view in views[1:]:
        np.testing.assert_array_equal(view.marginals(), views[0].marginals())
    everything = clone(learner).set_params(cv=splits, random_state=0).fit_views(X, labels)[0]
    assert not np.allclose(everything.marginals(), views[0].marginals())


def test_a_pool_is_judged_by_known_labels_alone():
    good = np.where(Y == 1, 0.8, 0.2)
    known = np.random.default_rng(0).random(Y.shape) < 0.5
    known[:, 0] = True
    misled = np.where(known, good, 1 - good)  # wrong wherever nobody knows
    rows, evidence = np.arange(len(Y)), [MarginalEvidence(misled)]
    assert best_score(evidence, Y, rows, known) > 0.9 > 0.3 > best_score(evidence, Y, rows)
    assert fit_pool(evidence, Y, rows, known).exponents[0] > fit_pool(evidence, Y, rows).exponents[0]


def test_missing_labels_get_the_more_probable_value():
    views = [IndependentLabels(np.array([[0.9, 0.4, 0.2]])), IndependentLabels(np.array([[0.2, 0.5, 0.9]]))]
    labels, known = np.array([[0, 1, 0]], dtype=np.uint8), np.array([[True, False, False]])
    # log odds of the second: (-0.41 + 0) / 2; of the third: (-1.39 + 2.20) / 2
    assert complete_labels(labels, known, views).tolist() == [[0, 0, 1]]
    together = LabelDistribution(np.array([[1, 1, 0], [0, 1, 0]]), np.array([[0.5, 0.5]]))
    assert complete_labels(labels, known, [together]).tolist() == [[0, 1, 0]]


def test_labels_that_are_complete_stay_as_they_are():
    for labels in (Y, Y.astype(float), Y.tolist(), sp.csr_array(Y), [[0, 1], [1]], "labels"):
        assert find_missing(labels) is None
        found, known = split_missing(labels)
        assert found is labels
        assert known is None


# As good as can be


def curve_area(model, X, Y):
    return loss_curve(Y, model.predict_curve(X)).losses.mean()


@pytest.mark.parametrize(
    "learner",
    [JointForest(50), LogisticJoint([0.1]), BoostedJoint(100), AutoJoint(50)],
    ids=lambda one: type(one).__name__,
)
def test_between_full_data_and_what_one_can_do_without(learner):
    """With 30 % of labels hidden: worse than with all of them, better than with 0 instead, or with complete rows."""
    digits = load_digits_segments()
    X, Y, X_test, Y_test = digits.X[:400], digits.Y[:400], digits.X[800:1200], digits.Y[800:1200]
    hidden = hide(Y, 0.3)
    complete = ~np.isnan(hidden).any(axis=1)
    ways = {
        "full": (X, Y),
        "hidden": (X, hidden),
        "zeros": (X, np.nan_to_num(hidden)),
        "complete rows": (X[complete], Y[complete]),
    }
    losses = {
        name: curve_area(clone(learner).set_params(random_state=0).fit(*data), X_test, Y_test)
        for name, data in ways.items()
    }
    assert losses["full"] < losses["hidden"] < 0.8 * losses["zeros"]
    assert losses["hidden"] < 0.8 * losses["complete rows"]


# What it is made of


def test_boosted_trees_of_a_pool_fill_in_and_are_fitted_once(monkeypatch):
    seen = []
    for learner in (BoostedJoint, LogisticJoint, JointForest):

        def fit_views(self, X, Y, known=None, deadline=None, fit=learner.fit_views):
            seen.append((type(self).__name__, Y.copy()))
            return fit(self, X, Y, known, deadline)

        monkeypatch.setattr(learner, "fit_views", fit_views)
    AutoJoint(5, cv=2, random_state=0).fit(X, HIDDEN)
    names, labels = zip(*seen, strict=True)
    assert names == ("LogisticJoint", "BoostedJoint", "JointForest")
    kept = ~np.isnan(HIDDEN).all(axis=1)
    known, truth = ~np.isnan(HIDDEN[kept]), Y[kept]
    for one in labels:
        np.testing.assert_array_equal(one[known], truth[known])
    assert not labels[0][~known].any()
    assert (labels[2][~known] == truth[~known]).mean() > 0.7


def test_members_keep_their_order_whoever_is_fitted_first():
    members = [("forest", JointForest(5)), ("straight", LogisticJoint([0.3])), ("apart", BinaryRelevance())]
    model = StackedJoint(members, cv=2, random_state=0).fit(X, HIDDEN)
    assert [name for name, _ in model.estimators_] == ["forest", "straight", "apart"]
    assert [member.name for member in model.members_] == ["forest", "straight", "apart"]
    assert [row[0] for row in model.summary().rows[:3]] == ["forest", "straight", "apart"]


def test_members_of_other_libraries_get_complete_labels():
    model = StackedJoint([("forest", RandomForestClassifier(20))], cv=2, random_state=0).fit(X, HIDDEN)
    assert model.predict(NEW).shape == (25, 4)
    ((_, member),) = model.estimators_
    assert [classes.tolist() for classes in member.estimator_.classes_] == [[0, 1]] * 4


def test_members_are_scored_by_known_labels():
    model = AutoJoint(20, cv=2, random_state=0).fit(X, HIDDEN)
    assert all(0 < member.brier < 0.25 for member in model.members_)


# The contract


@all_learners
def test_predictions_are_whole_numbers(learner):
    model = clone(learner).fit(X, HIDDEN)
    assert model.predict(NEW).dtype == np.int64
    assert {classes.dtype for classes in model.classes_} == {np.dtype(np.int64)}
    assert not get_tags(learner).input_tags.allow_nan


@all_learners
def test_sparse_features_and_frames(learner):
    dense = clone(learner).fit(X, HIDDEN)
    assert clone(learner).fit(sp.csr_array(X), HIDDEN).predict(sp.csr_array(NEW)).shape == (25, 4)
    pandas = pytest.importorskip("pandas")
    names = [f"x{place}" for place in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names, index=np.arange(len(X)) + 7)
    model = clone(learner).fit(frame, HIDDEN)
    np.testing.assert_array_equal(model.predict(pandas.DataFrame(NEW, columns=names)), dense.predict(NEW))


def test_what_was_given_stays_as_it_is():
    features, labels = X.copy(), HIDDEN.copy()
    AutoJoint(5, cv=2, random_state=0).fit(features, labels)
    np.testing.assert_array_equal(features, X)
    np.testing.assert_array_equal(labels, HIDDEN)


def test_pipelines_and_searches():
    """A splitter is needed: with a number of folds, scikit-learn asks what kind of target nan is."""
    model = make_pipeline(StandardScaler(), JointForest(5, random_state=0))
    search = GridSearchCV(
        model, {"jointforest__target": ["labels", "both"]}, cv=KFold(2), scoring=make_scorer(HammingMeasure())
    )
    search.fit(X, HIDDEN)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(NEW).shape == (25, 4)


def test_a_label_that_is_known_to_be_0_throughout():
    labels = HIDDEN.copy()
    labels[:, 0] = np.where(np.isnan(HIDDEN[:, 0]), np.nan, 0)
    for learner in LEARNERS:
        assert not clone(learner).fit(X, labels).predict(NEW)[:, 0].any()


def test_few_rows_are_enough_for_a_forest():
    model = JointForest(5, random_state=0).fit([[0.0], [1.0]], [[1, np.nan], [np.nan, 0]])
    assert model.predict([[0.5]]).shape == (1, 2)


@all_learners
@pytest.mark.parametrize(
    "labels, message",
    [
        (np.full(Y.shape, np.nan), r"each label must be known in at least one row; Y\[:, 0\] is nan throughout."),
        (np.where(np.arange(4) == 2, np.nan, Y), r"in at least one row; Y\[:, 2\] is nan throughout."),
        (np.where(Y == 1, 0.5, HIDDEN), r"Y must be binary, 0 or 1; Y\[\d+, \d\] is 0.5"),
        (HIDDEN[:-1], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_are_refused(learner, labels, message):
    with pytest.raises(ValueError, match=message):
        clone(learner).fit(X, labels)


def test_pairs_of_rows_count_all_rows():
    pairs = list(KFold(2).split(X))
    message = (
        r"cv as pairs of training and test rows needs a known label in each row; Y\[3\] is nan throughout. "
        "Leave such rows out of X, Y and cv."
    )
    with pytest.raises(ValueError, match=message):
        LogisticJoint([0.3], cv=pairs).fit(X, HIDDEN)
    assert LogisticJoint([0.3], cv=KFold(2)).fit(X, HIDDEN).predict(NEW).shape == (25, 4)
    assert LogisticJoint([0.3], cv=pairs).fit(X, hide(Y, 0.1, seed=1)).predict(NEW).shape == (25, 4)


@pytest.mark.parametrize("learner", [BinaryRelevance(), ExpectedLossClassifier(JointForest(5))], ids=str)
@pytest.mark.parametrize("form", [np.asarray, as_objects, sp.csr_array])
def test_other_learners_say_who_takes_missing_labels(learner, form):
    message = (
        f"Y must be complete for {type(learner).__name__}; some labels are missing, NaN. AutoJoint, BoostedJoint, "
        "JointForest, LogisticJoint and StackedJoint learn from those that are known."
    )
    with pytest.raises(ValueError, match=message):
        clone(learner).fit(X, form(HIDDEN))
