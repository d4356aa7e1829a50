"""Independent errors of the same rates: against enumeration in exact fractions, simulation, and every kind of input."""

import pickle
from fractions import Fraction
from functools import reduce
from itertools import product
from math import comb
from operator import add

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choral import ErrorProfile, ObservedProfile, bayes_curve, loss_curve
from choral._poisson_binomial import max_events_of, number_of_events, number_of_many_events
from choral.decisions import IndependentLabels
from choral.profiles import LabelErrorRates, independent_curve, label_error_rates, observed_sets
from choral.rows import blocks, open_rows

NAN = float("nan")
RNG = np.random.default_rng(0)


def binomial_deficit(n_labels, wrong, k):
    return 1 - Fraction(comb(n_labels - wrong, k), comb(n_labels, k))


def loss_by_enumeration(rates, k):
    """The expected binomial loss over all sets of wrong labels, in exact fractions."""
    total, n_labels = Fraction(0), len(rates)
    for wrong in product([0, 1], repeat=n_labels):
        chance = reduce(lambda a, b: a * b, (p if w else 1 - p for p, w in zip(rates, wrong, strict=True)))
        total += chance * binomial_deficit(n_labels, sum(wrong), min(k, n_labels))
    return total


def rates_by_definition(true, pred, known, weights):
    """Error rates of labels as fractions; None for those never known."""
    found = []
    for label in range(true.shape[1]):
        some = [row for row in range(len(true)) if known[row, label]]
        total = sum(Fraction(weights[row]) for row in some)
        wrong = sum(Fraction(weights[row]) for row in some if true[row, label] != pred[row, label])
        found.append(wrong / total if total else None)
    return found


def curve_by_definition(true, pred, known, weights):
    """Row by row: the expected loss of its known labels if each were wrong at its rate."""
    rates = rates_by_definition(true, pred, known, weights)
    losses = []
    for k in range(1, true.shape[1] + 1):
        total, loss = Fraction(0), Fraction(0)
        for row in range(len(true)):
            if known[row].any() and weights[row]:
                of_row = [rates[label] for label in np.flatnonzero(known[row])]
                loss += Fraction(weights[row]) * loss_by_enumeration(of_row, k)
                total += Fraction(weights[row])
        losses.append(float(loss / total))
    return losses


# Against exact fractions


@pytest.mark.parametrize("n_labels", [1, 2, 5, 8])
def test_hard_labels_against_enumeration(n_labels):
    true, pred = RNG.integers(2, size=(2, 16, n_labels))
    losses = independent_curve(true, pred).losses
    rates = [Fraction(int(count), 16) for count in (true != pred).sum(axis=0)]
    expected = [float(loss_by_enumeration(rates, k)) for k in range(1, n_labels + 1)]
    np.testing.assert_allclose(losses, expected, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_missing_labels_against_enumeration(weighted):
    rng = np.random.default_rng(1)
    true, pred = rng.integers(2, size=(2, 14, 4))
    known = rng.random((14, 4)) < 0.6
    known[0], known[1:3] = False, True
    weights = rng.integers(0, 4, size=14) if weighted else np.ones(14, dtype=int)
    curve = independent_curve(true, pred, observed=known, sample_weight=weights if weighted else None)
    expected = curve_by_definition(true, pred, known, weights.tolist())
    np.testing.assert_allclose(curve.losses, expected, rtol=1e-13)
    with_nan = independent_curve(np.where(known, true, NAN), pred, sample_weight=weights if weighted else None)
    np.testing.assert_array_equal(with_nan.losses, curve.losses)


@pytest.mark.parametrize("alpha", [1, 2, 3.5, np.inf])
def test_polynomial_losses_are_risks_of_independent_labels(alpha):
    true, pred = RNG.integers(2, size=(2, 50, 6))
    rates = (true != pred).mean(axis=0)
    risk = IndependentLabels(rates).wrong_labels(np.zeros(6, dtype=int))[0]  # a label that is wrong is relevant
    expected = risk @ (1 - ((6 - np.arange(7)) / 6) ** alpha)
    assert independent_curve(true, pred, "polynomial", [alpha]).losses[0] == pytest.approx(expected, rel=1e-14)


def test_scores_of_few_values_are_exact():
    # errors of 0, 1/4, 1/2, 1 are ends of levels: the rates are constant within each of them
    errors = RNG.choice([0, 0.25, 0.5, 1], size=(20, 3))
    losses = independent_curve(np.zeros((20, 3)), errors).losses
    expected = []
    for k in (1, 2, 3):
        levels = [[Fraction(int(n), 20) for n in (errors > t).sum(axis=0)] for t in (0, 0.25, 0.5, 0.75)]
        expected.append(float(sum(loss_by_enumeration(rates, k) for rates in levels) / 4))
    np.testing.assert_allclose(losses, expected, rtol=1e-14)


def test_scores_at_random_are_near_the_integral():
    errors = RNG.random((30, 4))  # each error a step of the integral
    cuts = np.unique([0, *errors.ravel()])
    rates = (errors[:, :, np.newaxis] > cuts).mean(axis=0).T
    deficits = 1 - np.array([[comb(4 - e, k) / comb(4, k) for e in range(5)] for k in range(1, 5)])
    expected = deficits @ (np.diff([*cuts, 1]) @ number_of_events(rates))
    losses = independent_curve(np.zeros((30, 4)), errors).losses
    assert losses[0] == pytest.approx(errors.mean(), rel=1e-14)
    np.testing.assert_allclose(losses, expected, atol=2e-4)
    assert (losses >= expected - 1e-15).all()


def test_levels_lose_little_for_a_hundred_labels(monkeypatch):
    errors = RNG.random((500, 100))
    losses = independent_curve(np.zeros((500, 100)), errors).losses
    monkeypatch.setattr(label_error_rates, "MAX_LEVELS", 8192)
    np.testing.assert_allclose(losses, independent_curve(np.zeros((500, 100)), errors).losses, atol=1e-4)


@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_against_simulation(kind):
    """Errors of each label, shuffled over the rows, are nearly independent."""
    rng = np.random.default_rng(2)
    errors = rng.random((400, 5)) * rng.random((400, 1)) ** 2
    errors = errors > 0.3 if kind == "hard" else errors
    reference = independent_curve(np.zeros((400, 5)), errors).losses
    shuffled = [loss_curve(np.zeros((400, 5)), rng.permuted(errors, axis=0)).losses for _ in range(500)]
    mean, deviation = np.mean(shuffled, axis=0), np.std(shuffled, axis=0) / np.sqrt(500)
    np.testing.assert_allclose(mean, reference, atol=float(4 * deviation.max() + 1e-4))
    assert loss_curve(np.zeros((400, 5)), errors).losses[-1] < reference[-1] - 0.02  # rows differ in difficulty


# What rates are


def test_rates_are_mean_errors_of_labels():
    rates = LabelErrorRates.from_predictions(
        [[1, 0, NAN], [0, 1, NAN], [1, NAN, NAN]], [[1, 0.5, 1], [1, 0.5, 1], [1, 1, 1]]
    )
    np.testing.assert_allclose(rates.rates, [1 / 3, 0.5, NAN])
    assert not rates.is_hard
    assert (rates.total_weight, rates.complete, rates.incomplete) == (3, 0, 3)
    assert rates.curve().losses[0] == pytest.approx((5 / 12 * 2 + 1 / 3) / 3)


def test_threshold_makes_labels():
    true, scores = [[1, 0], [0, 1]], [[0.2, 0.1], [0.4, 0.9]]
    rates = LabelErrorRates.from_predictions(true, scores, threshold=0.3)
    assert rates.is_hard
    assert rates.rates.tolist() == [1, 0]
    assert independent_curve(true, scores, threshold=0.3).losses.tolist() == [0.5, 1]


def test_weights_are_duplicates():
    true, pred = RNG.integers(2, size=(2, 30, 4))
    weights = RNG.integers(0, 4, size=30)
    weighted = LabelErrorRates.from_predictions(true, pred, sample_weight=weights)
    repeated = LabelErrorRates.from_predictions(true.repeat(weights, axis=0), pred.repeat(weights, axis=0))
    np.testing.assert_allclose(weighted.rates, repeated.rates, rtol=1e-15)
    assert weighted.total_weight == repeated.total_weight
    np.testing.assert_allclose(weighted.curve().losses, repeated.curve().losses, rtol=1e-14)


@given(
    arrays(np.uint8, (6, 4), elements=st.integers(0, 1)),
    arrays(float, (6, 4), elements=st.sampled_from([0, 0.3, 0.5, 1])),
    st.permutations(range(4)),
    st.permutations(range(6)),
)
def test_orders_of_labels_and_rows_do_not_matter(true, pred, labels, rows):
    curve, other = independent_curve(true, pred), independent_curve(true[rows][:, labels], pred[rows][:, labels])
    np.testing.assert_allclose(other.losses, curve.losses, atol=1e-14)
    assert curve.losses[0] == pytest.approx(loss_curve(true, pred).losses[0], abs=1e-14)  # the same Hamming loss


def test_decided_labels_have_rates_for_each_parameter():
    true = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]])
    decided = bayes_curve(IndependentLabels([[0.9, 0.2, 0.6]] * 4))
    curve = independent_curve(true, decided)
    for place, decision in enumerate(decided.decisions):
        own = independent_curve(true, decision.labels).losses
        assert curve.losses[place] == own[place]


def test_name():
    assert independent_curve([[1]], [[0]]).name == "independent errors"
    assert independent_curve([[1]], [[0]], name="apart").name == "apart"


# Adding up


@pytest.mark.parametrize("kind", ["hard", "scores", "both"])
def test_parts_add_up(kind):
    true = np.where(RNG.random((40, 5)) < 0.2, NAN, RNG.integers(2, size=(40, 5)))
    pred = RNG.random((40, 5)) if kind == "scores" else RNG.integers(2, size=(40, 5)).astype(float)
    if kind == "both":
        pred[20:] = RNG.random((20, 5))
    whole = LabelErrorRates.from_predictions(true, pred)
    parts = [LabelErrorRates.from_predictions(true[some], pred[some]) for some in (slice(0, 20), slice(20, 40))]
    both = reduce(add, parts)
    np.testing.assert_allclose(both.rates, whole.rates, rtol=1e-14)
    np.testing.assert_allclose(both.curve().losses, whole.curve().losses, rtol=1e-13)
    assert both.is_hard is (kind == "hard")
    again = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(again.curve().losses, both.curve().losses)


def test_other_numbers_of_labels_do_not_add_up():
    with pytest.raises(ValueError, match="same number of labels; got 1 and 2"):
        LabelErrorRates.from_predictions([[1]], [[0]]) + LabelErrorRates.from_predictions([[1, 0]], [[0, 1]])


def test_nothing_known_is_refused():
    rates = LabelErrorRates.from_predictions([[NAN, NAN]], [[0, 1]])
    assert np.isnan(rates.rates).all()
    with pytest.raises(ValueError, match="need rows with observed labels and a positive weight; there are none"):
        rates.curve()


# Kinds of input, beside those that tests/rows covers for all public functions


def as_strict(array):
    pytest.importorskip("array_api_compat")
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(array, device=xp.Device("device1"))


def as_dask(array):
    return pytest.importorskip("dask.array").from_array(array, chunks=(7,) + (-1,) * (array.ndim - 1))


KINDS = {"csr": sp.csr_array, "csc": sp.csc_matrix, "device": as_strict, "dask": as_dask}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["hard", "scores"])
@pytest.mark.parametrize("case", ["plain", "weights", "nan", "mask", "nan, mask and weights"])
def test_kinds_of_input_agree(monkeypatch, kind, form, case):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 300)
    rng = np.random.default_rng(3)
    true = rng.integers(2, size=(24, 5)).astype(float)
    pred = rng.integers(2, size=(24, 5)).astype(float) if form == "hard" else rng.integers(0, 9, size=(24, 5)) / 8
    data = {"sample_weight": rng.integers(1, 9, size=24) / 8} if "weights" in case else {}
    if "mask" in case:
        data["observed"] = rng.random((24, 5)) < 0.7
        data["observed"][:9] = True
    if "nan" in case:
        true[rng.random((24, 5)) < 0.3] = NAN
    expected = LabelErrorRates.from_predictions(true, pred, **data)
    convert = KINDS[kind]
    converted = {name: value if value.ndim == 1 and kind != "dask" else convert(value) for name, value in data.items()}
    rates = LabelErrorRates.from_predictions(convert(true), convert(pred), **converted)
    np.testing.assert_allclose(rates.rates, expected.rates, rtol=1e-14)
    np.testing.assert_array_equal(rates.sets.numbers, expected.sets.numbers)
    np.testing.assert_allclose(rates.curve().losses, expected.curve().losses, rtol=1e-13)


def test_many_labels():
    """100,000 labels, of which a thousand are wrong now and then; by a Poisson distribution but for 1e-5."""
    rng = np.random.default_rng(4)
    shape = (2000, 100_000)
    wrong = sp.csr_array((np.ones(4000), (rng.integers(2000, size=4000), rng.integers(1000, size=4000))), shape=shape)
    wrong.data[:] = 1
    rates = LabelErrorRates.from_predictions(sp.csr_array(shape), wrong)
    losses = rates.curve("binomial", [1, 100_000]).losses
    assert losses[0] == pytest.approx(wrong.nnz / 2000 / 100_000, rel=1e-12)
    assert losses[1] == pytest.approx(-np.expm1(np.log1p(-rates.rates).sum()), rel=1e-12)


def test_many_labels_with_scores_have_fewer_levels():
    scores = sp.csr_array(([0.5, 1.0, 0.25], ([0, 0, 1], [0, 70_000, 99_999])), shape=(2, 100_000))
    rates = LabelErrorRates.from_predictions(sp.csr_array(scores.shape), scores)
    assert rates.levels.shape == (32, 100_000)
    # any label is wrong: two labels with a rate of 1/2 (one up to t = 1/2 alone) and one with 1/2 up to t = 1/4
    assert rates.curve(parameters=[100_000]).losses[0] == pytest.approx(0.25 * 7 / 8 + 0.25 * 3 / 4 + 0.5 / 2)


@pytest.mark.parametrize("soft", [False, True])
def test_labels_in_another_order(soft):
    rng = np.random.default_rng(7)
    true, pred = rng.integers(2, size=(30, 4)).astype(float), rng.random((30, 4))
    true[rng.random(true.shape) < 0.3] = NAN
    pred, order = pred if soft else pred < 0.4, [2, 0, 3, 1]
    rates = LabelErrorRates.from_predictions(true, pred).in_order(order)
    expected = LabelErrorRates.from_predictions(true[:, order], pred[:, order])
    np.testing.assert_allclose(rates.rates, expected.rates)
    np.testing.assert_array_equal(rates.sets.numbers, expected.sets.numbers)
    np.testing.assert_allclose((rates + expected).curve().losses, expected.curve().losses)


# Sets of known labels


def test_many_sets_are_sampled_evenly(monkeypatch):
    rng = np.random.default_rng(5)
    true, pred = rng.integers(2, size=(3000, 12)).astype(float), rng.random((3000, 12)) < 0.3
    true[rng.random(true.shape) < 0.4] = NAN
    exact = LabelErrorRates.from_predictions(true, pred)
    monkeypatch.setattr(observed_sets, "MAX_SETS", 300)
    few = LabelErrorRates.from_predictions(true, pred)
    assert exact.sets.n_halvings == 0
    assert len(few.sets) <= 300
    assert few.sets.n_halvings >= 2
    np.testing.assert_array_equal(few.rates, exact.rates)
    np.testing.assert_allclose(few.curve().losses, exact.curve().losses, atol=0.01)
    parts = [LabelErrorRates.from_predictions(true[start::7], pred[start::7]) for start in range(7)]
    np.testing.assert_array_equal(reduce(add, parts).sets.numbers, few.sets.numbers)
    np.testing.assert_array_equal(reduce(add, parts).sets.weights, few.sets.weights)


def test_scores_with_missing_labels_have_fewer_levels(monkeypatch):
    rng = np.random.default_rng(6)
    true, scores = rng.integers(2, size=(200, 6)).astype(float), rng.random((200, 6))
    true[rng.random(true.shape) < 0.2] = NAN
    reference = independent_curve(true, scores).losses
    monkeypatch.setattr(label_error_rates, "LEVELS_OF_SETS", 256)
    np.testing.assert_allclose(reference, independent_curve(true, scores).losses, atol=2e-4)
    monkeypatch.setattr(label_error_rates, "MAX_RATES", 256 * 6 * 10)  # ten sets
    np.testing.assert_allclose(reference, independent_curve(true, scores).losses, atol=0.05)


def test_profiles_of_independent_errors():
    rates = LabelErrorRates.from_predictions([[1, 0], [1, 0]], [[0, 0], [1, 1]])
    profile = rates.independent_profile()
    assert isinstance(profile, ErrorProfile)
    assert profile.rows_by_errors.tolist() == [0.5, 1, 0.5]
    missing = LabelErrorRates.from_rows(open_rows([[1, 0], [1, NAN]], [[0, 0], [1, 1]]))
    profile = missing.independent_profile()
    assert isinstance(profile, ObservedProfile)
    assert profile.rows_by_observed_and_errors.tolist() == [[0, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]


# The Poisson-binomial distribution


@pytest.mark.parametrize("n_events", [3, 64, 65, 200, 700])
@pytest.mark.parametrize("largest", [0.01, 0.9])
def test_many_events_are_those_of_the_recursion(n_events, largest):
    chances = np.random.default_rng(n_events).random((3, n_events)) * largest
    chances[:, ::5] = 0
    expected = number_of_events(chances)
    counts = number_of_many_events(chances)
    np.testing.assert_allclose(counts, expected[:, : counts.shape[1]], rtol=1e-10, atol=1e-16)
    assert expected[:, counts.shape[1] :].sum() < 1e-17


def test_no_event_can_happen():
    assert number_of_many_events(np.zeros((2, 5))).tolist() == [[1], [1]]


def test_fewer_events_are_kept():
    chances = np.array([0.5, 0.25, 0.125])
    assert number_of_events(chances, 1).tolist() == number_of_events(chances)[:2].tolist()
    assert number_of_events(chances, 0).tolist() == [0.5 * 0.75 * 0.875]


@pytest.mark.parametrize("expected", [1e-9, 0.5, 3, 40])
def test_the_tail_that_is_left_out_is_small(expected):
    chances = np.full((1, 500), expected / 500)
    most = max_events_of(expected, 500)
    assert number_of_events(chances)[0, most + 1 :].sum() < 1e-18
    assert max_events_of(500, 500) == 500
