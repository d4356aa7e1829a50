"""The contract of all learners, found in ``choral.learners.__all__``: scikit-learn's, and that of multi-label data."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version
from threadpoolctl import threadpool_limits

from choral import HammingMeasure, JointCalibratedClassifier, JointCalibrator, ThresholdTuner
from choral._last_learner import takes_measure
from choral.decisions.base import Distribution
from choral.learners import (
    AutoJoint,
    BinaryRelevance,
    ClassifierChain,
    JointForest,
    LogisticJoint,
    MLkNN,
    PrunedTreeClassifier,
)
from choral.learners.joint import JointClassifier
from choral.learners.pooled import PooledJoint
from learner_zoo import find_learners, labelled

EVERY = find_learners()
CALIBRATED = [
    JointCalibratedClassifier(BinaryRelevance(), JointCalibrator(cv=2), cv=2, random_state=0),
    JointCalibratedClassifier(BinaryRelevance(), ThresholdTuner("hamming"), cv=2, random_state=0),
]
LEARNERS = [
    *(learner for learner in EVERY if get_tags(learner).target_tags.multi_output),
    ClassifierChain(feed="soft"),
    JointForest(20, target="labelsets", random_state=0),
    *CALIBRATED,
]
all_learners = pytest.mark.parametrize("learner", LEARNERS, ids=str)

OTHER_LABELS = "labels of multi-label data are 0 and 1; the check has others"
EXPECTED_FAILURES = {
    "check_estimators_dtypes": OTHER_LABELS,
    "check_classifier_data_not_an_array": OTHER_LABELS,
    "check_fit2d_1feature": OTHER_LABELS,
    "check_classifiers_classes": "the check has one column of names as target",
    "check_classifiers_train": "the check wants one column predicted, without an axis for labels",
    "check_estimator_sparse_array": "the check wants two columns of probabilities for a label; we have one",
    "check_estimator_sparse_matrix": "the check wants two columns of probabilities for a label; we have one",
    "check_classifier_multioutput": "the check rounds probabilities; the best label set for a loss may be another one",
    "check_classifiers_multilabel_output_format_predict_proba": "the check refuses 0 and 1; leaves may be pure",
}
if parse_version(sklearn.__version__) < parse_version("1.7"):  # which starts the labels of most checks from 1
    EXPECTED_FAILURES |= dict.fromkeys(
        [
            "check_dict_unchanged",
            "check_dont_overwrite_parameters",
            "check_dtype_object",
            "check_estimators_empty_data_messages",
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


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other take many times as long on a busy machine."""
    with threadpool_limits(1):
        yield


def failed_checks(learner):
    results = check_estimator(learner, on_fail=None, on_skip=None)
    return {result["check_name"] for result in results if result["status"] == "failed"}


@pytest.mark.parametrize("learner", [*EVERY, *CALIBRATED], ids=str)
def test_scikit_learn_contract(learner):
    assert failed_checks(learner) <= (set() if learner not in LEARNERS else set(EXPECTED_FAILURES))


def test_no_failure_is_expected_in_vain():
    assert failed_checks(BinaryRelevance()) | failed_checks(JointForest(5, random_state=0)) == set(EXPECTED_FAILURES)


X, Y = labelled()
NEW, _ = labelled(seed=1)


def assert_same(one, other):
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_allclose(one.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-11)  # added up in some order


def test_all_learners_are_found():
    names = [type(learner).__name__ for learner in EVERY]
    assert len(names) == len(set(names)) >= 14
    assert {"AutoJoint", "BinaryRelevance", "PrunedTreeClassifier", "StackedJoint"} <= set(names)
    assert "MultiLabelClassifier" not in names


@all_learners
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_labels_come_back_in_the_dtype_of_the_target(learner, form):
    for dtype in (bool, np.uint8, np.int32, np.float64):
        model = clone(learner).fit(X, form(Y.astype(dtype)))
        predicted = model.predict(NEW)
        assert predicted.dtype == dtype
        assert isinstance(predicted, np.ndarray)
        assert [(classes.dtype, classes.tolist()) for classes in model.classes_] == [(np.dtype(dtype), [0, 1])] * 4
    mixed = Y.astype(object)  # as a frame with columns of several types has it
    if form is np.asarray:
        assert clone(learner).fit(X, mixed).predict(NEW).dtype == np.int64


@all_learners
def test_methods_exist_only_where_they_work(learner):
    methods = ("predict", "predict_proba", "predict_distribution", "predict_curve")
    there = {method for method in methods if hasattr(clone(learner), method)}
    assert "predict" in there
    model = clone(learner).fit(X, Y)
    assert there == {method for method in methods if hasattr(model, method)}
    for method in there:
        found = getattr(model, method)(NEW)
        if method == "predict_distribution":
            assert isinstance(found, Distribution)
            assert (found.n_instances, found.n_labels) == (80, 4)
        else:
            assert (found.labels[0] if method == "predict_curve" else found).shape == (80, 4)


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if takes_measure(learner)], ids=str)
def test_the_measure_of_a_learner_is_its_default(learner):
    default = clone(learner).set_params(measure=HammingMeasure()).fit(X, Y)
    model = clone(learner).fit(X, Y)
    assert model.measure is None
    np.testing.assert_array_equal(default.predict(NEW), model.predict(NEW, measure=HammingMeasure()))
    if isinstance(learner, JointClassifier):  # a calibrator may have a better rule
        np.testing.assert_array_equal(default.predict(NEW), default.predict_distribution(NEW).marginals() > 0.5)


@all_learners
def test_shapes_types_and_ranges(learner):
    model = clone(learner).fit(X, Y)
    labels, shares = model.predict(NEW), model.predict_proba(NEW)
    assert labels.shape == shares.shape == (80, 4)
    assert shares.dtype == float
    assert np.isin(labels, [0, 1]).all()
    assert 0 <= shares.min() <= shares.max() <= 1
    assert model.n_labels_ == 4
    assert [classes.tolist() for classes in model.classes_] == [[0, 1]] * 4
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


@all_learners
def test_forms_of_features_and_labels_do_not_matter(learner):
    expected = clone(learner).fit(X, Y)
    sparse = (
        () if isinstance(learner, LogisticJoint | AutoJoint) else (sp.csr_array(X), sp.csc_matrix(X))
    )  # which scale them otherwise
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


@pytest.mark.parametrize("learner", EVERY, ids=str)
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


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if "n_jobs" in learner.get_params()], ids=str)
def test_two_jobs_give_the_same(learner):
    assert_same(clone(learner).set_params(n_jobs=2).fit(X, Y), clone(learner).fit(X, Y))


def never_certain(learner):
    """A pool holds no label set for impossible, less so where its models are poor; MLkNN smooths its counts."""
    return 0.1 if isinstance(learner, PooledJoint | JointCalibratedClassifier | MLkNN) else 1e-12


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


@pytest.mark.filterwarnings("ignore:.* a single node")
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
        (np.where(np.arange(4) == 1, np.nan, Y), "NaN|each label must be known in at least one row"),
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
    missing = np.where(X > 1, np.nan, X)
    if get_tags(learner).input_tags.allow_nan:
        assert clone(learner).fit(missing, Y).predict(missing).shape == Y.shape
    else:
        with pytest.raises(ValueError, match="NaN"):
            clone(learner).fit(missing, Y)
    with pytest.raises(ValueError, match="infinity"):
        clone(learner).fit(np.where(X > 1, np.inf, X), Y)
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
