"""Rules compared on rows left out: against losses by their definitions, and intervals that cover."""

import numpy as np
import pytest

import choral
from choral import AveragedFLoss, FLoss, HammingMeasure, JointCalibrator, SubsetMeasure, ThresholdTuner
from choral.calibration import compare_rules, compare_threshold, left_out_curves
from choral.calibration.rules import best_rule

RNG = np.random.default_rng(1)
Y = np.eye(3, dtype=int)[RNG.integers(3, size=200)]
SCORES = RNG.normal(2 * Y - 1, 1.5)


@pytest.fixture(scope="module")
def calibrator():
    return JointCalibrator(n_components=2, cv=3).fit(SCORES, Y)


@pytest.mark.parametrize(
    "loss, by_hand",
    [
        (SubsetMeasure(), choral.subset_loss),
        (FLoss(), choral.f_loss),
        ("micro_f1", AveragedFLoss("micro")),
        ("macro_f1", AveragedFLoss("macro")),
    ],
)
def test_losses_are_those_of_the_calibrator(calibrator, loss, by_hand):
    found = compare_rules(calibrator, loss, n_bootstrap=200)
    assert found.losses == pytest.approx(calibrator.left_out_losses(loss))
    assert found.rule == calibrator.chosen_rule(loss)
    assert found.losses["cut"] == pytest.approx(by_hand(Y, SCORES >= 0))
    assert found.gain == pytest.approx(found.losses["cut"] - found.losses[found.rule])
    assert found.lower <= found.gain <= found.upper
    assert (found.n_rows, found.threshold) == (200, 0.0)


def test_interval_is_that_of_a_paired_bootstrap(calibrator):
    found = compare_rules(calibrator, n_bootstrap=4000, confidence=0.9)
    rows = calibrator.left_out_rows()
    joint = choral.bayes_optimal(rows.distribution, SubsetMeasure(), method="quick").labels
    gains = (rows.rows.labels != (rows.rows.scores >= 0)).any(axis=1) * 1.0 - (rows.rows.labels != joint).any(axis=1)
    error = gains.std() / np.sqrt(len(gains))
    assert found.lower == pytest.approx(gains.mean() - 1.645 * error, abs=0.1 * error)
    assert found.upper == pytest.approx(gains.mean() + 1.645 * error, abs=0.1 * error)


def test_another_cut(calibrator):
    found = compare_rules(calibrator, threshold=1.0, n_bootstrap=0)
    assert found.losses["cut"] == pytest.approx(choral.subset_loss(Y, SCORES >= 1))
    assert (found.threshold, found.lower, found.upper) == (1.0, None, None)


def test_a_loss_without_losses_of_rows_has_no_interval():
    tuner = ThresholdTuner(lambda y_true, y_pred: float(np.mean(y_true != y_pred)))
    assert compare_threshold(tuner, SCORES, Y, n_bootstrap=0).lower is None
    with pytest.raises(ValueError, match="an interval needs the losses of rows, and .* gives none"):
        compare_threshold(tuner, SCORES, Y)


@pytest.mark.parametrize("per_label", [False, True])
def test_thresholds_are_tuned_without_the_row(per_label):
    """On scores that know nothing, what looks like a gain on the rows tuned on is none on rows left out."""
    rng = np.random.default_rng(0)
    truth, noise = rng.integers(2, size=(100, 5)), rng.random((100, 5))
    tuner = ThresholdTuner("hamming", per_label=per_label, shrinkage=0).fit(noise, truth)
    found = compare_threshold(tuner, noise, truth)
    assert found.losses["threshold"] > tuner.loss_ + 0.01
    assert found.losses["cut"] == pytest.approx(choral.hamming_loss(truth, noise >= 0.5))
    assert found.threshold == 0.5


def test_rows_of_which_nothing_is_known_do_not_count():
    missing = np.vstack([Y[:60].astype(float), np.full((40, 3), np.nan)])
    found = compare_threshold(ThresholdTuner("subset"), SCORES[:100], missing)
    assert found.n_rows == 60
    assert found.losses["cut"] == pytest.approx(choral.subset_loss(Y[:60], SCORES[:60] >= 0))
    assert found.lower <= found.gain <= found.upper


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
def test_curves_hold_the_losses_of_each_parameter(calibrator, family):
    parameters = [1, 2, 3] if family == "binomial" else [1.0, 2.0, np.inf]
    cut, decided = left_out_curves(calibrator, family, parameters)
    np.testing.assert_allclose(cut, choral.loss_curve(Y, SCORES >= 0, family=family, parameters=parameters).losses)
    ends = [min(calibrator.left_out_losses(loss).values()) for loss in (HammingMeasure(), SubsetMeasure())]
    np.testing.assert_allclose(decided[[0, -1]], ends)


def test_curves_with_another_cut(calibrator):
    cut, _ = left_out_curves(calibrator, parameters=[3], threshold=-1.0)
    np.testing.assert_allclose(cut, choral.subset_loss(Y, SCORES >= -1))


@pytest.mark.parametrize("noise", [-1e-16, 0, 1e-16])
def test_of_rules_that_are_equal_but_for_rounding_the_first_is_best(noise):
    assert best_rule({"joint": 0.25, "labels": 0.2, "threshold": 0.3, "cut": 0.2 + noise}) == "labels"
    assert best_rule({"joint": 0.25, "labels": 0.2, "cut": 0.2 - 1e-9}) == "cut"
