"""JointCalibratedClassifier against its steps by hand, around models of all kinds, fitted or not."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import choral
from choral import (
    BinomialMeasure,
    HammingMeasure,
    JointCalibratedClassifier,
    JointCalibrator,
    MultilabelStratifiedKFold,
    SubsetMeasure,
    ThresholdTuner,
    choquet_loss,
    make_scorer,
)
from choral.learners import BinaryRelevance, LabelPowerset, predict_distribution
from learner_zoo import labelled

X, Y = labelled(120)
NEW, TRUTH = labelled(60, seed=1)
SPLITS = list(MultilabelStratifiedKFold(3, random_state=0).split(X, Y))
JOINT = JointCalibrator(cv=2, n_components=2)
TUNER, HAMMING = ThresholdTuner("subset"), ThresholdTuner("hamming")
LOGISTIC = MultiOutputClassifier(LogisticRegression())


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other take many times as long on a busy machine."""
    with threadpool_limits(1):
        yield


def make(estimator=LOGISTIC, calibrator=JOINT, **options):
    return JointCalibratedClassifier(estimator, calibrator, **{"cv": 3, "random_state": 0, **options})


def by_hand(estimator, X, Y, NEW, splits):
    """Scores of each row by a model that was not fitted on it, and of new rows by one fitted on all."""
    scores = np.empty(Y.shape)
    for train, test in splits:
        scores[test] = scores_of(clone(estimator).fit(X[train], Y[train]), X[test])
    return scores, scores_of(clone(estimator).fit(X, Y), NEW)


def scores_of(model, X):
    if not hasattr(model, "predict_proba"):
        return model.decision_function(X)
    proba = model.predict_proba(X)
    return np.stack([table[:, 1] for table in proba], axis=1) if isinstance(proba, list) else proba


MODELS = {
    "lists of tables": LOGISTIC,
    "a matrix": OneVsRestClassifier(LogisticRegression()),
    "choral": BinaryRelevance(LogisticRegression()),
    "forest": RandomForestClassifier(5, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "logits": OneVsRestClassifier(LinearSVC(random_state=0)),
    "ridge": RidgeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LOGISTIC),
    "search": GridSearchCV(OneVsRestClassifier(LogisticRegression()), {"estimator__C": [0.1]}, cv=2),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_thresholds_are_its_steps_by_hand(model):
    fitted = JointCalibratedClassifier(model, TUNER, cv=SPLITS).fit(X, Y)
    scores, new = by_hand(model, X, Y, NEW, SPLITS)
    np.testing.assert_allclose(fitted.scores_, scores, rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(NEW), clone(TUNER).fit(scores, Y).predict(new))
    for loss in ("micro_f1", BinomialMeasure(2)):  # tuned anew, on the same scores
        expected = ThresholdTuner(loss).fit(scores, Y).predict(new)
        np.testing.assert_array_equal(fitted.predict(NEW, measure=loss), expected)
    np.testing.assert_array_equal(fitted.predict(NEW), clone(TUNER).fit(scores, Y).predict(new))  # as before
    assert fitted.calibrator_.loss == "subset"
    assert not hasattr(fitted, "predict_distribution")
    assert not hasattr(fitted, "predict_curve")
    assert hasattr(fitted, "predict_proba") == hasattr(model, "predict_proba")
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(fitted.predict_proba(NEW), new)  # the model's own


@pytest.mark.parametrize("model", [LOGISTIC, RidgeClassifier()], ids=["probabilities", "logits"])
def test_deciding_jointly_is_its_steps_by_hand(model):
    fitted = JointCalibratedClassifier(model, JOINT, cv=SPLITS).fit(X, Y)
    scores, new = by_hand(model, X, Y, NEW, SPLITS)
    calibrator = clone(JOINT).fit(scores, Y)
    np.testing.assert_array_equal(fitted.predict(NEW), calibrator.predict(new))
    np.testing.assert_allclose(fitted.predict_proba(NEW), calibrator.predict_proba(new))
    assert fitted.predict_distribution(NEW) == calibrator.predict_distribution(new)
    for measure in (HammingMeasure(), BinomialMeasure(2), "f1"):
        expected = calibrator.predict(new, measure=measure)
        np.testing.assert_array_equal(fitted.predict(NEW, measure=measure), expected)
    curve = fitted.predict_curve(NEW, "binomial", [1, 3])
    np.testing.assert_array_equal(curve.labels, calibrator.predict_curve(new, "binomial", [1, 3]).labels)
    assert fitted.calibrator_.are_logits_ == (not hasattr(model, "predict_proba"))


def test_positive_decisions_are_logits_too():
    class Positive(RidgeClassifier):
        def decision_function(self, X):
            return super().decision_function(X) + 100

    assert make(Positive()).fit(X, Y).calibrator_.are_logits_


def test_a_number_of_folds_is_stratified_and_drawn_by_the_seed():
    rng = np.random.RandomState(0)
    splits = MultilabelStratifiedKFold(3, random_state=rng.randint(np.iinfo(np.int32).max)).split(X, Y)
    expected, _ = by_hand(LOGISTIC, X, Y, NEW, splits)
    np.testing.assert_allclose(make().fit(X, Y).scores_, expected)
    np.testing.assert_array_equal(
        make(cv=KFold(3)).fit(X, Y).scores_, by_hand(LOGISTIC, X, Y, NEW, KFold(3).split(X))[0]
    )
    forest = RandomForestClassifier(5)
    once, again, other = (make(forest, TUNER, random_state=seed).fit(X, Y).scores_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(once, again)
    assert (once != other).any()


def test_the_joint_calibrator_is_the_default():
    model = JointCalibratedClassifier(LOGISTIC, random_state=0).fit(X, Y)
    assert isinstance(model.calibrator_, JointCalibrator)
    assert hasattr(JointCalibratedClassifier(LOGISTIC), "predict_distribution")
    assert choral.JointCalibratedClassifier is choral.calibration.JointCalibratedClassifier


@pytest.mark.parametrize("calibrator", [JOINT, TUNER])
def test_the_measure_is_that_of_the_classifier_unless_another_is_given(calibrator):
    for measure in (HammingMeasure(), "micro_f1"):
        model = make(calibrator=calibrator, measure=measure).fit(X, Y)
        expected = make(calibrator=calibrator).fit(X, Y).predict(NEW, measure=measure)
        np.testing.assert_array_equal(model.predict(NEW), expected)
    assert calibrator.get_params() == clone(calibrator).get_params()  # that of the user stays as it was


def test_better_than_labels_one_by_one():
    rng = np.random.default_rng(0)
    labels = np.eye(3, dtype=int)[rng.integers(3, size=600)]
    features = rng.normal(labels, 0.8)
    alone = clone(LOGISTIC).fit(features[:300], labels[:300])
    model = make().fit(features[:300], labels[:300])
    losses = [choral.subset_loss(labels[300:], one.predict(features[300:])) for one in (alone, model)]
    assert losses[1] < losses[0] - 0.05


# --- features of all kinds


def test_frames_pass_through():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = make(make_pipeline(ColumnsKept(list("abcde")), LOGISTIC)).fit(frame, pandas.DataFrame(Y))
    assert model.feature_names_in_.tolist() == list("abcde")
    new = pandas.DataFrame(NEW, columns=list("abcde"))
    np.testing.assert_array_equal(model.predict(new), make().fit(X, Y).predict(NEW))
    with pytest.raises(ValueError, match="feature names"):
        make().fit(frame, Y).predict(new[list("edcba")])


class ColumnsKept(BaseEstimator):
    """Refuses anything but a frame with these columns."""

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        assert list(X.columns) == self.columns
        return X.to_numpy()


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_features_and_labels(form):
    model = make().fit(form(X), form(Y))
    np.testing.assert_allclose(model.scores_, make().fit(X, Y).scores_, atol=1e-3)
    assert model.predict(form(NEW)).shape == (60, 4)


@pytest.mark.parametrize("as_kind", [list, lambda texts: np.array(texts, dtype=object)])
def test_text_passes_through(as_kind):
    words = np.array(["choir", "bell", "drum", "reed"])
    texts = as_kind([" ".join(["sound", *words[row == 1]]) for row in Y])
    model = make(make_pipeline(CountVectorizer(), LOGISTIC)).fit(texts, Y)
    assert model.predict(as_kind(["sound choir", "sound bell drum"])).tolist() == [[1, 0, 0, 0], [0, 1, 1, 0]]


def test_it_may_end_a_pipeline():
    inside, outside = make(make_pipeline(StandardScaler(), LOGISTIC)), make_pipeline(StandardScaler(), make())
    inside.fit(X, Y)
    outside.fit(X, Y)
    assert outside.predict(NEW, measure=HammingMeasure()).shape == (60, 4)
    assert predict_distribution(outside, NEW).n_instances == 60
    assert (inside.predict(NEW) == outside.predict(NEW)).mean() > 0.95  # scaled with or without the row left out


# --- fitted models


@pytest.mark.parametrize("calibrator", [JOINT, TUNER])
def test_a_frozen_model_is_not_fitted_again(calibrator):
    model = clone(LOGISTIC).fit(X, Y)
    scores = scores_of(model, NEW)
    calibrated = make(FrozenEstimator(model), calibrator).fit(NEW, TRUTH)
    np.testing.assert_array_equal(calibrated.scores_, scores)
    np.testing.assert_array_equal(
        calibrated.predict(X), clone(calibrator).fit(scores, TRUTH).predict(scores_of(model, X))
    )
    np.testing.assert_array_equal(scores_of(model, NEW), scores)


@pytest.mark.parametrize("calibrator", [JOINT, TUNER])
def test_labels_may_be_missing_where_the_model_is_fitted(calibrator):
    model = clone(LOGISTIC).fit(X, Y)
    known = np.where(np.random.default_rng(0).random(TRUTH.shape) < 0.2, np.nan, TRUTH)
    calibrated = make(FrozenEstimator(model), calibrator).fit(NEW, known)
    expected = clone(calibrator).fit(scores_of(model, NEW), known).predict(scores_of(model, X))
    np.testing.assert_array_equal(calibrated.predict(X), expected)
    for whole in (TRUTH, sp.csr_array(TRUTH), TRUTH.tolist()):
        assert make(FrozenEstimator(model), TUNER).fit(NEW, whole).predict(X).dtype == np.int64


def test_a_frozen_pipeline_of_text():
    texts = ["choir bell", "drum", "choir", "bell drum"] * 10
    labels = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]] * 10)
    model = make_pipeline(CountVectorizer(), LOGISTIC).fit(texts, labels)
    assert make(FrozenEstimator(model)).fit(texts, labels).predict(["bell"]).shape == (1, 3)


# --- one model, several calibrators


class Counting(ClassifierMixin, BaseEstimator):
    """Class shares, and a note for each time it is fitted."""

    n_fits = 0

    def fit(self, X, Y):
        Counting.n_fits += 1
        self.shares_ = Y.mean(axis=0)
        return self

    def predict_proba(self, X):
        return np.clip(self.shares_ + 0.1 * X[:, :1], 0, 1)


@pytest.mark.parametrize("kind", [str, lambda path: path, lambda path: joblib.Memory(path, verbose=0)])
def test_a_memory_fits_one_model_once(tmp_path, kind):
    Counting.n_fits = 0
    memory = kind(tmp_path)
    plain = make(Counting(), TUNER).fit(X, Y)
    assert Counting.n_fits == 4
    for calibrator in (TUNER, JOINT, ThresholdTuner("f1")):
        model = make(Counting(), calibrator, memory=memory, n_jobs=1 if calibrator is JOINT else None).fit(X, Y)
        np.testing.assert_array_equal(model.scores_, plain.scores_)
        np.testing.assert_array_equal(model.estimator_.shares_, plain.estimator_.shares_)
    assert Counting.n_fits == 8
    make(Counting(), TUNER, memory=memory, random_state=1).fit(X, Y)
    make(Counting(), TUNER, memory=memory).fit(X[1:], Y[1:])
    assert Counting.n_fits == 16
    make(Counting(), TUNER).fit(X, Y)  # without memory
    assert Counting.n_fits == 20


def test_a_memory_that_is_none_is_refused():
    with pytest.raises(ValueError, match="memory"):
        make(memory=3).fit(X, Y)


# --- in scikit-learn's company


@pytest.mark.parametrize("calibrator", [JOINT, TUNER])
def test_a_scorer_asks_for_its_measure(calibrator):
    model = make(calibrator=calibrator).fit(X, Y)
    for measure in (HammingMeasure(), BinomialMeasure(2), SubsetMeasure()):
        expected = -choquet_loss(TRUTH, model.predict(NEW, measure=measure), measure)
        assert make_scorer(measure)(model, NEW, TRUTH) == expected
        assert make_scorer(measure)(FrozenEstimator(model), NEW, TRUTH) == expected


def test_a_search_over_calibrators_and_parameters_of_the_model():
    search = GridSearchCV(
        make(),
        [{"calibrator": [JOINT]}, {"calibrator": [TUNER], "estimator__estimator__C": [0.1, 1.0]}],
        scoring=make_scorer(BinomialMeasure(2)),
        cv=2,
    ).fit(X, Y)
    assert search.predict(NEW).shape == (60, 4)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert cross_val_predict(make(calibrator=TUNER), X, Y, cv=2).shape == Y.shape


def test_pickles_and_clones():
    model = make().fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    for measure in (HammingMeasure(), SubsetMeasure()):
        np.testing.assert_array_equal(copy.predict(NEW, measure=measure), model.predict(NEW, measure=measure))
    assert clone(model).get_params()["calibrator"].get_params() == JOINT.get_params()


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("model", [BinaryRelevance(GaussianNB()), LogisticRegression(), RidgeClassifier(), LOGISTIC])
def test_a_single_label(model):
    calibrated = make(model, TUNER).fit(X, Y[:, :1])
    assert calibrated.scores_.shape == (120, 1)
    assert choral.hamming_loss(Y[:, :1], calibrated.predict(X)) < 0.2
    assert make(model).fit(X, Y[:, :1]).predict(NEW).shape == (60, 1)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("constant", [0, 1])
def test_a_single_label_with_one_class(constant):
    labels = np.full((120, 1), constant)
    assert (make(RandomForestClassifier(5), TUNER).fit(X, labels).scores_ == constant).all()


@pytest.mark.filterwarnings("ignore:Label .* is present in all training examples")
@pytest.mark.parametrize("constant", [0, 1])
def test_a_label_with_one_class(constant):
    labels = Y.copy()
    labels[:, 1] = constant
    for model in (RandomForestClassifier(5, random_state=0), BinaryRelevance(), OneVsRestClassifier(GaussianNB())):
        calibrated = make(model, HAMMING).fit(X, labels)
        assert (calibrated.predict(NEW)[:, 1] == constant).all()


# --- what is refused


class Narrow(Counting):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


class Deciding(BinaryRelevance):
    """As many decisions as classes of one label."""

    predict_proba = property()

    def decision_function(self, X):
        return np.zeros((len(X), 2))


@pytest.mark.parametrize(
    "model, error, message",
    [
        (
            make(MultiOutputClassifier(LinearSVC())),
            TypeError,
            r"estimator must have predict_proba or decision_function; ",
        ),
        (make(Narrow()), ValueError, r"predict_proba of the estimator must return the shape \(40, 4\); got \(40, 3\)."),
        (make(Deciding()), ValueError, r"decision_function of the estimator must return the shape \(40, 4\)"),
        (
            make(calibrator=LabelPowerset()),
            TypeError,
            "calibrator must be a JointCalibrator or a ThresholdTuner; got La",
        ),
        (make(cv=1), ValueError, "cv must be .* 2"),
    ],
)
def test_what_is_refused(model, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_missing_labels_are_refused_where_the_model_is_fitted_on_them(form):
    labels = Y.astype(float)
    labels[3, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"Y must be complete for an estimator that is fitted on it; .* NaN. FrozenEst"
    ):
        make().fit(X, form(labels))


def test_labels_that_do_not_fit_a_frozen_model():
    frozen = FrozenEstimator(clone(LOGISTIC).fit(X, Y))
    with pytest.raises(
        ValueError, match=r"predict_proba of the estimator must return the shape \(60, 3\); got \(60, 4\)"
    ):
        make(frozen).fit(NEW, TRUTH[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make(frozen).fit(NEW, TRUTH[1:])
    with pytest.raises(ValueError, match="Y must have a row with a known label"):
        make(frozen).fit(NEW, np.full(TRUTH.shape, np.nan))
