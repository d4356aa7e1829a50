"""Slopes and intercepts of labels against slow and trusted references, laws, and labels that say little."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.calibration import _SigmoidCalibration
from sklearn.linear_model import LogisticRegression

from choral.calibration import label_calibration
from choral.calibration.label_calibration import MOST_CERTAIN, PULL, LabelCalibration, fit_labels, log_odds_of

SEEDS = st.integers(0, 999)


def make_rows(seed, n_rows=60, n_labels=3, missing=0.0):
    """Log odds that are too bold, of labels of which some are rare."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 2, size=(n_rows, n_labels))
    labels = rng.random(log_odds.shape) < expit(0.6 * log_odds + rng.normal(size=n_labels))
    known = rng.random(log_odds.shape) >= missing
    known[0] = True
    return log_odds, labels & known, known


def both(calibration):
    return np.stack([calibration.slopes, calibration.intercepts])


def minimum_by_definition(log_odds, labels, known, centre, pull):
    """Slope and intercept of one label: the penalised likelihood, added up row by row, for a general minimiser."""

    def objective(slope_and_intercept):
        slope, intercept = slope_and_intercept
        total = pull / 2 * ((slope - centre[0]) ** 2 + (intercept - centre[1]) ** 2)
        for z, label, is_known in zip(log_odds, labels, known, strict=True):
            if is_known:
                linear = slope * z + intercept
                total += np.logaddexp(0, -linear if label else linear)
        return total

    return minimize(objective, [0.5, -0.5], method="BFGS", options={"gtol": 1e-6}).x


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("seed", [0, 1])
def test_slopes_and_intercepts_are_those_of_a_general_minimiser(seed, missing):
    log_odds, labels, known = make_rows(seed, missing=missing)
    common = minimum_by_definition(log_odds.ravel(), labels.ravel(), known.ravel(), (1, 0), 1.0)
    of_labels = [
        minimum_by_definition(*columns, common, PULL) for columns in zip(log_odds.T, labels.T, known.T, strict=True)
    ]
    np.testing.assert_allclose(both(fit_labels(log_odds, labels, known)).T, of_labels, atol=2e-4)


@pytest.fixture
def weak_pull(monkeypatch):
    monkeypatch.setattr(label_calibration, "PULL", 1e-8)


@pytest.mark.usefixtures("weak_pull")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_a_pull_it_is_logistic_regression(seed):
    log_odds, labels, known = make_rows(seed, n_rows=400, n_labels=1)
    regression = LogisticRegression(C=np.inf, tol=1e-8).fit(log_odds, labels[:, 0])
    expected = [regression.coef_[0], regression.intercept_]
    np.testing.assert_allclose(both(fit_labels(log_odds, labels, known)), expected, atol=1e-4)


@pytest.mark.usefixtures("weak_pull")
def test_without_a_pull_it_is_platt_scaling():
    log_odds, labels, known = make_rows(0, n_rows=10000, n_labels=1)  # Platt also smooths the labels, by 1 / n
    platt = _SigmoidCalibration().fit(log_odds[:, 0], labels[:, 0].astype(float))
    np.testing.assert_allclose(both(fit_labels(log_odds, labels, known))[:, 0], [-platt.a_, -platt.b_], atol=5e-3)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_swapped_labels_swap_their_results(seed):
    rows = make_rows(seed, n_labels=4, missing=0.2)
    order = np.random.default_rng(seed).permutation(4)
    swapped = fit_labels(*(part[:, order] for part in rows))
    np.testing.assert_allclose(both(swapped), both(fit_labels(*rows))[:, order], atol=1e-6)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_missing_labels_count_nothing(seed):
    log_odds, labels, known = make_rows(seed, missing=0.3)
    known &= known[:, :1]  # whole rows are missing
    expected = fit_labels(log_odds[known[:, 0]], labels[known[:, 0]], known[known[:, 0]])
    others = np.random.default_rng(seed + 1).normal(size=log_odds.shape) * 9
    found = fit_labels(np.where(known, log_odds, others), labels & known, known)
    np.testing.assert_allclose(both(found), both(expected), atol=1e-6)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_relevant_and_irrelevant_are_alike(seed):
    log_odds, labels, known = make_rows(seed, missing=0.2)
    mirrored = fit_labels(-log_odds, known & ~labels, known)
    as_they_are = fit_labels(log_odds, labels, known)
    np.testing.assert_allclose(mirrored.slopes, as_they_are.slopes, atol=1e-5)
    np.testing.assert_allclose(mirrored.intercepts, -as_they_are.intercepts, atol=1e-5)


@given(probabilities=arrays(float, (3, 4), elements=st.floats(0, 1)))
def test_log_odds_of_the_complement_are_negated(probabilities):
    log_odds = log_odds_of(probabilities, are_logits=False)
    np.testing.assert_allclose(log_odds_of(1 - probabilities, are_logits=False), -log_odds, atol=1e-9)
    np.testing.assert_allclose(log_odds_of(log_odds, are_logits=True), log_odds)
    assert np.abs(log_odds).max() <= logit(1 - MOST_CERTAIN) + 1e-12


def test_no_score_is_extreme():
    most = logit(1 - MOST_CERTAIN)
    np.testing.assert_allclose(log_odds_of(np.array([[0.0, 1.0]]), are_logits=False), [[-most, most]])
    np.testing.assert_allclose(log_odds_of(np.array([[-1e300, 1e300]]), are_logits=True), [[-most, most]])
    assert log_odds_of(np.array([[0.25, 0.5]]), are_logits=False) == pytest.approx(np.array([[-np.log(3), 0]]))


@pytest.mark.parametrize("always", [False, True])
def test_a_label_with_one_value_is_pulled_back(always):
    log_odds, labels, known = make_rows(0, n_rows=300)
    labels[:, 1] = always
    calibration = fit_labels(log_odds, labels, known)
    assert np.abs(both(calibration)).max() < 10
    probabilities = expit(calibration.log_odds(log_odds))[:, 1]
    assert probabilities.mean() == pytest.approx(float(always), abs=0.1)


def test_a_label_of_which_nothing_is_known_takes_what_fits_all_others():
    log_odds, labels, known = make_rows(0, n_rows=300)
    known[:, 2] = labels[:, 2] = False
    calibration = fit_labels(log_odds, labels, known)
    common = minimum_by_definition(log_odds[:, :2].ravel(), labels[:, :2].ravel(), known[:, :2].ravel(), (1, 0), 1.0)
    np.testing.assert_allclose(both(calibration)[:, 2], common, atol=1e-3)


def test_separable_labels_do_not_diverge():
    log_odds = np.repeat([[-2.0], [2.0]], 40, axis=0)
    calibration = fit_labels(log_odds, log_odds > 0, np.ones(log_odds.shape, dtype=bool))
    expected = minimum_by_definition(
        log_odds[:, 0], log_odds[:, 0] > 0, np.full(80, True), _common_of(log_odds, log_odds > 0), PULL
    )
    assert 1 < calibration.slopes[0] < 10
    np.testing.assert_allclose(both(calibration)[:, 0], expected, atol=1e-3)


def _common_of(log_odds, labels):
    return minimum_by_definition(log_odds.ravel(), labels.ravel(), np.full(labels.size, True), (1, 0), 1.0)


def test_scores_that_speak_against_their_label_get_a_negative_slope():
    log_odds, labels, known = make_rows(0, n_rows=2000, n_labels=2)
    log_odds[:, 1] *= -1
    slopes = fit_labels(log_odds, labels, known).slopes
    assert slopes[0] > 0.4
    assert slopes[1] < -0.4


@pytest.mark.parametrize("scale", [10.0, 1e6, 1e300])
def test_huge_logits_say_no_more_than_they_are_worth(scale):
    rng = np.random.default_rng(0)
    labels = rng.random((2000, 1)) < 0.5
    logits = np.where(labels == (rng.random(labels.shape) < 0.8), scale, -scale)
    log_odds = log_odds_of(logits, are_logits=True)
    probabilities = expit(fit_labels(log_odds, labels, np.full(labels.shape, True)).log_odds(log_odds))
    for is_high in (False, True):
        of_sign = (logits > 0) == is_high
        np.testing.assert_allclose(probabilities[of_sign], labels[of_sign].mean(), atol=0.01)


def test_one_row():
    log_odds = np.array([[0.0, 2.0]])
    calibration = fit_labels(log_odds, np.array([[True, False]]), np.full((1, 2), True))
    common = minimum_by_definition(log_odds[0], [True, False], [True, True], (1, 0), 1.0)
    expected = [minimum_by_definition([z], [label], [True], common, PULL) for z, label in ((0.0, True), (2.0, False))]
    np.testing.assert_allclose(both(calibration).T, expected, atol=1e-4)


def test_constant_scores_learn_the_frequency():
    labels = np.arange(1000)[:, np.newaxis] % 4 == 0
    calibration = fit_labels(np.full(labels.shape, -0.3), labels, np.full(labels.shape, True))
    assert expit(calibration.log_odds(np.array([[-0.3]])))[0, 0] == pytest.approx(0.25, abs=0.005)


def test_calibrated_log_odds_by_hand():
    calibration = LabelCalibration(np.array([2.0, 0.5]), np.array([1.0, 0.0]))
    assert calibration.log_odds(np.array([[1.0, 4.0]])).tolist() == [[3.0, 2.0]]
