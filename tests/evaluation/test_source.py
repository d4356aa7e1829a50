"""What evaluate() takes besides arrays, fitted estimators, and what an evaluation remembers of its arguments."""

import re

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import choral
from choral import evaluate
from choral.evaluation import evaluate_summaries
from choral.evaluation.evaluating import summarise_models
from choral.rows import open_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X @ RNG.normal(size=(3, 4)) > 0).astype(int)
TRAIN, TEST = slice(0, 40), slice(40, 80)


@pytest.fixture(scope="module")
def neighbours():
    return KNeighborsClassifier(3).fit(X[TRAIN], Y[TRAIN])


def test_estimators_are_judged_by_their_labels(neighbours):
    forest = RandomForestClassifier(5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(X[TRAIN], Y[TRAIN])
    array = 1 - Y[TEST]
    models = {"forest": forest, "array": array, "pipeline": pipeline}
    evaluation = evaluate(Y[TEST], models, X=X[TEST], n_bootstrap=0)
    assert evaluation.models == ("forest", "array", "pipeline")
    for name, labels in [
        ("forest", forest.predict(X[TEST])),
        ("array", array),
        ("pipeline", pipeline.predict(X[TEST])),
    ]:
        assert evaluation.curves[name] == choral.loss_curve(Y[TEST], labels, name=name)
    assert evaluation.source.predictions["array"] is array
    np.testing.assert_array_equal(evaluation.source.predictions["forest"], forest.predict(X[TEST]))


def test_an_estimator_of_a_single_label_and_one_without_predict(neighbours):
    single = KNeighborsClassifier(3).fit(X[TRAIN], Y[TRAIN, 0])
    found = evaluate(Y[TEST, :1], {"single": single}, X=X[TEST], n_bootstrap=0)
    assert found.curves["single"].losses == [np.mean(single.predict(X[TEST]) != Y[TEST, 0])]

    class ScoresAlone:
        def __init__(self, model):
            self.predict_proba, self.classes_ = model.predict_proba, model.classes_

    for model, some in ((neighbours, slice(None)), (single, slice(0, 1))):
        found = evaluate(Y[TEST, some], {"scores": ScoresAlone(model)}, X=X[TEST], n_bootstrap=0)
        scores = choral.scores.probabilities_of(model, X[TEST], found.n_labels)
        assert found.curves["scores"] == choral.loss_curve(Y[TEST, some], scores, name="scores")


def test_curves_of_decisions_stand_beside_estimators(neighbours):
    marginals = np.column_stack([table[:, 1] for table in neighbours.predict_proba(X[TEST])])
    decided = choral.bayes_curve(choral.IndependentLabels(marginals))
    evaluation = evaluate(Y[TEST], {"decided": decided, "neighbours": neighbours}, X=X[TEST], n_bootstrap=100)
    assert evaluation.each_loss == ("decided",)
    assert evaluation.curves["decided"].losses == pytest.approx(evaluation.curves["neighbours"].losses)
    assert "Decided anew for each loss: decided." in repr(evaluation)


@pytest.mark.parametrize(
    "model, options, error, message",
    [
        (
            DummyClassifier().fit(X, Y),
            {},
            ValueError,
            "predictions['m'] is an estimator (DummyClassifier), which predicts from features; "
            "give those of the same rows: evaluate(y_true, predictions, X=X).",
        ),
        (
            KNeighborsClassifier(),
            {"X": X},
            NotFittedError,
            "predictions['m'], a KNeighborsClassifier, is not fitted; call its fit(X_train, Y_train) first.",
        ),
        (
            KNeighborsClassifier,
            {"X": X},
            TypeError,
            "predictions['m'] must be a fitted estimator; got the class KNeighborsClassifier itself.",
        ),
        (KNeighborsClassifier, {}, ValueError, "predictions['m'] is an estimator (KNeighborsClassifier), which"),
        (DummyClassifier().fit(X, Y), {"X": X[:5]}, ValueError, "y_true and predictions['m'] must have the same shape"),
    ],
)
def test_estimators_that_cannot_predict_are_refused(model, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        evaluate(Y, {"m": model}, n_bootstrap=0, **options)


def test_arguments_are_remembered_as_they_came():
    weight, known = np.arange(80.0), np.ones(Y.shape, dtype=bool)
    predictions = {"wrong": 1 - Y}
    evaluation = evaluate(
        Y,
        predictions,
        parameters=[1, 2],
        threshold=0.3,
        observed=known,
        sample_weight=weight,
        n_bootstrap=7,
        confidence=0.8,
        random_state=3,
    )
    source = evaluation.source
    assert source.y_true is Y
    assert source.predictions["wrong"] is predictions["wrong"]
    assert source.observed is known
    assert source.sample_weight is weight
    assert (source.threshold, source.n_bootstrap, source.confidence, source.random_state) == (0.3, 7, 0.8, 3)
    assert source.parameters == [1, 2]
    assert source.label_names is None
    assert "source" not in repr(evaluation)


def test_columns_of_a_frame_are_names_of_labels():
    pandas = pytest.importorskip("pandas")
    named = evaluate(pandas.DataFrame(Y, columns=list("abcd")), {"wrong": 1 - Y}, n_bootstrap=0)
    assert named.source.label_names == ("a", "b", "c", "d")
    assert evaluate(pandas.DataFrame(Y), {"wrong": 1 - Y}, n_bootstrap=0).source.label_names is None


def test_summaries_of_parts_have_no_source():
    summary = summarise_models([open_rows(Y, 1 - Y)], ["wrong"], joint=True)
    assert evaluate_summaries(summary, n_bootstrap=10).source is None
