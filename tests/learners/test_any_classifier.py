"""Members of a stack may be any objects with fit and predict_proba, of all labels or of one binary target."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from choral.datasets import load_digits_segments
from choral.learners import BinaryRelevance, ExpectedLossClassifier, JointForest, RandomKLabelsets, StackedJoint

DIGITS = load_digits_segments()
X, Y = DIGITS.X[:240] / 16, DIGITS.Y[:240]


class InContext:
    """Like TabPFN: one target, few rows, float32 that sums to 1 only nearly; no get_params, classes_ or predict."""

    max_rows = 500

    def fit(self, X, y):
        if np.ndim(y) != 1:
            raise TypeError("one target at a time")
        if len(X) > self.max_rows:
            raise MemoryError(f"at most {self.max_rows} rows")
        self.context = np.asarray(X), np.asarray(y)

    def predict_proba(self, X):
        rows, y = self.context
        near = np.exp(-((np.asarray(X)[:, np.newaxis] - rows) ** 2).sum(axis=2)) + 1e-9
        ones = (near * y).sum(axis=1) / near.sum(axis=1)
        return (np.column_stack([1 - ones, ones]) * 1.0000005).astype(np.float32)


class Flat(InContext):
    """One target, though it takes a matrix without a word, of which it reads the first column."""

    def fit(self, X, y):
        super().fit(X, np.reshape(y, (len(X), -1))[:, 0])


class AllAtOnce:
    """All labels at once, without tags; ``fit`` returns nothing, and probabilities round to more than 1."""

    def fit(self, X, Y):
        if np.ndim(Y) != 2:
            raise ValueError("Y must be a matrix")
        self.model = RandomForestClassifier(20, random_state=0).fit(X, Y)

    def predict_proba(self, X):
        return np.column_stack([table[:, 1] for table in self.model.predict_proba(X)]) * 1.000001


def fitted(member, labels=Y):
    return ExpectedLossClassifier(member).fit(X, labels).estimator_


@pytest.mark.parametrize("n_labels", [1, 2, 7])
@pytest.mark.parametrize("member", [InContext(), Flat()])
def test_an_object_of_one_target_is_fitted_for_each_label(member, n_labels):
    """Also where two labels look like the two classes of one."""
    labels = Y[:, :n_labels]
    model = ExpectedLossClassifier(member).fit(X, labels)
    alone = [InContext() for _ in range(n_labels)]
    for one, label in zip(alone, labels.T, strict=True):
        one.fit(X, label)
    expected = np.column_stack([one.predict_proba(X)[:, 1] for one in alone]).clip(0, 1)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6)
    assert not hasattr(member, "context")  # what the user gave is not changed


@pytest.mark.parametrize("member", [LogisticRegression(), OneVsRestClassifier(LogisticRegression()), AllAtOnce()])
def test_only_what_refuses_a_matrix_is_fitted_for_each_label(member):
    assert isinstance(fitted(member), BinaryRelevance) == isinstance(member, LogisticRegression)
    if not isinstance(member, AllAtOnce):  # the tags tell: two labels, not two classes
        assert isinstance(fitted(member, Y[:, :2]), BinaryRelevance) == isinstance(member, LogisticRegression)


def test_a_label_of_one_class_does_not_make_a_forest_one_of_single_labels():
    labels = Y.copy()
    labels[:, 1] = 0
    assert isinstance(fitted(RandomForestClassifier(5), labels), RandomForestClassifier)


def test_two_labels_that_exclude_each_other_stay_labels_where_tags_tell():
    labels = np.column_stack([Y[:, 0], 1 - Y[:, 0]])
    model = ExpectedLossClassifier(RandomForestClassifier(5, random_state=0)).fit(X, labels)
    assert isinstance(model.estimator_, RandomForestClassifier)


def test_all_kinds_in_one_stack():
    members = [
        ("in context", InContext()),
        ("at once", AllAtOnce()),
        ("one target", LogisticRegression()),
        ("forest", RandomForestClassifier(20)),
        ("joint", JointForest(30)),
    ]
    model = clone(StackedJoint(members, cv=3, random_state=0)).fit(X, Y)
    assert [member.name for member in model.members_] == [name for name, _ in members]
    labels = model.predict(DIGITS.X[240:400] / 16)
    assert (labels == DIGITS.Y[240:400]).all(axis=1).mean() > 0.7  # the most frequent label set: about 0.1
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(labels, again.predict(DIGITS.X[240:400] / 16))


def test_labels_with_one_class_and_labels_that_are_missing():
    labels = Y.astype(float)
    labels[:, 1], labels[:, 2] = 0, 1
    model = StackedJoint([("in context", InContext()), ("one target", LogisticRegression())], cv=3, random_state=0)
    predicted = model.fit(X, labels).predict(X)
    assert (predicted[:, 1] == 0).all()
    assert (predicted[:, 2] == 1).all()
    labels[::9, 3] = np.nan
    assert (model.fit(X, labels).predict(X) == predicted).mean() > 0.9


def test_an_object_without_predict_in_binary_relevance():
    model = BinaryRelevance(InContext(), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_two_labels_that_exclude_each_other_stay_labels_where_one_at_a_time_is_refused():
    labels = np.column_stack([Y[:, 0], 1 - Y[:, 0]])
    assert isinstance(fitted(AllAtOnce(), labels), AllAtOnce)


def test_a_column_of_predictions_is_as_good_as_a_vector():
    model = BinaryRelevance(InColumns(), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), BinaryRelevance(InContext(), random_state=0).fit(X, Y).predict(X))


def test_an_object_that_only_predicts_is_sure_of_what_it_says():
    model = BinaryRelevance(OnlyPredicts(), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict(X))


def test_label_sets_of_an_object_without_get_params():
    model = RandomKLabelsets(SeveralClasses(), k=2, m=4, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape


class InColumns(InContext):
    def predict(self, X):
        return (self.predict_proba(X)[:, 1:] > 0.5).astype(int)


class OnlyPredicts:
    def fit(self, X, y):
        self.model = InContext()
        self.model.fit(X, y)

    def predict(self, X):
        return (self.model.predict_proba(X)[:, 1] > 0.5).astype(int)


class SeveralClasses:
    def fit(self, X, y):
        self.model = LogisticRegression().fit(X, y)
        self.classes_ = self.model.classes_

    def predict(self, X):
        return self.model.predict(X)


class Percentages(InContext):
    def predict_proba(self, X):
        return 100 * super().predict_proba(X)


class OtherClasses(InContext):
    classes_ = ("0", "1")


class UntoldClasses(InContext):
    classes_ = None


class InTwoColumns(InContext):
    def predict(self, X):
        return self.predict_proba(X) > 0.5


def test_classes_that_are_none_are_0_and_1():
    models = [BinaryRelevance(member).fit(X, Y) for member in (UntoldClasses(), InContext())]
    np.testing.assert_array_equal(*(model.predict_proba(X) for model in models))


def test_two_columns_of_predictions_are_refused():
    with pytest.raises(
        ValueError, match=r"predict of InTwoColumns must return the shape \(240,\) for a label; got \(240, 2"
    ):
        BinaryRelevance(InTwoColumns()).fit(X, Y).predict(X)


class TooWide(InContext):
    def predict_proba(self, X):
        return np.full((len(X), 5), 0.2)


class Silent:
    def fit(self, X, Y):
        return self


@pytest.mark.parametrize(
    "member, error, message",
    [
        (
            TooWide(),
            ValueError,
            r"predict_proba of TooWide must return the shape \(240, 2\) for a label; got \(240, 5\)",
        ),
        (Percentages(), ValueError, r"predict_proba of Percentages must lie in \[0, 1\]; got \d\d\."),
        (OtherClasses(), ValueError, r"classes_ of OtherClasses must be 0 and 1 for a label; got \['0', '1'\]"),
        (Silent(), TypeError, "estimator must have predict_distribution, predict_proba or estimators_; Silent has not"),
        ("forest", TypeError, "an estimator must be an object with fit, such as LogisticRegression"),
    ],
)
def test_what_cannot_be_a_member(member, error, message):
    with pytest.raises(error, match=message):
        ExpectedLossClassifier(member).fit(X, Y).predict_proba(X)


def test_an_error_of_both_ways_tells_of_both():
    with pytest.raises(MemoryError, match="at most 500 rows") as caught:
        ExpectedLossClassifier(InContext()).fit(DIGITS.X, DIGITS.Y)
    assert caught.value.__notes__ == ["Fitted on all labels at once, InContext said: one target at a time"]


def test_a_frozen_classifier_of_one_label_is_not_taken_for_all():
    frozen = FrozenEstimator(DummyClassifier().fit(X, Y[:, 0]))
    with pytest.raises(ValueError, match=r"predict_proba must return the shape \(240, 7\); got \(240, 2\)"):
        ExpectedLossClassifier(frozen).fit(X, Y).predict_proba(X)


def test_one_label_alone():
    """In either shape; warnings are errors here, and scikit-learn warns of a target with one column."""
    vector, matrix = (
        fitted(LogisticRegression(), Y[:, :1]),
        fitted(MultiOutputClassifier(LogisticRegression()), Y[:, :1]),
    )
    assert isinstance(vector, BinaryRelevance)
    np.testing.assert_array_equal(
        vector.predict_proba(X)[:, 0], LogisticRegression().fit(X, Y[:, 0]).predict_proba(X)[:, 1]
    )
    assert isinstance(matrix, MultiOutputClassifier)
