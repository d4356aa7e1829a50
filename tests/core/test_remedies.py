"""What users pass by mistake, and the messages that say what to pass instead."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    IndependentLabels,
    JointCalibrator,
    LabelDistribution,
    PolynomialMeasure,
    ThresholdTuner,
)

Y_TRUE = np.array([[1, 0, 1], [0, 0, 1]])
LOGITS = np.array([[0.3, -1.5, 4.0], [2.0, 0.1, 0.5]])
SIGNS = 2 * Y_TRUE - 1
LOGIT_REMEDY = (
    "If these are logits, choral.scores_from_logits makes scores of them; choral.evaluate and choral.harden make "
    "labels of them by threshold=0."
)


def sign_remedy(name):
    return f"Labels -1 and +1 become 0 and 1 by {name} > 0; where some are nan, by ({name} + 1) // 2."


def says(message):
    """A pattern of the whole message."""
    return f"^{re.escape(message)}$"


def evaluate_one(y_true, y_pred, **options):
    return choral.evaluate(y_true, {"A": y_pred}, n_bootstrap=0, **options)


#: Functions of true labels and predictions, and what they call the predictions.
TAKERS = pytest.mark.parametrize(
    "take, name",
    [(choral.hamming_loss, "y_pred"), (choral.loss_curve, "y_pred"), (evaluate_one, "predictions['A']")],
    ids=["hamming_loss", "loss_curve", "evaluate"],
)


@TAKERS
def test_logits_for_scores(take, name):
    with pytest.raises(ValueError, match=says(f"{name} must lie in [0, 1]; {name}[0, 1] is -1.5. {LOGIT_REMEDY}")):
        take(Y_TRUE, LOGITS)


def test_the_remedies_for_logits_work():
    scores, labels = choral.scores_from_logits(LOGITS), choral.harden(LOGITS, threshold=0)
    assert choral.hamming_loss(Y_TRUE, labels) == pytest.approx(2 / 6)
    assert 0 < choral.hamming_loss(Y_TRUE, scores) < 1
    evaluation = evaluate_one(Y_TRUE, LOGITS, threshold=0)
    assert evaluation.curves["A"].losses[0] == pytest.approx(2 / 6)


def test_logits_in_sparse_matrices():
    with pytest.raises(ValueError, match=says(f"y_pred must lie in [0, 1]; y_pred[0, 1] is -1.5. {LOGIT_REMEDY}")):
        choral.hamming_loss(sp.csr_array(Y_TRUE), sp.csr_array(LOGITS))


def test_percentages_for_scores():
    message = f"y_pred must lie in [0, 1]; y_pred[0, 0] is 80.0. Divide percentages by 100. {LOGIT_REMEDY}"
    with pytest.raises(ValueError, match=says(message)):
        choral.hamming_loss([[1, 0]], [[80.0, 5.0]])


def test_nan_among_scores_has_no_remedy():
    with pytest.raises(ValueError, match=says("y_pred must lie in [0, 1]; y_pred[0, 0] is nan.")):
        choral.hamming_loss([[1, 0]], [[np.nan, 0.5]])


def test_logits_for_marginals():
    remedy = "If these are logits, pass choral.scores_from_logits of them."
    with pytest.raises(ValueError, match=says(f"marginals must lie in [0, 1]; marginals[1] is -2.0. {remedy}")):
        IndependentLabels([0.5, -2.0, 3.0])
    message = "marginals must lie in [0, 1]; marginals[0, 1] is 20.0. Divide percentages by 100."
    with pytest.raises(ValueError, match=says(message)):
        IndependentLabels([[0.5, 20.0]])
    with pytest.raises(ValueError, match=says("marginals must lie in [0, 1]; marginals[0] is nan.")):
        IndependentLabels([np.nan, 0.5])


def test_logits_to_a_calibrator_of_probabilities():
    rng = np.random.default_rng(0)
    Y = rng.integers(2, size=(60, 3))
    calibrator = JointCalibrator(scores="probabilities")
    with pytest.raises(ValueError, match=r"is -2.0. If these are logits, pass scores='logits' or 'auto'.$"):
        calibrator.fit(np.full((60, 3), -2.0), Y)
    calibrator.fit(rng.uniform(size=(60, 3)), Y)
    remedy = "If these are logits, pass choral.scores_from_logits of them, or fit with logits as well."
    message = f"scores must be probabilities, in [0, 1], as in fit; scores[0, 0] is -1.0. {remedy}"
    with pytest.raises(ValueError, match=says(message)):
        calibrator.predict([[-1.0, 2.0, 0.5]])


@TAKERS
@pytest.mark.parametrize("dtype", [np.int8, np.int64, float])
def test_labels_of_minus_and_plus_one(take, name, dtype):
    signs = SIGNS.astype(dtype)
    message = f"y_true must be binary, 0 or 1; y_true[0, 1] is {signs[0, 1]}. {sign_remedy('y_true')}"
    with pytest.raises(ValueError, match=says(message)):
        take(signs, Y_TRUE)
    message = f"{name} must lie in [0, 1]; {name}[0, 1] is {signs[0, 1]}. {sign_remedy(name)}"
    with pytest.raises(ValueError, match=says(message)):
        take(Y_TRUE, signs)


def test_the_remedies_for_minus_and_plus_one_work():
    np.testing.assert_array_equal(SIGNS > 0, Y_TRUE)
    np.testing.assert_array_equal((SIGNS + 1) // 2, Y_TRUE)
    with_nan = np.array([[1.0, np.nan, -1.0]])
    np.testing.assert_array_equal((with_nan + 1) // 2, [[1, np.nan, 0]])
    np.testing.assert_array_equal((sp.csr_array(SIGNS) > 0).toarray(), Y_TRUE)


def test_sparse_labels_of_minus_and_plus_one():
    with pytest.raises(ValueError, match=re.escape(f"y_true[0, 1] is -1. {sign_remedy('y_true')}")):
        choral.hamming_loss(sp.csr_array(SIGNS), sp.csr_array(Y_TRUE))


@pytest.mark.parametrize("number, also", [(-1, f" {sign_remedy('y_true')}"), (-100, "")])
def test_numbers_for_missing_labels(number, also):
    y_true = np.where(np.eye(2, 3) == 1, number, Y_TRUE)
    remedy = (
        f"If {number} stands for a missing label, make it nan, which choral.evaluate takes: "
        f"np.where(y_true == {number}, np.nan, y_true)."
    )
    message = f"y_true must be binary, 0 or 1; y_true[0, 0] is {number}.{also} {remedy}"
    with pytest.raises(ValueError, match=says(message)):
        choral.hamming_loss(y_true, Y_TRUE)
    evaluation = evaluate_one(np.where(y_true == number, np.nan, y_true), Y_TRUE)
    assert evaluation.curves["A"].losses[0] == 0


def test_other_numbers_for_labels_have_no_remedy():
    with pytest.raises(ValueError, match=says("y_true must be binary, 0 or 1; y_true[0, 0] is 2.")):
        choral.hamming_loss([[2, -1]], [[1, 0]])


MEASURE_TAKERS = {
    "measure must be one of choral.measures": lambda measure: choral.choquet_loss(Y_TRUE, Y_TRUE, measure),
    "measure must be one of choral.measures, FLoss or JaccardLoss": choral.make_scorer,
}
NAMES = (
    "There are HammingMeasure(), SubsetMeasure(), BinomialMeasure(3), PolynomialMeasure(2) and others; "
    "choral.loss_by_name makes one from a name such as 'k=3'."
)


@pytest.mark.parametrize("must", MEASURE_TAKERS)
@pytest.mark.parametrize(
    "measure, remedy",
    [
        (3, "With k = 3 it is BinomialMeasure(3)."),
        (2.0, "With k = 2 it is BinomialMeasure(2)."),
        (2.5, "With alpha = 2.5 it is PolynomialMeasure(2.5)."),
        ("binomial", NAMES),
        ("k=3", NAMES),
    ],
)
def test_a_number_or_a_name_for_a_measure(must, measure, remedy):
    with pytest.raises(TypeError, match=says(f"{must}; got {measure!r}. {remedy}")):
        MEASURE_TAKERS[must](measure)


@pytest.mark.parametrize("must", MEASURE_TAKERS)
def test_a_class_for_a_measure(must):
    remedy = "BinomialMeasure is a class; make a value of it, as in BinomialMeasure(3)."
    with pytest.raises(TypeError, match=f"^{re.escape(must)}; got .*{re.escape(remedy)}$"):
        MEASURE_TAKERS[must](BinomialMeasure)


@pytest.mark.parametrize("measure", [None, True, 0, -1, np.inf, [0, 1]])
def test_other_things_for_a_measure_have_no_remedy(measure):
    with pytest.raises(TypeError, match=says(f"measure must be one of choral.measures; got {measure!r}.")):
        choral.choquet_loss(Y_TRUE, Y_TRUE, measure)


def test_a_number_for_a_loss_to_decide_or_tune_by():
    remedy = "With k = 3 it is BinomialMeasure(3)."
    with pytest.raises(TypeError, match=re.escape(f"got 3. {remedy}")):
        choral.bayes_optimal(LabelDistribution([[0, 1]], [1]), 3)
    for calibrate in (ThresholdTuner(3), JointCalibrator(3)):
        with pytest.raises(TypeError, match=re.escape(f"got 3. {remedy}")):
            calibrate.fit(np.full((10, 2), 0.5), np.ones((10, 2), dtype=int))


def test_a_binomial_measure_without_k():
    message = (
        "BinomialMeasure needs k, how many labels must be right together, as in BinomialMeasure(3); k=1 gives the "
        "Hamming loss, k=n_labels the subset 0/1 loss."
    )
    with pytest.raises(TypeError, match=says(message)):
        BinomialMeasure()


def test_a_binomial_measure_is_a_value_as_before():
    measure = BinomialMeasure(3)
    assert repr(measure) == "BinomialMeasure(k=3)"
    assert measure == BinomialMeasure(k=3.0) == pickle.loads(pickle.dumps(measure))
    assert len({measure, BinomialMeasure(3), BinomialMeasure(2), PolynomialMeasure(3), AtLeastMeasure(3)}) == 4


SCORES = np.array([[0.2, 0.9, 0.7], [0.1, 0.4, 0.6]])
HIGH = (
    "threshold should lie in [0, 1], as all values of {} do; it is 50, so no label is predicted. "
    "Divide a percentage by 100."
)
LOW = (
    "threshold should lie in [0, 1], as all values of {} do; it is -1, so every label is predicted. "
    "A threshold of 0.5 cuts scores where 0 cuts logits."
)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_threshold_that_no_score_reaches(make):
    with pytest.warns(UserWarning, match=says(HIGH.format("scores"))):
        assert choral.harden(make(SCORES), 50).sum() == 0
    for y_true in (Y_TRUE, make(Y_TRUE)):
        with pytest.warns(UserWarning, match=says(HIGH.format("predictions['A']"))):
            evaluation = evaluate_one(y_true, make(SCORES), threshold=50)
        assert evaluation.curves["A"].losses[0] == pytest.approx(Y_TRUE.mean())


def test_a_threshold_that_every_score_reaches():
    with pytest.warns(UserWarning, match=says(LOW.format("scores"))):
        assert choral.harden(SCORES, -1).all()
    with pytest.warns(UserWarning, match=says(LOW.format("predictions['A']"))):
        evaluate_one(Y_TRUE, SCORES, threshold=-1)


def test_thresholds_of_other_scores_are_nobodys_business():
    """Warnings are errors here."""
    assert choral.harden(100 * SCORES, 50).sum() == 3
    assert choral.harden(LOGITS, -1).sum() == 5
    assert choral.harden(sp.csr_array((2, 3)), 50).sum() == 0
    evaluate_one(Y_TRUE, 100 * SCORES, threshold=50)
    evaluate_one(Y_TRUE, Y_TRUE, threshold=50)  # labels stay as they are


def test_the_same_is_said_of_arrays_elsewhere():
    strict = pytest.importorskip("array_api_strict")
    pytest.importorskip("array_api_compat")
    y_true, scores, logits = strict.asarray(Y_TRUE), strict.asarray(SCORES), strict.asarray(LOGITS)
    with pytest.warns(UserWarning, match=says(HIGH.format("predictions['A']"))):
        evaluate_one(y_true, scores, threshold=50)
    evaluate_one(y_true, scores * 100, threshold=50)
    with pytest.raises(ValueError, match=says(f"y_pred must lie in [0, 1]; y_pred[0, 1] is -1.5. {LOGIT_REMEDY}")):
        choral.hamming_loss(y_true, logits)
    with pytest.raises(ValueError, match=re.escape(f"y_true[0, 1] is -1. {sign_remedy('y_true')}")):
        choral.hamming_loss(strict.asarray(SIGNS), y_true)


def test_the_same_is_said_of_dask_arrays():
    da = pytest.importorskip("dask.array")
    y_true, scores, logits = (da.from_array(array, chunks=(2, 3)) for array in (Y_TRUE, SCORES, LOGITS))
    with pytest.warns(UserWarning, match=says(HIGH.format("predictions['A']"))):
        evaluate_one(y_true, scores, threshold=50)
    with pytest.raises(ValueError, match=re.escape(f"y_pred[0, 1] is -1.5. {LOGIT_REMEDY}")):
        choral.hamming_loss(y_true, logits)
