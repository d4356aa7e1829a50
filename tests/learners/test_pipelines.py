"""Learners at the end of a pipeline or inside a search: asked for distributions, measures and scores."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from choral import BinomialMeasure, HammingMeasure, MultilabelStratifiedKFold, SubsetMeasure, choquet_loss, make_scorer
from choral._last_learner import last_learner, reach_learner, takes_measure
from choral.learners import BinaryRelevance, ExpectedLossClassifier, JointForest, LabelPowerset, predict_distribution
from choral.learners.joint import has_distribution
from learner_zoo import labelled

X, Y = labelled(120)
NEW, TRUTH = labelled(60, seed=1)
FOREST = JointForest(10, random_state=0)


def search(estimator, parameter):
    return GridSearchCV(estimator, {parameter: [1]}, scoring=make_scorer(HammingMeasure()), cv=2)


WRAPPED = {  # the same forest, wrapped in all ways
    "pipeline": lambda: make_pipeline(StandardScaler(), FOREST),
    "pipeline in a pipeline": lambda: make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), FOREST)),
    "pipeline of one step": lambda: make_pipeline(FOREST),
    "search": lambda: search(FOREST, "min_samples_leaf"),
    "search of pipelines": lambda: search(make_pipeline(StandardScaler(), FOREST), "jointforest__min_samples_leaf"),
    "search in a pipeline": lambda: make_pipeline(StandardScaler(), search(FOREST, "min_samples_leaf")),
    "frozen": lambda: FrozenEstimator(clone(FOREST).fit(X, Y)),
    "frozen pipeline": lambda: FrozenEstimator(make_pipeline(StandardScaler(), clone(FOREST)).fit(X, Y)),
}


@pytest.fixture(scope="module", params=WRAPPED.values(), ids=WRAPPED)
def fitted(request):
    return clone(request.param()).fit(X, Y)


def test_what_is_inside_can_be_asked(fitted):
    learner, features = reach_learner(fitted, NEW)
    assert isinstance(learner, JointForest)
    assert learner is last_learner(fitted)
    distribution = predict_distribution(fitted, NEW)
    assert distribution == learner.predict_distribution(features)
    np.testing.assert_array_equal(fitted.predict(NEW), distribution.mode())
    np.testing.assert_allclose(fitted.predict_proba(NEW), distribution.marginals())


def test_a_scorer_asks_for_its_own_measure(fitted):
    learner, features = reach_learner(fitted, NEW)
    scores = {}
    for measure in (HammingMeasure(), BinomialMeasure(2), SubsetMeasure()):
        best = learner.predict(features, measure=measure)
        scores[measure] = make_scorer(measure)(fitted, NEW, TRUTH)
        assert scores[measure] == -choquet_loss(TRUTH, best, measure)
    assert scores[HammingMeasure()] != -choquet_loss(TRUTH, fitted.predict(NEW), HammingMeasure())


def test_a_distribution_decides_inside_other_learners(fitted):
    model = ExpectedLossClassifier(FrozenEstimator(fitted), HammingMeasure()).fit(X, Y)
    assert model.predict_distribution(NEW) == predict_distribution(fitted, NEW)
    is_relevant = predict_distribution(fitted, NEW).marginals() > 0.5 + 1e-12  # one half, but for rounding, is not more
    np.testing.assert_array_equal(model.predict(NEW), is_relevant)


def test_a_scorer_asks_other_learners_as_before():
    for learner in (LabelPowerset(), MultiOutputClassifier(LogisticRegression()), BinaryRelevance()):
        model = learner.fit(X, Y)
        expected = -choquet_loss(TRUTH, model.predict(NEW), HammingMeasure())
        assert make_scorer(HammingMeasure())(model, NEW, TRUTH) == expected


@pytest.mark.parametrize("n_labels", [1, 3])
def test_a_scorer_of_probabilities(n_labels):
    model = JointForest(10, random_state=0).fit(X, Y[:, :n_labels])
    found = make_scorer(HammingMeasure(), "predict_proba")(model, NEW, TRUTH[:, :n_labels])
    expected = -choquet_loss(TRUTH[:, :n_labels], model.predict_proba(NEW), HammingMeasure())
    assert found == pytest.approx(expected)


def test_a_measure_goes_through_a_pipeline():
    model = make_pipeline(StandardScaler(), JointForest(10, random_state=0)).fit(X, Y)
    expected = predict_distribution(model, NEW).marginals() > 0.5
    np.testing.assert_array_equal(model.predict(NEW, measure=HammingMeasure()), expected)


def test_a_measure_goes_through_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        model = Pipeline([("scale", StandardScaler()), ("forest", JointForest(10, random_state=0))]).fit(X, Y)
        expected = predict_distribution(model, NEW).marginals() > 0.5
        np.testing.assert_array_equal(model.predict(NEW, measure=HammingMeasure()), expected)  # without a word
        asked = JointForest(10, random_state=0).set_predict_request(measure="loss")
        model = Pipeline([("scale", StandardScaler()), ("forest", asked)]).fit(X, Y)
        np.testing.assert_array_equal(model.predict(NEW, loss=HammingMeasure()), expected)
        model[-1].set_predict_request(measure=False)
        with pytest.raises(TypeError, match="got unexpected argument"):
            model.predict(NEW, measure=HammingMeasure())


def test_a_search_finds_the_best_for_a_measure():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), JointForest(10, random_state=0)),
        {"jointforest__min_samples_leaf": [1, 20]},
        scoring={"hamming": make_scorer(HammingMeasure()), "subset": make_scorer(SubsetMeasure())},
        refit="hamming",
        cv=MultilabelStratifiedKFold(3, random_state=0),
    ).fit(X, Y)
    assert search.best_params_ == {"jointforest__min_samples_leaf": 1}
    scores = cross_val_score(search, X, Y, scoring=make_scorer(BinomialMeasure(2)), cv=2)
    assert scores.shape == (2,)


def test_before_fitting():
    search = GridSearchCV(make_pipeline(StandardScaler(), FOREST), {})
    assert last_learner(search) is FOREST
    assert has_distribution(search)
    assert not has_distribution(make_pipeline(StandardScaler(), LogisticRegression()))


def test_what_has_no_distribution_is_refused():
    model = make_pipeline(StandardScaler(), MultiOutputClassifier(LogisticRegression())).fit(X, Y)
    with pytest.raises(TypeError, match="must have predict_distribution, or end in a learner that has; got Pip"):
        predict_distribution(model, NEW)


def test_a_predict_without_a_signature_takes_no_measure():
    class Compiled:
        """Its method is a function of C that does not tell its arguments."""

        predict = max

    assert not takes_measure(Compiled)
    assert not takes_measure(StandardScaler())
    assert takes_measure(FOREST)
    assert not takes_measure(BinaryRelevance())
