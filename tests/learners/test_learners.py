"""What single learners do, by hand: their base classifiers, seeds, options, and constant labels."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version

from choral import IndependentLabels, LabelDistribution
from choral.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstantLabels,
    LabelPowerset,
    MultiLabelClassifier,
    PredictiveClusteringForest,
    PredictiveClusteringTree,
    ProbabilisticClassifierChain,
    PrunedTreeClassifier,
    RandomKLabelsets,
)
from learner_zoo import labelled

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

all_bases = pytest.mark.parametrize("base", BASES.values(), ids=BASES)


X, Y = labelled()
NEW, _ = labelled(seed=1)


def assert_same(one, other):
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-11)  # added up in some order


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
