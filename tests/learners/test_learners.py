"""The contract of all learners: scikit-learn's, and what every multi-label learner must bear."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version

from choral import IndependentLabels, LabelDistribution
from choral.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstantLabels,
    ExpectedLossClassifier,
    JointForest,
    LabelPowerset,
    LogisticJoint,
    MultiLabelClassifier,
    PredictiveClusteringForest,
    PredictiveClusteringTree,
    ProbabilisticClassifierChain,
    PrunedTreeClassifier,
    RandomKLabelsets,
    StackedJoint,
)
from choral.learners.pooled import PooledJoint

LEARNERS = [
    BinaryRelevance(),
    ClassifierChain(),
    ClassifierChain(feed="soft"),
    ProbabilisticClassifierChain(),
    LabelPowerset(),
    RandomKLabelsets(random_state=0),
    PredictiveClusteringTree(),
    PredictiveClusteringForest(random_state=0),
    ConstantLabels("most_frequent"),
    ExpectedLossClassifier(LabelPowerset()),
    JointForest(20, random_state=0),
    LogisticJoint([0.3], cv=2, random_state=0),
    StackedJoint([("together", JointForest(5)), ("apart", BinaryRelevance())], cv=2, random_state=0),
]
WITH_BASE = [
    BinaryRelevance,
    ClassifierChain,
    ProbabilisticClassifierChain,
    LabelPowerset,
    RandomKLabelsets,
]
BASES = {
    "logistic": LogisticRegression(),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(random_state=0),
    "no probabilities": LinearSVC(random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}

all_learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)
all_bases = pytest.mark.parametrize("base", BASES.values(), ids=BASES)

OTHER_LABELS = "labels are 0 and 1; the check has others"
EXPECTED_FAILURES = {
    "check_estimators_dtypes": OTHER_LABELS,
    "check_classifier_data_not_an_array": OTHER_LABELS,
    "check_fit2d_1feature": OTHER_LABELS,
    "check_classifiers_classes": "the check has one column of names as target",
    "check_classifiers_train": "the check wants one column predicted, without an axis for labels",
    "check_estimator_sparse_array": "the check wants two columns of probabilities for a label; we have one",
    "check_estimator_sparse_matrix": "the check wants two columns of probabilities for a label; we have one",
    "check_classifier_multioutput": "the check wants signed integers; we predict uint8",
    "check_classifiers_multilabel_output_format_predict": "the check wants the dtype of the targets; we predict uint8",
    "check_classifiers_multilabel_output_format_predict_proba": "the check refuses 0 and 1; leaves may be pure",
}
if parse_version(sklearn.__version__) < parse_version("1.7"):  # which starts the labels of most checks from 1
    EXPECTED_FAILURES |= dict.fromkeys(
        [
            "check_dict_unchanged",
            "check_dont_overwrite_parameters",
            "check_dtype_object",
            "check_estimators_fit_returns_self",
            "check_estimators_overwrite_params",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_fit2d_predict1d",
            "check_fit_check_is_fitted",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_pipeline_consistency",
            "check_readonly_memmap_input",
        ],
        OTHER_LABELS,
    )


def expected_failures(learner):
    if isinstance(learner, PrunedTreeClassifier):
        return {}
    never_pure = {"check_classifiers_multilabel_output_format_predict_proba"}
    passed = never_pure if isinstance(learner, ConstantLabels | PooledJoint) else set()
    return {name: reason for name, reason in EXPECTED_FAILURES.items() if name not in passed}


@pytest.mark.parametrize("learner", [PrunedTreeClassifier(), *LEARNERS], ids=str)
def test_scikit_learn_contract(learner):
    expected = expected_failures(learner)
    results = check_estimator(learner, expected_failed_checks=expected, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(expected)


def labelled(n_rows=80, n_labels=4, seed=0):
    """Labels that depend on features, on each other, and on chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)).round(1)
    X[rng.random(X.shape) < 0.3] = 0
    scores = X @ rng.normal(size=(5, n_labels)) + 0.7 * rng.normal(size=(n_rows, n_labels))
    scores[:, -1] += scores[:, 0]
    return X, (scores > 0.3).astype(int)


X, Y = labelled()
NEW, _ = labelled(seed=1)


def assert_same(one, other):
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-11)  # added up in some order


@all_learners
def test_shapes_types_and_ranges(learner):
    model = clone(learner).fit(X, Y)
    labels, shares = model.predict(NEW), model.predict_proba(NEW)
    assert labels.shape == shares.shape == (80, 4)
    assert labels.dtype == Y.dtype
    assert shares.dtype == float
    assert np.isin(labels, [0, 1]).all()
    assert 0 <= shares.min() <= shares.max() <= 1
    assert model.n_labels_ == 4
    assert [classes.tolist() for classes in model.classes_] == [[0, 1]] * 4
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


@pytest.mark.parametrize(
    "learner",
    [
        BinaryRelevance(),
        ProbabilisticClassifierChain(),
        LabelPowerset(),
        PredictiveClusteringTree(),
        PredictiveClusteringForest(vote="soft", random_state=0),
        ConstantLabels(),
    ],
    ids=str,
)
def test_marginals_of_the_distribution_are_the_probabilities(learner):
    model = clone(learner).fit(X, Y)
    distribution = model.predict_distribution(NEW)
    assert isinstance(distribution, LabelDistribution | IndependentLabels)
    assert (distribution.n_instances, distribution.n_labels) == (80, 4)
    np.testing.assert_allclose(distribution.marginals(), model.predict_proba(NEW), atol=1e-12)


@all_learners
def test_forms_of_features_and_labels_do_not_matter(learner):
    expected = clone(learner).fit(X, Y)
    sparse = (
        () if isinstance(learner, LogisticJoint) else (sp.csr_array(X), sp.csc_matrix(X))
    )  # it scales them otherwise
    for features in (*sparse, X.tolist(), np.asfortranarray(X)):
        model = clone(learner).fit(features, Y)
        assert_same(model, expected)
        np.testing.assert_array_equal(model.predict(sp.coo_array(NEW)), expected.predict(NEW))
    for labels in (sp.csr_array(Y), sp.csc_matrix(Y), Y.tolist(), Y.astype(bool), Y.astype(float), Y.astype(object)):
        assert_same(clone(learner).fit(X, labels), expected)


@all_learners
def test_frames_keep_their_names(learner):
    pandas = pytest.importorskip("pandas")
    expected = clone(learner).fit(X, Y)
    assert_same(clone(learner).fit(X, pandas.DataFrame(Y)), expected)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = clone(learner).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_allclose(model.predict_proba(frame), expected.predict_proba(X), rtol=1e-11)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("edcba")])


@all_learners
def test_nothing_of_the_caller_is_changed(learner):
    unsorted = sp.csr_array(X.astype(np.float32))
    for first, last in zip(unsorted.indptr[:-1], unsorted.indptr[1:], strict=True):
        unsorted.indices[first:last] = unsorted.indices[first:last][::-1]
        unsorted.data[first:last] = unsorted.data[first:last][::-1]
    for features in (X.copy(), unsorted, sp.csr_array(X)):
        before = pickle.dumps(features), Y.copy()
        model = clone(learner).fit(features, Y)
        model.predict_proba(features)
        model.predict(features)
        assert pickle.dumps(features) == before[0]
        assert np.array_equal(Y, before[1])


def test_a_pruned_tree_does_not_sort_the_callers_columns():
    columns = sp.csc_matrix(X.astype(np.float32))
    for first, last in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[first:last] = columns.indices[first:last][::-1].copy()
        columns.data[first:last] = columns.data[first:last][::-1].copy()
    columns.has_sorted_indices = False
    before = columns.indices.copy(), columns.data.copy()
    tree = PrunedTreeClassifier().fit(columns, Y[:, 0])
    assert np.array_equal(columns.indices, before[0])
    assert np.array_equal(columns.data, before[1])
    np.testing.assert_array_equal(tree.predict_proba(NEW), PrunedTreeClassifier().fit(X, Y[:, 0]).predict_proba(NEW))


@pytest.mark.parametrize("learner", [PrunedTreeClassifier(), *LEARNERS], ids=str)
def test_sparse_features_with_wide_indices(learner):
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    target = Y[:, 0] if isinstance(learner, PrunedTreeClassifier) else Y
    expected = clone(learner).fit(sp.csr_array(X), target)
    assert_same(clone(learner).fit(wide, target), expected)
    np.testing.assert_array_equal(expected.predict(wide), expected.predict(X))


@all_learners
def test_pickles_clones_and_repeats(learner):
    model = clone(learner).fit(X, Y)
    assert_same(pickle.loads(pickle.dumps(model)), model)
    assert_same(clone(model).fit(X, Y), model)
    assert clone(learner).set_params(**learner.get_params()).get_params() == learner.get_params()


@pytest.mark.parametrize("make", [*WITH_BASE, PredictiveClusteringForest])
def test_random_state_decides(make):
    options = {} if make is PredictiveClusteringForest else {"estimator": RandomForestClassifier(3, max_features=1)}
    first, second, other = (make(**options, random_state=seed).fit(X, Y) for seed in (1, 1, 2))
    assert_same(first, second)
    assert not np.array_equal(first.predict_proba(NEW), other.predict_proba(NEW))
    assert_same(make(**options, random_state=np.random.RandomState(1)).fit(X, Y), first)


def test_seeds_reach_into_pipelines_and_differ_by_label():
    base = make_pipeline(StandardScaler(), RandomForestClassifier(2))
    model = BinaryRelevance(base, random_state=0).fit(X, Y)
    seeds = [pipeline[-1].random_state for pipeline in model.estimators_]
    assert len(set(seeds)) == 4
    assert base[-1].random_state is None
    kept = BinaryRelevance(RandomForestClassifier(2, random_state=7)).fit(X, Y)
    assert [forest.random_state for forest in kept.estimators_] == [7] * 4


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if "n_jobs" in learner.get_params()], ids=str)
def test_two_jobs_give_the_same(learner):
    assert_same(clone(learner).set_params(n_jobs=2).fit(X, Y), clone(learner).fit(X, Y))


@all_bases
@pytest.mark.parametrize("make", WITH_BASE)
def test_any_base_classifier_and_it_stays_unfitted(make, base):
    model = make(base, random_state=0).fit(X, Y)
    assert model.predict(NEW).shape == (80, 4)
    assert 0 <= model.predict_proba(NEW).min() <= model.predict_proba(NEW).max() <= 1
    with pytest.raises(NotFittedError):
        base.predict(NEW)


@pytest.mark.parametrize("make", WITH_BASE)
def test_single_precision_stays_within_bounds(make):
    features = X.astype(np.float32)
    for base in (LogisticRegression(C=100, max_iter=1000), GaussianNB(var_smoothing=1e-12)):
        model = make(base, random_state=0).fit(features, Y)
        assert model.predict_proba(features).dtype == float
        if hasattr(model, "predict_distribution"):
            assert model.predict_distribution(features).marginals().shape == Y.shape


def never_certain(learner):
    """A pool holds no label set for impossible, and less so where its models are poor and their exponents small."""
    return 0.1 if isinstance(learner, PooledJoint) else 1e-12


@all_learners
@pytest.mark.parametrize("constant", [0, 1])
def test_a_label_with_one_class_in_training(learner, constant):
    labels = Y.copy()
    labels[:, 1] = constant
    model = clone(learner).fit(X, labels)
    assert (model.predict(NEW)[:, 1] == constant).all()
    np.testing.assert_allclose(model.predict_proba(NEW)[:, 1], constant, atol=never_certain(learner))


@all_learners
@pytest.mark.parametrize("row", [[0, 0, 0], [1, 0, 1], [1, 1, 1]])
def test_a_single_label_set_in_training(learner, row):
    model = clone(learner).fit(X, np.tile(row, (80, 1)))
    assert (model.predict(NEW) == row).all()
    np.testing.assert_allclose(model.predict_proba(NEW), np.tile(row, (80, 1)), atol=never_certain(learner))
    if hasattr(model, "predict_distribution"):
        assert (model.predict_distribution(NEW).mode() == row).all()


@all_learners
def test_one_label(learner):
    model = clone(learner).fit(X, Y[:, :1])
    assert model.predict(NEW).shape == model.predict_proba(NEW).shape == (80, 1)


@all_learners
def test_constant_features_give_the_same_labels_to_all(learner):
    model = clone(learner).fit(np.ones((80, 2)), Y)
    assert len(np.unique(model.predict(NEW[:, :2]), axis=0)) == 1


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if "cv" not in learner.get_params()], ids=str)
def test_one_row(learner):
    model = clone(learner).fit(X[:1], Y[:1])
    np.testing.assert_array_equal(model.predict(NEW), np.tile(Y[0], (80, 1)))


@all_learners
def test_unseen_label_sets_are_no_trouble(learner):
    seen = Y[:, 0] == Y[:, 1]
    model = clone(learner).fit(X[seen], Y[seen])
    assert model.predict(X[~seen]).shape == (np.count_nonzero(~seen), 4)
    assert 0 <= model.score(X[~seen], Y[~seen]) <= 1


@all_learners
def test_works_in_cross_validation(learner):
    assert cross_val_predict(learner, X, Y, cv=3).shape == (80, 4)


@all_learners
def test_values_beyond_single_precision_at_prediction(learner):
    model = clone(learner).fit(X, Y)
    huge = np.where(NEW > 1, 1e300, NEW)
    assert model.predict(huge[:, :5]).shape == (80, 4)


@all_learners
@pytest.mark.parametrize(
    "labels, message",
    [
        (
            Y[:, 0],
            r"Only binary classification is supported, of each label: Y must have the shape \(n_samples, n_label",
        ),
        (Y[:, 0], r"got a binary target of shape \(80,\). A single label is Y.reshape\(-1, 1\)."),
        (np.where(Y == 1, 2, Y), r"Y must be binary, 0 or 1; Y\[\d+, \d\] is 2"),
        (np.where(Y == 1, 0.5, Y), r"Y must be binary, 0 or 1; Y\[\d+, \d\] is 0.5"),
        (np.where(Y == 1, np.nan, Y), "NaN"),
        (np.where(Y == 1, "yes", "no"), r"Y must be binary, 0 or 1; Y\[0, 0\] is (yes|no)"),
        (Y[:-1], "inconsistent numbers of samples"),
        (Y[:, :0], "0 feature"),
        (Y[np.newaxis], "dim 3"),
    ],
)
def test_labels_that_are_refused(learner, labels, message):
    with pytest.raises(ValueError, match=message):
        clone(learner).fit(X, labels)


@all_learners
def test_features_that_are_refused(learner):
    with pytest.raises(ValueError, match="NaN"):
        clone(learner).fit(np.where(X > 1, np.nan, X), Y)
    model = clone(learner).fit(X, Y)
    for predict in (model.predict, model.predict_proba):
        with pytest.raises(ValueError, match="X has 4 features, but .* is expecting 5"):
            predict(NEW[:, :4])


@all_learners
def test_fit_comes_first(learner):
    methods = ["predict", "predict_proba", "predict_distribution"]
    for method in (name for name in methods if hasattr(learner, name)):
        with pytest.raises(NotFittedError):
            getattr(clone(learner), method)(NEW)


@pytest.mark.parametrize(
    "learner, message",
    [
        (ClassifierChain(feed="both"), "feed must be 'hard' or 'soft'; got 'both'"),
        (ClassifierChain(order="reverse"), "order must be a permutation .* or None; got 'reverse'"),
        (ClassifierChain(order=[0, 1, 2]), r"order must be a permutation of 0..3, the labels; got \[0, 1, 2\]"),
        (ClassifierChain(order=[0, 1, 2, 2]), r"order must be a permutation of 0..3"),
        (ClassifierChain(order=3), "order must be a permutation of 0..3, the labels; got 3"),
        (ProbabilisticClassifierChain(order=[1, 2, 3, 4]), r"order must be a permutation of 0..3"),
        (ProbabilisticClassifierChain(inference="fast"), "'auto', 'exact', 'beam', 'sampling'; got 'fast'"),
        (ProbabilisticClassifierChain(width=0), "width must be at least 1; got 0"),
        (RandomKLabelsets(k=0), "k must be at least 1; got 0"),
        (RandomKLabelsets(m=0), "m must be at least 1; got 0"),
        (RandomKLabelsets(k=1.5), "k must be a whole number, at least 1; got 1.5"),
        (RandomKLabelsets(vote="all"), "vote must be 'majority' or 'any'; got 'all'"),
        (PredictiveClusteringTree(criterion="gini"), "criterion must be 'entropy' or 'variance'; got 'gini'"),
        (PredictiveClusteringTree(confidence=0.6), r"confidence must lie in \(0, 0.5\], or be None .*; got 0.6"),
        (PredictiveClusteringTree(min_samples_leaf=0), "min_samples_leaf must be at least 1; got 0"),
        (PredictiveClusteringForest(0), "n_estimators must be at least 1; got 0"),
        (PredictiveClusteringForest(vote="any"), "vote must be 'hard' or 'soft'; got 'any'"),
        (ConstantLabels("all"), "strategy must be 'irrelevant' or 'most_frequent'; got 'all'"),
    ],
)
def test_options_that_are_refused(learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y)


def test_a_learner_of_ones_own_needs_probabilities():
    for method in ("predict", "predict_proba"):
        assert not hasattr(MultiLabelClassifier(), method)


class CarefulClassifier(ClassifierMixin, BaseEstimator):
    """Warns in training, as some do, and does arithmetic on its labels."""

    def fit(self, X, y):
        warnings.warn("This one does not converge.", stacklevel=1)
        self.classes_ = np.unique(y)
        self.signs_ = 2 * y - 1
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_only_the_warning_about_many_classes_is_silenced():
    many = np.arange(32)[:, np.newaxis] >> np.arange(5) & 1  # 32 rows, all label sets: warnings are errors here
    for learner in (LabelPowerset(), RandomKLabelsets(k=5), LabelPowerset(GaussianNB())):
        learner.fit(np.arange(32.0)[:, np.newaxis], many)
    with (
        pytest.warns(UserWarning, match="number of unique classes")
        if parse_version(sklearn.__version__) >= parse_version("1.7")
        else warnings.catch_warnings()
    ):
        PrunedTreeClassifier().fit(np.arange(32.0)[:, np.newaxis], np.arange(32))
    with pytest.warns(UserWarning, match="does not converge"):
        LabelPowerset(CarefulClassifier()).fit(X, Y)


def test_base_classifiers_get_signed_labels():
    with pytest.warns(UserWarning, match="does not converge"):
        model = BinaryRelevance(CarefulClassifier()).fit(X, Y)
    assert [sorted(set(base.signs_.tolist())) for base in model.estimators_] == [[-1, 1]] * 4


def test_binary_relevance_is_one_model_a_label():
    model = BinaryRelevance(LogisticRegression()).fit(X, Y)
    for label in range(4):
        alone = LogisticRegression().fit(X, Y[:, label])
        np.testing.assert_array_equal(model.predict(NEW)[:, label], alone.predict(NEW))
        np.testing.assert_array_equal(model.predict_proba(NEW)[:, label], alone.predict_proba(NEW)[:, 1])


class Contrary(GaussianNB):
    """Predicts otherwise than its probabilities say, as Platt's scaling sometimes does."""

    def predict(self, X):
        return 1 - super().predict(X)


@pytest.mark.parametrize("make", [BinaryRelevance, ClassifierChain])
def test_what_models_predict_counts_not_what_their_probabilities_say(make):
    model = make(Contrary()).fit(X, Y)
    np.testing.assert_array_equal(model.predict(NEW)[:, 0], model.predict_proba(NEW)[:, 0] < 0.5)


def test_a_model_without_probabilities_has_zeros_and_ones():
    model = BinaryRelevance(LinearSVC()).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(NEW), model.predict(NEW))


def test_constant_labels_by_hand():
    labels = [[0, 1], [0, 1], [1, 1], [1, 0]]
    model = ConstantLabels().fit(X[:4], labels)
    assert model.predict(NEW[:2]).tolist() == [[0, 0], [0, 0]]
    assert model.predict_proba(NEW[:1]).tolist() == [[0.5, 0.75]]
    assert ConstantLabels("most_frequent").fit(X[:4], labels).predict(NEW[:1]).tolist() == [[0, 1]]
    distribution = model.predict_distribution(NEW[:2])
    assert distribution.labelsets.tolist() == [[0, 1], [1, 1], [1, 0]]
    assert distribution.probabilities.tolist() == [[0.5, 0.25, 0.25]] * 2


def test_the_most_frequent_of_several_is_the_one_with_the_fewest_labels():
    model = ConstantLabels("most_frequent").fit(X[:2], [[1, 1], [0, 1]])
    assert model.predict(NEW[:1]).tolist() == [[0, 1]]
