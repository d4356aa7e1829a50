"""Learners around other estimators hand features on untouched: frames with text, missing values, sparse ones."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from choral.learners import (
    AutoJoint,
    BinaryRelevance,
    ClassifierChain,
    ExpectedLossClassifier,
    JointForest,
    LabelPowerset,
    LogisticJoint,
    ProbabilisticClassifierChain,
    RandomKLabelsets,
    StackedJoint,
)
from choral.learners.classifier_chain import append_labels
from learner_zoo import labelled

WRAPPERS = {
    "BinaryRelevance": BinaryRelevance,
    "LabelPowerset": LabelPowerset,
    "ClassifierChain": ClassifierChain,
    "soft ClassifierChain": lambda base, **options: ClassifierChain(base, feed="soft", **options),
    "ProbabilisticClassifierChain": ProbabilisticClassifierChain,
    "RandomKLabelsets": lambda base, **options: RandomKLabelsets(base, k=2, **options),
    "ExpectedLossClassifier": lambda base, **options: ExpectedLossClassifier(BinaryRelevance(base), **options),
    "StackedJoint": lambda base, **options: StackedJoint(
        [("apart", BinaryRelevance(base)), ("together", LabelPowerset(base))], cv=2, **options
    ),
}
all_wrappers = pytest.mark.parametrize("make", WRAPPERS.values(), ids=WRAPPERS)


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def coloured(n_rows=60, seed=0):
    """Two numbers and a colour, and labels that follow from them."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    numbers, colours = rng.normal(size=(n_rows, 2)), rng.choice(["red", "green", "blue"], size=n_rows)
    frame = pandas.DataFrame(numbers, columns=["height", "width"], index=rng.permutation(1000)[:n_rows])
    is_high, is_red = numbers[:, 0] > 0, colours == "red"
    return frame.assign(colour=colours), np.column_stack([is_high, is_red, is_high ^ is_red]).astype(int)


def by_columns(last):
    """A pipeline that knows columns by their names."""
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["height", "width"]), ("colours", OneHotEncoder(), ["colour"])]
    )
    return Pipeline([("columns", columns), ("last", last)])


@all_wrappers
def test_frames_with_text_columns(make):
    frame, Y = coloured()
    model = make(by_columns(RandomForestClassifier(10)), random_state=0).fit(frame, Y)
    assert np.mean(model.predict(frame) == Y) == 1
    assert model.predict_proba(frame).shape == Y.shape
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["height", "width", "colour"]
    with pytest.raises(ValueError, match="missing: {'width'}"):
        model.predict(frame[["height", "colour"]])


@pytest.mark.parametrize("source", ["marginals", "ensemble"])
def test_a_pipeline_of_scikit_learn_is_asked_for_what_its_last_step_knows(source):
    frame, Y = coloured()
    model = ExpectedLossClassifier(by_columns(RandomForestClassifier(10)), source=source, random_state=0).fit(frame, Y)
    assert np.mean(model.predict(frame) == Y) == 1
    stacked = StackedJoint([("forest", by_columns(RandomForestClassifier(10)))], cv=2, random_state=0).fit(frame, Y)
    assert np.mean(stacked.predict(frame) == Y) == 1


def test_members_of_a_forest_get_no_names_that_they_do_not_know():
    frame, Y = coloured()
    model = ExpectedLossClassifier(RandomForestClassifier(5, random_state=0), source="ensemble")
    numbers = frame[["height", "width"]]
    expected = model.fit(numbers.to_numpy(), Y).predict(numbers.to_numpy())
    np.testing.assert_array_equal(model.fit(numbers, Y).predict(numbers), expected)


@all_wrappers
def test_missing_values_are_for_the_estimator_to_judge(make):
    X, Y = labelled(60, 3)
    X[::7, 0] = np.nan
    model = make(HistGradientBoostingClassifier(max_iter=5)).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert get_tags(model).input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN"):
        make(LogisticRegression()).fit(X, Y)
    assert not get_tags(make(LogisticRegression())).input_tags.allow_nan


@all_wrappers
def test_sparse_features_of_all_kinds(make):
    X, Y = labelled(60, 3)
    expected = make(LogisticRegression(), random_state=0).fit(X, Y)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        model = make(LogisticRegression(), random_state=0).fit(form(X), Y)
        np.testing.assert_allclose(model.predict_proba(form(X)), expected.predict_proba(X), atol=1e-3)
    assert get_tags(expected).input_tags.sparse
    assert not get_tags(make(HistGradientBoostingClassifier())).input_tags.sparse


@all_wrappers
def test_sparse_frames_stay_sparse(make):
    pandas = pytest.importorskip("pandas")
    X, Y = labelled(60, 3)
    frame = pandas.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X), columns=list("abcde"))
    model = make(RandomForestClassifier(5, random_state=0), random_state=0).fit(frame, Y)  # which warns of dense ones
    expected = make(RandomForestClassifier(5, random_state=0), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(frame), expected.predict_proba(X), atol=1e-6)


@all_wrappers
def test_numbered_columns_and_frames_without_names(make):
    pandas = pytest.importorskip("pandas")
    X, Y = labelled(60, 3)
    frame = pandas.DataFrame(X)
    model = make(LogisticRegression(), random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    for table in (frame, frame.set_axis([7] * 60)):
        np.testing.assert_allclose(model.fit(table, Y).predict_proba(table), expected)


@all_wrappers
@pytest.mark.parametrize("constant", [False, True])
def test_documents(make, constant):
    frame, Y = coloured()
    if constant:
        Y[:, 0] = 1
    documents = [f"{colour} {'high' if height > 0 else 'low'}" for height, colour in frame[["height", "colour"]].values]
    model = make(make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))).fit(documents, Y)
    assert np.mean(model.predict(documents) == Y) > 0.9
    assert not hasattr(model, "n_features_in_")


def test_a_frame_and_then_an_array_is_warned_of_by_the_estimator():
    frame, Y = coloured()
    numbers = frame[["height", "width"]]
    model = BinaryRelevance(LogisticRegression()).fit(numbers, Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but LogisticRegression"):
        model.predict(numbers.to_numpy())
    model.fit(numbers.to_numpy(), Y)
    assert not hasattr(model, "feature_names_in_")


def test_estimators_without_tags_are_fine():
    class Plain:
        """No estimator of scikit-learn's, but one can fit it."""

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    X, Y = labelled(60, 3)
    with warnings.catch_warnings():
        assert (BinaryRelevance(Plain()).fit(X, Y).predict(X) == 0).all()
        assert not get_tags(BinaryRelevance(Plain())).input_tags.allow_nan


# Chains


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted on."""

    def fit(self, X, y):
        self.seen_ = X
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.asked_ = X
        return np.zeros(len(X), dtype=int)


def test_labels_are_named_columns_of_a_frame():
    frame, Y = coloured()
    chain = ClassifierChain(Recorder(), order=[2, 0, 1]).fit(frame, Y)
    last = chain.estimators_[2]
    assert last.seen_.columns.tolist() == ["height", "width", "colour", "label 2", "label 0"]
    np.testing.assert_array_equal(last.seen_[["label 2", "label 0"]], Y[:, [2, 0]])
    chain.predict(frame)
    assert last.asked_.columns.tolist() == last.seen_.columns.tolist()
    assert last.asked_.index.tolist() == frame.index.tolist()
    assert frame.columns.tolist() == ["height", "width", "colour"]


def test_names_of_labels_are_new():
    pandas = pytest.importorskip("pandas")
    labels, numbers = np.array([[0, 1]]), np.array([0, 3])
    taken = pandas.DataFrame([[5, 6]], columns=["label 3", "label_ 0"])
    assert append_labels(taken, labels, numbers).columns.tolist() == ["label 3", "label_ 0", "label__ 0", "label__ 3"]
    numbered = pandas.DataFrame([[5, 6]])
    assert append_labels(numbered, labels, numbers).columns.tolist() == [0, 1, 2, 5]


def test_only_the_last_step_of_a_pipeline_gets_the_labels():
    frame, Y = coloured()
    chain = ClassifierChain(by_columns(LogisticRegression(C=100))).fit(frame, Y)
    assert [model.n_features_in_ for model in chain.estimators_] == [3, 3, 3]
    assert [model[-1].n_features_in_ for model in chain.estimators_] == [5, 6, 7]
    features = chain.estimators_[2][:-1].transform(frame)
    by_hand = LogisticRegression(C=100).fit(np.hstack([features, Y[:, :2]]), Y[:, 2])
    np.testing.assert_allclose(chain.estimators_[2][-1].coef_, by_hand.coef_)
    greedy = ProbabilisticClassifierChain(by_columns(LogisticRegression(C=100)), inference="beam", width=1)
    np.testing.assert_array_equal(greedy.fit(frame, Y).predict(frame), chain.predict(frame))
    one_step = ClassifierChain(make_pipeline(GaussianNB())).fit(frame[["height", "width"]], Y)
    assert one_step.estimators_[2].n_features_in_ == 4


def test_frames_that_a_chain_cannot_append_to():
    class OtherFrame:
        """A table of another library."""

        columns = ("a",)

    with pytest.raises(TypeError, match="arrays, sparse matrices and pandas frames; got .* OtherFrame"):
        append_labels(OtherFrame(), np.zeros((1, 1)), np.array([0]))


def test_a_constant_base_classifier_in_a_chain():
    X, Y = labelled(60, 3)
    assert ClassifierChain(DummyClassifier()).fit(X, Y).predict(X).shape == (60, 3)


# Inner cross-validation and members


@pytest.mark.parametrize(
    "make",
    [
        lambda cv: LogisticJoint([0.3], cv=cv, random_state=0),
        lambda cv: StackedJoint([("apart", BinaryRelevance())], cv=cv, random_state=0),
        lambda cv: AutoJoint(5, cv=cv, random_state=0),
    ],
)
def test_splits_are_given_as_scikit_learn_takes_them(make):
    X, Y = labelled(60, 3)
    folds = KFold(3, shuffle=True, random_state=5)
    expected = make(folds).fit(X, Y).predict_distribution(X)
    for cv in (list(folds.split(X)), folds.split(X)):
        assert make(cv).fit(X, Y).predict_distribution(X) == expected
    masks = [(np.isin(np.arange(60), train), np.isin(np.arange(60), test)) for train, test in folds.split(X)]
    assert make(masks).fit(X, Y).predict_distribution(X) == expected
    with pytest.raises(ValueError, match="cv must test each row exactly once, as KFold does"):
        make(ShuffleSplit(3, random_state=0)).fit(X, Y)
    with pytest.raises(ValueError, match="Expected .?cv.? as an integer|cv must be .auto., a number of folds"):
        make("four").fit(X, Y)


def test_parameters_of_members_are_set_by_name():
    X, Y = labelled(60, 3)
    model = StackedJoint([("forest", JointForest(5)), ("apart", BinaryRelevance())], cv=2, random_state=0)
    parameters = model.get_params()
    assert parameters["forest__n_estimators"] == 5
    assert parameters["apart__estimator"] is None
    assert "forest__n_estimators" not in model.get_params(deep=False)
    model.set_params(forest__n_estimators=3, apart__estimator=GaussianNB(), cv=3)
    fitted = dict(model.fit(X, Y).estimators_)
    assert len(fitted["forest"].trees_) == 3
    assert isinstance(fitted["apart"].estimator_.estimators_[0], GaussianNB)
    model.set_params(forest="drop").fit(X, Y)
    assert [name for name, _ in model.estimators_] == ["apart"]
    model.set_params(apart=LabelPowerset())
    assert isinstance(dict(model.fit(X, Y).estimators_)["apart"].estimator_, LabelPowerset)


@pytest.mark.parametrize(
    "estimators, message",
    [
        ([("one", "drop")], "estimators must hold at least one pair of a name and a learner; got none"),
        ([("one", BinaryRelevance()), ("one", BinaryRelevance())], "Names provided are not unique"),
        ([("cv", BinaryRelevance())], "conflict with constructor arguments"),
        ([("one__two", BinaryRelevance())], "must not contain __"),
    ],
)
def test_members_that_are_refused(estimators, message):
    X, Y = labelled(60, 3)
    with pytest.raises(ValueError, match=message):
        StackedJoint(estimators, cv=2).fit(X, Y)


def test_the_estimator_says_what_features_it_takes():
    takes_nan = {
        BinaryRelevance(): True,  # around a pruned tree
        ExpectedLossClassifier(): False,  # around a joint forest
        ExpectedLossClassifier(LabelPowerset()): True,
        StackedJoint([("trees", BinaryRelevance())]): True,
        BinaryRelevance(LogisticRegression()): False,
    }
    for learner, expected in takes_nan.items():
        tags = get_tags(learner).input_tags
        assert tags.sparse
        assert tags.allow_nan == expected
