"""JointCalibrator: known distributions, slow references, kinds of input, missing labels, bad input, real data."""

import json
import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, jaccard_score
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    AveragedFLoss,
    BinomialMeasure,
    FLoss,
    HammingMeasure,
    JaccardLoss,
    JointCalibrator,
    PolynomialMeasure,
    SubsetMeasure,
    ThresholdTuner,
    bayes_curve,
    bayes_optimal,
    choquet_loss,
    hamming_loss,
    harden,
    stack_proba,
    subset_loss,
)
from choral.calibration import joint
from choral.calibration.rules import Rule
from choral.datasets import make_dependent, read_arff

RULES = ["joint", "labels", "threshold", "cut"]
RULES_OF_ALL_ROWS = ["calibrated threshold", "labels", "threshold", "cut"]  # for losses that no row decides by itself
N_LABELS = 4


def make_rows(n_rows=160, n_labels=N_LABELS, dependence=0.8, seed=0):
    """Scores that are too bold, of labels that come together."""
    data = make_dependent(n_rows, n_labels, dependence, random_state=seed)
    return expit(1.5 * logit(data.marginals) + 0.3), data.Y


def with_missing(Y, share, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(Y.shape) < share, np.nan, Y)


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def calibrator(rows):
    """Fitted once; tests only read it."""
    return JointCalibrator(n_components=4).fit(*rows)


def weights_of(distribution):
    weights = distribution.weights
    return weights.toarray() if sp.issparse(weights) else np.asarray(weights)


def assert_usable(calibrator, scores):
    """Whatever it was fitted on, it predicts labels, probabilities and distributions."""
    probabilities, labels = calibrator.predict_proba(scores), calibrator.predict(scores)
    assert probabilities.shape == labels.shape == np.shape(scores)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert set(np.unique(labels)) <= {0, 1}
    np.testing.assert_allclose(weights_of(calibrator.predict_distribution(scores)).sum(axis=1), 1)


def assert_same(one, other, scores, other_scores=None, atol=1e-9):
    """Two calibrators that predict the same."""
    other_scores = scores if other_scores is None else other_scores
    np.testing.assert_allclose(one.predict_proba(scores), other.predict_proba(other_scores), atol=atol)
    np.testing.assert_array_equal(one.predict(scores), other.predict(other_scores))
    mine, others = (c.predict_distribution(s) for c, s in ((one, scores), (other, other_scores)))
    np.testing.assert_array_equal(mine.labelsets, others.labelsets)
    np.testing.assert_allclose(weights_of(mine), weights_of(others), atol=max(atol, 1e-9))


# A known distribution


@pytest.fixture(scope="module")
def many_rows():
    return make_dependent(2000, 5, 1.0, random_state=1)


@pytest.fixture(scope="module")
def of_many_rows(many_rows):
    scores = expit(2 * logit(many_rows.marginals) - 0.5)  # wrong, but each label has its slope and intercept
    return scores, JointCalibrator(n_components=4, cv=2).fit(scores[:1000], many_rows.Y[:1000])


def test_probabilities_are_calibrated(many_rows, of_many_rows):
    scores, calibrator = of_many_rows
    found, true = calibrator.predict_proba(scores[1000:]), many_rows.marginals[1000:]
    assert np.abs(found - true).mean() < 0.03
    assert np.abs(scores[1000:] - true).mean() > 0.06
    np.testing.assert_allclose(calibrator.labels_.slopes, 0.5, atol=0.12)


def test_the_distribution_has_nearly_the_true_marginals(many_rows, of_many_rows):
    scores, calibrator = of_many_rows
    distribution = calibrator.predict_distribution(scores[1000:])
    np.testing.assert_allclose(weights_of(distribution).sum(axis=1), 1)
    assert np.abs(distribution.marginals() - many_rows.marginals[1000:]).mean() < 0.06


def test_dependence_is_found_and_pays(many_rows, of_many_rows):
    scores, calibrator = of_many_rows
    Y, new = many_rows.Y[1000:], scores[1000:]
    least = bayes_optimal(many_rows.distribution, SubsetMeasure()).risk[1000:].mean()
    cut = subset_loss(Y, (many_rows.marginals[1000:] >= 0.5).astype(int))
    decided = subset_loss(Y, calibrator.predict(new))
    assert decided < cut - 0.04
    assert decided < least + 0.06
    assert hamming_loss(Y, calibrator.predict(new, "hamming")) < hamming_loss(Y, harden(new)) + 0.002


def test_independent_labels_stay_independent():
    data = make_dependent(1200, 4, 0.0, random_state=2)
    calibrator = JointCalibrator(n_components=4, cv=2).fit(data.marginals[:600], data.Y[:600])
    decided = calibrator.predict(data.marginals[600:])
    assert (decided != (data.marginals[600:] >= 0.5)).mean() < 0.06


# Decisions


@pytest.mark.parametrize("loss", ["subset", HammingMeasure(), BinomialMeasure(2), PolynomialMeasure(1.5)], ids=str)
def test_predictions_are_those_of_the_rule(rows, calibrator, loss):
    scores, _ = rows
    measure = SubsetMeasure() if loss == "subset" else loss
    expected = {
        "joint": bayes_optimal(calibrator.predict_distribution(scores), measure).labels,
        "labels": calibrator.predict_proba(scores) >= 0.5,
        "cut": scores >= 0.5,
    }
    name = calibrator.chosen_rule(loss)
    assert name == min(RULES, key=calibrator.left_out_losses(loss).__getitem__)
    if name in expected:
        np.testing.assert_array_equal(calibrator.predict(scores, loss), expected[name])


@pytest.mark.parametrize("name", [*RULES, "calibrated threshold"])
def test_each_rule_decides_where_it_is_best(rows, calibrator, name, monkeypatch):
    scores, _ = rows
    losses = {rule: float(rule != name) for rule in RULES}
    monkeypatch.setattr(joint, "choose_rule", lambda loss, left_out, *_: Rule(name, losses, _thresholds(name)))
    monkeypatch.setattr(calibrator, "_rules", {})
    probabilities = calibrator.predict_proba(scores)
    distribution = calibrator.predict_distribution(scores)
    expected = {
        "joint": bayes_optimal(distribution, BinomialMeasure(2)).labels,
        "labels": probabilities >= 0.5,
        "cut": scores >= 0.5,
        "threshold": scores >= 0.3,
        "calibrated threshold": probabilities >= 0.3,
    }[name]
    np.testing.assert_array_equal(calibrator.predict(scores, BinomialMeasure(2)), expected)
    curve = calibrator.predict_curve(scores, parameters=[2])
    np.testing.assert_array_equal(curve.labels[0], expected)
    np.testing.assert_allclose(curve.decisions[0].risk, distribution.risk(expected, BinomialMeasure(2)), atol=1e-9)
    assert (curve.decisions[0].lower_bound <= curve.decisions[0].risk + 1e-9).all()


def _thresholds(name):
    return None if name == "joint" else np.full(N_LABELS, 0.5 if name in ("labels", "cut") else 0.3)


@pytest.mark.parametrize("family, measure", [("binomial", BinomialMeasure), ("polynomial", PolynomialMeasure)])
def test_a_curve_is_what_is_predicted_for_each_loss(rows, family, measure):
    scores, Y = rows
    parameters = [1, 2, 3, 4]
    curve = JointCalibrator(n_components=2, cv=2).fit(scores, Y).predict_curve(scores, family, parameters)
    alone = JointCalibrator(n_components=2, cv=2).fit(scores, Y)
    assert curve.parameters.tolist() == parameters
    for value, labels in zip(parameters, curve.labels, strict=True):
        np.testing.assert_array_equal(labels, alone.predict(scores, measure(value)))


def test_a_curve_of_all_losses(rows, calibrator):
    curve = calibrator.predict_curve(rows[0])
    assert curve.parameters.tolist() == [1, 2, 3, 4]
    assert curve.labels.shape == (4, *rows[0].shape)


def test_the_measure_of_the_calibrator_is_the_default(rows):
    scores, Y = rows
    hamming = JointCalibrator(HammingMeasure(), n_components=2, cv=2).fit(scores, Y)
    nothing_said = JointCalibrator(n_components=2, cv=2).fit(scores, Y)
    np.testing.assert_array_equal(hamming.predict(scores), nothing_said.predict(scores, "hamming"))
    assert hamming.left_out_losses() == nothing_said.left_out_losses("hamming")
    assert nothing_said.left_out_losses() == nothing_said.left_out_losses("subset")


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("measure", [HammingMeasure(), BinomialMeasure(2), SubsetMeasure()], ids=str)
def test_left_out_losses_are_those_of_the_labels_of_each_rule(rows, measure, missing):
    scores, Y = rows[0], with_missing(rows[1], missing)
    Y[:, 0] = rows[1][:, 0]  # nothing is known of no row
    Y[:, 1] = rows[1][:, 1]
    calibrator = JointCalibrator(n_components=2, cv=3).fit(scores, Y)
    left_out = calibrator._left_out
    np.testing.assert_array_equal(left_out.rows.scores, scores)
    by_rule = {
        "joint": bayes_optimal(left_out.distribution, measure).labels,
        "labels": left_out.probabilities >= 0.5,
        "cut": scores >= 0.5,
    }
    by_rule["threshold"] = tuned_by_fold(scores, Y, measure, left_out.folds)
    expected = {name: choquet_loss(Y, labels.astype(int), measure) for name, labels in by_rule.items()}
    assert calibrator.left_out_losses(measure) == pytest.approx(expected)


def tuned_by_fold(values, Y, loss, folds):
    """Labels of each fold by a threshold that was tuned on the others."""
    labels = np.empty(Y.shape, dtype=np.uint8)
    for fold in np.unique(folds):
        test = folds == fold
        labels[test] = ThresholdTuner(loss).fit(values[~test], Y[~test]).predict(values[test])
    return labels


@pytest.mark.parametrize("loss, value", [("f1", FLoss()), ("f2", FLoss(2)), ("jaccard", JaccardLoss())], ids=str)
def test_losses_by_overlap_have_a_best_decision_for_each_row(rows, calibrator, loss, value):
    scores, Y = rows
    assert list(calibrator.left_out_losses(loss)) == RULES
    assert calibrator.left_out_losses(loss) == calibrator.left_out_losses(value)
    best = bayes_optimal(calibrator._left_out.distribution, value).labels
    options = {"average": "samples", "zero_division": 1.0}
    score = jaccard_score(Y, best, **options) if loss == "jaccard" else fbeta_score(Y, best, beta=value.beta, **options)
    assert calibrator.left_out_losses(loss)["joint"] == pytest.approx(1 - score)
    if calibrator.chosen_rule(loss) == "joint":
        best = bayes_optimal(calibrator.predict_distribution(scores), value).labels
        np.testing.assert_array_equal(calibrator.predict(scores, loss), best)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_losses_of_all_rows_together_are_decided_by_thresholds(rows, calibrator, average):
    scores, Y = rows
    losses = calibrator.left_out_losses(f"{average}_f1")
    assert list(losses) == RULES_OF_ALL_ROWS
    left_out, loss = calibrator._left_out, AveragedFLoss(average)
    assert losses["cut"] == pytest.approx(loss(Y, (scores >= 0.5).astype(int)))
    assert losses["labels"] == pytest.approx(loss(Y, (left_out.probabilities >= 0.5).astype(int)))
    if average == "micro":  # for macro, each label has a threshold of its own
        for name, values in (("threshold", scores), ("calibrated threshold", left_out.probabilities)):
            assert losses[name] == pytest.approx(loss(Y, tuned_by_fold(values, Y, loss, left_out.folds)))
    rule, probabilities = calibrator._rule(loss), calibrator.predict_proba(scores)
    values = scores if rule.name in ("threshold", "cut") else probabilities
    np.testing.assert_array_equal(calibrator.predict(scores, loss), values >= rule.thresholds)


def mistakes(y_true, y_pred):
    return float(np.mean(y_true != y_pred))


def test_any_function_of_labels_is_a_loss(rows, calibrator):
    losses = calibrator.left_out_losses(mistakes)
    assert list(losses) == RULES_OF_ALL_ROWS
    assert losses["cut"] == pytest.approx(hamming_loss(rows[1], harden(rows[0])))
    assert calibrator.chosen_rule(mistakes) == min(losses, key=losses.__getitem__)


def test_nothing_of_a_row_is_used_to_judge_it():
    """Scores and labels that have nothing to do with each other: no rule may look better than chance."""
    rng = np.random.default_rng(0)
    scores, Y = rng.random((300, 6)), rng.integers(2, size=(300, 6))
    losses = JointCalibrator(n_components=4).fit(scores, Y).left_out_losses("hamming")
    assert min(losses.values()) > 0.46


# Kinds of input


def as_frame(values):
    return pytest.importorskip("pandas").DataFrame(values, columns=[f"label {i}" for i in range(values.shape[1])])


def as_tensor(values):
    return pytest.importorskip("torch").tensor(values)


KINDS = {"lists": np.ndarray.tolist, "CSR": sp.csr_array, "frames": as_frame, "tensors": as_tensor}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_gives_the_same(rows, calibrator, kind):
    scores, Y = (KINDS[kind](part) for part in rows)
    other = JointCalibrator(n_components=4).fit(scores, Y)
    assert_same(calibrator, other, rows[0], scores)


def test_logits_are_the_log_odds_of_probabilities(rows, calibrator):
    scores, Y = rows
    logits = logit(scores)
    of_logits = JointCalibrator(n_components=4).fit(logits, Y)
    assert of_logits.are_logits_
    assert not calibrator.are_logits_
    np.testing.assert_allclose(of_logits.predict_proba(logits), calibrator.predict_proba(scores), atol=1e-9)
    for name in ("joint", "labels", "cut"):  # thresholds lie midway between scores, and logits have another middle
        assert of_logits.left_out_losses()[name] == pytest.approx(calibrator.left_out_losses()[name])


def test_logits_of_one_sign_need_to_be_called_so(rows):
    scores, Y = rows[0] * 3 + 0.5, rows[1]
    expected = re.escape("scores must be probabilities, in [0, 1], or logits, of which some are negative")
    with pytest.raises(ValueError, match=expected):
        JointCalibrator().fit(scores, Y)
    calibrator = JointCalibrator(scores="logits", n_components=2, cv=2).fit(scores, Y)
    assert_usable(calibrator, scores)
    assert calibrator._left_out.middle == 0


def test_scores_that_speak_against_their_labels(rows):
    scores, Y = rows
    calibrator = JointCalibrator(n_components=2, cv=2).fit(1 - scores, Y)
    assert (calibrator.labels_.slopes < 0).all()
    assert hamming_loss(Y, calibrator.predict(1 - scores, "hamming")) < 0.25


def test_a_single_row_is_predicted_as_among_others(rows, calibrator):
    scores = rows[0]
    np.testing.assert_array_equal(calibrator.predict(scores[7:8]), calibrator.predict(scores)[7:8])


def test_more_rows_than_it_learns_exponents_from(rows, monkeypatch):
    monkeypatch.setattr(joint, "MAX_ROWS", 50)
    calibrator = JointCalibrator(n_components=2, cv=2).fit(*rows)
    assert len(calibrator._left_out.folds) == len(calibrator._left_out.rows.scores) == 50
    assert_usable(calibrator, rows[0])


# Missing labels


def hide_random(Y):
    return with_missing(Y, 0.05)


def hide_label(Y):
    return np.where(np.arange(Y.shape[1]) == 2, np.nan, Y)


def hide_rows(Y):
    return np.where((np.arange(len(Y)) % 3 == 0)[:, np.newaxis], np.nan, Y)


def hide_most(Y):
    return with_missing(Y, 0.8)


def hide_all_but_one(Y):
    return np.where(np.arange(Y.shape[1]) == (np.arange(len(Y)) % Y.shape[1])[:, np.newaxis], Y, np.nan)


@pytest.mark.parametrize("hide", [hide_random, hide_label, hide_rows, hide_most, hide_all_but_one])
def test_missing_labels(rows, hide):
    scores, Y = rows
    calibrator = JointCalibrator(n_components=2, cv=3).fit(scores, hide(Y))
    assert_usable(calibrator, scores)
    assert hamming_loss(Y, calibrator.predict(scores, "hamming")) < hamming_loss(Y, harden(scores)) + 0.03


def test_rows_of_which_nothing_is_known_are_as_if_not_there(rows):
    scores, Y = rows
    hidden = hide_rows(Y)
    there = ~np.isnan(hidden[:, 0])
    one = JointCalibrator(n_components=2, cv=2).fit(scores, hidden)
    other = JointCalibrator(n_components=2, cv=2).fit(scores[there], Y[there])
    assert_same(one, other, scores)


def test_some_measures_cannot_judge_missing_labels(rows):
    calibrator = JointCalibrator(n_components=2, cv=2).fit(rows[0], hide_random(rows[1]))
    with pytest.raises(ValueError, match="only counting measures can judge a row by its known labels"):
        calibrator.predict(rows[0], AdditiveMeasure([0.1, 0.2, 0.3, 0.4]))


# Few rows, many labels, labels that say nothing


def sparse_labels(n_rows, n_labels):
    rng = np.random.default_rng(0)
    logits = rng.normal(-3, 2, (n_rows, n_labels))
    return expit(logits), (rng.random(logits.shape) < expit(0.7 * logits)).astype(np.uint8)


def test_hundreds_of_labels():
    scores, Y = sparse_labels(400, 300)
    calibrator = JointCalibrator(n_components=2, cv=2).fit(scores, Y)
    losses = calibrator.left_out_losses("hamming")
    assert losses["joint"] < losses["cut"] + 0.002
    assert_usable(calibrator, scores[:20])


@pytest.mark.parametrize("n_rows, n_labels", [(2, 3), (3, 1), (2, 70), (20, 60)])
def test_few_rows(n_rows, n_labels):
    scores, Y = sparse_labels(n_rows, n_labels)
    assert_usable(JointCalibrator().fit(scores, Y), scores)


@pytest.mark.parametrize("values", [0, 1])
@pytest.mark.parametrize("labels", [[1], range(N_LABELS)], ids=["one label", "all labels"])
def test_labels_that_are_never_or_always_relevant(rows, values, labels):
    scores, Y = rows[0], rows[1].copy()
    Y[:, labels] = values
    calibrator = JointCalibrator(n_components=2, cv=2).fit(scores, Y)
    assert_usable(calibrator, scores)
    assert (calibrator.predict(scores)[:, labels] == values).mean() > 0.98


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_constant_scores(rows, value):
    scores, Y = np.full(rows[0].shape, value), rows[1]
    calibrator = JointCalibrator(n_components=2, cv=2).fit(scores, Y)
    assert_usable(calibrator, scores)
    np.testing.assert_allclose(calibrator.predict_proba(scores)[0], Y.mean(axis=0), atol=0.1)


def test_hard_labels_as_scores(rows):
    hard = (rows[0] > 0.5).astype(int)
    assert_usable(JointCalibrator(n_components=2, cv=2).fit(hard, rows[1]), hard)


def test_huge_logits(rows):
    logits = (rows[0] - 0.5) * 1e300
    assert_usable(JointCalibrator(n_components=2, cv=2).fit(logits, rows[1]), logits)


# Bad input


def change(scores, value):
    changed = np.array(scores)
    changed[3, 1] = value
    return changed


def test_scores_that_are_neither_probabilities_nor_logits_are_refused(rows):
    scores, Y = rows
    neither = re.escape("scores must be probabilities, in [0, 1], or logits, of which some are negative")
    with pytest.raises(ValueError, match=neither + r".*scores\[0, 0\] is"):
        JointCalibrator().fit(100 * scores, Y)
    with pytest.raises(ValueError, match=r"scores\[3, 1\] is 1.25"):
        JointCalibrator().fit(change(scores, 1.25), Y)
    with pytest.raises(ValueError, match=r"scores must be probabilities, in \[0, 1\]; scores\[3, 1\] is -0.25"):
        JointCalibrator(scores="probabilities").fit(change(scores, -0.25), Y)
    with pytest.raises(ValueError, match=r"scores must not be nan; scores\[3, 1\] is nan"):
        JointCalibrator().fit(change(scores, np.nan), Y)
    with pytest.raises(ValueError, match=r"scores must be finite; scores\[3, 1\] is -inf"):
        JointCalibrator().fit(change(scores, -np.inf), Y)


def test_new_scores_must_be_like_those_of_fit(rows, calibrator):
    scores, _ = rows
    for method in (
        calibrator.predict,
        calibrator.predict_proba,
        calibrator.predict_distribution,
        calibrator.predict_curve,
    ):
        with pytest.raises(ValueError, match=r"one column for each of 4 labels; got shape \(160, 3\)"):
            method(scores[:, :3])
        with pytest.raises(ValueError, match=r"probabilities, in \[0, 1\], as in fit; scores\[3, 1\] is -2.0"):
            method(change(scores, -2.0))
        with pytest.raises(ValueError, match="must not be nan"):
            method(change(scores, np.nan))
        with pytest.raises(ValueError, match="must be finite"):
            method(change(scores, np.inf))
        with pytest.raises(ValueError, match="at least one row"):
            method(scores[:0])


def test_columns_of_frames_must_be_those_of_fit(rows):
    frame = as_frame(rows[0])
    calibrator = JointCalibrator(n_components=2, cv=2).fit(frame, as_frame(rows[1]))
    assert calibrator.feature_names_in_.tolist() == ["label 0", "label 1", "label 2", "label 3"]
    with pytest.raises(ValueError, match="same order as they were in fit"):
        calibrator.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="feature names should match"):
        calibrator.predict(frame.rename(columns={"label 0": "other"}))
    with pytest.raises(ValueError, match="scores must have the columns of Y; column 0 is 'label 0', that of Y 'other'"):
        JointCalibrator().fit(frame, as_frame(rows[1]).rename(columns={"label 0": "other"}))


def test_one_row_is_too_few(rows):
    scores, Y = rows
    with pytest.raises(ValueError, match="at least 2 rows with a known label; got 1"):
        JointCalibrator().fit(scores[:1], Y[:1])
    only_one = np.where(np.arange(len(Y))[:, np.newaxis] == 5, Y, np.nan)
    with pytest.raises(ValueError, match="at least 2 rows with a known label; got 1"):
        JointCalibrator().fit(scores, only_one)
    with pytest.raises(ValueError, match="Y must have a row with a known label"):
        JointCalibrator().fit(scores, np.full(Y.shape, np.nan))


def test_other_bad_input(rows):
    scores, Y = rows
    with pytest.raises(ValueError, match="must have the same shape"):
        JointCalibrator().fit(scores, Y[:, :3])
    with pytest.raises(ValueError, match="Y must be binary"):
        JointCalibrator().fit(scores, 2 * Y)
    with pytest.raises(ValueError, match="cv must be at least 2; got 1"):
        JointCalibrator(cv=1).fit(scores, Y)
    with pytest.raises(ValueError, match="n_components must be at least 1; got 0"):
        JointCalibrator(n_components=0).fit(scores, Y)
    with pytest.raises(ValueError, match="scores must be one of 'auto', 'probabilities', 'logits'; got 'proba'"):
        JointCalibrator(scores="proba").fit(scores, Y)
    with pytest.raises(ValueError, match="got 'hammer'"):
        JointCalibrator("hammer").fit(scores, Y)
    with pytest.raises(TypeError, match="got <class"):
        JointCalibrator(SubsetMeasure).fit(scores, Y)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_distribution", "predict_curve"])
def test_nothing_is_predicted_before_fit(rows, method):
    with pytest.raises(NotFittedError):
        getattr(JointCalibrator(), method)(rows[0])


@pytest.mark.parametrize("method", ["left_out_losses", "chosen_rule", "to_dict"])
def test_nothing_is_known_before_fit(method):
    with pytest.raises(NotFittedError):
        getattr(JointCalibrator(), method)()


# Copies


def test_the_same_seed_gives_the_same_calibrator(rows, calibrator):
    assert_same(calibrator, clone(calibrator).fit(*rows), rows[0], atol=0)
    other = JointCalibrator(n_components=4, random_state=1).fit(*rows)
    assert not np.array_equal(other._left_out.folds, calibrator._left_out.folds)


def test_data_of_the_caller_are_not_changed(rows):
    scores, Y = rows[0].copy(), hide_random(rows[1])
    before = scores.copy(), Y.copy()
    JointCalibrator(n_components=2, cv=2).fit(scores, Y).predict(scores)
    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(Y, before[1])


def test_parameters_are_those_of_scikit_learn():
    calibrator = JointCalibrator(BinomialMeasure(2), scores="logits", n_components=3, cv=4, random_state=7)
    expected = {"measure": BinomialMeasure(2), "scores": "logits", "n_components": 3, "cv": 4, "random_state": 7}
    assert calibrator.get_params() == expected
    assert clone(calibrator).get_params() == expected


def test_a_pickle_predicts_the_same(rows, calibrator):
    copy = pickle.loads(pickle.dumps(calibrator))
    assert_same(calibrator, copy, rows[0], atol=0)
    assert copy.left_out_losses("hamming") == calibrator.left_out_losses("hamming")


def to_json_and_back(data):
    return json.loads(json.dumps(data, default=np.ndarray.tolist))


@pytest.mark.parametrize("loss", [None, "hamming", BinomialMeasure(2), "f1", "micro_f1"], ids=str)
def test_what_was_written_down_predicts_the_same(rows, calibrator, loss):
    labels = calibrator.predict(rows[0], loss)
    back = JointCalibrator.from_dict(to_json_and_back(calibrator.to_dict()))
    assert_same(calibrator, back, rows[0])
    np.testing.assert_array_equal(back.predict(rows[0], loss), labels)
    assert back.left_out_losses(loss) == calibrator.left_out_losses(loss)
    assert back.chosen_rule(loss) == calibrator.chosen_rule(loss)


def test_what_was_written_down_can_be_written_down_again(rows):
    calibrator = JointCalibrator("hamming", n_components=2, cv=2).fit(*rows)
    calibrator.predict(rows[0], BinomialMeasure(3))
    rules = calibrator.to_dict()["rules"]
    assert set(rules) == {"hamming", "k=3"}
    back = JointCalibrator.from_dict(calibrator.to_dict())
    assert back.to_dict()["rules"] == rules
    back.predict(rows[0], BinomialMeasure(3))
    assert JointCalibrator.from_dict(back.to_dict()).to_dict()["rules"] == rules


def test_what_was_written_down_knows_no_other_losses(rows, calibrator):
    back = JointCalibrator.from_dict(calibrator.to_dict())
    with pytest.raises(ValueError, match="got alpha=7"):
        back.predict(rows[0], PolynomialMeasure(7.0))
    with pytest.raises(ValueError, match="got alpha=7"):
        back.predict_curve(rows[0], "polynomial", [7.0])
    distribution = back.predict_distribution(rows[0])
    best = bayes_curve(distribution, "polynomial", [7.0]).labels[0]
    np.testing.assert_array_equal(best, bayes_optimal(distribution, PolynomialMeasure(7.0)).labels)


def test_losses_without_a_short_name_are_not_written_down(rows):
    calibrator = JointCalibrator(n_components=2, cv=2).fit(*rows)
    calibrator.predict(rows[0], AtLeastMeasure(2))
    calibrator.predict(rows[0], hamming_loss)
    assert set(calibrator.to_dict()["rules"]) == {"subset"}
    assert_same(calibrator, pickle.loads(pickle.dumps(calibrator)), rows[0], atol=0)
    with pytest.raises(ValueError, match=r"measure must have a short name .*; got AtLeastMeasure\(k=2\)"):
        JointCalibrator(AtLeastMeasure(2), n_components=2, cv=2).fit(*rows).to_dict()


def test_functions_that_cannot_be_pickled_do_not_stay(rows):
    calibrator = JointCalibrator(n_components=2, cv=2).fit(*rows)
    calibrator.left_out_losses(lambda y_true, y_pred: hamming_loss(y_true, y_pred))
    pickle.dumps(calibrator)


def test_a_measure_of_more_labels_is_refused_at_once(rows):
    with pytest.raises(ValueError, match="k must"):
        JointCalibrator(BinomialMeasure(99)).fit(*rows)


def test_a_curve_of_what_was_written_down(rows, calibrator):
    curve = calibrator.predict_curve(rows[0])
    back = JointCalibrator.from_dict(calibrator.to_dict())
    np.testing.assert_array_equal(back.predict_curve(rows[0]).labels, curve.labels)


def test_names_of_labels_are_written_down(rows):
    frame = as_frame(rows[0])
    calibrator = JointCalibrator(n_components=2, cv=2).fit(frame, rows[1])
    back = JointCalibrator.from_dict(to_json_and_back(calibrator.to_dict()))
    np.testing.assert_array_equal(back.predict(frame), calibrator.predict(frame))
    with pytest.raises(ValueError, match="same order as they were in fit"):
        back.predict(frame[frame.columns[::-1]])


def test_parts_must_be_there_and_finite(calibrator):
    data = calibrator.to_dict()
    with pytest.raises(ValueError, match="slopes are not there"):
        JointCalibrator.from_dict({name: value for name, value in data.items() if name != "slopes"})
    with pytest.raises(ValueError, match=r"intercepts must be finite; intercepts\[0\] is nan"):
        JointCalibrator.from_dict({**data, "intercepts": [np.nan] * N_LABELS})


# Real data


def out_of_fold(X, Y, C=1.0):
    """Scores of a logistic regression for each label, for rows that it was not fitted on."""
    model = make_pipeline(StandardScaler(), MultiOutputClassifier(LogisticRegression(C=C, solver="newton-cholesky")))
    return stack_proba(cross_val_predict(model, X, Y, cv=3, method="predict_proba"))


def crossed(scores, Y, measure, **options):
    """Labels of each half of the rows by a calibrator that was fitted on the other half."""
    decided = np.empty(Y.shape, dtype=np.uint8)
    for half in (0, 1):
        train, test = np.arange(half, len(Y), 2), np.arange(1 - half, len(Y), 2)
        decided[test] = JointCalibrator(measure, **options).fit(scores[train], Y[train]).predict(scores[test])
    return decided


def test_emotions_are_decided_better_together(datasets_folder):
    data = read_arff(datasets_folder / "emotions.arff")
    scores = out_of_fold(data.X, data.Y)
    gain = subset_loss(data.Y, harden(scores)) - subset_loss(
        data.Y, crossed(scores, data.Y, SubsetMeasure(), cv=2, n_components=4)
    )
    assert gain > 0.04


def test_yeast_is_decided_better_together(datasets_folder):
    data = read_arff(datasets_folder / "yeast.arff.gz")
    X, Y = data.X[::3], data.Y[::3]
    scores = out_of_fold(X, Y, C=0.03)
    gain = subset_loss(Y, harden(scores)) - subset_loss(Y, crossed(scores, Y, SubsetMeasure(), cv=2, n_components=4))
    assert gain > 0.05


def test_music_where_no_label_set_occurs_twice(more_datasets_folder):
    data = read_arff(more_datasets_folder / "cal500.arff")
    Y, rng = data.Y[:300], np.random.default_rng(0)
    usual = logit(Y.mean(axis=0).clip(0.01, 0.99))
    scores = expit(usual + np.where(Y, 0.3, -0.3) + rng.normal(size=Y.shape))  # they know little
    decided = crossed(scores, Y, HammingMeasure(), cv=2, n_components=2)
    assert hamming_loss(Y, decided) <= hamming_loss(Y, harden(scores)) + 0.002
